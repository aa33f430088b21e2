// Shows the color legend.
import { type By, tenantShade } from "./coloring.ts";
import {
  AGE_TICKS, COLORS, type Color, type Shade, ageAt, ageShare, css, drained, failed, ofAge, rgb,
} from "./colors.ts";
import { element } from "./dom.ts";
import { paint } from "./hatch.ts";
import { type Machine, size, tenantOf } from "./model.ts";
import { paper } from "./theme.ts";
import { tenantName } from "./words.ts";

/** An entry: a color and its meaning. An entry with a search is a button that starts the search. */
interface Item { shade: Shade; text: string; mark?: string; search?: string }

/** Returns the tenants that hold nodes, largest first. Tenants without a color share one item. */
function tenants(machine: Machine, dark: boolean): Item[] {
  const held = new Map<string | null, number>();
  for (const lease of machine.leases.values()) {
    const tenant = tenantOf(lease);
    held.set(tenant, (held.get(tenant) ?? 0) + size(lease.parts));
  }
  const holders = [...held].map(([tenant, nodes]) => ({
    tenant, nodes, name: tenantName(tenant), shade: tenantShade(machine, tenant, dark),
    hasColor: tenant !== null && machine.tenants.place(tenant) !== null,
  })).sort((a, b) => b.nodes - a.nodes || (a.name < b.name ? -1 : 1));
  const items: Item[] = holders.filter(({ hasColor }) => hasColor)
    .map(({ shade, name, nodes }) => ({ shade, text: `${name} (${nodes})`, search: name }));
  const others = holders.filter(({ hasColor }) => !hasColor);
  if (others.length) {
    const nodes = others.reduce((sum, other) => sum + other.nodes, 0);
    const text = others.length === 1
      ? others[0].name : `${others.length} more tenants, sharing a color`;
    items.push({ shade: others[0].shade, text: `${text} (${nodes})` });
  }
  return items;
}

/** Returns the age scale. */
function ages(dark: boolean): HTMLElement {
  const scale = element("span", { className: "scale" });
  const stops = [...Array(11).keys()].map((step) => step / 10);
  const colors = stops.map((share) => css(ofAge(ageAt(share), dark)));
  scale.style.background = `linear-gradient(to right, ${colors.join(", ")})`;
  for (const [age, text] of AGE_TICKS) {
    const tick = element("b", {}, text);
    tick.style.left = `${100 * ageShare(age)}%`;
    scale.append(tick);
  }
  return scale;
}

function item({ shade, text, mark, search }: Item, look: (search: string) => void): HTMLElement {
  const patch = element("i", { className: "patch" }, mark ?? "");
  paint(patch, shade);
  if (search === undefined) return element("span", {}, patch, text);
  const title = "search the list for this";
  const button = element("button", { type: "button", title }, patch, text);
  button.onclick = () => look(search);
  return button;
}

const WORDS: Record<By, string> = {
  job: `Each job has its own color. There are only ${COLORS}, so distant jobs may share one. ` +
    "Click a job to isolate it.",
  tenant: "Tenants and the number of nodes that each holds:",
  age: "Time since the job started:",
};

/** Updates the legend if its content changed. */
export function legend(
  place: HTMLElement, machine: Machine, by: By, dark: boolean, look: (search: string) => void,
): void {
  const items: Item[] = by === "tenant" ? tenants(machine, dark) : [];
  const words = by === "tenant" && !items.length ? "No tenant holds nodes." : WORDS[by];
  const is = (nodes: Set<number>) => [...nodes].some((node) => machine.holder[node] === null);
  const plain = (color: Color): Shade => ({ color, pattern: 0 });
  items.push({ shade: plain(rgb(paper(dark).free)), text: "free" });
  if (is(machine.failed)) items.push({ shade: plain(failed(dark)), text: "failed", mark: "×" });
  if (is(machine.drained)) items.push({ shade: plain(drained(dark)), text: "drained", mark: "/" });
  const wraps = machine.grid.wraps.some(Boolean);
  const said = JSON.stringify([words, items, by, dark, wraps]);
  if (place.dataset.said === said) return;
  place.dataset.said = said;
  const made = items.map((one) => item(one, look));
  const more = by === "age" ? [ages(dark)] : [];
  const dashes = wraps ? [element("span", {}, "┄ wraps around")] : [];
  place.replaceChildren(element("span", {}, words), ...more, ...made, ...dashes);
}
