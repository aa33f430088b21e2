// Turns the curves into a time slider, and shows the data at the time under the pointer.
import { Chart, type Drawn } from "./chart.ts";
import { attributes, find, many, plain } from "./dom.ts";
import type { Refusal } from "./live.ts";
import { valueAt } from "./thin.ts";
import { Tip } from "./tip.ts";

export interface TimelineActs {
  goTo(at: number): void;
  goLive(): void;
  refusals(): Refusal[];
}

/** The maximum number of refusals to list next to the pointer. */
const NAMED = 3;

export class Timeline {
  readonly chart: Chart;
  private readonly tip = new Tip("chart-tip");

  constructor(private readonly acts: TimelineActs, private readonly goesBack: () => boolean) {
    const canvas = find<HTMLCanvasElement>("chart");
    this.chart = new Chart(canvas);
    canvas.addEventListener("pointerdown", (event) => {
      if (!goesBack()) return;
      canvas.setPointerCapture(event.pointerId);
      acts.goTo(this.chart.timeAt(event.clientX));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons && goesBack()) acts.goTo(this.chart.timeAt(event.clientX));
      this.hover(event.clientX);
    });
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.chart.draw()).observe(canvas);
  }

  show(drawn: Drawn): void {
    this.chart.show(drawn);
    const [first, last] = this.chart.span(), at = drawn.at ?? last;
    const share = Math.round((100 * (at - first)) / (last - first));
    const { busy } = drawn.series, used = valueAt(busy, at);
    const time = drawn.at === null && drawn.isNow ? "now" : drawn.clock.at(at);
    const text = used === null ? time : `${time}: ${used} of ${drawn.nodes} nodes in use`;
    attributes(this.chart.canvas, { "aria-valuenow": String(share), "aria-valuetext": text });
    find("band").hidden = !this.chart.isPale;
    find("refusals").hidden = drawn.refused.length === 0;
  }

  /** Moves to the right or left by a fraction of the axis. */
  step(share: number): void {
    const [first, last] = this.chart.span(), { drawn } = this.chart;
    const at = (drawn?.at ?? last) + share * (last - first);
    if (at >= last && drawn?.isNow) return this.acts.goLive();
    if (this.goesBack()) this.acts.goTo(Math.min(last, Math.max(this.chart.begins() ?? first, at)));
  }

  private key(event: KeyboardEvent): void {
    const steps: Record<string, number> = {
      ArrowLeft: -0.01, ArrowDown: -0.01, ArrowRight: 0.01, ArrowUp: 0.01,
      PageDown: -0.1, PageUp: 0.1, Home: -1, End: 1,
    };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.step(step);
  }

  private leave(): void {
    this.chart.hovered = null;
    this.chart.draw();
    this.tip.hide();
  }

  /** Shows the data at the time under the pointer, and any requests refused around that time. */
  private hover(clientX: number): void {
    const { chart } = this, { drawn } = chart;
    if (!drawn) return;
    const at = chart.timeAt(clientX), box = chart.canvas.getBoundingClientRect();
    chart.hovered = at;
    chart.draw();
    const lines = [drawn.clock.at(at)];
    const busy = valueAt(drawn.series.busy, at), largest = valueAt(drawn.series.largest, at);
    if (busy !== null) lines.push(`${busy} of ${many(drawn.nodes, "node")} in use`);
    if (largest !== null) lines.push(`largest free box: ${many(largest, "node")}`);
    const near = this.acts.refusals().filter((one) => Math.abs(chart.x(one.at) - chart.x(at)) < 5);
    for (const { job, nodes, reason } of near.slice(0, NAMED))
      lines.push(`refused: ${plain(job ?? "no name", 40)}, ${many(nodes, "node")}: ${reason}`);
    if (near.length > NAMED) lines.push(`and ${near.length - NAMED} more refused`);
    this.tip.show(lines, clientX - box.left, 4);
  }
}
