// Planes of a machine. A plane consists of the nodes at one coordinate along an axis.
import type { Grid } from "./model.ts";

export const AXES = ["x", "y", "z"];

/** The planes to show across an axis: all of them, or only the one at a given coordinate. */
export interface Plane { axis: number; at: number | null }

export const EVERYTHING: Plane = { axis: 2, at: null };

const NUMBER_STEPS = [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 256, 512, 1024];

/**
 * Returns the smallest step between axis numbers that keeps them at least `apart` pixels apart,
 * given that a node takes `size` pixels.
 */
export const numberStep = (size: number, apart: number): number =>
  NUMBER_STEPS.find((step) => step * size >= apart) ?? 4096;

/** Returns the two axes of a plane, the horizontal one first. */
export const seenIn = (plane: Plane): [number, number] =>
  plane.axis === 2 ? [0, 1] : plane.axis === 1 ? [0, 2] : [1, 2];

/** Returns true if a machine has several planes across an axis. */
export const hasPlanes = (g: Grid): boolean => g.axes === 3 && g.sides[2] > 1;

/** Returns the given plane if the machine has it, otherwise all planes. */
export function within(g: Grid, plane: Plane): Plane {
  if (!hasPlanes(g)) return EVERYTHING;
  const isThere = plane.at === null || (plane.at >= 0 && plane.at < g.sides[plane.axis]);
  return isThere ? plane : { axis: plane.axis, at: null };
}

/** Returns the next or previous plane. Past the first or last plane, returns all planes. */
export function next(g: Grid, { axis, at }: Plane, step: number): Plane {
  const count = g.sides[axis], to = (at ?? (step > 0 ? -1 : count)) + step;
  return { axis, at: to < 0 || to >= count ? null : to };
}

/** Returns a predicate that is true for the nodes in a plane. */
export function lies(g: Grid, { axis, at }: Plane): (node: number) => boolean {
  if (at === null) return () => true;
  const stride = [1, g.sides[0], g.sides[0] * g.sides[1]][axis], side = g.sides[axis];
  return (node) => Math.floor(node / stride) % side === at;
}
