// Finds the largest free box on the displayed machine.
import type { Machine, Part } from "./model.ts";

/** The maximum size of a machine to search, in nodes. A longer search would block the page. */
const MOST_NODES = 40_000;

/** A rectangle in a mask of w by d cells. The mask's axes may wrap around. */
interface Rectangle { area: number; base: [number, number]; sides: [number, number] }

/** Finds the largest rectangle of free cells in a plane. For each row, the columns of free cells
 * that end in this row are processed as a histogram of their heights. An axis that wraps around is
 * traversed twice. Takes O(w d) time, four times as much if both axes wrap. */
function rectangle(free: Uint8Array, w: number, d: number, wraps: boolean[]): Rectangle {
  let best: Rectangle = { area: 0, base: [0, 0], sides: [0, 0] };
  const across = wraps[0] ? 2 * w : w, rows = wraps[1] ? 2 * d : d;
  const height = new Int32Array(w), starts: number[] = [], heights: number[] = [];
  for (let row = 0; row < rows; row++) {
    const j = row % d;
    for (let i = 0; i < w; i++) height[i] = free[j * w + i] ? Math.min(d, height[i] + 1) : 0;
    starts.length = heights.length = 0;
    for (let i = 0; i <= across; i++) {
      const now = i < across ? height[i % w] : 0;
      let start = i;
      while (heights.length && heights[heights.length - 1] >= now) {
        const tall = heights.pop() as number;
        start = starts.pop() as number;
        const wide = Math.min(w, i - start), area = wide * tall;
        const isRounder = area === best.area && wide + tall < best.sides[0] + best.sides[1];
        if (area > best.area || (area > 0 && isRounder))
          best = { area, base: [start % w, (row - tall + 1 + d) % d], sides: [wide, tall] };
      }
      starts.push(start);
      heights.push(now);
    }
  }
  return best;
}

/** Returns the free nodes, one byte per node. */
function freeNodes(machine: Machine): Uint8Array {
  const free = new Uint8Array(machine.grid.nodes);
  for (let node = 0; node < free.length; node++) free[node] = machine.isFree(node) ? 1 : 0;
  return free;
}

/**
 * Finds the largest free box. Returns null if no node is free, and undefined if the machine is too
 * large to search. Ties go to the most compact box. Each range of planes across the last axis is
 * extended for as long as it could still contain the largest box.
 */
export function largestFree(machine: Machine): Part | null | undefined {
  const { sides: [w, d, h], wraps, nodes, axes } = machine.grid;
  if (nodes > MOST_NODES) return undefined;
  const free = freeNodes(machine), flat = w * d, mask = new Uint8Array(flat);
  let best: Part | null = null, most = 0, roundest = Infinity;
  for (let from = 0; from < h; from++) {
    mask.fill(1);
    const last = wraps[2] ? h : h - from;
    for (let deep = 1; deep <= last; deep++) {
      const plane = ((from + deep - 1) % h) * flat;
      let left = 0;
      for (let cell = 0; cell < flat; cell++) left += mask[cell] &= free[plane + cell];
      if (left * last < most || left === 0) break;
      if (left * deep < most) continue;
      const { area, base, sides } = rectangle(mask, w, d, wraps);
      const sum = sides[0] + sides[1] + deep;
      if (area * deep > most || (area > 0 && area * deep === most && sum < roundest)) {
        most = area * deep;
        roundest = sum;
        const all = { base: [...base, from], sides: [...sides, deep] };
        best = { base: all.base.slice(0, axes), sides: all.sides.slice(0, axes) };
      }
    }
  }
  return best;
}

/** Caches the largest free box until the machine changes. */
export class Fits {
  private of: Machine | null = null;
  private version = -1;
  private found: Part | null | undefined;

  largest(machine: Machine): Part | null | undefined {
    if (machine !== this.of || machine.version !== this.version) {
      this.found = largestFree(machine);
      this.of = machine;
      this.version = machine.version;
    }
    return this.found;
  }
}
