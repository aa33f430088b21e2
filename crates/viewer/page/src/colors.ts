// Colors for jobs and tenants, distinct even to color-blind users, in light and dark mode.

/** Red, green and blue from 0 to 1. */
export type Color = number[];

/** A color and the number of the pattern drawn over it, where 0 means none. */
export interface Shade { color: Color; pattern: number }

/** The colors in light and dark mode. A search chose these twelve to maximize the differences
 * between them, also as seen by people who lack one type of cone. Their contrast with free nodes
 * and the background is at least 3:1. A test in this crate checks these properties. */
const SERIES: [string, string][] = [
  ["#2f84f1", "#1090fc"], ["#b41c36", "#cf3b56"], ["#e05905", "#ffdb09"], ["#562fa9", "#d3acff"],
  ["#0c5586", "#aff2ff"], ["#23951d", "#6aff99"], ["#645100", "#b97b02"], ["#8b4ec8", "#9855c1"],
  ["#007559", "#42c2bf"], ["#d456aa", "#ff8a8e"], ["#ae7860", "#85b915"], ["#8c0669", "#377f7a"],
];
export const COLORS = SERIES.length;
/** The color of everything that is not assigned its own color. */
const REST: [string, string] = ["#737d88", "#9aa5b1"];
const FAILED: [string, string] = ["#16191d", "#ffffff"];
const DRAINED: [string, string] = ["#51585f", "#c3cad2"];
/** The age scale, from dark to light (based on viridis). */
const AGES = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
/** The age at the end of the scale, in seconds. */
const OLDEST = 2592000;
/** The ages in the legend, and their labels. */
export const AGE_TICKS: [number, string][] =
  [[0, "0"], [60, "1 min"], [3600, "1 h"], [86400, "1 d"], [OLDEST, "30 d"]];

export const rgb = (hex: string): Color =>
  [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16) / 255);
export const css = (color: Color, opaque = 1): string =>
  `rgb(${color.map((part) => Math.round(255 * part)).join(" ")} / ${opaque})`;
const themed = ([light, dark]: [string, string], isDark: boolean): Color =>
  rgb(isDark ? dark : light);
export const failed = (isDark: boolean): Color => themed(FAILED, isDark);
export const drained = (isDark: boolean): Color => themed(DRAINED, isDark);

export const hash = (text: unknown): number => {
  let h = 2166136261;
  for (const c of String(text)) h = Math.imul(h ^ c.charCodeAt(0), 16777619);
  return h >>> 0;
};

/** Returns the job color with this index. */
export const ofJob = (place: number, isDark: boolean): Color => themed(SERIES[place], isDark);

/** Returns an age's position on the scale, from 0 to 1. */
export const ageShare = (seconds: number): number =>
  Math.min(1, Math.log10(1 + Math.max(0, seconds)) / Math.log10(1 + OLDEST));
/** Returns the age in seconds at a position on the scale. */
export const ageAt = (share: number): number => (1 + OLDEST) ** share - 1;

/** Returns the color for an age in seconds. Younger jobs contrast more with the background. */
export function ofAge(seconds: number, isDark: boolean): Color {
  const share = ageShare(seconds), at = (isDark ? 1 - share : share) * (AGES.length - 1);
  const low = Math.min(AGES.length - 2, Math.floor(at));
  return AGES[low].map((part, index) => (part + (AGES[low + 1][index] - part) * (at - low)) / 255);
}

/** Returns the tenant color and pattern with this index; null means the shared gray. */
export const ofTenant = (place: number | null, isDark: boolean): Shade => ({
  color: themed(place === null ? REST : SERIES[place % COLORS], isDark),
  pattern: Math.floor((place ?? 0) / COLORS),
});

/** Returns a color's relative luminance, from 0 to 1, as defined by WCAG. */
export function luminance(color: Color): number {
  const linear = (part: number) =>
    (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2]);
}

/** Returns black or white, whichever is more readable on a color. */
export const inkOn = (color: Color): string => (luminance(color) > 0.19 ? "#000" : "#fff");
