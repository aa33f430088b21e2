// The page's keyboard shortcuts.
import type { Dimensions } from "./address.ts";
import { find } from "./dom.ts";
import type { Key } from "./keys.ts";

export interface Shortcuts {
  view(dimensions: Dimensions): void;
  layer(step: number): void;
  nextColoring(): void;
  nextTheme(): void;
  play(): void;
  /** Steps forward or back by a fraction of the time axis. */
  step(share: number): void;
  goLive(): void;
  whole(): void;
  clear(): void;
}

export function shortcuts(acts: Shortcuts): Key[] {
  const { view, layer, step } = acts;
  const one = (key: string, words: string, act: () => void, shown = key): Key =>
    ({ keys: [key], shown, words, act });
  const two = (keys: string, words: string, act: (key: string) => void): Key =>
    ({ keys: keys.split(" "), shown: keys, words, act });
  // The machine view handles these keys itself.
  const handled = (shown: string, words: string): Key => ({ keys: [], shown, words, act() {} });
  return [
    two("2 3", "two or three dimensions", (key) => view(key === "3" ? "3d" : "2d")),
    two("l L", "next plane, previous plane", (key) => layer(key === "l" ? 1 : -1)),
    one("c", "color by job, tenant or age", acts.nextColoring),
    one("t", "light, dark, or system theme", acts.nextTheme),
    one("/", "search the list", () => find("search").focus()),
    one(" ", "play and pause", acts.play, "space"),
    two(", .", "step back or forward in time", (key) => step(key === "," ? -0.01 : 0.01)),
    one("Home", "now", acts.goLive),
    one("0", "show the whole machine, in 3D", acts.whole),
    one("Escape", "clear the selected job and the marked places", acts.clear, "Esc"),
    handled("← ↑ → ↓", "on the machine: move between nodes in 2D, rotate it in 3D; + and - zoom"),
    handled("PgUp PgDn", "on the machine in 2D: move between planes"),
  ];
}
