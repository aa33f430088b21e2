// Light and dark mode, and the colors used on canvases.
import { load, save } from "./storage.ts";

export interface Paper {
  ink: string;
  soft: string;
  faint: string;
  card: string;
  free: string;
  line: string;
  busy: string;
  largest: string;
  refused: string;
  moved: string;
}

const LIGHT: Paper = {
  ink: "#14202b", soft: "#51606e", faint: "#dfe6ec", card: "#ffffff", free: "#e4eaf0",
  line: "#6b7785", busy: "#1463b8", largest: "#0b7a4b", refused: "#b3261e", moved: "#0a6ed1",
};
const DARK: Paper = {
  ink: "#e8eef4", soft: "#a2b0be", faint: "#2a343f", card: "#171e26", free: "#222b35",
  line: "#8593a2", busy: "#6cb2ff", largest: "#62d39b", refused: "#ff8f86", moved: "#5fb0ff",
};

/** The box colors for a free place, an occupied place, and a reserved place. */
export const GREEN = 0x1fa855, RED = 0xe5352b, VIOLET = 0x8f5fe0;

const THEMES = ["system", "light", "dark"];
/** The name under which the chosen theme is stored. */
const THEME = "pavior-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

export const chosen = (): string => document.documentElement.dataset.theme ?? "system";
export const isDark = (): boolean =>
  chosen() === "dark" || (chosen() === "system" && system.matches);
export const paper = (dark: boolean): Paper => (dark ? DARK : LIGHT);

function choose(theme: string): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Applies the theme that the user chose last, and follows the system setting. */
export function begin(changed: () => void): void {
  const last = load(THEME);
  if (last && THEMES.includes(last)) choose(last);
  system.addEventListener("change", changed);
}

/** Switches to the next theme: system, light, dark, and back to system. */
export function next(): string {
  const theme = THEMES[(THEMES.indexOf(chosen()) + 1) % THEMES.length];
  choose(theme);
  save(THEME, theme);
  return theme;
}

/** Returns true if the user prefers reduced motion. */
export const isStill = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
