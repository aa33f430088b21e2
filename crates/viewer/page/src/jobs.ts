// Assigns colors to jobs.
import { COLORS, hash } from "./colors.ts";
import { type Key, type Lease, type Machine, nodesOf, number, point } from "./model.ts";

/** The maximum number of jobs to remember before those that hold no nodes are forgotten. */
const MOST = 50_000;

/** The jobs' colors, which stay the same while the page is open. A color is computed from the job's
 * number; if that color is taken, the next unused one is chosen. If there are more jobs than
 * colors, only the colors of adjacent jobs count as taken, so that neighbors share a color only if
 * they must. */
export class Jobs {
  private readonly known = new Map<Key, number>();

  /** Returns the index of a job's color. */
  place(machine: Machine, lease: Lease): number {
    const known = this.known.get(lease.key);
    if (known !== undefined) return known;
    if (this.known.size >= MOST)
      for (const key of this.known.keys()) if (!machine.leases.has(key)) this.known.delete(key);
    const few = machine.leases.size <= COLORS;
    const others = few ? machine.leases.keys() : beside(machine, lease);
    const taken = new Set([...others].map((key) => this.known.get(key)));
    const from = hash(lease.key) % COLORS;
    const all = [...Array(COLORS).keys()].map((step) => (from + step) % COLORS);
    const place = all.find((one) => !taken.has(one)) ?? from;
    this.known.set(lease.key, place);
    return place;
  }
}

/** Returns the jobs that hold nodes adjacent to a lease's nodes. */
function beside({ grid, holder }: Machine, lease: Lease): Set<Key> {
  const found = new Set<Key>();
  for (const part of lease.parts)
    for (const node of nodesOf(grid, part)) {
      const at = point(grid, node);
      for (let axis = 0; axis < grid.axes; axis++)
        for (const step of [1, grid.sides[axis] - 1]) {
          const next = [...at];
          next[axis] = (at[axis] + step) % grid.sides[axis];
          const key = holder[number(grid, next)];
          if (key !== null && key !== lease.key) found.add(key);
        }
    }
  return found;
}
