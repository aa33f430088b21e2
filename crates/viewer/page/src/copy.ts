// Copies text to the clipboard.
import { element, write } from "./dom.ts";

/** Copies text to the clipboard and shows a confirmation. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // The clipboard API is unavailable on pages loaded without encryption.
    const field = element("textarea", { value: text });
    const focused = document.activeElement;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
  write("spoken", "Copied.");
  const said = (document.activeElement ?? document.body) as HTMLElement;
  said.dataset.copied = "";
  setTimeout(() => delete said.dataset.copied, 1500);
}
