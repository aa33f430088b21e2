// Which tenant has which colour.
import { COLOURS, hash } from "./colours.ts";

/**
 * Each tenant has a colour of its own, as long as there are enough. It is found from the tenant's
 * name, or is the next one that no other tenant has; the tenant keeps it while the page is open.
 * Tenants beyond the last colour share a grey.
 */
export class Tenants {
  private readonly known = new Map<string, number | null>();

  /** The place of a tenant's colour; null if all are taken. */
  place(name: string): number | null {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const taken = new Set(this.known.values()), from = hash(name) % COLOURS;
    const all = [...Array(COLOURS).keys()].map((step) => (from + step) % COLOURS);
    const free = all.find((one) => !taken.has(one)) ?? null;
    this.known.set(name, free);
    return free;
  }
}
