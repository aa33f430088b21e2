// The page: what is shown, and what the keys and buttons do.
import { Chart } from "./chart.js";
import { css } from "./colours.js";
import { legend } from "./legend.js";
import { Machine, colourOf } from "./model.js";
import { Live, Schedule } from "./sources.js";
import { columns } from "./thin.js";
import { local } from "./times.js";
import { View2d } from "./view2d.js";
import { View3d } from "./view3d.js";

const find = (id) => document.getElementById(id);
const element = (name, attributes = {}, text = "") => Object.assign(document.createElement(name), attributes, { textContent: text });
const dark = () => document.documentElement.dataset.theme === "dark"
  || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);

const page = { machine: null, live: true, at: null, series: { busy: [], largest: [] }, waits: new Map(), by: "job", layer: null, selected: null, boxes: [], moves: [] };
const embedded = find("schedule");
const schedule = embedded ? new Schedule(JSON.parse(embedded.textContent)) : null;

// Views.
const pick = (node) => select(node === null ? null : page.machine.holder[node]);
const flat = new View2d(find("flat"), pick);
let deep = null;
try {
  deep = new View3d(find("deep"), pick);
} catch {
  find("three").disabled = true;
  find("three").title = "this browser has no WebGL";
}
let view = null;
let chosen = new URLSearchParams(location.search).has("flat");
/** A machine without depth is shown flat, until something else is chosen. */
function begin() {
  if (!chosen) choose(page.machine.grid.sides[2] > 1);
  chosen = true;
}
function choose(three) {
  view = three && deep ? deep : flat;
  find("deep").hidden = view !== deep;
  find("flat").hidden = view !== flat;
  find("three").setAttribute("aria-pressed", view === deep);
  find("two").setAttribute("aria-pressed", view === flat);
  view.resize();
  draw();
}

// Drawing, at most once a frame.
let waits = false;
function draw() {
  if (waits) return;
  waits = true;
  requestAnimationFrame(() => {
    waits = false;
    if (!page.machine) return;
    const isLive = page.live && !schedule;
    if (isLive) page.machine.now = source.now();
    view.show(page.machine, { by: page.by, layer: page.layer, selected: page.selected, dark: dark() });
    view.mark(page.boxes, page.moves);
    chart.show({
      series: page.series, nodes: page.machine.grid.nodes, at: isLive ? null : page.at, dark: dark(),
      end: schedule ? 1000 * schedule.ends : source.now(), isNow: !schedule,
    });
    find("band").hidden = !chart.isPale;
    legend(find("legend"), page.machine, page.by, dark());
    tell();
  });
}
const chart = new Chart(find("chart"), goTo, instant);

function instant(ms) {
  if (schedule) return `${Math.round(ms / 1000)} s`;
  return new Date(ms).toLocaleString();
}

const many = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
let told = 0;
function tell() {
  const { busy, lost, free } = page.machine.counts();
  const nodes = page.machine.grid.nodes;
  find("counts").textContent = `${page.machine.grid.text} · ${free} free · ${busy} busy · ${lost} unavailable · ${many(page.machine.leases.size, "job")} · ${page.machine.waiting.size} waiting · ${((100 * busy) / nodes).toFixed(1)} % used`;
  find("when").textContent = (page.live && !schedule ? "live" : "at ") + (page.live && !schedule ? "" : instant(page.machine.now));
  find("live").setAttribute("aria-pressed", page.live);
  // Long lists are written at most five times a second.
  clearTimeout(told);
  told = setTimeout(lists, 120);
}

