// Draws the machine in two dimensions: planes side by side, each with its origin at the lower left.
import { nodeShades } from "./coloring.ts";
import { type Shade, css, inkOn } from "./colors.ts";
import { plain } from "./dom.ts";
import { patterns } from "./hatch.ts";
import { type Mark, type Move, cssOf } from "./marks.ts";
import { type Machine, type Part, number, pieces, point } from "./model.ts";
import { AXES, hasPlanes, numberStep, seenIn } from "./plane.ts";
import type { Look } from "./shapes.ts";
import { type Paper, paper } from "./theme.ts";

type Pen = CanvasRenderingContext2D;

/** A plane, and the position of its upper left corner. */
interface Place { at: number; x: number; y: number }

/** The margins for numbers (left, below), for names (above), between planes, and at the edges. */
const LEFT = 26, BELOW = 18, ABOVE = 17, APART = 12, EDGE = 8;
/** The margin for the axis name after the last plane. */
const NAME = 10;
/** The minimum distance between axis numbers, in pixels. */
const NUMBERS = 26;

export class View2d {
  private machine: Machine | null = null;
  private look: Look | null = null;
  private marks: Mark[] = [];
  private moves: Move[] = [];
  private said: string | null = null;
  /** The node at the keyboard cursor. */
  cursor: number | null = null;

  constructor(readonly canvas: HTMLCanvasElement) {}

  show(machine: Machine, look: Look, marks: Mark[], moves: Move[]): void {
    // Ages change over time; everything else changes only when the machine does.
    const said = look.by === "age" ? null : JSON.stringify([machine.version, look]);
    const isSame = said !== null && said === this.said && machine === this.machine
      && marks === this.marks && moves === this.moves;
    Object.assign(this, { machine, look, marks, moves, said });
    if (!isSame) this.draw();
  }

  resize(): void { this.draw(); }

  private axes(): { u: number; v: number; w: number; d: number } {
    const [u, v] = seenIn((this.look as Look).plane), { sides } = (this.machine as Machine).grid;
    return { u, v, w: sides[u], d: sides[v] };
  }

  /** Arranges the planes so that nodes are as large as possible, and returns their positions. */
  private layout(width: number, height: number): { cell: number; places: Place[] } {
    const { grid } = this.machine as Machine, { plane } = this.look as Look, { w, d } = this.axes();
    const planes = plane.at === null ? [...Array(grid.sides[plane.axis]).keys()] : [plane.at];
    const above = grid.axes > 1 ? ABOVE : 4;
    let best = { across: 1, cell: 0 };
    for (let across = 1; across <= planes.length; across++) {
      const down = Math.ceil(planes.length / across);
      const wide = (width - 2 * EDGE - NAME - across * LEFT - (across - 1) * APART) / (across * w);
      const tall = (height - 2 * EDGE - down * (above + BELOW)) / (down * d);
      const cell = Math.min(wide, tall);
      if (cell > best.cell) best = { across, cell };
    }
    const { across } = best, down = Math.ceil(planes.length / across);
    const cell = Math.max(1, best.cell);
    const left = (width - across * (LEFT + w * cell) - (across - 1) * APART) / 2;
    const top = (height - down * (above + BELOW + d * cell)) / 2;
    const places = planes.map((at, index) => ({
      at,
      x: left + LEFT + (index % across) * (LEFT + w * cell + APART),
      y: top + above + Math.floor(index / across) * (above + BELOW + d * cell),
    }));
    return { cell, places };
  }

  private node(at: number, i: number, j: number): number {
    const { u, v } = this.axes(), place = [0, 0, 0];
    place[(this.look as Look).plane.axis] = at;
    place[u] = i;
    place[v] = j;
    return number((this.machine as Machine).grid, place);
  }

