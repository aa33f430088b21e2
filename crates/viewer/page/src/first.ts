// Shows a copyable command while the machine is idle.
import { copy } from "./copy.ts";
import { find, write } from "./dom.ts";
import type { Machine } from "./model.ts";

/** Quotes text as a single shell word. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the sides of a box on the machine, at most 2x3x2. */
const shape = ({ grid }: Machine): number[] =>
  [2, 3, 2].slice(0, grid.axes).map((side, axis) => Math.min(side, grid.sides[axis]));

/** Returns the command that requests the first lease from a service. */
export function curl(machine: Machine, name: string | null, hasToken: boolean): string {
  const body: Record<string, unknown> = { shape: shape(machine), ttl_s: 3600, job: "first" };
  if (name !== null) body.machine = name;
  const token = hasToken ? ` -H "Authorization: Bearer $TOKEN"` : "";
  return `curl -s ${location.origin}/v1/leases${token} --json ${quoted(JSON.stringify(body))}`;
}

/** Shows the command while no jobs are running or waiting, or nothing if the command is null. */
export function first(command: string | null, words: string): void {
  const place = find("first");
  place.hidden = command === null;
  if (command === null) return;
  write("first-words", words);
  write("first-command", command);
  find("first-copy").onclick = () => void copy(command);
}
