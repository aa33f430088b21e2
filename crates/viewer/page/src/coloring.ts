// Colors nodes and jobs by job, tenant or age.
import { type Shade, drained, failed, ofAge, ofJob, ofTenant } from "./colors.ts";
import { Jobs } from "./jobs.ts";
import { type Key, type Lease, type Machine, tenantOf } from "./model.ts";

export type By = "job" | "tenant" | "age";
export const COLORINGS: By[] = ["job", "tenant", "age"];

/** The colors assigned to jobs. A job's color does not change over time. */
const jobs = new Jobs();

/** Returns a tenant's color; null means a tenant whose name is hidden. */
export function tenantShade(machine: Machine, name: string | null, dark: boolean): Shade {
  return ofTenant(name === null ? null : machine.tenants.place(name), dark);
}

export function shadeOf(machine: Machine, lease: Lease, by: By, dark: boolean): Shade {
  if (by === "tenant") return tenantShade(machine, tenantOf(lease), dark);
  if (by === "job") return { color: ofJob(jobs.place(machine, lease), dark), pattern: 0 };
  const age = (machine.now - (lease.begins ?? machine.now)) / 1000;
  return { color: ofAge(age, dark), pattern: 0 };
}

/** Returns each node's color, or null for a free node. Each job's color is looked up only once. */
export function nodeShades(
  machine: Machine, by: By, dark: boolean,
): (node: number) => Shade | null {
  const known = new Map<Key, Shade>();
  const lost = [failed(dark), drained(dark)].map((color) => ({ color, pattern: 0 }));
  return (node) => {
    const key = machine.holder[node];
    if (key === null)
      return machine.failed.has(node) ? lost[0] : machine.drained.has(node) ? lost[1] : null;
    let shade = known.get(key);
    if (!shade) {
      const lease = machine.leases.get(key);
      shade = lease ? shadeOf(machine, lease, by, dark) : lost[1];
      known.set(key, shade);
    }
    return shade;
  };
}