const MOST = 300;
function lists() {
  const jobs = [...page.machine.leases].sort((a, b) => (b[1].begins ?? 0) - (a[1].begins ?? 0));
  find("jobs").replaceChildren(...jobs.slice(0, MOST).map(([key, lease]) => {
    const nodes = lease.nodes ?? lease.parts.reduce((sum, part) => sum + part.sides.reduce((a, b) => a * b, 1), 0);
    const row = element("tr", { tabIndex: 0 });
    row.setAttribute("aria-selected", key === page.selected);
    const box = lease.parts.length === 1 ? lease.parts[0].sides.join("×") : `${lease.parts.length} parts`;
    for (const text of [lease.job ?? (lease.isOther ? "" : key), nodes, box, lease.isOther ? "other" : lease.tenant ?? ""]) row.append(element("td", {}, text));
    const patch = element("i", { className: "patch" });
    patch.style.background = css(colourOf(page.machine, key, page.by, dark()));
    row.firstChild.prepend(patch);
    row.onclick = () => select(key === page.selected ? null : key);
    row.onkeydown = (event) => { if (event.key === "Enter") row.onclick(); };
    return row;
  }));
  const more = (id, count) => { find(id).textContent = count > MOST ? `and ${count - MOST} more` : ""; };
  more("more", jobs.length);
  const waiting = [...page.machine.waiting.values()];
  find("queue").replaceChildren(...waiting.slice(0, MOST).map((one) => {
    const row = element("tr");
    const wait = page.live && !schedule ? page.waits.get(one.id) : null;
    for (const text of [one.job ?? one.id, one.requested, one.shape?.join("×") ?? "", ...(schedule ? [] : [awaited(wait)])]) row.append(element("td", {}, text));
    if (wait) row.title = local(wait.sentence);
    const cell = element("td");
    if (!schedule) cell.append(element("button", { onclick: () => why({ waiting: one.id }) }, "why?"));
    row.append(cell);
    return row;
  }));
  more("longer", waiting.length);
}

/** What a request waits for, in a word or two. */
function awaited(wait) {
  if (!wait) return "";
  const other = wait.by && (wait.by.id === null ? "another tenant" : `${wait.by.job ?? wait.by.id}`);
  if (wait.kind === "reservation") return `reserved: ${other}`;
  if (wait.kind === "turn") return other ? `after ${other}` : "its turn";
  return wait.kind === "scheduler" ? "the scheduler" : wait.kind;
}

function select(key) {
  page.selected = key;
  draw();
}

// Why a request waits, or would be refused.
const GREEN = 0x2fbf5b, RED = 0xff453a;
const place = (part) => `${part.sides.join("×")} at ${part.base.join(",")}`;
async function why(asked) {
  const answer = find("answer");
  // The answer is about now.
  if (!page.live) goLive();
  try {
    const { strategies: [choice], diagnosis, waits_for: wait } = await source.explain(asked);
    const words = wait ? [local(wait.sentence)] : [];
    page.boxes = [];
    page.moves = [];
    if (choice.granted) {
      const where = choice.parts.map(place).join("; ");
      if (wait) words.push(`It would lie at ${where} (green).`);
      else words.push(`${choice.strategy} would grant it now, to a request that does not wait: ${where} (green).`);
      page.boxes = choice.parts.map((part) => ({ part, shade: GREEN }));
    } else {
      if (!wait) words.push(`${choice.strategy} refuses it: ${refused(choice, diagnosis)}.`);
      if (diagnosis.nearest) {
        words.push(`The nearest free box is ${place(diagnosis.nearest)} (green).`);
        page.boxes.push({ part: diagnosis.nearest, shade: GREEN });
      }
      if (diagnosis.blocked) {
        const { jobs, failed, drained } = diagnosis.blocked;
        const by = jobs.map((job) => `job ${job.job ?? job.lease ?? "of another tenant"} (${many(job.nodes, "node")})`);
        const lost = failed.length + drained.length;
        if (lost) by.push(many(lost, "unavailable node"));
        words.push(`The place with the fewest nodes in its way is ${place(diagnosis.blocked)} (red), blocked by ${by.join(", ")}.`);
        page.boxes.push({ part: diagnosis.blocked, shade: RED });
        await moves(diagnosis, words);
      }
    }
    answer.textContent = words.join(" ");
    answer.dataset.seq = source.machine.seq;
  } catch (error) {
    answer.textContent = error.message;
  }
  draw();
}

