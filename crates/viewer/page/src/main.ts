// The page: its state, its data, and the actions of keys and buttons.
import * as address from "./address.ts";
import { type Ahead, drawn, rowsOf } from "./ahead.ts";
import * as answer from "./answer.ts";
import { type By, COLOURINGS } from "./colouring.ts";
import { copy } from "./copy.ts";
import { element, find, many, plain, write } from "./dom.ts";
import { curl, first } from "./first.ts";
import { keys } from "./keys.ts";
import { legend } from "./legend.ts";
import { Lists, chosen } from "./lists.ts";
import { Live, type Refusal, type Series, type Told } from "./live.ts";
import type { Mark, Move } from "./marks.ts";
import { measures } from "./measures.ts";
import { type Key, type Lease, Machine, type Raw, grid } from "./model.ts";
import { EVERYTHING, type Plane, next as nextPlane, within } from "./plane.ts";
import { Player } from "./player.ts";
import { Schedule } from "./schedule.ts";
import type { Look } from "./shapes.ts";
import { shortcuts } from "./shortcuts.ts";
import { promises } from "./starts.ts";
import { Stage } from "./stage.ts";
import * as theme from "./theme.ts";
import { largest, tiles } from "./tiles.ts";
import { valueAt } from "./thin.ts";
import { Timeline } from "./timeline.ts";
import { type Clock, elapsed, wall } from "./times.ts";
import { nodeLines } from "./tip.ts";
import { summary } from "./words.ts";

/** The number of requests to explain, oldest first. */
const WAITS = 300;

const embedded = document.getElementById("schedule");
const schedule = embedded ? new Schedule(JSON.parse(embedded.textContent ?? "")) : null;
const clock: Clock = schedule ? elapsed : wall;

/** The complete state of the page. */
const page = {
  machine: null as Machine | null,
  live: true,
  /** The displayed time, in ms; null means now. */
  at: null as number | null,
  series: { busy: [], largest: [] } as Series,
  waits: new Map<Key, Told>(),
  by: "job" as By,
  plane: EVERYTHING as Plane,
  /** The selected job, by its name in the address. */
  job: null as string | null,
  marks: [] as Mark[],
  moves: [] as Move[],
  /** The boxes to count. */
  slots: null as address.Slots | null,
  /** The reservations, their boxes to draw, and the selected row. */
  ahead: null as Ahead[] | null,
  drawn: [] as Mark[],
  chosen: null as string | null,
  /** The program that manages the jobs, if not this service; there is then no history. */
  observer: "",
};

const opened = address.read(location.hash);
let source: Live | null = null;
/** The address to apply as soon as the machine is loaded. */
let next: address.Address | null = opened;

const stage = new Stage({
  pick: (key) => select(key === null ? null : String(key)),
  plane(plane) { page.plane = plane; changed(); },
  changed: () => keep(),
  clock: () => clock,
});
const timeline = new Timeline({ goTo, goLive, refusals }, () => !page.observer);
const lists = new Lists(
  () => ({
    machine: page.machine as Machine, by: page.by, dark: theme.isDark(), clock, waits: waiting(),
  }),
  {
    job: (lease) => select(page.job === String(lease.key) ? null : String(lease.key)),
    waiting(one) { page.job = String(one.key); keep(); void why({ waiting: one.key }); },
    refused: (one) => { player.stop(); goTo(one.at); },
    ahead: (one) => lookAhead(page.chosen === one.key ? null : one),
    changed: () => { draw(); keep(); },
  },
);
const player = new Player({
  // There is no data before the first record.
  span: () => [timeline.chart.begins() ?? timeline.chart.span()[0], timeline.chart.span()[1]],
  at: () => page.at,
  goTo,
  ended: () => { if (!schedule) goLive(); },
});

function refusals(): Refusal[] { return source?.refusals ?? []; }

/** Returns explanations of the waiting requests; empty for a time in the past. */
const waiting = (): Map<Key, Told> => (page.live ? page.waits : new Map());

