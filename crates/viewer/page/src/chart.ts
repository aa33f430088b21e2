// Plots the nodes in use and the largest free box over time, with refusals above the curves.
import { type Column, type Point, columns } from "./thin.ts";
import type { Series } from "./live.ts";
import { type Paper, paper } from "./theme.ts";
import { type Clock, ticks } from "./times.ts";

/** The chart's data. Times are in milliseconds. */
export interface Drawn {
  series: Series;
  nodes: number;
  /** Times at which requests were refused. */
  refused: number[];
  /** The displayed time; null means the end. */
  at: number | null;
  /** The time at the end of the axis: the present if `isNow` is true. */
  end: number;
  isNow: boolean;
  clock: Clock;
  dark: boolean;
}

/** The margins around the curves. */
const LEFT = 46, RIGHT = 12, ABOVE = 17, BELOW = 20;
/** The minimum length of an axis that ends now, in ms. */
const SHORTEST = 60_000;

export class Chart {
  drawn: Drawn | null = null;
  /** True if a band is drawn in a pale color behind a line that shows the mean. */
  isPale = false;
  /** The time under the pointer. */
  hovered: number | null = null;

  constructor(readonly canvas: HTMLCanvasElement) {}

  /** Returns the first time with data. */
  begins(): number | null { return this.drawn?.series.busy[0]?.at ?? null; }

  /** Returns the times at the two ends of the axis. The later one is now or the schedule's end. */
  span(): [number, number] {
    const end = this.drawn?.end ?? 1, begins = this.begins() ?? end - 1;
    const first = this.drawn?.isNow ? Math.min(begins, end - SHORTEST) : begins;
    return [first, Math.max(end, first + 1)];
  }

  /** Returns the area of the canvas in which the curves are drawn. */
  area(): { left: number; top: number; width: number; height: number } {
    const { clientWidth, clientHeight } = this.canvas;
    const width = Math.max(1, clientWidth - LEFT - RIGHT);
    return { left: LEFT, top: ABOVE, width, height: Math.max(1, clientHeight - ABOVE - BELOW) };
  }

  /** Returns the vertical position at which to draw a number of nodes. */
  y(nodes: number): number {
    const { top, height } = this.area();
    return top + height - (nodes / (this.drawn?.nodes ?? 1)) * height;
  }

  x(at: number): number {
    const [first, last] = this.span(), { left, width } = this.area();
    return left + ((at - first) / (last - first)) * width;
  }

  /** Returns the time at a horizontal position in the window, clamped to the range of the data. */
  timeAt(clientX: number): number {
    const [first, last] = this.span(), { left, width } = this.area();
    const share = (clientX - this.canvas.getBoundingClientRect().left - left) / width;
    return Math.min(last, Math.max(this.begins() ?? first, first + share * (last - first)));
  }

  show(drawn: Drawn): void {
    this.drawn = drawn;
    this.draw();
  }

  draw(): void {
    const { canvas, drawn } = this, pen = canvas.getContext("2d");
    if (!drawn || !pen) return;
    const scale = window.devicePixelRatio || 1, page = paper(drawn.dark);
    canvas.width = canvas.clientWidth * scale;
    canvas.height = canvas.clientHeight * scale;
    pen.scale(scale, scale);
    const { left, width } = this.area(), [first, last] = this.span();
    this.axes(pen, drawn, page);
    const line = (points: Point[], shade: string, dash: number[], fill: boolean) => {
      pen.save();
      pen.translate(left, 0);
      this.line(pen, columns(points, first, last, width), width, shade, dash, fill);
      pen.restore();
    };
    this.isPale = false;
    pen.lineWidth = 1.8;
    pen.lineJoin = "round";
    line(drawn.series.largest, page.largest, [5, 3], false);
    line(drawn.series.busy, page.busy, [], true);
    this.refusals(pen, drawn, page);
    if (this.hovered !== null) this.upright(pen, this.hovered, page.soft, [2, 3]);
    if (drawn.at !== null) this.upright(pen, drawn.at, page.ink, []);
  }

