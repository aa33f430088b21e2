// The colour of a node and of a job, by what is to be told apart.
import { type Colour, drained, failed, ofAge, ofJob, ofTenant } from "./colours.ts";
import { type Key, type Lease, type Machine, tenantOf } from "./model.ts";

export type By = "job" | "tenant" | "age";
export const COLOURINGS: By[] = ["job", "tenant", "age"];

/** The colour of a tenant; null is one that the reader may not know. */
export function tenantColour(machine: Machine, name: string | null, dark: boolean): Colour {
  return ofTenant(name === null ? null : machine.tenants.place(name), dark);
}

export function colourOf(machine: Machine, lease: Lease, by: By, dark: boolean): Colour {
  if (by === "age") return ofAge((machine.now - (lease.begins ?? machine.now)) / 1000, dark);
  return by === "tenant" ? tenantColour(machine, tenantOf(lease), dark) : ofJob(lease.key, dark);
}

/** The colours of the nodes, each job's looked up once; null of a node that is free. */
export function nodeColours(
  machine: Machine, by: By, dark: boolean,
): (node: number) => Colour | null {
  const known = new Map<Key, Colour>(), lost = [failed(dark), drained(dark)];
  return (node) => {
    const key = machine.holder[node];
    if (key === null)
      return machine.failed.has(node) ? lost[0] : machine.drained.has(node) ? lost[1] : null;
    let colour = known.get(key);
    if (!colour) {
      const lease = machine.leases.get(key);
      colour = lease ? colourOf(machine, lease, by, dark) : lost[1];
      known.set(key, colour);
    }
    return colour;
  };
}