/** Updates the page after a selection has changed. */
function changed(): void {
  draw();
  keep();
}

// Draws at most once per frame.
let waits = false;
function draw(): void {
  if (waits) return;
  waits = true;
  requestAnimationFrame(() => {
    waits = false;
    if (page.machine) show(page.machine);
  });
}

function look(machine: Machine): Look {
  const key = machine.keyOf(page.job);
  return {
    by: page.by, plane: within(machine.grid, page.plane), dark: theme.isDark(),
    selected: key !== null && machine.leases.has(key) ? key : null,
  };
}

function show(machine: Machine): void {
  const isLive = page.live && !schedule;
  if (isLive && source) machine.now = source.now();
  const shown = look(machine);
  // Reservations are drawn while they are listed, unless there is an answer.
  const isAhead = isLive && lists.list === "ahead" && !page.marks.length && !page.moves.length;
  stage.show(machine, shown, isAhead ? page.drawn : page.marks, page.moves);
  timeline.show({
    series: page.series, nodes: machine.grid.nodes, refused: refusals().map(({ at }) => at),
    at: isLive ? null : page.at, dark: shown.dark, clock,
    end: schedule ? 1000 * schedule.ends : source?.now() ?? Date.now(), isNow: !schedule,
  });
  player.explain();
  legend(find("legend"), machine, page.by, shown.dark, (search) => {
    lists.take(lists.list, search, lists.sort);
    keep();
  });
  write("counts", summary(machine));
  write("when", isLive ? "now" : clock.at(machine.now));
  find("live").setAttribute("aria-pressed", String(page.live));
  later();
}

// Lists and searches are updated after a delay, not on every event.
let told: ReturnType<typeof setTimeout> | null = null, wasTold = false;
function later(): void {
  if (!wasTold) { wasTold = true; return tell(); }
  told ??= setTimeout(() => { told = null; tell(); }, 150);
}

function tell(): void {
  const { machine } = page;
  if (!machine) return;
  const leases = [...machine.leases.values()], requests = [...machine.waiting.values()];
  const refused = source?.refusals?.filter(({ at }) => page.live || at <= machine.now) ?? null;
  const ahead = page.live ? page.ahead : null;
  lists.show([leases, requests, refused, ahead], machine.keyOf(page.job), page.chosen);
  const isDrawn = page.live && page.drawn.length > 0;
  const kept = isDrawn ? "Reserved nodes are violet." : "";
  const notes: Partial<Record<address.List, string>> =
    { waiting: promises(waiting()), ahead: kept };
  write("note", notes[lists.list] ?? "");
  tiles(machine, valueAt(page.series.largest, machine.now));
  showChosen(machine);
  const isEmpty = page.live && !schedule && !leases.length && !requests.length;
  const commands: Record<string, [string, string]> = {
    slurm: [`sbatch -N ${Math.min(4, machine.grid.nodes)} --wrap 'sleep 60'`,
      "No jobs are running here. Jobs that Slurm starts appear immediately:"],
    kubernetes: ["kubectl create -f job.yaml",
      "No Jobs are running here. Jobs with the annotation pavior.dev/shape appear immediately:"],
  };
  const [command, sentence] = commands[page.observer] ?? [
    curl(machine, find("machines").hidden ? null : source?.name ?? null, Boolean(source?.token)),
    "No nodes are in use. Request the first lease and watch it appear:"];
  first(isEmpty ? command : null, sentence);
}

function showChosen(machine: Machine): void {
  const key = machine.keyOf(page.job);
  const lease: Lease | undefined = key === null ? undefined : machine.leases.get(key);
  const clear = () => { select(null); find("stage").focus(); };
  if (page.job === null || (key !== null && !lease)) return chosen(null, clear);
  if (!lease) return chosen([`job ${plain(page.job)} holds no nodes at this time`], clear);
  const node = machine.holder.indexOf(lease.key);
  chosen(node < 0 ? null : nodeLines(machine, node, clock).slice(1, 5), clear);
}

function select(job: string | null): void {
  page.job = job;
  changed();
}

