// Light and dark mode, and the colors used on canvases.
import { find, write } from "./dom.ts";
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

/** The colors of free, occupied and reserved boxes. */
export const GREEN = 0x1fa855, RED = 0xe5352b, VIOLET = 0x8f5fe0;

const THEMES = ["system", "light", "dark"];
/** The storage key for the chosen theme. */
const THEME = "pavior-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

const chosen = (): string => document.documentElement.dataset.theme ?? "system";
export const isDark = (): boolean =>
  chosen() === "dark" || (chosen() === "system" && system.matches);
export const paper = (dark: boolean): Paper => (dark ? DARK : LIGHT);

function choose(theme: string): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  write("theme", `Theme: ${theme}`);
}

let redraw = (): void => {};

/** Applies the saved theme, and responds to the system setting and the theme button. */
export function begin(changed: () => void): void {
  const last = load(THEME);
  choose(last && THEMES.includes(last) ? last : "system");
  redraw = changed;
  system.addEventListener("change", changed);
  find("theme").onclick = next;
}

/** Switches to the next theme: system, light, dark, and back to system. */
export function next(): void {
  const theme = THEMES[(THEMES.indexOf(chosen()) + 1) % THEMES.length];
  choose(theme);
  save(THEME, theme);
  redraw();
}

/** Returns true if the user prefers reduced motion. */
export const isStill = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
