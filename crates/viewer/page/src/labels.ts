// Axis names and numbers shown over the three-dimensional drawing.
import { type PerspectiveCamera, Vector3 } from "three";
import { element } from "./dom.ts";
import type { Grid } from "./model.ts";
import { AXES, numberStep } from "./plane.ts";

/** A position on the stage. */
interface Spot { x: number; y: number }

/** The distance between labels and the edge, and the minimum distance between two labels. */
const AWAY = 15, APART = 24;

export class Labels {
  constructor(private readonly place: HTMLElement) {}

  /** Shows each axis's numbers along the edge that appears outermost as seen from the camera. */
  show(g: Grid, camera: PerspectiveCamera): void {
    const { clientWidth: width, clientHeight: height } = this.place;
    const spot = (at: number[]): Spot => {
      const { x, y } = new Vector3().fromArray(at).project(camera);
      return { x: ((x + 1) / 2) * width, y: ((1 - y) / 2) * height };
    };
    const middle = spot(g.sides.map((side) => side / 2));
    const found: HTMLElement[] = [];
    for (let axis = 0; axis < g.axes; axis++) {
      const corners = outermost(g, axis, spot);
      const from = spot(corners.from), to = spot(corners.to);
      const away = outwards(from, to, middle);
      const shift = ({ x, y }: Spot, by: number): Spot =>
        ({ x: x + by * away.x, y: y + by * away.y });
      const length = Math.hypot(to.x - from.x, to.y - from.y);
      const step = numberStep(length / g.sides[axis], APART);
      for (let at = 0; at < g.sides[axis]; at += step) {
        const node = [...corners.from];
        node[axis] = at + 0.5;
        found.push(label(String(at), shift(spot(node), AWAY), false));
      }
      const half = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
      found.push(label(AXES[axis], shift(half, 2.2 * AWAY), true));
    }
    this.place.replaceChildren(...found);
  }
}

/** Returns the lowest edge along an axis or, for the vertical axis, the leftmost one. */
function outermost(g: Grid, axis: number, spot: (at: number[]) => Spot) {
  const [one, two] = [0, 1, 2].filter((other) => other !== axis);
  let best = { from: [0, 0, 0], to: [0, 0, 0] }, most = -Infinity;
  for (const [a, b] of [[0, 0], [0, 1], [1, 0], [1, 1]]) {
    const from = [0, 0, 0], to = [0, 0, 0];
    from[one] = to[one] = a * g.sides[one];
    from[two] = to[two] = b * g.sides[two];
    to[axis] = g.sides[axis];
    const start = spot(from), end = spot(to);
    const worth = axis === 2 && g.sides[2] > 1 ? -(start.x + end.x) : start.y + end.y;
    if (worth > most) [best, most] = [{ from, to }, worth];
  }
  return best;
}

/** Returns the direction across an edge, pointing away from the middle. */
function outwards(from: Spot, to: Spot, middle: Spot): Spot {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const across = { x: (from.y - to.y) / length, y: (to.x - from.x) / length };
  const half = { x: (from.x + to.x) / 2 - middle.x, y: (from.y + to.y) / 2 - middle.y };
  return half.x * across.x + half.y * across.y < 0 ? { x: -across.x, y: -across.y } : across;
}

function label(text: string, { x, y }: Spot, isName: boolean): HTMLElement {
  const one = element("span", { className: isName ? "axis" : "" }, text);
  one.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(-50%, -50%)`;
  return one;
}