  /** Draws the axes: nodes vertically, and time horizontally. */
  private axes(pen: CanvasRenderingContext2D, drawn: Drawn, page: Paper): void {
    const { left, top, width, height } = this.area(), [first, last] = this.span();
    pen.font = "11px system-ui, sans-serif";
    pen.lineWidth = 1;
    pen.textAlign = "right";
    for (const share of [0, 0.5, 1]) {
      const nodes = share * drawn.nodes, y = Math.round(this.y(nodes)) + 0.5;
      pen.strokeStyle = page.faint;
      pen.beginPath();
      pen.moveTo(left, y);
      pen.lineTo(left + width, y);
      pen.stroke();
      pen.fillStyle = page.soft;
      pen.fillText(Math.round(nodes).toLocaleString("en"), left - 6, y + 3.5);
    }
    const end = drawn.isNow ? "now" : drawn.clock.at(last);
    const low = top + height, free = left + width - pen.measureText(end).width - 6;
    pen.textAlign = "center";
    for (const { at, text } of ticks(first, last, width / 76, drawn.clock)) {
      const x = Math.round(this.x(at)) + 0.5, half = pen.measureText(text).width / 2;
      pen.strokeStyle = page.faint;
      pen.beginPath();
      pen.moveTo(x, top);
      pen.lineTo(x, low + 4);
      pen.stroke();
      pen.fillStyle = page.soft;
      // The label at the end of the axis needs room, and no number may cross the chart's edge.
      if (x + half < free && x - half > 2) pen.fillText(text, x, low + 15);
    }
    pen.textAlign = "right";
    pen.fillStyle = page.ink;
    pen.fillText(end, left + width, low + 15);
  }

  /** Draws a step function. If the function changes once within a pixel column, the line is drawn
   * at the change. If it changes more often, a band extends from the minimum to the maximum. Where
   * such columns are adjacent, the band is pale and the line shows the mean. */
  private line(
    pen: CanvasRenderingContext2D, found: Column[], width: number, shade: string, dash: number[],
    fill: boolean,
  ): void {
    const isDense = (place: number) => (found[place]?.changes ?? 0) > 1;
    const beside = (place: number, step: number) =>
      isDense(place + step) && found[place + step].column === found[place].column + step;
    const y = (nodes: number) => this.y(nodes);
    pen.fillStyle = pen.strokeStyle = shade;
    found.forEach(({ column, least, most }, place) => {
      if (!isDense(place)) return;
      const isPale = beside(place, -1) || beside(place, 1);
      this.isPale ||= isPale;
      pen.globalAlpha = isPale ? 0.4 : 1;
      pen.fillRect(column, y(most) - 0.8, 1, y(least) - y(most) + 1.6);
    });
    const path = new Path2D();
    found.forEach(({ column, x, enters, leaves, mean }, place) => {
      if (!isDense(place)) {
        if (enters !== null) path.lineTo(x, y(enters));
        return path.lineTo(x, y(leaves));
      }
      if (!beside(place, -1) && enters !== null) path.lineTo(column, y(enters));
      if (beside(place, -1) || beside(place, 1)) path.lineTo(column + 0.5, y(mean));
      else path.moveTo(column + 1, y(leaves));
      if (!beside(place, 1)) path.lineTo(column + 1, y(leaves));
    });
    const last = found.at(-1);
    if (last) path.lineTo(width, y(last.leaves));
    if (fill && found.length) this.under(pen, found, width);
    pen.globalAlpha = 1;
    pen.setLineDash(dash);
    pen.stroke(path);
    pen.setLineDash([]);
  }

  /** Fills the area under a line. */
  private under(pen: CanvasRenderingContext2D, found: Column[], width: number): void {
    const { top, height } = this.area(), low = top + height, area = new Path2D();
    area.moveTo(found[0].x, low);
    for (const { column, changes, x, enters, leaves, mean } of found) {
      const isDense = changes > 1;
      if (enters !== null) area.lineTo(isDense ? column : x, this.y(enters));
      if (isDense) area.lineTo(column + 0.5, this.y(mean));
      area.lineTo(isDense ? column + 1 : x, this.y(leaves));
    }
    area.lineTo(width, this.y(found[found.length - 1].leaves));
    area.lineTo(width, low);
    pen.globalAlpha = 0.1;
    pen.fill(area);
  }

  /** Marks the times of refusals above the curves. */
  private refusals(pen: CanvasRenderingContext2D, { refused }: Drawn, page: Paper): void {
    const { left, top, width } = this.area();
    pen.fillStyle = page.refused;
    let last = -Infinity;
    for (const at of refused) {
      const x = this.x(at);
      if (x < left || x > left + width || x - last < 4) continue;
      last = x;
      pen.beginPath();
      pen.moveTo(x - 4.5, top - 12);
      pen.lineTo(x + 4.5, top - 12);
      pen.lineTo(x, top - 3);
      pen.fill();
    }
  }

  private upright(pen: CanvasRenderingContext2D, at: number, shade: string, dash: number[]): void {
    const { top, height } = this.area(), x = this.x(at);
    pen.strokeStyle = shade;
    pen.lineWidth = 1.5;
    pen.setLineDash(dash);
    pen.beginPath();
    pen.moveTo(x, top - 4);
    pen.lineTo(x, top + height);
    pen.stroke();
    pen.setLineDash([]);
  }
}
