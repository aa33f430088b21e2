// Assigns colors to tenants.
import { COLORS, hash } from "./colors.ts";
import { PATTERNS } from "./hatch.ts";

/** The colors of tenants. Each tenant gets its own color until all colors are taken. Further
 * tenants get their own combinations of color and pattern. The choice is computed from the tenant's
 * name; if it is taken, the next unused one is used. A tenant's choice stays the same while the
 * page is open. Once all combinations are taken, further tenants share a gray. */
export class Tenants {
  private readonly known = new Map<string, number | null>();

  /** Returns the index of a tenant's color and pattern, or null if all combinations are taken. */
  place(name: string): number | null {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const taken = new Set(this.known.values()), from = hash(name) % COLORS;
    const all = [...Array(PATTERNS * COLORS).keys()].map((step) =>
      ((from + step) % COLORS) + COLORS * Math.floor(step / COLORS));
    const free = all.find((one) => !taken.has(one)) ?? null;
    this.known.set(name, free);
    return free;
  }
}
