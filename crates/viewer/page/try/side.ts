// One of the two machines, with its run, drawing and numbers.
import { element, find } from "../src/dom.ts";
import type { Mark, Move } from "../src/marks.ts";
import { type Key, Machine, type Part, grid, number, point, volume } from "../src/model.ts";
import { EVERYTHING } from "../src/plane.ts";
import type { Look } from "../src/shapes.ts";
import type { Point } from "../src/thin.ts";
import * as theme from "../src/theme.ts";
import { GREEN, RED } from "../src/theme.ts";
import { View2d } from "../src/view2d.ts";
import { View3d } from "../src/view3d.ts";
import type { Engine } from "./engine.ts";
import type { Settings } from "./settings.ts";

interface Placed { id: number; start: number; ends: number; requested: number; parts: Part[] }

/** The engine's reply to a step. Times are in the run's unit. */
export interface State {
  now: number;
  over: boolean;
  waiting: number;
  completed: number;
  started: number;
  busy: number;
  wait: number | null;
  utilization: number | null;
  largest: Part | null;
  searched: boolean;
  placed: Placed[];
  ended: number[];
  lost: number[][];
}

/** The engine's reply when a run starts. */
export interface Opened {
  machine: string; strategy: string; scheduler: string; jobs: number; unit: string;
}

interface Answer { lines: string[]; fits: boolean; places: Part[]; moves: Move[] }

/** The quantities plotted over time. */
export type Curve = "wait" | "used" | "largest";
/** The maximum number of points in a curve. Beyond this number, every second point is dropped. */
const MOST = 3000;

export class Side {
  machine: Machine | null = null;
  opened: Opened | null = null;
  state: State | null = null;
  curves: Record<Curve, Point[]> = { wait: [], used: [], largest: [] };
  private marks: Mark[] = [];
  private moves: Move[] = [];
  private readonly flat: View2d;
  private deep: View3d | null = null;
  private isDeep = false;
  private selected: Key | null = null;
  /** The time integral of the largest free box. */
  private spread = 0;
  private pressed = { x: 0, y: 0 };
  readonly stage: HTMLElement;

