// Key figures in large type: utilization, waiting requests, largest free box, unavailable nodes.
import { element, find, many, write } from "./dom.ts";
import { Fits } from "./fits.ts";
import type { Machine, Part, Waiting } from "./model.ts";
import { lasting } from "./times.ts";
import { nameOf, nodesAt, nodesIn, place, sidesOf } from "./words.ts";

const fits = new Fits();
const percent = (share: number): string =>
  `${share > 0 && share < 0.01 ? "<1" : share < 1 ? Math.floor(100 * share) : 100}%`;

/** Returns a machine's largest free box, or null if there is none or the machine is too large. */
export const largest = (machine: Machine): Part | null => fits.largest(machine) ?? null;

/** Draws a bar that shows the busy, unavailable and free nodes. */
function bar(busy: number, lost: number, nodes: number): void {
  const width = (count: number) => `${(100 * count) / nodes}%`;
  const parts = [["held", busy], ["lost", lost]] as const;
  find("bar").replaceChildren(...parts.map(([name, count]) => {
    const one = element("i", { className: name });
    one.style.width = width(count);
    return one;
  }));
}

function waiting(machine: Machine): void {
  const all = [...machine.waiting.values()];
  write("waiting-count", all.length.toLocaleString("en"));
  if (!all.length) return write("waiting-more", "no requests are waiting");
  const nodes = all.reduce((sum, one) => sum + one.nodes, 0);
  const asked = (one: Waiting) => one.asked ?? Infinity;
  const oldest = all.reduce((first, one) => (asked(one) < asked(first) ? one : first));
  const age = (machine.now - asked(oldest)) / 1000;
  const since = oldest.asked === null ? ""
    : `; longest wait: ${nameOf(oldest)}, ${lasting(age, 1)}`;
  write("waiting-more", `${many(nodes, "node")} requested${since}`);
}

function fitting(machine: Machine, free: number, known: number | null): void {
  const found = fits.largest(machine), show = find<HTMLButtonElement>("fits-show");
  show.hidden = !found;
  if (found === undefined) {
    write("fits-size", known === null ? "?" : known.toLocaleString("en"));
    return write("fits-more", known === null ? "not computed" : "nodes in the largest free box");
  }
  if (!found) {
    write("fits-size", "nothing");
    return write("fits-more", "no nodes are free");
  }
  write("fits-size", sidesOf(found.sides));
  show.setAttribute("aria-label", `Show the largest free box, ${place(found)}`);
  write("fits-more", `largest free box: ${nodesIn(found)} of ${free.toLocaleString("en")} free`);
}

/** Describes failed and drained nodes: first those that no job holds, then those held by jobs. */
function lost({ grid, holder, ...machine }: Machine): string {
  const words = [false, true].flatMap((isHeld) => (["failed", "drained"] as const).map((state) => {
    const found = [...machine[state]].filter((node) => (holder[node] !== null) === isHeld);
    const held = isHeld ? " held by jobs" : "";
    return found.length ? `${found.length} ${state}${held}: ${nodesAt(grid, found)}` : "";
  }));
  return words.filter(Boolean).join("; ") || "all nodes are healthy";
}

/** Updates the tiles. `known` is the largest free box's size on a machine too large to search. */
export function tiles(machine: Machine, known: number | null): void {
  const { busy, free, failed, drained } = machine.counts(), { nodes } = machine.grid;
  write("used-share", percent(busy / nodes));
  const jobs = many(machine.leases.size, "job");
  write("used-more", `${busy.toLocaleString("en")} of ${many(nodes, "node")}, ${jobs}`);
  bar(busy, failed + drained, nodes);
  waiting(machine);
  fitting(machine, free, known);
  write("lost-count", (failed + drained).toLocaleString("en"));
  write("lost-more", lost(machine));
}
