// Keeps the page's URL, which encodes the view, up to date.
import * as address from "./address.ts";
import * as answer from "./answer.ts";
import { copy } from "./copy.ts";
import { find } from "./dom.ts";
import { cancelLoading, goLive, goTo } from "./history.ts";
import { EVERYTHING } from "./plane.ts";
import { askWhy, count } from "./questions.ts";
import { connection, page, schedule } from "./state.ts";
import { lists, player, stage } from "./view.ts";

/** The delay before a change to the view is written to the URL, in ms. */
const ADDRESS_DELAY = 250;

/** The URL with which the page was opened. */
export const opened = address.read(location.hash);
/** The URL to apply as soon as the machine is loaded. */
let pending: address.Address | null = opened;

let timer: ReturnType<typeof setTimeout> | null = null;
let last = location.hash.slice(1);

/** Returns the current view in the form stored in the URL. */
function currentAddress(): string {
  const isOne = find("machines").hidden;
  return address.write({
    machine: isOne ? null : connection.source?.name ?? null, at: page.live ? null : page.at,
    view: page.machine ? (stage.isDeep ? "3d" : "2d") : null,
    plane: page.plane === EVERYTHING ? null : page.plane, by: page.by === "job" ? null : page.by,
    job: page.job, list: lists.list === "jobs" ? null : lists.list, search: lists.search,
    sort: lists.sort, eye: stage.eye(), slots: page.live ? page.slots : null,
  }, schedule !== null);
}

/** Writes the current view to the URL after a delay. */
export function keepAddress(): void {
  timer ??= setTimeout(() => {
    timer = null;
    // A URL that was just pasted must not be overwritten; its `hashchange` event comes later.
    if (location.hash.slice(1) !== last) return;
    const now = currentAddress();
    history.replaceState(null, "", now ? `#${now}` : location.pathname + location.search);
    last = location.hash.slice(1);
  }, ADDRESS_DELAY);
}

/** Shows the view that a URL encodes. */
export function openAddress(to: address.Address): void {
  const { source } = connection;
  page.by = to.by && !(schedule && to.by === "tenant") ? to.by : "job";
  page.plane = to.plane ?? EVERYTHING;
  page.job = to.job;
  find<HTMLSelectElement>("by").value = page.by;
  lists.take(to.list ?? "jobs", to.search ?? "", to.sort);
  if (source && to.machine !== null && to.machine !== source.name)
    return showMachine(to.machine, to);
  if (!page.machine) return;
  stage.choose(to.view ?? (page.machine.grid.sides[2] > 1 ? "3d" : "2d"));
  stage.lookFrom(to.eye);
  if (to.at !== null && !page.observer) goTo(to.at);
  else if (schedule) goTo(1000 * schedule.begins);
  else goLive();
  if (to.slots && page.live && !schedule && !page.observer) return count(to.slots);
  if (to.list === "waiting" && to.job !== null) {
    const key = page.machine.keyOf(to.job);
    if (key !== null && page.machine.waiting.has(key)) void askWhy({ waiting: key });
  }
}

/** Shows the view encoded in the pending URL. Returns false if there is none. */
export function openPending(): boolean {
  if (!pending) return false;
  const to = { ...pending, machine: null };
  pending = null;
  openAddress(to);
  return true;
}

/** Shows another of the service's machines, with the view that a URL encodes. */
function showMachine(name: string, to: address.Address): void {
  const { source } = connection;
  if (!source) return;
  player.stop();
  source.name = name;
  cancelLoading();
  Object.assign(page, {
    machine: null, marks: [], moves: [], slots: null, waits: new Map(), ahead: null, chosen: null,
    drawn: [], series: { busy: [], largest: [] },
    job: null, live: true, at: null,
  });
  pending = { ...to, machine: null };
  answer.clear();
  void source.begin();
}

/** Shows another machine, preserving the parts of the view that do not depend on jobs. */
export function chooseMachine(name: string): void {
  const { by, list, search, sort } = address.read(currentAddress());
  showMachine(name, { ...address.read(""), by, list, search, sort });
}

/** Handles pasted URLs and the button that copies the URL. */
export function listenForAddresses(): void {
  addEventListener("hashchange", () => {
    const pasted = location.hash.slice(1);
    if (pasted === last) return;
    last = pasted;
    openAddress(address.read(pasted));
  });
  find("share").onclick = () => {
    const url = new URL(location.href);
    url.hash = currentAddress();
    void copy(url.href);
  };
}
