// The live figures on the strategy pages. They show a machine with jobs, the numbered candidates
// for a request, and the strategy's choice. The page's static drawings remain until the first
// question, which loads the engine.
import { attributes, element } from "../src/dom.ts";
import { type Part, grid, nodesOf, number } from "../src/model.ts";
import { Engine, Fault, load } from "./engine.ts";

/** A request and its documented answer. */
interface Step { request: string; parts?: Part[]; refused?: boolean }
/** An initial state and a sequence of requests to grant. */
interface Scene {
  name: string; machine: string; strategy: string; jobs: Part[][]; steps: Step[];
}
interface Reply { svg: string; lines: string[]; parts: Part[] }

const script = (document.currentScript as HTMLScriptElement).src;
let loading: Promise<Engine> | null = null;

/** Returns the engine, which all figures share. After a failure, loading can be retried. */
function engine(): Promise<Engine> {
  loading ??= load(new URL("pavior.wasm", script).href).then((module) => Engine.start(module));
  loading.catch(() => { loading = null; });
  return loading;
}

/** Removes the legend and its margin, because the page explains the marks itself. */
function crop(drawing: SVGSVGElement): SVGGElement {
  const panel = drawing.querySelector(":scope > g") as SVGGElement;
  while (panel.nextSibling) panel.nextSibling.remove();
  const { width, height } = panel.getBBox(), wide = width + 48, high = height + 36;
  attributes(drawing, { viewBox: `0 0 ${wide} ${high}`, width: `${wide}`, height: `${high}` });
  drawing.style.maxWidth = "100%";
  return panel;
}

class Figure {
  private scene: Scene;
  private jobs: Part[][] = [];
  /** The state before each change, for `Undo` to restore. */
  private past: { jobs: Part[][]; at: number }[] = [];
  /** The index of the displayed step. */
  private at = 0;
  private parts: Part[] = [];
  private cursor: number[] | null = null;
  private readonly drawings: HTMLElement;
  private readonly request = element("input", { autocomplete: "off", spellcheck: false });
  private readonly strategy = element("input", { autocomplete: "off", spellcheck: false });
  private readonly stage = element("div", { className: "stage", tabIndex: 0, hidden: true });
  private readonly lines = element("div");
  private readonly grant = element("button", { type: "button" }, "Grant it");
  private readonly undo = element("button", { type: "button" }, "Undo");
  private readonly hint = element("p", { hidden: true }, "Click a free node to make it busy, or "
    + "a job to release it. On the keyboard, use the arrows, Page Up, Page Down and Enter.");

  constructor(readonly place: HTMLElement, scenes: Scene[]) {
    [this.scene] = scenes;
    const { request, strategy, stage, lines, grant, undo } = this;
    const form = element("form", {},
      element("label", {}, "Request ", request), element("label", {}, "Strategy ", strategy),
      element("button", {}, "Show"), grant, undo);
    form.onsubmit = (event) => { event.preventDefault(); void this.show(); };
    grant.onclick = () => {
      const { parts, at, scene: { steps } } = this;
      this.change(parts.length ? [...this.jobs, parts] : this.jobs, at + 1, at + 1 >= steps.length);
    };
    undo.onclick = () => { this.open(this.scene, this.past.pop()); void this.show(); };
    const examples = scenes.map((scene) => {
      const button = element("button", { type: "button" }, scene.name);
      button.onclick = () => { this.past = []; this.open(scene); void this.show(); };
      return element("li", {}, button);
    });
    attributes(lines, { role: "status" });
    attributes(stage, { role: "application", "aria-label": "Nodes; arrow keys move to a node" });
    stage.attachShadow({ mode: "open" });
    stage.onclick = (event) => this.toggle(this.under(event));
    stage.onkeydown = (event) => this.key(event);
    this.drawings = place.nextElementSibling as HTMLElement;
    const title = element("p", {}, "Examples from papers, and special cases:");
    place.append(form, this.drawings, stage, lines, this.hint, title,
      element("ul", {}, ...examples));
    this.open(this.scene);
  }

  /** Changes the state without drawing it. */
  private open(scene: Scene, { jobs, at } = { jobs: scene.jobs, at: 0 }): void {
    Object.assign(this, { scene, jobs, at });
    this.strategy.value = scene.strategy;
    this.request.value = (scene.steps[at] ?? scene.steps[scene.steps.length - 1]).request;
    this.grant.disabled = true;
    this.undo.disabled = !this.past.length;
  }

  /** Changes the state, then asks about the next step or repeats the request. */
  private change(jobs: Part[][], at: number, isSame: boolean): void {
    const { request: { value: request }, strategy: { value: strategy } } = this;
    this.past.push({ jobs: this.jobs, at: this.at });
    this.open(this.scene, { jobs, at });
    this.strategy.value = strategy;
    if (isSame) this.request.value = request;
    void this.show();
  }

