// Describes jobs, places and tenants in words.
import { many, plain } from "./dom.ts";
import { type Grid, type Key, type Lease, type Machine, type Part } from "./model.ts";
import { point, tenantOf, volume } from "./model.ts";

export const sidesOf = (sides: number[]): string => sides.join("×");
export const place = (part: Part): string => `${sidesOf(part.sides)} at ${part.base.join(",")}`;
export const boxes = (parts: Part[]): string =>
  (parts.length === 1 ? sidesOf(parts[0].sides) : `${parts.length} boxes`);

/** Returns a job's name, which is hidden if the job belongs to another tenant. */
export const nameOf = (one: { job: Key | null; key: Key; isOther?: boolean }): string =>
  one.isOther ? "not yours" : plain(one.job ?? `#${one.key}`);

/** Returns words that refer to a lease's job, or to the lease if the job is unknown. */
export function jobOf(machine: Machine, key: Key): string {
  const lease = machine.leases.get(key);
  return lease ? `job ${nameOf(lease)}` : `lease ${key}`;
}

/** Returns words that refer to a tenant; null means a tenant whose name is hidden. */
export const tenantName = (name: string | null): string =>
  name === null ? "other tenants" : name === "" ? "operator" : plain(name, 40);

export const whose = (lease: Lease): string => {
  const name = tenantOf(lease);
  return name === null ? "another tenant" : tenantName(name);
};

/** Summarizes a machine's state in a sentence. */
export function summary(machine: Machine): string {
  const { busy, free, failed, drained } = machine.counts();
  const waiting = machine.waiting.size;
  return `${machine.grid.text}: ${busy} busy, ${free} free, ${failed + drained} unavailable nodes; `
    + `${many(machine.leases.size, "job")}, ${waiting} waiting.`;
}

/** The maximum number of boxes or nodes to list. */
const NAMED = 3;

/** Lists nodes, such as `(1,1), (2,1) and 4 more`. */
export function nodesAt(grid: Grid, nodes: number[]): string {
  const at = (node: number) => `(${point(grid, node).slice(0, grid.axes).join(",")})`;
  const named = nodes.slice(0, NAMED).map(at).join(", ");
  return nodes.length > NAMED ? `${named} and ${nodes.length - NAMED} more` : named;
}

export function where(parts: Part[]): string {
  const named = parts.slice(0, NAMED).map(place).join("; ");
  return parts.length > NAMED ? `${named}; and ${parts.length - NAMED} more` : named;
}

export const nodesIn = (part: Part): string => many(volume(part), "node");