/** Why a strategy refuses: what is missing is nodes, or a place among enough of them. */
function refused(choice, { missing, needed, counts }) {
  return missing === "nodes" ? `it needs ${many(needed, "node")}, and ${counts.free} are free (${choice.reason})` : choice.reason;
}

/** The fewest moves that would make room for a box, if the service can tell. */
async function moves({ blocked }, words) {
  try {
    const plan = await source.unblock({ shape: blocked.sides });
    if (!plan.moves?.length) return;
    page.moves = plan.moves.map((move) => ({ from: move.from[0], to: move.to[0] }));
    words.push(`Room is made by moving ${plan.moves.map((move) => `job ${page.machine.leases.get(move.job)?.job ?? move.job} to ${move.to.map(place).join("; ")}`).join(", then ")}.`);
  } catch {
    // Without an answer the diagnosis stands for itself.
  }
}

find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = find("shape").value.trim();
  const sides = text.split(/[x×, ]+/).map(Number);
  if (sides.some((side) => !Number.isInteger(side) || side < 1)) {
    find("answer").textContent = "A shape is sides such as 4x4, or a number of nodes.";
    return;
  }
  why(sides.length === 1 && page.machine.grid.axes > 1 ? { nodes: sides[0] } : { shape: sides });
});

// Time.
let asked = 0;
function goTo(time) {
  page.at = time;
  if (schedule) {
    page.machine = schedule.at(time / 1000);
    return draw();
  }
  page.live = false;
  clearTimeout(asked);
  asked = setTimeout(async () => {
    try {
      const machine = await source.past(time);
      // Unless it is elsewhere by now.
      if (!page.live && page.at === time) { page.machine = machine; draw(); }
    } catch (error) {
      say(error.message);
    }
  }, 60);
  draw();
}
function goLive() {
  page.live = true;
  page.at = null;
  if (source?.machine) page.machine = source.machine;
  draw();
}
let playing = null;
function play() {
  if (playing) { clearInterval(playing); playing = null; }
  else {
    const [first, last] = chart.span();
    let time = page.at === null || page.at >= last ? first : page.at;
    const step = (last - first) / (20 * Number(find("seconds").value || 20));
    playing = setInterval(() => {
      time += step;
      if (time >= last) { clearInterval(playing); playing = null; time = last; }
      goTo(time);
      find("play").textContent = playing ? "Pause" : "Play";
    }, 50);
  }
  find("play").textContent = playing ? "Pause" : "Play";
}

const say = (text) => { find("status").textContent = text; };
let source = null;
/** Asks what requests wait for. */
let waited = async () => {};
let soon = null;
if (schedule) {
  page.series = schedule.series;
  if (!schedule.isWhole) document.querySelector("#time .largest").append(", where it lasts");
  document.body.dataset.mode = "schedule";
  page.machine = schedule.at(schedule.begins);
  page.at = schedule.begins * 1000;
  page.live = false;
  say(many(schedule.jobs.length, "job"));
} else {
  source = new Live({
    state(machine, state) {
      if (page.live) page.machine = machine;
      begin();
      const names = state.machines;
      find("machine").replaceChildren(...names.map((name) => element("option", { value: name, selected: name === state.name }, name)));
      find("machine").hidden = names.length < 2;
      document.title = `Pavior · ${state.machine}`;
      draw();
    },
    changed() {
      const { dataset, textContent } = find("answer"), note = " (The machine has changed since.)";
      if (dataset.seq && Number(dataset.seq) < source.machine.seq && textContent && !textContent.endsWith(note)) find("answer").append(note);
      if (page.live) draw();
      // What requests wait for may be otherwise: soon, and not for each of many events.
      soon ??= setTimeout(() => { soon = null; waited().then(draw, () => {}); }, 400);
    },
    connected() { say("connected"); },
    trouble(text) { say(`${text}; trying again`); },
    async token() {
      const dialog = find("login");
      dialog.showModal();
      await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
      return find("token").value;
    },
  });
  source.begin();
  let isAsking = false;
  waited = async () => {
    if (isAsking || !(source.machine?.waiting.size || source.token)) return;
    isAsking = true;
    try {
      page.waits = new Map((await source.queue(MOST)).map((one) => [one.id, one.waits_for]));
    } finally {
      isAsking = false;
    }
  };
  const sample = async () => {
    try {
      page.series = await source.series();
      await waited();
    } catch { /* the watch tells of trouble */ }
    // The end of the axis is now, also where nothing happens.
    if (page.machine) draw();
  };
  setInterval(sample, 2000);
  setTimeout(sample, 300);
}

