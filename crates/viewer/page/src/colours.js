// The colours of what holds nodes: told apart also by the colour-blind, in light and in dark.

/** After Okabe & Ito 2008, each in light and in dark, as in Pavior's other drawings. */
const SERIES = [
  ["#0072b2", "#58b0e8"], ["#d55e00", "#ff9a57"], ["#00795a", "#3fd0a4"], ["#b0508a", "#f0a3cd"],
  ["#8a6d00", "#e6c34a"], ["#5b4bb7", "#b0a4ff"], ["#a3282e", "#ff8d8d"],
];
/** How much lighter or darker the second and the third shade of a colour are. */
const SHADES = [0, 0.3, -0.28];
export const COLOURS = SERIES.length;
/** What has no colour of its own. */
const REST = ["#737d88", "#9aa5b1"];
const FAILED = ["#16191d", "#ffffff"], DRAINED = ["#51585f", "#c3cad2"];
/** From dark to light (after viridis). */
const AGES = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
/** The ages of the legend, and what they are called. */
export const AGE_TICKS = [[0, "0"], [60, "1 min"], [3600, "1 h"], [86400, "1 d"], [2592000, "30 d"]];

const rgb = (hex) => [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16) / 255);
export const css = (colour, opaque = 1) => `rgb(${colour.map((part) => Math.round(255 * part)).join(" ")} / ${opaque})`;
const themed = ([light, dark], isDark) => rgb(isDark ? dark : light);
export const failed = (isDark) => themed(FAILED, isDark);
export const drained = (isDark) => themed(DRAINED, isDark);

const hash = (text) => {
  let h = 2166136261;
  for (const c of String(text)) h = Math.imul(h ^ c.charCodeAt(0), 16777619);
  return h >>> 0;
};

/** A colour of the list in one of its shades. */
function shaded(index, isDark) {
  const base = themed(SERIES[index % COLOURS], isDark), by = SHADES[Math.floor(index / COLOURS) % SHADES.length];
  return base.map((part) => (by > 0 ? part + (1 - part) * by : part * (1 + by)));
}

/** A job's colour: by its number, so that it keeps it; jobs may share one. */
export const ofJob = (key, isDark) => shaded(hash(key) % (COLOURS * SHADES.length), isDark);

/** Where an age lies in the scale, from 0 to 1. */
export const ageShare = (seconds) => Math.min(1, Math.log10(1 + Math.max(0, seconds)) / Math.log10(1 + 2592000));

/** The colour of an age in seconds: the younger, the farther from the paper. */
export function ofAge(seconds, isDark) {
  const share = ageShare(seconds), at = (isDark ? 1 - share : share) * (AGES.length - 1), low = Math.min(AGES.length - 2, Math.floor(at));
  return AGES[low].map((part, index) => (part + (AGES[low + 1][index] - part) * (at - low)) / 255);
}

/**
 * The colours of the tenants: each has one of its own, as long as there are enough. A tenant's colour is
 * found from its name, or is the next one that no other tenant has; it keeps it while the page is open.
 * Tenants beyond the last colour share a grey.
 */
export class Tenants {
  constructor() { this.known = new Map(); }

  /** The place of a tenant's colour; null if all are taken. */
  place(name) {
    if (!this.known.has(name)) {
      const taken = new Set(this.known.values()), from = hash(name) % COLOURS;
      const free = [...Array(COLOURS).keys()].map((step) => (from + step) % COLOURS).find((one) => !taken.has(one));
      this.known.set(name, free ?? null);
    }
    return this.known.get(name);
  }

  colour(name, isDark) {
    const place = name === null ? null : this.place(name);
    return place === null ? themed(REST, isDark) : themed(SERIES[place], isDark);
  }
}
