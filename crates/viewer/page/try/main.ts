// The page: two machines with the same jobs, their settings, and the actions of keys and buttons.
import { copy } from "../src/copy.ts";
import { attributes, element, find, plain, write } from "../src/dom.ts";
import { keys } from "../src/keys.ts";
import { hasPlanes } from "../src/plane.ts";
import * as theme from "../src/theme.ts";
import { Background } from "./background.ts";
import { Engine, Fault, load } from "./engine.ts";
import { Panel, brief } from "./panel.ts";
import { plot } from "./plot.ts";
import { type Address, Form, type Registries, type Settings, commands, read, write as written } from "./settings.ts";
import { type Curve, Side } from "./side.ts";

/** The milliseconds of a frame that the engine may use, and the events of a step. */
const SHARE = 8, EVENTS = 64;
/** The time between two computations of the difference, in ms. */
const COMPARED = 700;
const CURVES: [Curve, number | null][] = [["wait", null], ["used", 1], ["largest", 1]];

const asked = read(location.hash);
const page = {
  both: asked.both,
  isPaused: theme.isStill() || asked.view.paused === "1",
  isDeep: true,
  /** The time of the page, in units of the runs. */
  time: 0,
  speed: 4,
  compared: 0,
};

function speed(): number {
  const typed = Number(asked.view.speed);
  return typed > 0 && typed <= 1e6 ? typed : 4;
}

