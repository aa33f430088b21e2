// Shows information about the node or time under the pointer.
import { element, find, many } from "./dom.ts";
import { type Machine, point } from "./model.ts";
import { type Clock, lasting } from "./times.ts";
import { boxes, nameOf, where, whose } from "./words.ts";

/** Describes a node in lines of text. The first line is a title. */
export function nodeLines(machine: Machine, node: number, clock: Clock): string[] {
  const { grid, now } = machine;
  const title = `Node ${point(grid, node).slice(0, grid.axes).join(",")}`;
  const key = machine.holder[node], lease = key === null ? undefined : machine.leases.get(key);
  const lost = machine.failed.has(node) ? "failed" : machine.drained.has(node) ? "drained" : null;
  if (!lease) return [title, lost ?? "free"];
  const of = lease.isOther || lease.tenant !== null ? ` of ${whose(lease)}` : "";
  const lines = [title, `job ${nameOf(lease)}${of}`];
  lines.push(`${boxes(lease.parts)} (${many(lease.nodes, "node")}): ${where(lease.parts)}`);
  if (lease.begins !== null)
    lines.push(`since ${clock.at(lease.begins)}, for ${lasting((now - lease.begins) / 1000)}`);
  if (lease.ends !== null)
    lines.push(`ends ${clock.at(lease.ends)}, in ${lasting(Math.max(0, lease.ends - now) / 1000)}`);
  if (lost) lines.push(`${lost} node; the job keeps it`);
  return lines;
}

export class Tip {
  private readonly box: HTMLElement;

  constructor(id: string) {
    this.box = find(id);
  }

  /** Shows lines at a position in the parent element, on whichever side has enough room. */
  show(lines: string[], x: number, y: number): void {
    const made = lines.map((line, index) => element(index ? "span" : "b", {}, line));
    this.box.replaceChildren(...made);
    this.box.hidden = false;
    const parent = this.box.offsetParent as HTMLElement | null;
    const room = { width: parent?.clientWidth ?? 0, height: parent?.clientHeight ?? 0 };
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const left = x + 14 + width > room.width ? x - 14 - width : x + 14;
    const top = Math.min(y + 12, room.height - height - 4);
    this.box.style.left = `${Math.max(4, Math.min(left, room.width - width - 4))}px`;
    this.box.style.top = `${Math.max(4, top)}px`;
  }

  hide(): void { this.box.hidden = true; }
}
