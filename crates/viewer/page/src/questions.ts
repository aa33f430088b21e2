// Handles questions about requests and boxes. Answers apply to the current state.
import type { Slots } from "./address.ts";
import { type Ahead, drawn } from "./ahead.ts";
import * as answer from "./answer.ts";
import { find, write } from "./dom.ts";
import { goLive } from "./history.ts";
import type { Live } from "./live.ts";
import { keepAddress } from "./location.ts";
import type { Raw } from "./model.ts";
import { clock, connection, page } from "./state.ts";
import { GREEN } from "./theme.ts";
import { largest } from "./tiles.ts";
import { changed, draw, select } from "./view.ts";

async function ask(question: (source: Live) => Promise<answer.Answer>): Promise<void> {
  const { source } = connection;
  if (!source) return;
  if (!page.live) goLive();
  const { name } = source, found = await question(source).catch(answer.fail);
  if (name !== source.name) return answer.clear();
  Object.assign(page, found);
  keepAddress();
  find("fits-show").setAttribute("aria-pressed", "false");
  draw();
}

/** Asks why a request is waiting, or whether a new request would fit. */
export function askWhy(question: Raw): Promise<void> {
  page.slots = null;
  return ask((source) => answer.why(source, question));
}

/** Counts how many boxes of a given shape fit, and shows the question in the form. */
export function count(slots: Slots): void {
  page.slots = slots;
  find<HTMLInputElement>("shape").value = slots.shape.join("x");
  find<HTMLSelectElement>("moves").value = String(slots.moves);
  void ask((source) => answer.slots(source, slots));
}

/** Selects a reservation, or all of them if `one` is null. */
export function selectAhead(one: Ahead | null): void {
  const { source } = connection;
  page.chosen = one?.key ?? null;
  page.drawn = drawn(page.ahead ?? [], one);
  Object.assign(page, { marks: [], moves: [], slots: null });
  if (!page.live) goLive();
  if (one && source) answer.tell(one.words(clock), source);
  else answer.clear();
  changed();
}

/** Removes the answer and its marks. */
export function clearAnswer(): void {
  Object.assign(page, { marks: [], moves: [], slots: null });
  find("fits-show").setAttribute("aria-pressed", "false");
  answer.clear();
}

/** Removes the answer and all selections. */
export function clearAll(): void {
  clearAnswer();
  page.chosen = null;
  page.drawn = drawn(page.ahead ?? [], null);
  select(null);
}

/** Parses a shape such as `4x4`, or a number of nodes. Returns null for anything else. */
function parse(text: string, axes: number): Raw | null {
  const sides = text.trim().replace(/ *nodes?$/, "").split(/[x×*, ]+/i).map(Number);
  if (sides.some((side) => !Number.isInteger(side) || side < 1)) return null;
  return sides.length === 1 && axes > 1 ? { nodes: sides[0] } : { shape: sides };
}

/** Parses the question in the form. If the question is invalid, shows `hint` and returns null. */
function readQuestion(hint: string, isValid: (question: Raw) => boolean): Raw | null {
  const question = parse(find<HTMLInputElement>("shape").value, page.machine?.grid.axes ?? 1);
  if (question && isValid(question)) return question;
  clearAnswer();
  write("answer", hint);
  changed();
  return null;
}

/** Handles the question form and its buttons. */
export function listenForQuestions(): void {
  find<HTMLFormElement>("ask").onsubmit = (event) => {
    event.preventDefault();
    const question = readQuestion("Enter sides such as 4x4, or a number of nodes.", () => true);
    if (question) void askWhy(question);
  };
  find("slots").onclick = () => {
    const hint = "Enter the sides of a box, such as 4x4.";
    const question = readQuestion(hint, ({ shape }) => Boolean(shape));
    if (!question) return;
    count({ shape: question.shape, moves: Number(find<HTMLSelectElement>("moves").value) });
  };
  find("moves").onchange = () => { if (page.slots) find("slots").click(); };
  find("fits-show").onclick = () => {
    const button = find("fits-show"), isShown = button.getAttribute("aria-pressed") === "true";
    const found = isShown || !page.machine ? null : largest(page.machine);
    page.marks = found ? [{ part: found, shade: GREEN }] : [];
    page.moves = [];
    button.setAttribute("aria-pressed", String(found !== null));
    draw();
  };
}