  private draw(): void {
    if (!this.machine || !this.look) return;
    const { canvas } = this;
    const { clientWidth: width, clientHeight: height } = canvas.parentElement as HTMLElement;
    const scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    if (!pen) return;
    pen.scale(scale, scale);
    const { cell, places } = this.layout(width, height), page = paper(this.look.dark);
    for (const place of places) {
      this.nodes(pen, place, cell, page);
      this.border(pen, place, cell, page);
      this.numbers(pen, place, cell, page);
    }
    this.names(pen, places, cell);
    // One color is drawn inside the other so that overlapping edges stay visible.
    const shades = [...new Set(this.marks.map(({ shade }) => shade))].reverse();
    for (const { part, shade } of this.marks)
      this.box(pen, part, cssOf(shade), places, cell, 3 * shades.indexOf(shade));
    for (const move of this.moves) this.arrow(pen, move, places, cell, page);
    this.outlineCursor(pen, places, cell, page);
  }

  /** Draws the nodes, with thin lines between nodes of one job and thick lines between jobs. */
  private nodes(pen: Pen, { at, x, y }: Place, cell: number, page: Paper): void {
    const machine = this.machine as Machine, { by, selected, dark } = this.look as Look;
    const { w, d } = this.axes(), shadeAt = nodeShades(machine, by, dark);
    const known = new Map<Shade, string>(), over = patterns(pen, page.card);
    const fill = (one: Shade, isOther: boolean) => {
      if (isOther) return css(one.color, 0.22);
      const text = known.get(one) ?? css(one.color);
      known.set(one, text);
      return text;
    };
    pen.fillStyle = page.free;
    pen.fillRect(x, y, w * cell, d * cell);
    for (let j = 0; j < d; j++)
      for (let i = 0; i < w; i++) {
        const node = this.node(at, i, j), one = shadeAt(node), key = machine.holder[node];
        if (!one) continue;
        const px = x + i * cell, py = y + (d - 1 - j) * cell;
        const isOther = selected !== null && key !== null && key !== selected;
        const pattern = isOther ? null : over[one.pattern];
        for (const style of [fill(one, isOther), pattern]) {
          if (style === null) continue;
          pen.fillStyle = style;
          pen.fillRect(px, py, cell + 0.3, cell + 0.3);
        }
        if (machine.failed.has(node) || machine.drained.has(node)) {
          pen.strokeStyle = key === null ? page.card : inkOn(one.color);
          this.cross(pen, px, py, cell, machine.failed.has(node));
        }
      }
    if (cell >= 4) this.lines(pen, { at, x, y }, cell, page);
  }

  private cross(pen: Pen, x: number, y: number, cell: number, whole: boolean): void {
    pen.lineWidth = Math.max(1, cell / 12);
    pen.beginPath();
    pen.moveTo(x + cell * 0.25, y + cell * 0.75);
    pen.lineTo(x + cell * 0.75, y + cell * 0.25);
    if (whole) {
      pen.moveTo(x + cell * 0.25, y + cell * 0.25);
      pen.lineTo(x + cell * 0.75, y + cell * 0.75);
    }
    pen.stroke();
  }

  private lines(pen: Pen, { at, x, y }: Place, cell: number, page: Paper): void {
    const { holder } = this.machine as Machine, { w, d } = this.axes();
    const thin = new Path2D(), thick = new Path2D();
    const line = (one: number, other: number, from: number[], to: number[]) => {
      const path = holder[one] === holder[other] ? thin : thick;
      path.moveTo(from[0], from[1]);
      path.lineTo(to[0], to[1]);
    };
    for (let j = 0; j < d; j++)
      for (let i = 0; i < w; i++) {
        const node = this.node(at, i, j), px = x + i * cell, py = y + (d - 1 - j) * cell;
        if (i + 1 < w) line(node, this.node(at, i + 1, j), [px + cell, py], [px + cell, py + cell]);
        if (j + 1 < d) line(node, this.node(at, i, j + 1), [px, py], [px + cell, py]);
      }
    pen.strokeStyle = page.card;
    pen.globalAlpha = 0.35;
    pen.lineWidth = 1;
    pen.stroke(thin);
    pen.globalAlpha = 1;
    pen.lineWidth = Math.max(1.5, Math.min(3, cell * 0.12));
    pen.stroke(thick);
  }

