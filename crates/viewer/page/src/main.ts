// Sets up the page's buttons and keys, and starts it.
import { type By, COLORINGS } from "./coloring.ts";
import { find, write } from "./dom.ts";
import { goLive } from "./history.ts";
import { keys } from "./keys.ts";
import { chooseMachine, listenForAddresses } from "./location.ts";
import { measures } from "./measures.ts";
import { Machine, grid } from "./model.ts";
import { next as nextPlane } from "./plane.ts";
import { clearAll, listenForQuestions } from "./questions.ts";
import { shortcuts } from "./shortcuts.ts";
import { play, watch } from "./sources.ts";
import { page, schedule } from "./state.ts";
import * as theme from "./theme.ts";
import { changed, draw, look, player, stage, timeline } from "./view.ts";

function recolor(by: By): void {
  page.by = by;
  find<HTMLSelectElement>("by").value = by;
  changed();
}

function nextColoring(): void {
  const known = schedule ? COLORINGS.filter((by) => by !== "tenant") : COLORINGS;
  recolor(known[(known.indexOf(page.by) + 1) % known.length]);
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

listenForQuestions();
listenForAddresses();
find("theme").onclick = nextTheme;
const [by, machines] = [find<HTMLSelectElement>("by"), find<HTMLSelectElement>("machine")];
by.onchange = () => recolor(by.value as By);
machines.onchange = () => chooseMachine(machines.value);
find("live").onclick = goLive;
theme.begin(draw);
write("theme", `Theme: ${theme.chosen()}`);
keys(shortcuts({
  view, layer, nextColoring, nextTheme, clear: clearAll,
  goLive: () => { player.stop(); goLive(); },
  step: (share) => timeline.step(share), whole: () => stage.whole(),
  play: () => { if (!page.observer) player.toggle(); },
}));

if (schedule) play(schedule);
else watch();
measures({ page, stage, timeline, look: () => look(page.machine ?? new Machine(grid("mesh:1"))) });