// Questions about requests and boxes. Answers refer to the current state.
async function asks(question: (source: Live) => Promise<answer.Answer>): Promise<void> {
  if (!source) return;
  if (!page.live) goLive();
  const { name } = source, found = await question(source);
  if (name !== source.name) return answer.clear();
  Object.assign(page, found);
  keep();
  find("fits-show").setAttribute("aria-pressed", "false");
  draw();
}
const why = (question: Raw): Promise<void> => {
  page.slots = null;
  return asks((service) => answer.why(service, question));
};

/** Counts the boxes of a shape. The fields show the question even if it comes from the address. */
function count(asked: address.Slots): void {
  page.slots = asked;
  find<HTMLInputElement>("shape").value = asked.shape.join("x");
  find<HTMLSelectElement>("moves").value = String(asked.moves);
  void asks((service) => answer.slots(service, asked));
}

/** Selects one reservation, or all if null. */
function lookAhead(one: Ahead | null): void {
  page.chosen = one?.key ?? null;
  page.drawn = drawn(page.ahead ?? [], one);
  Object.assign(page, { marks: [], moves: [], slots: null });
  if (!page.live) goLive();
  if (one && source) answer.tell(one.words(clock), source);
  else answer.clear();
  changed();
}

/** Removes an answer and its drawing. */
function forget(): void {
  Object.assign(page, { marks: [], moves: [], slots: null });
  find("fits-show").setAttribute("aria-pressed", "false");
  answer.clear();
}

function clear(): void {
  forget();
  page.chosen = null;
  page.drawn = drawn(page.ahead ?? [], null);
  select(null);
}

/** Parses the question. If it is invalid, shows `hint`. */
function typed(hint: string, isReadable: (question: Raw) => boolean): Raw | null {
  const question = answer.read(find<HTMLInputElement>("shape").value, page.machine?.grid.axes ?? 1);
  if (question && isReadable(question)) return question;
  forget();
  write("answer", hint);
  changed();
  return null;
}
find<HTMLFormElement>("ask").onsubmit = (event) => {
  event.preventDefault();
  const question = typed("Enter sides such as 4x4, or a number of nodes.", () => true);
  if (question) void why(question);
};
find("slots").onclick = () => {
  const question = typed("Enter the sides of a box, such as 4x4.", ({ shape }) => Boolean(shape));
  if (!question) return;
  count({ shape: question.shape, moves: Number(find<HTMLSelectElement>("moves").value) });
};
find("moves").onchange = () => { if (page.slots) find("slots").click(); };
find("fits-show").onclick = () => {
  const button = find("fits-show"), isShown = button.getAttribute("aria-pressed") === "true";
  const found = isShown || !page.machine ? null : largest(page.machine);
  page.marks = found ? [{ part: found, shade: theme.GREEN }] : [];
  page.moves = [];
  button.setAttribute("aria-pressed", String(found !== null));
  draw();
};

// Time.
let wanted: number | null = null, isAsking = false;
function goTo(instant: number): void {
  // The address contains the times of a service in whole milliseconds.
  const at = schedule ? instant : Math.round(instant);
  page.at = at;
  page.live = false;
  if (schedule) {
    page.machine = schedule.at(at / 1000);
  } else {
    // Answers refer to the current machine.
    forget();
    wanted = at;
    void past();
  }
  changed();
}

/** Requests the state at the selected time. Skips times selected during a request. */
async function past(): Promise<void> {
  if (isAsking || !source) return;
  isAsking = true;
  try {
    while (wanted !== null && !page.live) {
      const at = wanted, { name } = source;
      wanted = null;
      const machine = await source.past(at);
      if (page.live) break;
      if (name === source.name) page.machine = machine;
      draw();
    }
  } catch (error) {
    write("status", plain((error as Error).message, 200));
  } finally {
    isAsking = false;
  }
}

function goLive(): void {
  if (schedule) return;
  page.live = true;
  page.at = null;
  if (source?.machine) page.machine = source.machine;
  changed();
}

