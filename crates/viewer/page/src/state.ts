// The page's state.
import type { Ahead } from "./ahead.ts";
import type * as address from "./address.ts";
import type { By } from "./coloring.ts";
import type { Live, Refusal, Series, Told } from "./live.ts";
import type { Mark, Move } from "./marks.ts";
import type { Key, Machine } from "./model.ts";
import { EVERYTHING, type Plane } from "./plane.ts";
import { Schedule } from "./schedule.ts";
import { type Clock, elapsed, wall } from "./times.ts";

const embedded = document.getElementById("schedule");
export const schedule = embedded ? new Schedule(JSON.parse(embedded.textContent ?? "")) : null;
export const clock: Clock = schedule ? elapsed : wall;

/** The view and the data that it shows. */
export const page = {
  machine: null as Machine | null,
  live: true,
  /** The displayed time, in ms; null means now. */
  at: null as number | null,
  series: { busy: [], largest: [] } as Series,
  waits: new Map<Key, Told>(),
  by: "job" as By,
  plane: EVERYTHING as Plane,
  /** The selected job, by its name in the URL. */
  job: null as string | null,
  marks: [] as Mark[],
  moves: [] as Move[],
  /** The question about how many boxes fit, if one was asked. */
  slots: null as address.Slots | null,
  /** The reservations, the boxes to draw for them, and the selected row. */
  ahead: null as Ahead[] | null,
  drawn: [] as Mark[],
  chosen: null as string | null,
  /** The program that manages the jobs if this service does not. In that case, there is no history.
   */
  observer: "",
};

/** The connection to a service, unless the page shows a schedule. */
export const connection = { source: null as Live | null };

export const refusals = (): Refusal[] => connection.source?.refusals ?? [];

/** Returns explanations for the waiting requests, or none if the displayed time is in the past. */
export const waiting = (): Map<Key, Told> => (page.live ? page.waits : new Map());
