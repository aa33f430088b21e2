// Sets up the page's buttons and keys, and starts the page.
import type { Dimensions } from "./address.ts";
import { type By, COLORINGS } from "./coloring.ts";
import { find } from "./dom.ts";
import { goLive } from "./history.ts";
import { keys } from "./keys.ts";
import { chooseMachine, listenForAddresses } from "./location.ts";
import { exposeForTests } from "./measures.ts";
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

function layer(step: number): void {
  if (!page.machine) return;
  page.plane = nextPlane(page.machine.grid, page.plane, step);
  changed();
}

function view(dimensions: Dimensions): void {
  stage.choose(dimensions);
  changed();
}

listenForQuestions();
listenForAddresses();
const [by, machines] = [find<HTMLSelectElement>("by"), find<HTMLSelectElement>("machine")];
by.onchange = () => recolor(by.value as By);
machines.onchange = () => chooseMachine(machines.value);
find("live").onclick = goLive;
theme.begin(draw);
keys(shortcuts({
  view, layer, nextColoring, nextTheme: theme.next, clear: clearAll, goLive,
  step: (share) => timeline.step(share), whole: () => stage.whole(),
  play: () => { if (!page.observer) player.toggle(); },
}));

if (schedule) play(schedule);
else watch();
exposeForTests({ page, stage, timeline, look });