// The address.
let kept: ReturnType<typeof setTimeout> | null = null;
let last = location.hash.slice(1);
/** Returns the current view as an address. */
function here(): string {
  const isOne = find("machines").hidden;
  return address.write({
    machine: isOne ? null : source?.name ?? null, at: page.live ? null : page.at,
    view: page.machine ? (stage.isDeep ? "3d" : "2d") : null,
    plane: page.plane === EVERYTHING ? null : page.plane, by: page.by === "job" ? null : page.by,
    job: page.job, list: lists.list === "jobs" ? null : lists.list, search: lists.search,
    sort: lists.sort, eye: stage.eye(), slots: page.live ? page.slots : null,
  }, schedule !== null);
}
function keep(): void {
  kept ??= setTimeout(() => {
    kept = null;
    // A just pasted address must not be overwritten, because its `hashchange` event comes later.
    if (location.hash.slice(1) !== last) return;
    const now = here();
    history.replaceState(null, "", now ? `#${now}` : location.pathname + location.search);
    last = location.hash.slice(1);
  }, 250);
}

/** Applies an address. */
function follow(to: address.Address): void {
  page.by = to.by && !(schedule && to.by === "tenant") ? to.by : "job";
  page.plane = to.plane ?? EVERYTHING;
  page.job = to.job;
  find<HTMLSelectElement>("by").value = page.by;
  lists.take(to.list ?? "jobs", to.search ?? "", to.sort);
  if (source && to.machine !== null && to.machine !== source.name) return turnTo(to.machine, to);
  if (!page.machine) return;
  stage.choose(to.view ? to.view === "3d" : page.machine.grid.sides[2] > 1);
  stage.lookFrom(to.eye);
  if (to.at !== null && !page.observer) goTo(to.at);
  else if (schedule) goTo(1000 * schedule.begins);
  else goLive();
  if (to.slots && page.live && !schedule && !page.observer) return count(to.slots);
  if (to.list === "waiting" && to.job !== null) {
    const key = page.machine.keyOf(to.job);
    if (key !== null && page.machine.waiting.has(key)) void why({ waiting: key });
  }
}

addEventListener("hashchange", () => {
  const pasted = location.hash.slice(1);
  if (pasted === last) return;
  last = pasted;
  follow(address.read(pasted));
});
find("share").onclick = () => {
  const url = new URL(location.href);
  url.hash = here();
  void copy(url.href);
};

/** Shows another machine of the service, with the view of an address. */
function turnTo(name: string, to: address.Address): void {
  if (!source) return;
  player.stop();
  source.name = name;
  wanted = null;
  Object.assign(page, {
    machine: null, marks: [], moves: [], slots: null, waits: new Map(), ahead: null, chosen: null,
    drawn: [], series: { busy: [], largest: [] },
    job: null, live: true, at: null,
  });
  next = { ...to, machine: null };
  answer.clear();
  void source.begin();
}

/** Shows another machine, keeping only the parts of the view that do not depend on its jobs. */
function choose(name: string): void {
  const { by, list, search, sort } = address.read(here());
  turnTo(name, { ...address.read(""), by, list, search, sort });
}

// Sources of states.
function play(schedule: Schedule): void {
  page.series = schedule.series;
  if (!schedule.isWhole) find("time").querySelector(".largest")?.append(" (sampled)");
  document.body.dataset.mode = "schedule";
  find("tab-refused").hidden = true;
  // A schedule has no tenants.
  find("by").querySelector("[value=tenant]")?.remove();
  page.live = false;
  write("what", `${schedule.grid.text} · schedule of ${many(schedule.jobs.length, "job")}`);
  page.machine = schedule.at(schedule.begins);
  follow(opened);
}

