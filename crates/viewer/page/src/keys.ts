// Handles keyboard shortcuts and lists them in the help dialog.
import { element, find } from "./dom.ts";
import { load, save } from "./storage.ts";

/** A shortcut: the keys as named in events and as shown, a description, and an action. */
export interface Key { keys: string[]; shown: string; words: string; act(key: string): void }

/** The storage key for the setting that enables single-key shortcuts. */
const SINGLE_KEYS = "pavior-single-keys";

/** Handles keys pressed outside input fields. */
export function keys(all: Key[]): void {
  find("key-list").replaceChildren(...all.flatMap(({ shown, words }) => {
    const marks = shown.split(" ").flatMap((one) => [element("kbd", {}, one), " "]);
    return [element("dt", {}, ...marks), element("dd", {}, words)];
  }));
  const dialog = find<HTMLDialogElement>("keys"), single = find<HTMLInputElement>("single");
  find("help").onclick = () => dialog.showModal();
  single.checked = load(SINGLE_KEYS) !== "off";
  single.onchange = () => save(SINGLE_KEYS, single.checked ? "on" : "off");
  addEventListener("keydown", (event) => {
    const target = event.target as Element;
    const isField = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
    // On a focused button, the space bar presses the button instead.
    const isPressed = target.tagName === "BUTTON" && event.key === " ";
    if ((isField && event.key !== "Escape") || isPressed || target.closest("dialog")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.length === 1 && !single.checked) return;
    const known = all.find((one) => one.keys.includes(event.key));
    if (!known) return;
    event.preventDefault();
    known.act(event.key);
  });
}
