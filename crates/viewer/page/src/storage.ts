// Stores the user's choices in the browser. If the browser forbids this, the choices are lost when
// the page is closed.

export function load(key: string): string | null {
  try { return localStorage.getItem(key); } catch { return null; }
}

export function save(key: string, value: string): void {
  try { localStorage.setItem(key, value); } catch { /* applies to this page only */ }
}
