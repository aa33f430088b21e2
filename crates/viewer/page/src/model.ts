// A machine's state at one time: leases and their nodes.
import { Tenants } from "./tenants.ts";
import { millis } from "./times.ts";

/** The number or name of a lease, request or job. */
export type Key = number | string;
export interface Part { base: number[]; sides: number[] }

/** A grid such as `mesh:16x16`, `torus:8x8x8` or `grid:8wx4x4w`. Missing axes have a side of 1. */
export interface Grid {
  text: string;
  sides: number[];
  wraps: boolean[];
  axes: number;
  nodes: number;
}

/** A lease to display. For another tenant's lease, only the place and start are known. */
export interface Lease {
  key: Key;
  job: Key | null;
  tenant: string | null;
  isOther: boolean;
  parts: Part[];
  nodes: number;
  requested: number | null;
  begins: number | null;
  ends: number | null;
}

export interface Waiting {
  key: Key;
  job: Key | null;
  tenant: string | null;
  nodes: number;
  shape: number[] | null;
  asked: number | null;
}

/** Data from the service. Members are checked where they are used. */
export type Raw = Record<string, any>;

export function grid(text: string): Grid {
  const [kind, rest = ""] = text.split(":");
  const sides: number[] = [], wraps: boolean[] = [];
  for (const side of rest.split("x")) {
    sides.push(parseInt(side, 10));
    wraps.push(kind === "torus" || side.endsWith("w"));
  }
  const axes = sides.length;
  while (sides.length < 3) { sides.push(1); wraps.push(false); }
  return { text, sides, wraps, axes, nodes: sides[0] * sides[1] * sides[2] };
}

export const volume = (part: Part): number =>
  part.sides.reduce((product, side) => product * side, 1);
export const size = (parts: Part[]): number => parts.reduce((sum, part) => sum + volume(part), 0);

/** Returns the nodes in a box, with x varying fastest. A box may wrap around the end of an axis. */
export function* nodesOf(g: Grid, part: Part): Generator<number> {
  const [w, d, h] = g.sides;
  const base = [0, 1, 2].map((axis) => part.base[axis] ?? 0);
  const sides = [0, 1, 2].map((axis) => part.sides[axis] ?? 1);
  for (let k = 0; k < sides[2]; k++)
    for (let j = 0; j < sides[1]; j++)
      for (let i = 0; i < sides[0]; i++)
        yield ((base[0] + i) % w) + w * (((base[1] + j) % d) + d * ((base[2] + k) % h));
}

export const number = (g: Grid, at: number[]): number =>
  at[0] + g.sides[0] * ((at[1] ?? 0) + g.sides[1] * (at[2] ?? 0));

/** Returns the three coordinates of a node. */
export function point(g: Grid, node: number): number[] {
  const [w, d] = g.sides;
  return [node % w, Math.floor(node / w) % d, Math.floor(node / (w * d))];
}

/** Splits a box into boxes that do not wrap around. */
export function pieces(g: Grid, part: Part): Part[] {
  let all: Part[] = [{ base: [], sides: [] }];
  for (const axis of [0, 1, 2]) {
    const base = part.base[axis] ?? 0, side = part.sides[axis] ?? 1;
    const over = base + side - g.sides[axis];
    const cuts = over > 0 && base > 0 ? [[base, side - over], [0, over]] : [[base, side]];
    all = all.flatMap((piece) => cuts.map(([from, length]) =>
      ({ base: [...piece.base, from], sides: [...piece.sides, length] })));
  }
  return all;
}

export class Machine {
  readonly grid: Grid;
  readonly leases = new Map<Key, Lease>();
  readonly waiting = new Map<Key, Waiting>();
  readonly failed = new Set<number>();
  readonly drained = new Set<number>();
  /** The lease that holds each node. */
  readonly holder: (Key | null)[];
  /** The number of the latest record that the state includes. */
  seq = 0;
  /** The time, in milliseconds. */
  now = 0;
  /** A version number that increases with every change. */
  version = 0;
  readonly tenants: Tenants = known;

