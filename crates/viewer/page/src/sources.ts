// Sources of machine states: a schedule embedded in the page, or a service.
import { drawn, rowsOf } from "./ahead.ts";
import * as answer from "./answer.ts";
import { element, find, many, plain, write } from "./dom.ts";
import { Live } from "./live.ts";
import { openAddress, openPending, opened } from "./location.ts";
import type { Schedule } from "./schedule.ts";
import { connection, page } from "./state.ts";
import { draw, lists } from "./view.ts";

/** The number of requests to explain, starting with the oldest. */
const MAX_EXPLAINED = 300;

/** The delay after an event before the reasons for waiting are read, in ms. */
const WAITS_DELAY = 400;

/** Shows a schedule. */
export function play(schedule: Schedule): void {
  page.series = schedule.series;
  if (!schedule.isWhole) find("time").querySelector(".largest")?.append(" (sampled)");
  document.body.dataset.mode = "schedule";
  find("tab-refused").hidden = true;
  // A schedule has no tenants.
  find("by").querySelector("[value=tenant]")?.remove();
  page.live = false;
  write("what", `${schedule.grid.text} · schedule of ${many(schedule.jobs.length, "job")}`);
  page.machine = schedule.at(schedule.begins);
  openAddress(opened);
}

/** Shows the current state of a service. */
export function watch(): void {
  const source: Live = new Live({
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
      if (openPending()) setTimeout(sample, 300);
      draw();
    },
    changed() {
      answer.age(source);
      if (page.live) draw();
      readWaitsSoon();
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
  connection.source = source;
  source.name = opened.machine;
  void source.begin();
  setInterval(sample, 2000);
}

/** Rereads the reservations after an event that changes them. While the reservations are listed,
 * also rereads them regularly, because the jobs that block a reservation can change without an
 * event. */
async function readAhead(): Promise<void> {
  const { source } = connection;
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

/** The timer for rereading explanations, because doing so after every event would be too slow. */
let waitsTimer: ReturnType<typeof setTimeout> | null = null;
function readWaitsSoon(): void {
  waitsTimer ??= setTimeout(() => {
    waitsTimer = null;
    readWaits().then(readAhead).then(draw, () => {});
  }, WAITS_DELAY);
}

let isReadingWaits = false;
async function readWaits(): Promise<void> {
  const { source } = connection;
  if (!source || isReadingWaits || !(source.machine?.waiting.size || source.token)) return;
  isReadingWaits = true;
  try {
    page.waits = await source.queue(MAX_EXPLAINED);
  } finally {
    isReadingWaits = false;
  }
}

let isSampling = false;
async function sample(): Promise<void> {
  const { source } = connection;
  if (!source?.machine || isSampling) return;
  isSampling = true;
  try {
    page.series = await source.series() ?? page.series;
    await source.lookForRefusals();
    await readWaits();
    await readAhead();
  } catch {
    // The watch reports any problems.
  } finally {
    isSampling = false;
  }
  // The axis extends to the current time even if nothing happens.
  draw();
}