  /** Asks the engine, and draws its answer instead of the page's drawings. */
  private async show(): Promise<void> {
    const { stage, scene: { machine }, jobs } = this;
    this.tell("…", ["Loading the engine …"]);
    try {
      const asked = { machine, jobs, strategy: this.strategy.value, request: this.request.value };
      const reply = (await engine()).ask<Reply>({ do: "explain", ...asked });
      const read = new DOMParser().parseFromString(reply.svg, "image/svg+xml");
      const drawing = document.importNode(read.documentElement, true) as Element as SVGSVGElement;
      this.drawings.hidden = true;
      stage.hidden = this.hint.hidden = false;
      stage.shadowRoot?.replaceChildren(drawing);
      crop(drawing);
      this.parts = reply.parts;
      this.grant.textContent = reply.parts.length ? "Grant it" : "Next request";
      this.grant.disabled = !reply.parts.length && this.at + 1 >= this.scene.steps.length;
      this.mark();
      this.tell(this.judged(reply.parts), reply.lines);
    } catch (error) {
      const { message } = error as Error;
      this.tell("failed", [error instanceof Fault ? message
        : `The engine cannot be loaded; it needs a web server: ${message}`]);
    }
  }

  /** Compares an answer with the documented one. */
  private judged(parts: Part[]): string {
    const step = this.scene.steps[this.at];
    if (!step?.parts && !step?.refused) return "shown";
    return JSON.stringify(parts.map(({ base, sides }) => [base, sides]))
      === JSON.stringify((step.parts ?? []).map(({ base, sides }) => [base, sides]))
      ? "expected" : "other";
  }

  private tell(result: string, lines: string[]): void {
    this.place.dataset.result = result;
    this.lines.replaceChildren(...lines.map((line) => element("p", {}, line)));
  }

  private planes(): SVGRectElement[] {
    return [...this.stage.shadowRoot?.querySelectorAll<SVGRectElement>("rect.node") ?? []];
  }

  private under({ clientX, clientY }: MouseEvent): number[] | null {
    const { axes, sides: [w, d] } = grid(this.scene.machine);
    for (const [z, plane] of this.planes().entries()) {
      const { left, top, width, height } = plane.getBoundingClientRect();
      const x = Math.floor(((clientX - left) / width) * w);
      const y = d - 1 - Math.floor(((clientY - top) / height) * d);
      if (x >= 0 && x < w && y >= 0 && y < d) return [x, y, z].slice(0, axes);
    }
    return null;
  }

  /** Makes a node busy if it is free; otherwise, releases the job on it. */
  private toggle(at: number[] | null): void {
    if (!at) return;
    const g = grid(this.scene.machine), node = number(g, at);
    const holds = (job: Part[]) => job.some((part) => [...nodesOf(g, part)].includes(node));
    const rest = this.jobs.filter((job) => !holds(job));
    const own = [{ base: at, sides: at.map(() => 1) }];
    const jobs = rest.length < this.jobs.length ? rest : [...rest, own];
    this.change(jobs, this.scene.steps.length, true);
  }

  private key(event: KeyboardEvent): void {
    const { axes, sides } = grid(this.scene.machine);
    const way = {
      ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], ArrowUp: [0, 1, 0], ArrowDown: [0, -1, 0],
      PageUp: [0, 0, 1], PageDown: [0, 0, -1],
    }[event.key];
    if (event.key === "Enter") this.toggle(this.cursor);
    else if (way)
      this.cursor = Array.from({ length: axes }, (_, axis) => this.cursor === null ? 0
        : Math.min(sides[axis] - 1, Math.max(0, this.cursor[axis] + way[axis])));
    else return;
    event.preventDefault();
    this.mark();
  }

  /** Outlines the node selected with the keyboard. */
  private mark(): void {
    const { sides: [w, d] } = grid(this.scene.machine), at = this.cursor;
    const plane = at && this.planes()[at[2] ?? 0], found = this.stage.shadowRoot;
    found?.querySelector(".cursor")?.remove();
    if (!at || !plane) return;
    const of = (name: string) => Number(plane.getAttribute(name));
    const wide = of("width") / w, high = of("height") / d;
    const mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    plane.parentElement?.append(attributes(mark, {
      class: "cursor", x: `${of("x") + at[0] * wide}`, width: `${wide}`, height: `${high}`,
      y: `${of("y") + (d - 1 - (at[1] ?? 0)) * high}`,
      style: "fill: none; stroke: currentColor; stroke-width: 3",
    }));
  }
}

for (const place of document.querySelectorAll<HTMLElement>(".live"))
  new Figure(place, JSON.parse(place.dataset.scenes ?? "[]"));