  constructor(g: Grid) {
    this.grid = g;
    this.holder = new Array(g.nodes).fill(null);
  }

  /** Creates the machine from the service's state. */
  static of(state: Raw): Machine {
    const machine = new Machine(grid(state.machine));
    machine.seq = state.seq;
    machine.now = millis(state.now) ?? 0;
    state.leases.forEach((lease: Raw, index: number) => machine.hold(lease, `other ${index}`));
    for (const one of state.waiting) machine.wait(one);
    for (const at of state.failed) machine.failed.add(number(machine.grid, at));
    for (const at of state.drained) machine.drained.add(number(machine.grid, at));
    return machine;
  }

  /** Adds a lease from the service. Another tenant's lease has no id, so `other` is its key. */
  hold(raw: Raw, other = ""): void {
    this.version++;
    const isOther = (raw.id ?? null) === null;
    const key: Key = isOther ? other : raw.id;
    this.waiting.delete(key);
    this.leases.set(key, {
      key, isOther, job: raw.job ?? null, tenant: raw.tenant ?? null, parts: raw.parts,
      nodes: raw.nodes ?? size(raw.parts), requested: raw.requested ?? null,
      begins: millis(raw.start), ends: millis(raw.expires),
    });
    for (const part of raw.parts)
      for (const node of nodesOf(this.grid, part)) this.holder[node] = key;
  }

  wait(raw: Raw): void {
    this.version++;
    this.waiting.set(raw.id, {
      key: raw.id, job: raw.job ?? null, tenant: raw.tenant ?? null, nodes: raw.requested,
      shape: raw.shape ?? null, asked: millis(raw.asked),
    });
  }

  release(key: Key): void {
    this.version++;
    const lease = this.leases.get(key);
    if (!lease) return void this.waiting.delete(key);
    this.leases.delete(key);
    for (const part of lease.parts)
      for (const node of nodesOf(this.grid, part)) this.holder[node] = null;
  }

  /** Applies an event from the service. */
  apply(kind: string, event: Raw, name: string | null): void {
    if (event.seq <= this.seq) return;
    this.seq = event.seq;
    this.now = Math.max(this.now, millis(event.at) ?? 0);
    if (kind === "granted" && event.lease.machine === name) this.hold(event.lease);
    if (kind === "queued" && event.waiting.machine === name) this.wait(event.waiting);
    if (kind === "ended") this.release(event.id);
    if (kind === "renewed") {
      const lease = this.leases.get(event.id);
      if (lease) lease.ends = millis(event.expires);
      this.version++;
    }
    if (kind === "node" && event.machine === name) {
      const node = number(this.grid, event.node);
      this.version++;
      this.failed.delete(node);
      this.drained.delete(node);
      if (event.state === "failed") this.failed.add(node);
      if (event.state === "drained") this.drained.add(node);
    }
  }

  isFree(node: number): boolean {
    return this.holder[node] === null && !this.failed.has(node) && !this.drained.has(node);
  }

  /** Counts busy, free, failed and drained nodes. A node that is held counts only as busy. */
  counts(): { busy: number; free: number; failed: number; drained: number } {
    let busy = 0, failed = 0, drained = 0;
    for (let node = 0; node < this.grid.nodes; node++) {
      if (this.holder[node] !== null) busy++;
      else if (this.failed.has(node)) failed++;
      else if (this.drained.has(node)) drained++;
    }
    return { busy, failed, drained, free: this.grid.nodes - busy - failed - drained };
  }

  /** Returns the key of a lease or request, given its name in the URL. */
  keyOf(text: string | null): Key | null {
    if (text === null) return null;
    if (this.leases.has(text) || this.waiting.has(text)) return text;
    const number = Number(text);
    return this.leases.has(number) || this.waiting.has(number) ? number : null;
  }
}

/** The colors assigned to tenants. A tenant's color does not change over time. */
const known = new Tenants();

/** Returns a lease's owner: "" for the operator, null for a tenant whose name is hidden. */
export const tenantOf = (lease: Lease): string | null =>
  (lease.isOther ? null : lease.tenant ?? "");