  constructor(
    readonly index: number, private readonly pick: (node: number | null) => void,
  ) {
    this.stage = find(`stage-${index}`);
    this.flat = new View2d(find<HTMLCanvasElement>(`flat-${index}`));
    for (const canvas of this.stage.querySelectorAll("canvas")) {
      canvas.addEventListener("pointerdown", ({ clientX: x, clientY: y }) => {
        this.pressed = { x, y };
      });
      canvas.addEventListener("click", (event) => {
        const { x, y } = this.pressed;
        if (Math.hypot(event.clientX - x, event.clientY - y) <= 4)
          pick(this.view.pick(event));
      });
    }
    this.stage.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.view.resize()).observe(this.stage);
  }

  private get view(): View2d | View3d { return this.isDeep && this.deep ? this.deep : this.flat; }

  /** Starts a run. */
  open(engine: Engine, settings: Settings): void {
    this.opened = engine.ask<Opened>({ do: "open", run: this.index, settings });
    this.machine = new Machine(grid(this.opened.machine));
    this.curves = { wait: [], used: [], largest: [] };
    this.spread = 0;
    this.state = null;
    this.selected = null;
    this.clear();
    this.step(engine, 0, null);
  }

  /** Advances by up to `instants` event times, or to the first event time at or after `until`. */
  step(engine: Engine, instants: number, until: number | null): void {
    const { machine } = this, before = this.state;
    if (!machine || before?.over) return;
    const state = engine.ask<State>({ do: "step", run: this.index, instants, until });
    for (const id of state.ended) machine.release(id);
    for (const { id, start, ends, requested, parts } of state.placed)
      machine.hold({ id, job: id, parts, requested, start, expires: ends });
    const lost = new Set(state.lost.map((at) => number(machine.grid, at)));
    if (lost.size !== machine.failed.size || [...lost].some((node) => !machine.failed.has(node))) {
      machine.failed.clear();
      for (const node of lost) machine.failed.add(node);
      machine.version++;
    }
    machine.now = state.now;
    this.state = state;
    if (before && instants > 0) this.clear();
    this.note(before, state, machine.grid.nodes);
  }

  private note(before: State | null, state: State, nodes: number): void {
    const { curves } = this, box = (one: State | null) => (one?.largest ? volume(one.largest) : 0);
    if (before) this.spread += box(before) * (state.now - before.now);
    const add = (curve: Curve, value: number | null) => {
      if (value === null) return;
      curves[curve].push({ at: state.now, value });
      if (curves[curve].length > MOST)
        curves[curve] = curves[curve].filter((_, index) => index % 2 === 0);
    };
    add("wait", state.wait);
    add("used", state.utilization);
    if (state.searched && state.now > 0) add("largest", this.spread / (nodes * state.now));
  }

  /** Returns the average share of the machine that is in the largest free box. */
  get largest(): number | null { return this.curves.largest.at(-1)?.value ?? null; }

  /** Removes an answer's marks. */
  clear(): void {
    if (!this.marks.length && !this.moves.length) return;
    this.marks = [];
    this.moves = [];
    find(`answer-${this.index}`).replaceChildren();
  }

  /** Asks about a shape, and shows the answer. */
  ask(engine: Engine, shape: string): void {
    const answer = engine.ask<Answer>({ do: "ask", run: this.index, shape });
    this.marks = answer.places.map((part) => ({ part, shade: answer.fits ? GREEN : RED }));
    this.moves = answer.moves;
    this.tell(answer.lines);
  }

  /** Shows lines under the machine. */
  tell(lines: string[]): void {
    find(`answer-${this.index}`).replaceChildren(...lines.map((line) => element("span", {}, line)));
    this.draw();
  }

  /** Selects the job on a node, and returns a description of the node. */
  select(node: number | null): string[] {
    const { machine } = this;
    if (node === null || !machine) { this.selected = null; return []; }
    const at = `Node ${point(machine.grid, node).slice(0, machine.grid.axes).join(",")}`;
    const lease = machine.leases.get(machine.holder[node] ?? -1);
    this.selected = lease?.key ?? null;
    if (!lease) return [`${at} ${machine.failed.has(node) ? "has failed" : "is free"}.`];
    const time = (value: number | null) => (value ?? 0).toFixed(2);
    return [`${at}: job ${lease.key}, ${lease.nodes} nodes, since ${time(lease.begins)}, `
      + `expected to end at ${time(lease.ends)}.`];
  }

  /** Selects two or three dimensions. Returns false if the browser cannot draw in 3D. */
  choose(three: boolean): boolean {
    try {
      if (three) this.deep ??= new View3d(
        find<HTMLCanvasElement>(`deep-${this.index}`), find(`axes-${this.index}`), () => {});
    } catch { three = false; }
    this.isDeep = three;
    this.flat.canvas.hidden = three;
    find(`deep-${this.index}`).hidden = find(`axes-${this.index}`).hidden = !three;
    this.draw();
    this.view.resize();
    return three;
  }

  draw(): void {
    if (!this.machine) return;
    const isThere = this.selected !== null && this.machine.leases.has(this.selected);
    const look: Look = {
      by: "job", plane: EVERYTHING, dark: theme.isDark(), selected: isThere ? this.selected : null,
    };
    this.view.show(this.machine, look, this.marks, this.moves);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const way = {
      ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], ArrowUp: [0, 1, 0], ArrowDown: [0, -1, 0],
      PageUp: [0, 0, 1], PageDown: [0, 0, -1],
    }[event.key];
    if (way && this.isDeep && !way[2]) this.deep?.turn(0.1 * way[0], -0.1 * way[1]);
    else if (way && !this.isDeep)
      this.tell(this.select(this.flat.step(way[0], way[1], way[2])));
    else if (/^[+=-]$/.test(event.key) && this.isDeep)
      this.deep?.zoom(event.key === "-" ? 1.1 : 0.9);
    else if (event.key === "Enter" && !this.isDeep && this.flat.cursor !== null)
      this.pick(this.flat.cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