async function begin(): Promise<void> {
  const module = await load(), engine = await Engine.start(module);
  const sides = [0, 1].map((index) => new Side(index, { pick })) as [Side, Side];
  const form = new Form(engine.ask<Registries>({ do: "registries" }), (both) => apply(both));
  const background = new Background(module);

  function pick(side: number, node: number | null): void {
    pause(true);
    sides[side].clear();
    const lines = sides[side].select(node), { machine } = sides[side];
    sides[side].tell(lines);
    if (node !== null && machine?.holder[node] === null) ask();
  }

  function address(): Address {
    const view: Settings = { view: page.isDeep ? "3d" : "2d", speed: String(page.speed) };
    if (page.isPaused) Object.assign(view, { t: String(page.time), paused: "1" });
    const shape = find<HTMLInputElement>("shape").value.trim();
    if (shape) view.shape = shape;
    return { both: page.both, view };
  }

  function keep(): void { history.replaceState(null, "", `#${written(address())}`); }

  function apply(both: [Settings, Settings]): void {
    page.both = both;
    restart();
  }

  /** Starts both runs. A fault is shown, and the last runs stay. */
  function restart(): void {
    write("fault", "");
    form.blame(null);
    try {
      sides.forEach((side, index) => side.open(engine, page.both[index]));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      write("fault", plain(error.message, 300));
      write("status", `These settings cannot be used: ${plain(error.message, 300)}`);
      form.blame(error.setting);
      return;
    }
    page.time = 0;
    page.compared = 0;
    write("status", "");
    write("difference", "");
    const { shell, python } = commands(page.both);
    write("shell", shell);
    write("python", python);
    write("unit", sides[0].opened?.unit.replaceAll("_", " ") ?? "");
    form.show(page.both);
    keep();
    show();
  }

  /** Advances both machines to the time of the page, as far as the share of a frame allows. */
  function advance(until: number): void {
    const ends = performance.now() + SHARE;
    let goesOn = true;
    while (goesOn && performance.now() < ends) {
      goesOn = false;
      for (const side of sides) {
        if (!side.state || side.state.over || side.state.now >= until) continue;
        side.step(engine, EVENTS, until);
        goesOn = true;
      }
    }
    const behind = sides.filter(({ state }) => state && !state.over).map(({ state }) => state?.now ?? 0);
    const isOver = sides.every(({ state }) => state?.over);
    const last = Math.max(...sides.map(({ state }) => state?.now ?? 0));
    page.time = isOver ? last : Math.min(until, ...behind.map((now) => Math.max(now, page.time)));
    if (isOver && !page.isPaused) pause(true);
  }

  function step(): void {
    pause(true);
    for (const side of sides) side.step(engine, 1, null);
    page.time = Math.max(...sides.map(({ state }) => state?.now ?? 0));
    show();
  }

  function pause(paused: boolean): void {
    if (!paused && sides.every(({ state }) => state?.over)) restart();
    page.isPaused = paused;
    write("pause", paused ? "Play" : "Pause");
    if (!paused) for (const side of sides) side.clear();
    keep();
  }

  function ask(): void {
    pause(true);
    const field = find<HTMLInputElement>("shape");
    const axes = sides[0].machine?.grid.axes ?? 3;
    const shape = field.value.trim() || Array(axes).fill(Math.max(1, Math.ceil((sides[0].machine?.grid.sides[0] ?? 8) / 2))).join("x");
    field.value = shape;
    for (const side of sides) {
      try {
        side.ask(engine, shape);
      } catch (error) {
        side.tell([plain((error as Error).message, 300)]);
      }
    }
    keep();
  }

  function compare(): void {
    const { jobs, needed, difference, half_width: half } = engine.ask<{
      jobs: number; needed?: number; difference?: number | null; half_width?: number | null;
    }>({ do: "difference", runs: [0, 1] });
    const [one, other] = sides.map(({ opened }, index) => nameOf(opened, index));
    if (needed !== undefined || difference === null || difference === undefined)
      return write("difference", `${jobs} of the ${needed} jobs that an interval needs have started on both machines.`);
    const isSure = half !== null && half !== undefined && Math.abs(difference) > half;
    write("difference", `Over the same ${jobs.toLocaleString("en")} jobs, the mean wait with ${other} is `
      + `${brief(Math.abs(difference))} ± ${brief(half)} ${difference < 0 ? "shorter" : "longer"} than with ${one} `
      + `(95 % interval${isSure ? "" : "; it contains zero"}).`);
  }

  function nameOf(opened: Side["opened"], index: number): string {
    const isSame = page.both[0].strategy === page.both[1].strategy;
    return (isSame ? opened?.scheduler : opened?.strategy) ?? `machine ${index + 1}`;
  }

  function show(): void {
    const dark = theme.isDark();
    for (const side of sides) {
      side.draw();
      numbers(side);
    }
    for (const [curve, most] of CURVES)
      plot(find<HTMLCanvasElement>(`plot-${curve}`), sides.map(({ curves }) => curves[curve]), most, dark);
    write("time", `time ${page.time.toFixed(page.time < 100 ? 2 : 0)}`);
  }

  function numbers({ index, state, machine, largest }: Side): void {
    if (!state || !machine) return;
    const all: [string, string][] = [
      ["mean wait", brief(state.wait)],
      ["utilization", `${brief(100 * (state.utilization ?? 0))} %`],
      ["largest free box", largest === null ? "–" : `${brief(100 * largest)} %`],
      ["waiting", state.waiting.toLocaleString("en")],
      ["completed", state.completed.toLocaleString("en")],
    ];
    const place = find(`numbers-${index}`);
    if (!place.children.length)
      place.append(...all.map(([name]) => element("div", {}, element("dt", {}, name), element("dd"))));
    place.querySelectorAll("dd").forEach((one, at) => { one.textContent = all[at][1]; });
  }

  function choose(deep: boolean): void {
    page.isDeep = sides.map((side) => side.choose(deep)).every(Boolean);
    for (const [id, pressed] of [["two", !page.isDeep], ["three", page.isDeep]] as const)
      attributes(find(id), { "aria-pressed": String(pressed) });
    keep();
  }

  let last = performance.now();
  function frame(now: number): void {
    const seconds = Math.min(0.1, (now - last) / 1000);
    last = now;
    if (!page.isPaused) {
      advance(page.time + seconds * page.speed);
      show();
    }
    if (now - page.compared > COMPARED) {
      page.compared = now;
      compare();
    }
    requestAnimationFrame(frame);
  }

  page.speed = speed();
  const pace = find<HTMLSelectElement>("speed");
  if (![...pace.options].some(({ value }) => Number(value) === page.speed))
    pace.append(element("option", { value: String(page.speed) }, String(page.speed)));
  pace.value = String(page.speed);
  pace.onchange = () => { page.speed = Number(pace.value); keep(); };
  find("pause").onclick = () => pause(!page.isPaused);
  find("step").onclick = step;
  find("restart").onclick = restart;
  find("two").onclick = () => choose(false);
  find("three").onclick = () => choose(true);
  find("share").onclick = () => { keep(); void copy(location.href); };
  find("theme").onclick = () => { write("theme", `Theme: ${theme.next()}`); show(); };
  find<HTMLFormElement>("ask").onsubmit = (event) => { event.preventDefault(); ask(); };
  for (const side of [0, 1])
    for (const id of [`strategy-${side}`, `scheduler-${side}`, `strategy-options-${side}`, `scheduler-options-${side}`])
      find(id).addEventListener("change", () => form.submit());
  keys([
    { keys: [" "], shown: "Space", words: "pause or play", act: () => pause(!page.isPaused) },
    { keys: ["s"], shown: "s", words: "next event on both machines", act: step },
    { keys: ["r"], shown: "r", words: "restart", act: restart },
    { keys: ["2", "3"], shown: "2 3", words: "two or three dimensions", act: (key) => choose(key === "3") },
    { keys: ["a"], shown: "a", words: "ask about the shape", act: ask },
  ]);
  theme.begin(show);
  write("theme", `Theme: ${theme.chosen()}`);
  new Panel(background, () => page.both);
  find<HTMLInputElement>("shape").value = asked.view.shape ?? "";
  const wanted = Number(asked.view.t);
  restart();
  if (wanted > 0) while (sides.some(({ state }) => state && !state.over && state.now < wanted)) advance(wanted);
  choose(asked.view.view ? asked.view.view === "3d" : !sides[0].machine || hasPlanes(sides[0].machine.grid));
  pause(page.isPaused);
  show();
  addEventListener("hashchange", () => location.reload());
  Object.assign(window, { pavior: { page, sides, engine, background } });
  requestAnimationFrame(frame);
}

begin().catch((error) => write("status", `The page cannot start: ${plain(error, 300)}`));
