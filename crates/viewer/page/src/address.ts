// Stores the current view in the page's URL, so that the view can be shared.
import { type By, COLORINGS } from "./coloring.ts";
import { AXES, type Plane } from "./plane.ts";

export type List = "jobs" | "waiting" | "refused" | "ahead";
export const LISTS: List[] = ["jobs", "waiting", "refused", "ahead"];

/** The column to sort by. `down` is true for descending order. */
export interface Sort { column: string; down: boolean }

export type Dimensions = "2d" | "3d";
export interface Address {
  machine: string | null;
  /** A time in milliseconds; null means now. */
  at: number | null;
  view: Dimensions | null;
  plane: Plane | null;
  by: By | null;
  job: string | null;
  list: List | null;
  search: string | null;
  sort: Sort | null;
  /** The camera position in 3D: two angles in degrees, and the distance. */
  eye: number[] | null;
  /** The user's question about how many boxes of a shape fit. */
  slots: Slots | null;
}

/** The shape of boxes to count, now and after moving at most `moves` jobs. */
export interface Slots { shape: number[]; moves: number }

/** The maximum number of moves that the service considers. */
export const MOVES = 4;

/** The maximum length of a text value in the URL. */
const LONGEST = 200;

const one = <T extends string>(text: string | null, all: readonly T[]): T | null =>
  all.find((known) => known === text) ?? null;

function plane(text: string | null): Plane | null {
  const found = /^([xyz])(\d{1,5})?$/.exec(text ?? "");
  if (!found) return null;
  return { axis: AXES.indexOf(found[1]), at: found[2] === undefined ? null : Number(found[2]) };
}

function sort(text: string | null): Sort | null {
  const found = /^(-?)([a-z]{1,20})$/.exec(text ?? "");
  return found && { column: found[2], down: found[1] === "-" };
}

function instant(text: string | null): number | null {
  if (text === null) return null;
  const ms = /^-?\d+(\.\d+)?$/.test(text) ? 1000 * Number(text) : Date.parse(text);
  return Number.isFinite(ms) ? ms : null;
}

function eye(text: string | null): number[] | null {
  const numbers = (text ?? "").split(",").map(Number);
  return text && numbers.length === 3 && numbers.every(Number.isFinite) ? numbers : null;
}

function slots(shape: string | null, moves: string | null): Slots | null {
  if (!/^[1-9]\d{0,4}(x[1-9]\d{0,4}){0,2}$/.test(shape ?? "")) return null;
  const most = /^\d$/.test(moves ?? "") ? Math.min(Number(moves), MOVES) : 0;
  return { shape: (shape as string).split("x").map(Number), moves: most };
}

/** Parses the part of the URL after `#`. Invalid parts are ignored. */
export function read(hash: string): Address {
  const words = new URLSearchParams(hash.replace(/^#/, "").slice(0, 10 * LONGEST));
  const text = (name: string) => words.get(name)?.slice(0, LONGEST) ?? null;
  return {
    machine: text("machine"),
    at: instant(text("t")),
    view: one(text("view"), ["2d", "3d"]),
    plane: plane(text("plane")),
    by: one(text("by"), COLORINGS),
    job: text("job"),
    list: one(text("list"), LISTS),
    search: text("q"),
    sort: sort(text("sort")),
    eye: eye(text("eye")),
    slots: slots(text("slots"), text("moves")),
  };
}

/** Formats an address for the URL. `seconds` is true if times count from 0, as in a schedule. */
export function write(address: Address, seconds: boolean): string {
  const { at, plane: shown, sort: order } = address;
  const time = at === null ? null : seconds ? String(at / 1000) : new Date(at).toISOString();
  const words: [string, string | null][] = [
    ["machine", address.machine],
    ["t", time],
    ["view", address.view],
    ["plane", shown && `${AXES[shown.axis]}${shown.at ?? ""}`],
    ["by", address.by],
    ["eye", address.eye?.join(",") ?? null],
    ["job", address.job],
    ["list", address.list],
    ["q", address.search || null],
    ["slots", address.slots?.shape.join("x") ?? null],
    ["moves", address.slots?.moves ? String(address.slots.moves) : null],
    ["sort", order && `${order.down ? "-" : ""}${order.column}`],
  ];
  const said = words.filter((word): word is [string, string] => word[1] !== null);
  return new URLSearchParams(said).toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
}
