// Updates the page's views: the machine, its history, and the lists.
import type { List } from "./address.ts";
import { keepAddress } from "./location.ts";
import { plain, find, write } from "./dom.ts";
import { curl, first } from "./first.ts";
import { goLive, goTo, showTime } from "./history.ts";
import { legend } from "./legend.ts";
import { Lists, chosen } from "./lists.ts";
import type { Lease, Machine } from "./model.ts";
import { within } from "./plane.ts";
import { Player } from "./player.ts";
import { askWhy, selectAhead } from "./questions.ts";
import type { Look } from "./shapes.ts";
import { promises } from "./starts.ts";
import { Stage } from "./stage.ts";
import { clock, connection, page, refusals, schedule, waiting } from "./state.ts";
import * as theme from "./theme.ts";
import { valueAt } from "./thin.ts";
import { tiles } from "./tiles.ts";
import { Timeline } from "./timeline.ts";
import { nodeLines } from "./tip.ts";
import { summary } from "./words.ts";

/** The delay before lists and searches are updated, in ms. Updating them after every event would be
 * too slow. */
const LIST_DELAY = 150;

export const stage = new Stage({
  pick: (key) => select(key === null ? null : String(key)),
  plane(plane) { page.plane = plane; changed(); },
  changed: () => keepAddress(),
  clock: () => clock,
});
export const timeline = new Timeline({ goTo, goLive, refusals }, () => !page.observer);
export const lists = new Lists(
  () => ({
    machine: page.machine as Machine, by: page.by, dark: theme.isDark(), clock, waits: waiting(),
  }),
  {
    job: (lease) => select(page.job === String(lease.key) ? null : String(lease.key)),
    waiting(one) { page.job = String(one.key); keepAddress(); void askWhy({ waiting: one.key }); },
    refused: (one) => goTo(one.at),
    ahead: (one) => selectAhead(page.chosen === one.key ? null : one),
    changed: () => changed(),
  },
);
export const player = new Player({
  // There is no data before the first record.
  span: () => [timeline.chart.begins() ?? timeline.chart.span()[0], timeline.chart.span()[1]],
  at: () => page.at,
  showTime,
  ended: goLive,
});

/** Updates the page after the selection has changed. */
export function changed(): void {
  draw();
  keepAddress();
}

/** Selects a job by its name in the URL. */
export function select(job: string | null): void {
  page.job = job;
  changed();
}

let isDrawPlanned = false;
/** Draws the page in the next frame. */
export function draw(): void {
  if (isDrawPlanned) return;
  isDrawPlanned = true;
  requestAnimationFrame(() => {
    isDrawPlanned = false;
    if (page.machine) show(page.machine);
  });
}

export function look(machine: Machine): Look {
  const key = machine.keyOf(page.job);
  return {
    by: page.by, plane: within(machine.grid, page.plane), dark: theme.isDark(),
    selected: key !== null && machine.leases.has(key) ? key : null,
  };
}

function show(machine: Machine): void {
  const { source } = connection, isLive = page.live && !schedule;
  if (isLive && source) machine.now = source.now();
  const shown = look(machine);
  // Reservations are drawn while they are listed, unless an answer is shown.
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
    keepAddress();
  });
  write("counts", summary(machine));
  write("when", isLive ? "now" : clock.at(machine.now));
  find("live").setAttribute("aria-pressed", String(page.live));
  updateListsSoon();
}

let listTimer: ReturnType<typeof setTimeout> | null = null, hasLists = false;
function updateListsSoon(): void {
  if (!hasLists) { hasLists = true; return updateLists(); }
  listTimer ??= setTimeout(() => { listTimer = null; updateLists(); }, LIST_DELAY);
}

function updateLists(): void {
  const { machine } = page;
  if (!machine) return;
  const leases = [...machine.leases.values()], requests = [...machine.waiting.values()];
  const { source } = connection;
  const refused = source?.refusals?.filter(({ at }) => page.live || at <= machine.now) ?? null;
  const ahead = page.live ? page.ahead : null;
  lists.show([leases, requests, refused, ahead], machine.keyOf(page.job), page.chosen);
  const isDrawn = page.live && page.drawn.length > 0;
  const notes: Partial<Record<List, string>> =
    { waiting: promises(waiting()), ahead: isDrawn ? "Reserved nodes are violet." : "" };
  write("note", notes[lists.list] ?? "");
  tiles(machine, valueAt(page.series.largest, machine.now));
  showChosen(machine);
  showFirst(machine, page.live && !schedule && !leases.length && !requests.length);
}

/** Shows how to start the first job on an empty machine. */
function showFirst(machine: Machine, isEmpty: boolean): void {
  const { source } = connection;
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
