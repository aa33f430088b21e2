// Choices of the user that outlast the page. They last only as long as the page if the browser
// forbids storage.

export function load(key: string): string | null {
  try { return localStorage.getItem(key); } catch { return null; }
}

export function save(key: string, value: string): void {
  try { localStorage.setItem(key, value); } catch { /* applies to this page only */ }
}
