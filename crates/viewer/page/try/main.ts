// The page: two machines with the same jobs, their settings, and actions for keys and buttons.
import { copy } from "../src/copy.ts";
import { attributes, element, find, plain, write } from "../src/dom.ts";
import { keys } from "../src/keys.ts";
import { hasPlanes } from "../src/plane.ts";
import * as theme from "../src/theme.ts";
import { Background } from "./background.ts";
import { Engine, Fault, load } from "./engine.ts";
import { Panel, brief } from "./panel.ts";
import { plot } from "./plot.ts";
import { type Both, Form, type Registries, type Settings, commands } from "./settings.ts";
import * as settings from "./settings.ts";
import { type Curve, Side } from "./side.ts";

/** The time that the engine may use per frame, in ms, and the number of events per step. */
const SHARE = 8, EVENTS = 64;
/** The intervals, in ms, at which the difference is updated and the curves are drawn. */
const COMPARED = 700, PLOTTED = 120;
/** The default speed in time units per second. At this speed, waits differ within a few seconds. */
const USUAL_SPEED = 4;
/** The maximum time by which the machines advance between two frames, in seconds. */
const LONGEST = 0.25;
/** The curves, each with the end of its vertical axis, or null if that depends on the values. */
const CURVES: [Curve, number | null][] = [["wait", null], ["used", 1], ["largest", 1]];

interface Difference {
  jobs: number; needed?: number; difference?: number | null; half_width?: number | null;
}

class Page {
  isPaused: boolean;
  private both: Both;
  private isDeep = true;
  /** The displayed time. */
  private time = 0;
  private speed: number;
  private compared = 0;
  private plotted = 0;
  readonly sides: Side[];
  private readonly form: Form;

  constructor(readonly engine: Engine, readonly background: Background, asked: settings.Address) {
    const { both, view } = asked, speed = Number(view.speed);
    this.both = both;
    this.isPaused = theme.isStill() || view.paused === "1";
    this.speed = speed > 0 && speed <= 1e6 ? speed : USUAL_SPEED;
    this.sides = [0, 1].map((index) => new Side(index, (node) => this.pick(index, node)));
    this.form = new Form(engine.ask<Registries>({ do: "registries" }), (typed) => {
      this.both = typed;
      this.restart();
    });
    this.buttons();
    new Panel(background, () => this.both);
    find<HTMLInputElement>("shape").value = view.shape ?? "";
    this.restart();
    const wanted = Number(view.t), isBehind = ({ state }: Side) =>
      Boolean(state && !state.over && state.now < wanted);
    while (this.sides.some(isBehind)) this.advance(wanted);
    const { machine } = this.sides[0], isSolid = !machine || hasPlanes(machine.grid);
    this.choose(view.view ? view.view === "3d" : isSolid);
    this.pause(this.isPaused);
  }

  private buttons(): void {
    const pace = find<HTMLSelectElement>("speed"), text = String(this.speed);
    if (![...pace.options].some(({ value }) => value === text))
      pace.append(element("option", { value: text }, text));
    pace.value = text;
    pace.onchange = () => { this.speed = Number(pace.value); this.keep(); };
    find("pause").onclick = () => this.pause(!this.isPaused);
    find("step").onclick = () => this.step();
    find("restart").onclick = () => this.restart();
    find("two").onclick = () => this.choose(false);
    find("three").onclick = () => this.choose(true);
    find("share").onclick = () => { this.keep(); void copy(location.href); };
    find<HTMLFormElement>("ask").onsubmit = (event) => { event.preventDefault(); this.ask(); };
    const key = (shown: string, words: string, act: (key: string) => void) =>
      ({ keys: shown === "Space" ? [" "] : shown.split(" "), shown, words, act });
    keys([
      key("Space", "pause or play", () => this.pause(!this.isPaused)),
      key("s", "next event on both machines", () => this.step()),
      key("r", "restart", () => this.restart()),
      key("2 3", "two or three dimensions", (pressed) => this.choose(pressed === "3")),
      key("a", "ask about the shape", () => this.ask()),
    ]);
    theme.begin(() => this.show());
  }

  /** Stores the settings and the view in the URL. */
  private keep(): void {
    const view: Settings = { view: this.isDeep ? "3d" : "2d", speed: String(this.speed) };
    if (this.isPaused) Object.assign(view, { t: String(this.time), paused: "1" });
    const shape = find<HTMLInputElement>("shape").value.trim();
    if (shape) view.shape = shape;
    history.replaceState(null, "", `#${settings.write({ both: this.both, view })}`);
  }

  /** Starts both runs. If there is an error, the previous runs remain. */
  private restart(): void {
    write("fault", "");
    this.form.blame(null);
    try {
      this.sides.forEach((side, index) => side.open(this.engine, this.both[index]));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const reason = plain(error.message, 300);
      write("fault", reason);
      write("status", `These settings cannot be used: ${reason}`);
      return this.form.blame(error.setting);
    }
    this.time = this.compared = 0;
    write("status", "");
    write("difference", "");
    const { shell, python } = commands(this.both);
    write("shell", shell);
    write("python", python);
    for (const { index, opened } of this.sides)
      write(`name-${index}`, `${opened?.strategy}, ${opened?.scheduler}`);
    write("unit", this.sides[0].opened?.unit.replaceAll("_", " ") ?? "");
    this.form.show(this.both);
    this.keep();
    this.show();
  }

