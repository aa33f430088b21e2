// Finds and changes elements of the page. Text is always inserted as text, never as HTML.

export function find<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found as T;
}

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

/** Sets attributes that have no corresponding property, such as ARIA attributes. */
export function attributes<T extends Element>(one: T, all: Record<string, string | null>): T {
  for (const [name, value] of Object.entries(all)) {
    if (value === null) one.removeAttribute(name);
    else if (one.getAttribute(name) !== value) one.setAttribute(name, value);
  }
  return one;
}

/** Replaces an element's text only if it has changed, so that screen readers do not repeat it. */
export function write(id: string, text: string): void {
  const place = find(id);
  if (place.textContent !== text) place.textContent = text;
}

/**
 * Converts user text to a single line. Characters that are invisible or change the writing
 * direction are replaced by a mark, and long text is truncated.
 */
export function plain(text: unknown, most = 80): string {
  const shown = String(text ?? "").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{fffd}");
  const letters = [...shown];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : shown;
}

export const many = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