  /** Draws a plane's border, dashed where the machine wraps around. */
  private border(pen: Pen, { x, y }: Place, cell: number, page: Paper): void {
    const { wraps } = (this.machine as Machine).grid, { u, v, w, d } = this.axes();
    const right = x + w * cell, low = y + d * cell;
    const sides: [number, number[][]][] = [
      [u, [[x, y, x, low], [right, y, right, low]]], [v, [[x, y, right, y], [x, low, right, low]]],
    ];
    pen.strokeStyle = page.line;
    pen.lineWidth = 1;
    for (const [axis, lines] of sides) {
      pen.setLineDash(wraps[axis] ? [4, 3] : []);
      for (const [a, b, c, e] of lines) {
        pen.beginPath();
        pen.moveTo(a, b);
        pen.lineTo(c, e);
        pen.stroke();
      }
    }
    pen.setLineDash([]);
  }

  /** Draws the name of a plane, the coordinates along both axes, and the axis names. */
  private numbers(pen: Pen, { at, x, y }: Place, cell: number, page: Paper): void {
    const { grid } = this.machine as Machine, { plane } = this.look as Look;
    const { u, v, w, d } = this.axes();
    pen.fillStyle = page.soft;
    pen.font = "11px system-ui, sans-serif";
    const step = numberStep(cell, NUMBERS);
    pen.textAlign = "center";
    for (let i = 0; i < w; i += step)
      pen.fillText(String(i), x + (i + 0.5) * cell, y + d * cell + 12);
    pen.textAlign = "right";
    for (let j = 0; j < d; j += step)
      if (grid.axes > 1) pen.fillText(String(j), x - 5, y + (d - j - 0.5) * cell + 4);
    pen.font = "bold 11px system-ui, sans-serif";
    if (grid.axes > 1) pen.fillText(AXES[v], x - 12, y - 5);
    pen.textAlign = "left";
    pen.fillText(AXES[u], x + w * cell + 4, y + d * cell + 12);
    if (hasPlanes(grid)) pen.fillText(`${AXES[plane.axis]} = ${at}`, x, y - 5);
  }

  /** Draws job names wherever there is room. */
  private names(pen: Pen, places: Place[], cell: number): void {
    const machine = this.machine as Machine, { by, plane, selected, dark } = this.look as Look;
    const { u, v, d } = this.axes(), shadeAt = nodeShades(machine, by, dark);
    pen.lineJoin = "round";
    pen.lineWidth = 4;
    pen.font = "600 12px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    // At least one character of the name must fit.
    if (cell * Math.max(...machine.grid.sides) < 20) return;
    for (const lease of machine.leases.values()) {
      const name = plain(lease.job ?? (lease.isOther ? "" : lease.key), 24);
      if (!name || (selected !== null && lease.key !== selected)) continue;
      for (const { base, sides } of lease.parts.flatMap((part) => pieces(machine.grid, part))) {
        const wide = sides[u] * cell, tall = sides[v] * cell;
        if (wide < 16 || tall < 15 || pen.measureText(name).width > wide - 6) continue;
        const one = shadeAt(number(machine.grid, base));
        pen.fillStyle = one ? inkOn(one.color) : "#000";
        pen.strokeStyle = one ? css(one.color) : "#fff";
        for (const { at, x, y } of places) {
          if (at < base[plane.axis] || at >= base[plane.axis] + sides[plane.axis]) continue;
          const middle = x + base[u] * cell + wide / 2, low = y + (d - base[v]) * cell - tall / 2;
          // The pattern must not show under the letters.
          if (one?.pattern) pen.strokeText(name, middle, low);
          pen.fillText(name, middle, low);
        }
      }
    }
    pen.textBaseline = "alphabetic";
  }

  private box(
    pen: Pen, part: Part, shade: string, places: Place[], cell: number, inset: number,
  ): void {
    const { u, v, d } = this.axes(), { axis } = (this.look as Look).plane;
    pen.strokeStyle = shade;
    pen.lineWidth = 3;
    for (const { base, sides } of pieces((this.machine as Machine).grid, part))
      for (const { at, x, y } of places)
        if (at >= base[axis] && at < base[axis] + sides[axis])
          pen.strokeRect(
            x + base[u] * cell + inset, y + (d - base[v] - sides[v]) * cell + inset,
            sides[u] * cell - 2 * inset, sides[v] * cell - 2 * inset,
          );
    pen.lineWidth = 1;
  }

