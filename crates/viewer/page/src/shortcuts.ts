// The keys of the page.
import { find } from "./dom.ts";
import type { Key } from "./keys.ts";

export interface Shortcuts {
  view(three: boolean): void;
  layer(step: number): void;
  nextColouring(): void;
  nextTheme(): void;
  play(): void;
  /** Steps by a fraction of the time axis, forward or back. */
  step(share: number): void;
  goLive(): void;
  whole(): void;
  clear(): void;
}

/** Does nothing: keys that the machine itself handles are only listed. */
const nothing = (): void => {};

export function shortcuts(acts: Shortcuts): Key[] {
  const { view, layer, step } = acts;
  const one = (key: string, words: string, act: () => void, shown = key): Key =>
    ({ keys: [key], shown, words, act });
  const two = (keys: string, words: string, act: (key: string) => void): Key =>
    ({ keys: keys.split(" "), shown: keys, words, act });
  return [
    two("2 3", "two or three dimensions", (key) => view(key === "3")),
    two("l L", "the next plane, the one before", (key) => layer(key === "l" ? 1 : -1)),
    one("c", "colour by job, tenant or age", acts.nextColouring),
    one("t", "light, dark, or as the system", acts.nextTheme),
    one("/", "search the list", () => find("search").focus()),
    one(" ", "play and pause", acts.play, "space"),
    two(", .", "a little back and forth in time", (key) => step(key === "," ? -0.01 : 0.01)),
    one("Home", "now", acts.goLive),
    one("0", "the whole machine in view, in 3D", acts.whole),
    one("Escape", "no job singled out, no place marked", acts.clear, "Esc"),
    {
      keys: [], shown: "← ↑ → ↓", act: nothing,
      words: "on the machine: from node to node in 2D, turn it in 3D; + and - zoom",
    },
    {
      keys: [], shown: "PgUp PgDn", act: nothing,
      words: "on the machine in 2D: from plane to plane",
    },
  ];
}
