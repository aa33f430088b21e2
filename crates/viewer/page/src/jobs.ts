// Which job has which colour.
import { COLOURS, hash } from "./colours.ts";
import { type Key, type Lease, type Machine, nodesOf, number, point } from "./model.ts";

/** So many jobs are remembered before those are forgotten that hold nothing. */
const MOST = 50_000;

/**
 * A job keeps its colour while the page is open. It is found from the job's number, or is the next
 * one that no other job has. Where more jobs run than there are colours, it is the next one that no
 * job beside it has; only where all are taken do neighbours share one.
 */
export class Jobs {
  private readonly known = new Map<Key, number>();

  /** The place of a job's colour. */
  place(machine: Machine, lease: Lease): number {
    const known = this.known.get(lease.key);
    if (known !== undefined) return known;
    if (this.known.size >= MOST)
      for (const key of this.known.keys()) if (!machine.leases.has(key)) this.known.delete(key);
    const few = machine.leases.size <= COLOURS;
    const others = few ? machine.leases.keys() : beside(machine, lease);
    const taken = new Set([...others].map((key) => this.known.get(key)));
    const from = hash(lease.key) % COLOURS;
    const all = [...Array(COLOURS).keys()].map((step) => (from + step) % COLOURS);
    const place = all.find((one) => !taken.has(one)) ?? from;
    this.known.set(lease.key, place);
    return place;
  }
}

/** The jobs that hold a neighbour of a node of a lease. */
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
