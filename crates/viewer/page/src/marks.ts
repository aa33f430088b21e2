// Marks drawn over a machine: places, and moves that would make room.
import type { Part } from "./model.ts";

/** A box to mark, with its color as a number. */
export interface Mark { part: Part; shade: number }
export interface Move { from: Part; to: Part }

/** Returns a color in CSS format. */
export const cssOf = (shade: number): string => `#${shade.toString(16).padStart(6, "0")}`;