// Buttons and keys.
const themes = [undefined, "dark", "light"];
function theme() {
  const next = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length];
  if (next) document.documentElement.dataset.theme = next;
  else delete document.documentElement.dataset.theme;
  draw();
}
function layer(step) {
  const h = page.machine?.grid.sides[2] ?? 1;
  const next = (page.layer ?? (step > 0 ? -1 : h)) + step;
  page.layer = next < 0 || next >= h ? null : next;
  find("layer").textContent = page.layer === null ? "all layers" : `layer ${page.layer}`;
  draw();
}
function recolour(by) {
  page.by = by;
  find("by").value = by;
  draw();
}
find("two").onclick = () => { chosen = true; choose(false); };
find("three").onclick = () => { chosen = true; choose(true); };
find("theme").onclick = theme;
find("layer").onclick = () => layer(1);
find("by").onchange = (event) => recolour(event.target.value);
find("live").onclick = goLive;
find("play").onclick = play;
find("machine").onchange = (event) => {
  source.name = event.target.value;
  page.selected = null;
  page.boxes = [];
  goLive();
  source.begin();
};
addEventListener("resize", () => { view?.resize(); draw(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
const step = (share) => {
  const [first, last] = chart.span();
  goTo(Math.min(last, Math.max(first, (page.at ?? last) + share * (last - first))));
};
const keys = {
  2: () => choose(false),
  3: () => choose(true),
  c: () => recolour({ job: "tenant", tenant: "age", age: "job" }[page.by]),
  l: () => layer(1),
  L: () => layer(-1),
  t: theme,
  " ": play,
  ",": () => step(-0.01),
  ".": () => step(0.01),
  Home: goLive,
  Escape: () => { page.boxes = []; page.moves = []; find("answer").textContent = ""; delete find("answer").dataset.seq; select(null); },
  ArrowLeft: () => view.turn(-0.1, 0),
  ArrowRight: () => view.turn(0.1, 0),
  ArrowUp: () => view.turn(0, -0.1),
  ArrowDown: () => view.turn(0, 0.1),
  "+": () => view.zoom(0.9),
  "-": () => view.zoom(1.1),
};
addEventListener("keydown", (event) => {
  if (/INPUT|SELECT|BUTTON|TEXTAREA/.test(event.target.tagName) && event.key !== "Escape") return;
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

choose(!chosen);
if (schedule) begin();
// For measurements.
const middle = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
window.pavior = {
  page, Machine, columns, chart,
  /**
   * A turning machine: frames a second, and milliseconds of the page's own work: for a frame, up to
   * what is handed to the drawing process, and to build what is drawn anew, as after an event; and the
   * triangles of the last frame.
   */
  async frames(ms = 2000) {
    // The first frame waits until the drawing process has made its programs.
    view.turn(0.02, 0);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const began = performance.now(), works = [], builds = [];
    while (performance.now() - began < ms) {
      const turned = performance.now();
      view.turn(0.02, 0);
      const work = performance.now() - turned;
      await new Promise((done) => requestAnimationFrame(done));
      works.push(work + view.spent);
    }
    const rate = (1000 * works.length) / (performance.now() - began);
    for (let count = 0; count < 9; count++) {
      const asked = performance.now();
      view.show(page.machine, { by: page.by, layer: page.layer, selected: page.selected, dark: dark() });
      builds.push(performance.now() - asked);
    }
    return { rate, work: middle(works), build: middle(builds), triangles: deep?.renderer.info.render.triangles };
  },
};