  /** Advances both machines to a time, as far as the engine's time per frame allows. */
  private advance(until: number): void {
    const ends = performance.now() + SHARE, { sides } = this;
    const isBehind = ({ state }: Side) => state && !state.over && state.now < until;
    while (performance.now() < ends && sides.some(isBehind))
      for (const side of sides) if (isBehind(side)) side.step(this.engine, EVENTS, until);
    const nows = sides.map(({ state }) => state?.now ?? 0);
    const behind = nows.filter((_, index) => !sides[index].state?.over);
    this.time = behind.length ? Math.min(until, ...behind) : Math.max(...nows);
    if (!behind.length && !this.isPaused) this.pause(true);
  }

  private step(): void {
    this.pause(true);
    for (const side of this.sides) side.step(this.engine, 1, null);
    this.time = Math.max(...this.sides.map(({ state }) => state?.now ?? 0));
    this.show();
  }

  private pause(paused: boolean): void {
    if (!paused && this.sides.every(({ state }) => state?.over)) this.restart();
    this.isPaused = paused;
    write("pause", paused ? "Play" : "Pause");
    if (!paused) for (const side of this.sides) side.clear();
    this.keep();
    if (paused) this.show();
  }

  /** Selects the job on a node or, if the node is free, asks about the shape. */
  private pick(index: number, node: number | null): void {
    const side = this.sides[index];
    this.pause(true);
    side.clear();
    if (node !== null && side.machine?.isFree(node)) this.ask();
    else side.tell(side.select(node));
  }

  /** Asks both machines about a shape (by default, with sides half as long as the machine's). */
  private ask(): void {
    this.pause(true);
    const field = find<HTMLInputElement>("shape"), grid = this.sides[0].machine?.grid;
    if (!field.value.trim() && grid)
      field.value = grid.sides.slice(0, grid.axes).map((side) => Math.ceil(side / 2)).join("x");
    for (const side of this.sides) {
      try {
        side.ask(this.engine, field.value.trim());
      } catch (error) {
        side.tell([plain((error as Error).message, 300)]);
      }
    }
    this.keep();
  }

  /** Shows the difference between the mean waits. */
  private compare(): void {
    const { jobs, needed, difference, half_width: half } =
      this.engine.ask<Difference>({ do: "difference", runs: [0, 1] });
    if (needed !== undefined || difference === null || difference === undefined)
      return write("difference", `Mean waits are compared once ${needed} jobs have started on both `
        + `machines (${jobs} so far).`);
    const [one, other] = this.sides.map((side) => this.nameOf(side));
    const isSure = half !== null && half !== undefined && Math.abs(difference) > half;
    write("difference", `Over the same ${jobs.toLocaleString("en")} jobs, the mean wait with `
      + `${other} is ${brief(Math.abs(difference))} ± ${brief(half)} `
      + `${difference < 0 ? "shorter" : "longer"} than with ${one} `
      + `(95% interval${isSure ? "" : "; it contains zero"}).`);
  }

  private nameOf({ opened, index }: Side): string {
    const isSame = this.both[0].strategy === this.both[1].strategy;
    return (isSame ? opened?.scheduler : opened?.strategy) ?? `machine ${index + 1}`;
  }

  private show(): void {
    write("instant", `time ${this.time.toFixed(this.time < 100 ? 2 : 0)}`);
    for (const side of this.sides) {
      side.draw();
      numbers(side);
    }
    const now = performance.now(), dark = theme.isDark();
    if (!this.isPaused && now - this.plotted < PLOTTED) return;
    this.plotted = now;
    for (const [curve, most] of CURVES) {
      const curves = this.sides.map((side) => side.curves[curve]);
      plot(find<HTMLCanvasElement>(`plot-${curve}`), curves, most, dark);
    }
  }

  private choose(deep: boolean): void {
    this.isDeep = this.sides.map((side) => side.choose(deep)).every(Boolean);
    for (const [id, pressed] of [["two", !this.isDeep], ["three", this.isDeep]] as const)
      attributes(find(id), { "aria-pressed": String(pressed) });
    this.keep();
  }

  /** Advances and draws both machines every frame. */
  run(): void {
    let last = performance.now();
    const frame = (now: number) => {
      const seconds = Math.min(LONGEST, (now - last) / 1000);
      last = now;
      if (!this.isPaused) {
        this.advance(this.time + seconds * this.speed);
        this.show();
      }
      if (now - this.compared > COMPARED) {
        this.compared = now;
        this.compare();
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}

/** Shows a machine's key figures. */
function numbers({ index, state, largest }: Side): void {
  if (!state) return;
  const all: [string, string][] = [
    ["mean wait", brief(state.wait)],
    ["utilization", `${brief(100 * (state.utilization ?? 0))}%`],
    ["largest free box", largest === null ? "–" : `${brief(100 * largest)}%`],
    ["waiting", state.waiting.toLocaleString("en")],
    ["completed", state.completed.toLocaleString("en")],
  ];
  const place = find(`numbers-${index}`);
  if (!place.children.length)
    place.append(...all.map(([name]) =>
      element("div", {}, element("dt", {}, name), element("dd"))));
  place.querySelectorAll("dd").forEach((one, at) => { one.textContent = all[at][1]; });
}

async function begin(): Promise<void> {
  const module = await load(), engine = await Engine.start(module);
  const page = new Page(engine, new Background(module), settings.read(location.hash));
  addEventListener("hashchange", () => location.reload());
  Object.assign(window, { pavior: page });
  page.run();
}

begin().catch((error) => write("status", `The page cannot start: ${plain(error, 300)}`));
