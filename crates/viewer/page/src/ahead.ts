// Advance reservations of nodes.
import { plain } from "./dom.ts";
import type { Mark } from "./marks.ts";
import type { Machine, Part, Raw } from "./model.ts";
import type { Column } from "./column.ts";
import { VIOLET } from "./theme.ts";
import { type Clock, millis, short } from "./times.ts";
import { boxes, jobOf, where } from "./words.ts";

/** A reservation as a table row. */
export interface Ahead {
  key: string;
  what: string;
  parts: Part[];
  /** The start and end, in ms. */
  from: number;
  to: number;
  state: string;
  /** Describes the reservation in complete sentences. */
  words(clock: Clock): string[];
}

function reservation(machine: Machine, one: Raw): Ahead {
  const { parts, leases } = one;
  const from = millis(one.from) ?? 0, to = millis(one.to) ?? 0;
  const name = one.name === null ? `reservation ${one.id}` : plain(one.name);
  const begins = from > machine.now ? `in ${short(from - machine.now)}` : "has begun";
  const state = leases.length ? `${begins}, ${leases.length} in the way` : begins;
  return {
    key: `r${one.id}`, what: name, parts, from, to, state,
    words(clock) {
      const [begin, end] = [clock.at(from), clock.at(to)];
      const lines = [`${name}: ${where(parts)} kept free from ${begin} to ${end}.`];
      const holders = leases.slice(0, 5).map((lease: number) => jobOf(machine, lease)).join(", ");
      const more = leases.length > 5 ? ` and ${leases.length - 5} more` : "";
      const held = `Jobs expected to hold its nodes when it begins: ${holders}${more}.`;
      if (leases.length) lines.push(held);
      return lines;
    },
  };
}

/** Returns the reservations, in order of start. */
export function rowsOf(machine: Machine, reservations: Raw[]): Ahead[] {
  return reservations.map((one) => reservation(machine, one)).sort((a, b) => a.from - b.from);
}

/** Returns the boxes of the chosen reservation, or of all reservations if none is chosen. */
export function drawn(rows: Ahead[], chosen: Ahead | null): Mark[] {
  const shown = chosen ? [chosen] : rows;
  return shown.flatMap(({ parts }) => parts.map((part) => ({ part, shade: VIOLET })));
}

/** Formats a time of day, preceded by the date if the day is not today. */
function brief(ms: number, now: number, clock: Clock): string {
  const time = clock.tick(ms, 60_000), day = clock.tick(ms, 86_400_000);
  return day === clock.tick(now, 86_400_000) || day === time ? time : `${day} ${time}`;
}

/** Returns the columns of the list. Rows are always sorted by start time. */
export function aheadColumns(
  scene: () => { machine: Machine; clock: Clock },
): Column<Ahead>[] {
  const times = ({ from, to }: Ahead, write: (ms: number) => string) => {
    const [begin, end] = [write(from), write(to)], day = / \d\d:\d\d(:\d\d)?$/;
    const isOneDay = begin.replace(day, "") === end.replace(day, "");
    return `${begin} – ${isOneDay ? end.split(" ").at(-1) : end}`;
  };
  const more = (one: Ahead) => one.words(scene().clock).join(" ");
  return [
    { id: "what", title: "Name", wide: 24, text: ({ what }) => what, hint: more },
    {
      id: "box", title: "Box", wide: 14, isMinor: true, hint: ({ parts }) => where(parts),
      text: ({ parts }) => boxes(parts),
    },
    {
      id: "times", title: "When", wide: 36, hint: (one) => times(one, scene().clock.at),
      text: (one) => times(one, (ms) => brief(ms, scene().machine.now, scene().clock)),
    },
    { id: "state", title: "State", wide: 26, text: ({ state }) => state, hint: more },
  ];
}