  /** Draws an arrow between the centers of two boxes, in the planes where the boxes begin. */
  private arrow(pen: Pen, { from, to }: Move, places: Place[], cell: number, page: Paper): void {
    const { u, v, d } = this.axes(), { axis } = (this.look as Look).plane;
    const middle = (part: Part): [number, number] | undefined => {
      const place = places.find(({ at }) => at === (part.base[axis] ?? 0));
      const half = (along: number) => (part.base[along] ?? 0) + (part.sides[along] ?? 1) / 2;
      return place && [place.x + half(u) * cell, place.y + (d - half(v)) * cell];
    };
    const start = middle(from), end = middle(to);
    if (!start || !end) return;
    const angle = Math.atan2(end[1] - start[1], end[0] - start[0]), tip = Math.max(7, cell * 0.5);
    pen.strokeStyle = pen.fillStyle = page.moved;
    pen.lineWidth = 3;
    pen.beginPath();
    pen.moveTo(...start);
    pen.lineTo(...end);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(...end);
    for (const turn of [2.6, -2.6])
      pen.lineTo(end[0] + tip * Math.cos(angle + turn), end[1] + tip * Math.sin(angle + turn));
    pen.fill();
    pen.lineWidth = 1;
  }

  private outlineCursor(pen: Pen, places: Place[], cell: number, page: Paper): void {
    const found = this.cursor === null ? null : this.placeOf(this.cursor, places, cell);
    if (!found) return;
    pen.lineWidth = 2;
    pen.strokeStyle = page.card;
    pen.strokeRect(found.x - 1, found.y - 1, cell + 2, cell + 2);
    pen.strokeStyle = page.ink;
    pen.strokeRect(found.x, found.y, cell, cell);
  }

  private placeOf(node: number, places: Place[], cell: number): { x: number; y: number } | null {
    const { grid } = this.machine as Machine, { u, v, d } = this.axes(), at = point(grid, node);
    const place = places.find((one) => one.at === at[(this.look as Look).plane.axis]);
    return place ? { x: place.x + at[u] * cell, y: place.y + (d - 1 - at[v]) * cell } : null;
  }

  /** Returns the position of a node's center on the stage. */
  where(node: number): { x: number; y: number } | null {
    const { clientWidth, clientHeight } = this.canvas.parentElement as HTMLElement;
    if (!this.machine) return null;
    const { cell, places } = this.layout(clientWidth, clientHeight);
    const found = this.placeOf(node, places, cell);
    return found && { x: found.x + cell / 2, y: found.y + cell / 2 };
  }

  /** Moves the keyboard cursor right, up and across planes by the given steps, stopping at edges.
   */
  step(right: number, up: number, across: number): number | null {
    const { machine, look } = this;
    if (!machine || !look) return null;
    const { u, v } = this.axes(), { sides } = machine.grid, { axis, at: only } = look.plane;
    const at = point(machine.grid, this.cursor ?? 0);
    if (only !== null) at[axis] = only;
    if (this.cursor !== null) {
      at[u] = Math.min(sides[u] - 1, Math.max(0, at[u] + right));
      at[v] = Math.min(sides[v] - 1, Math.max(0, at[v] + up));
      if (only === null) at[axis] = Math.min(sides[axis] - 1, Math.max(0, at[axis] + across));
    }
    this.cursor = number(machine.grid, at);
    this.draw();
    return this.cursor;
  }

  /** Returns the node under the pointer. */
  pick(event: { clientX: number; clientY: number }): number | null {
    if (!this.machine || !this.look) return null;
    const box = this.canvas.getBoundingClientRect(), { w, d } = this.axes();
    const { cell, places } = this.layout(box.width, box.height);
    for (const { at, x, y } of places) {
      const i = Math.floor((event.clientX - box.left - x) / cell);
      const j = d - 1 - Math.floor((event.clientY - box.top - y) / cell);
      if (i >= 0 && i < w && j >= 0 && j < d) return this.node(at, i, j);
    }
    return null;
  }
}
