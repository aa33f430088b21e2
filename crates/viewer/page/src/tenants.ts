// Which tenant has which colour.
import { COLOURS, hash } from "./colours.ts";
import { PATTERNS } from "./hatch.ts";

/**
 * Each tenant has a colour of its own, as long as there are enough; then a colour with a pattern of
 * its own. It is found from the tenant's name, or is the next one that no other tenant has; the
 * tenant keeps it while the page is open. Tenants beyond the last one share a grey.
 */
export class Tenants {
  private readonly known = new Map<string, number | null>();

  /** The place of a tenant's colour and pattern; null if all are taken. */
  place(name: string): number | null {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const taken = new Set(this.known.values()), from = hash(name) % COLOURS;
    const all = [...Array(PATTERNS * COLOURS).keys()].map((step) =>
      ((from + step) % COLOURS) + COLOURS * Math.floor(step / COLOURS));
    const free = all.find((one) => !taken.has(one)) ?? null;
    this.known.set(name, free);
    return free;
  }
}