function watch(): void {
  source = new Live({
    state(machine, state) {
      page.observer = state.observer ?? "";
      if (page.observer) document.body.dataset.observer = "";
      if (page.live) page.machine = machine;
      const scheduler = state.scheduler ? ` · scheduler: ${plain(state.scheduler)}` : "";
      write("what", `${plain(state.machine)} · ${plain(state.strategy)}${scheduler}`);
      const names: string[] = state.machines;
      find("machine").replaceChildren(...names.map((name) =>
        element("option", { value: name, selected: name === state.name }, plain(name))));
      find("machines").hidden = names.length < 2;
      document.title = `${plain(state.machine)} · Pavior`;
      if (next) {
        const to = { ...next, machine: null };
        next = null;
        follow(to);
        setTimeout(sample, 300);
      }
      draw();
    },
    changed() {
      if (source) answer.age(source);
      if (page.live) draw();
      soon();
    },
    connected() { write("status", "connected"); },
    trouble(text) { write("status", `${plain(text, 200)}; retrying`); },
    async token() {
      const dialog = find<HTMLDialogElement>("login");
      dialog.showModal();
      await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
      return find<HTMLInputElement>("token").value;
    },
  });
  source.name = opened.machine;
  void source.begin();
  setInterval(sample, 2000);
}

/**
 * Rereads the reservations after an event that changes them, and while they are listed, because
 * the jobs that block a reservation change without an event.
 */
async function readAhead(): Promise<void> {
  if (!source || page.observer || !(source.isAheadOld || lists.list === "ahead")) return;
  const { name } = source;
  source.isAheadOld = false;
  const reservations = await source.reservations();
  if (name !== source.name || !source.machine) return;
  page.ahead = rowsOf(source.machine, reservations);
  const one = page.ahead.find(({ key }) => key === page.chosen) ?? null;
  if (!one) page.chosen = null;
  page.drawn = drawn(page.ahead, one);
}

/** The timer for rereading the reasons for waiting, which is too slow to do after every event. */
let awaits: ReturnType<typeof setTimeout> | null = null;
function soon(): void {
  awaits ??= setTimeout(() => {
    awaits = null;
    waited().then(readAhead).then(draw, () => {});
  }, 400);
}

let isWaited = false;
async function waited(): Promise<void> {
  if (!source || isWaited || !(source.machine?.waiting.size || source.token)) return;
  isWaited = true;
  try {
    page.waits = await source.queue(WAITS);
  } finally {
    isWaited = false;
  }
}

let isSampling = false;
async function sample(): Promise<void> {
  if (!source?.machine || isSampling) return;
  isSampling = true;
  try {
    page.series = await source.series() ?? page.series;
    await source.lookForRefusals();
    await waited();
    await readAhead();
  } catch {
    // The watch reports problems.
  } finally {
    isSampling = false;
  }
  // The axis ends at the current time, even if nothing happens.
  draw();
}

// Buttons and keys.
function recolour(by: By): void {
  page.by = by;
  find<HTMLSelectElement>("by").value = by;
  changed();
}
function nextColouring(): void {
  const known = schedule ? COLOURINGS.filter((by) => by !== "tenant") : COLOURINGS;
  recolour(known[(known.indexOf(page.by) + 1) % known.length]);
}
function nextTheme(): void {
  theme.next();
  write("theme", `Theme: ${theme.chosen()}`);
  draw();
}
function layer(step: number): void {
  if (!page.machine) return;
  page.plane = nextPlane(page.machine.grid, page.plane, step);
  changed();
}
function view(three: boolean): void {
  stage.choose(three);
  changed();
}

find("theme").onclick = nextTheme;
const [by, machines] = [find<HTMLSelectElement>("by"), find<HTMLSelectElement>("machine")];
by.onchange = () => recolour(by.value as By);
machines.onchange = () => choose(machines.value);
find("live").onclick = goLive;
theme.begin(draw);
write("theme", `Theme: ${theme.chosen()}`);
keys(shortcuts({
  view, layer, nextColouring, nextTheme, clear, goLive: () => { player.stop(); goLive(); },
  step: (share) => timeline.step(share), whole: () => stage.whole(),
  play: () => { if (!page.observer) player.toggle(); },
}));

if (schedule) play(schedule);
else watch();
measures({ page, stage, timeline, look: () => look(page.machine ?? new Machine(grid("mesh:1"))) });
