// Marks over a machine: places, and moves that would make room.
import type { Part } from "./model.ts";

/** A box and its color as a number. */
export interface Mark { part: Part; shade: number }
export interface Move { from: Part; to: Part }

/** Returns a color in the format of style sheets. */
export const cssOf = (shade: number): string => `#${shade.toString(16).padStart(6, "0")}`;
