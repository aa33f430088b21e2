// What the colours mean.
import { AGE_TICKS, ageShare, css, drained, failed, ofAge } from "./colours.js";
import { tenantOf } from "./model.js";

const item = (colour, text, mark = "") => {
  const one = document.createElement("span"), patch = document.createElement("i");
  patch.style.background = colour;
  patch.textContent = mark;
  one.append(patch, text);
  return one;
};

/** The name of a tenant as the legend has it; null is a tenant whose name the reader may not know. */
const called = (name) => (name === null ? "other tenants" : name === "" ? "operator" : name);

/** The tenants that hold nodes, the greatest first, those without a colour of their own together. */
function tenants(machine, isDark) {
  const nodes = new Map();
  for (const lease of machine.leases.values()) {
    const size = lease.parts.reduce((sum, part) => sum + part.sides.reduce((a, b) => a * b, 1), 0);
    const name = tenantOf(lease);
    nodes.set(name, (nodes.get(name) ?? 0) + size);
  }
  const sorted = [...nodes].sort((a, b) => b[1] - a[1] || (called(a[0]) < called(b[0]) ? -1 : 1));
  const own = ([name]) => name !== null && machine.tenants.place(name) !== null;
  const items = sorted.filter(own).map(([name, count]) => item(css(machine.tenants.colour(name, isDark)), `${called(name)} (${count})`));
  const others = sorted.filter((one) => !own(one));
  if (others.length) {
    const count = others.reduce((sum, [, nodes]) => sum + nodes, 0);
    const text = others.length === 1 ? called(others[0][0]) : `${others.length} more tenants, in one colour`;
    items.push(item(css(machine.tenants.colour(null, isDark)), `${text} (${count})`));
  }
  return items;
}

/** The scale of ages. */
function ages(isDark) {
  const scale = document.createElement("span"), stops = [...Array(11).keys()].map((step) => step / 10);
  scale.className = "scale";
  // The inverse of the scale, at even steps.
  const seconds = (share) => (1 + 2592000) ** share - 1;
  scale.style.background = `linear-gradient(to right, ${stops.map((share) => css(ofAge(seconds(share), isDark))).join(", ")})`;
  for (const [age, text] of AGE_TICKS) {
    const tick = document.createElement("b");
    tick.style.left = `${100 * ageShare(age)}%`;
    tick.textContent = text;
    scale.append(tick);
  }
  return [scale];
}

/** Writes the legend of a colouring. */
export function legend(place, machine, by, isDark) {
  const items = { tenant: tenants, age: (_, isDark) => ages(isDark) }[by]?.(machine, isDark) ?? [];
  const words = {
    job: "a colour a job; there are 21, so that jobs may share one: click to single a job out",
    tenant: items.length ? "tenants (nodes):" : "no tenant holds nodes",
    age: "how long ago a job began:",
  }[by];
  const marks = [];
  const is = (nodes) => [...nodes].some((node) => machine.holder[node] === null);
  if (is(machine.failed)) marks.push(item(css(failed(isDark)), "failed", "×"));
  if (is(machine.drained)) marks.push(item(css(drained(isDark)), "drained", "/"));
  const before = document.createElement("span");
  before.textContent = words;
  place.replaceChildren(before, ...items, ...marks);
}
