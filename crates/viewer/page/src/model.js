// A machine at an instant: who holds which node.
import { Tenants, drained, failed, ofAge, ofJob } from "./colours.js";
import { timeOf } from "./times.js";

/** The tenants keep their colours from one instant to another. */
const known = new Tenants();

/** Reads `mesh:16x16`, `torus:8x8x8` or `grid:8wx4x4w`. */
export function grid(text) {
  const [kind, rest] = text.split(":");
  const sides = [], wraps = [];
  for (const side of rest.split("x")) {
    sides.push(parseInt(side, 10));
    wraps.push(kind === "torus" || side.endsWith("w"));
  }
  const axes = sides.length;
  while (sides.length < 3) { sides.push(1); wraps.push(false); }
  return { text, sides, wraps, axes, nodes: sides[0] * sides[1] * sides[2] };
}

/** The nodes of a box, as numbers, x fastest; a box may pass the end of an axis that wraps. */
export function* nodesOf(g, part) {
  const [w, d, h] = g.sides;
  const base = [0, 1, 2].map((axis) => part.base[axis] ?? 0);
  const sides = [0, 1, 2].map((axis) => part.sides[axis] ?? 1);
  for (let k = 0; k < sides[2]; k++)
    for (let j = 0; j < sides[1]; j++)
      for (let i = 0; i < sides[0]; i++)
        yield ((base[0] + i) % w) + w * (((base[1] + j) % d) + d * ((base[2] + k) % h));
}

export const number = (g, at) => at[0] + g.sides[0] * ((at[1] ?? 0) + g.sides[1] * (at[2] ?? 0));

/** A box as boxes that do not pass an end. */
export function pieces(g, part) {
  let all = [{ base: [], sides: [] }];
  for (const axis of [0, 1, 2]) {
    const base = part.base[axis] ?? 0, side = part.sides[axis] ?? 1, over = base + side - g.sides[axis];
    const cuts = over > 0 && base > 0 ? [[base, side - over], [0, over]] : [[base, side]];
    all = all.flatMap((piece) => cuts.map(([from, size]) => ({ base: [...piece.base, from], sides: [...piece.sides, size] })));
  }
  return all;
}

export class Machine {
  constructor(g) {
    this.grid = g;
    this.leases = new Map();
    this.waiting = new Map();
    this.failed = new Set();
    this.drained = new Set();
    this.holder = new Array(g.nodes).fill(null);
    this.seq = 0;
    this.now = 0;
    this.tenants = known;
  }

  /** The state that the service answers. */
  static of(state) {
    const machine = new Machine(grid(state.machine));
    machine.seq = state.seq;
    machine.now = timeOf(state, "now") ?? 0;
    state.leases.forEach((lease, index) => machine.hold({ ...lease, isOther: (lease.id ?? null) === null }, lease.id ?? `other ${index}`));
    for (const one of state.waiting) machine.waiting.set(one.id, one);
    for (const at of state.failed) machine.failed.add(number(machine.grid, at));
    for (const at of state.drained) machine.drained.add(number(machine.grid, at));
    return machine;
  }

  hold(lease, key = lease.id) {
    this.waiting.delete(key);
    lease.begins = timeOf(lease, "start");
    this.leases.set(key, lease);
    for (const part of lease.parts)
      for (const node of nodesOf(this.grid, part)) this.holder[node] = key;
  }

  release(key) {
    const lease = this.leases.get(key);
    if (!lease) return void this.waiting.delete(key);
    this.leases.delete(key);
    for (const part of lease.parts)
      for (const node of nodesOf(this.grid, part)) this.holder[node] = null;
  }

  /** Takes over an event of the service. */
  apply(kind, event, name) {
    if (event.seq <= this.seq) return;
    this.seq = event.seq;
    this.now = Math.max(this.now, timeOf(event, "at") ?? 0);
    if (kind === "granted" && event.lease.machine === name) this.hold(event.lease);
    if (kind === "queued" && event.waiting.machine === name) this.waiting.set(event.waiting.id, event.waiting);
    if (kind === "ended") this.release(event.id);
    if (kind === "node" && event.machine === name) {
      const node = number(this.grid, event.node);
      this.failed.delete(node);
      this.drained.delete(node);
      if (event.state === "failed") this.failed.add(node);
      if (event.state === "drained") this.drained.add(node);
    }
  }

  counts() {
    let busy = 0, lost = 0;
    for (let node = 0; node < this.grid.nodes; node++) {
      if (this.holder[node] !== null) busy++;
      else if (this.failed.has(node) || this.drained.has(node)) lost++;
    }
    return { busy, lost, free: this.grid.nodes - busy - lost };
  }
}

/** Whose a lease is; "" is the operator, null a tenant that the reader may not know. */
export const tenantOf = (lease) => (lease.isOther ? null : lease.tenant ?? "");

/** The colour of a node, as red, green and blue from 0 to 1, by what is to be told apart; null if free. */
export function colour(machine, node, by, dark) {
  const key = machine.holder[node];
  if (key === null) {
    if (machine.failed.has(node)) return failed(dark);
    if (machine.drained.has(node)) return drained(dark);
    return null;
  }
  return colourOf(machine, key, by, dark);
}

/** The colour of a job. */
export function colourOf(machine, key, by, dark) {
  const lease = machine.leases.get(key);
  if (by === "age") return ofAge((machine.now - (lease.begins ?? machine.now)) / 1000, dark);
  return by === "tenant" ? machine.tenants.colour(tenantOf(lease), dark) : ofJob(key, dark);
}
