// Explains why a request is waiting or would be refused, and marks boxes on the machine.
import type { Slots } from "./address.ts";
import { element, find, many, plain, write } from "./dom.ts";
import type { Live } from "./live.ts";
import type { Mark, Move } from "./marks.ts";
import type { Machine, Part, Raw } from "./model.ts";
import { GREEN, RED } from "./theme.ts";
import { local } from "./times.ts";
import { jobOf, place, sidesOf, where } from "./words.ts";

export interface Answer { marks: Mark[]; moves: Move[] }

const CHANGED = "(The machine has changed since.)";
let seq: number | null = null;

/** Shows the lines of an answer. The first line is the summary. */
export function tell(lines: string[], source: Live): void {
  const output = find("answer"), text = lines.map((line) => `${line} `).join("");
  if (output.textContent !== text)
    output.replaceChildren(...lines.flatMap((line) => [element("span", {}, line), " "]));
  output.scrollIntoView({ block: "nearest" });
  seq = source.machine?.seq ?? null;
}

/** Shows the error for a failed question, and returns an answer without marks. */
export function fail(error: Error): Answer {
  write("answer", plain(error.message, 400));
  seq = null;
  return { marks: [], moves: [] };
}

/** Returns an arrow for each box of each job that a plan moves. */
const arrowsOf = (moves: Raw[]): Move[] => moves.flatMap(({ from, to }) =>
  from.map((box: Part, index: number) => ({ from: box, to: to[index] ?? to[0] })));

/** Sanitizes a sentence from the service and converts its times to local time. */
const said = (sentence: unknown): string => local(plain(sentence, 1000));

/** Requests an explanation and shows it. Returns the places and moves to mark. */
export async function why(source: Live, asked: Raw): Promise<Answer> {
  const answer: Answer = { marks: [], moves: [] };
  const { strategies: [choice], diagnosis, waits_for: wait } = await source.explain(asked);
  const lines: string[] = diagnosis.why.map(said);
  // Slurm's own message comes first.
  if (wait && wait.needed === undefined) lines.unshift(said(wait.sentence));
  const { blocked, nearest } = diagnosis;
  if (choice.granted) {
    lines.push(`It would be placed at ${where(choice.parts)} (green).`);
    answer.marks = choice.parts.map((part: Raw) => ({ part, shade: GREEN }));
  } else if (blocked) {
    answer.marks.push({ part: blocked, shade: RED });
    answer.moves = arrowsOf(blocked.moves);
    const arrows = answer.moves.length ? "; the arrows show the moves" : "";
    lines.push(`That place is shown in red${arrows}.`);
  }
  if (nearest) {
    lines.push(`The nearest free box is ${place(nearest)} (green).`);
    answer.marks.push({ part: nearest, shade: GREEN });
  }
  tell(lines, source);
  return answer;
}

/** Counts how many boxes of a given shape fit at the same time, and returns their places. If
 * requested, also counts how many would fit after moving jobs. */
export async function slots(source: Live, { shape, moves }: Slots): Promise<Answer> {
  const answer: Answer = { marks: [], moves: [] };
  const found = await source.slots(shape.join("x"), moves);
  const { after, next } = found, isMore = Boolean(after) && after.slots > found.slots;
  const most = found.proven ? "no more are possible"
    : `at most ${found.bound.toLocaleString("en")} are possible`;
  const green = isMore ? "" : " (green)";
  const what = `${boxes(found.slots)} of ${sidesOf(shape)}`;
  const lines = [`${what} can be placed side by side${green}; ${most}.`];
  if (next) {
    const by = next.proven ? "at" : "by";
    lines.push(said(`There will be ${next.slots} ${by} ${next.at}, based on known end times.`));
  }
  if (after && source.machine) lines.push(...moved(source.machine, after, isMore, moves));
  answer.marks = (isMore ? after : found).boxes.map((part: Raw) => ({ part, shade: GREEN }));
  if (isMore) answer.moves = arrowsOf(after.moves);
  tell(lines, source);
  return answer;
}

const boxes = (count: number): string =>
  (count === 1 ? "1 box" : `${count.toLocaleString("en")} boxes`);

/** Describes how many boxes fit after at most `most` moves. */
function moved(machine: Machine, after: Raw, isMore: boolean, most: number): string[] {
  const allowed = `at most ${many(most, "move")}`;
  if (!isMore) return [after.proven ? `No more fit after ${allowed}.`
    : `Found no plan with ${allowed} that makes room for more; the upper bound is ${after.bound}.`];
  const steps = after.moves.map(({ job, to }: Raw) => `${jobOf(machine, job)} to ${where(to)}`);
  const bound = after.proven ? "no more are possible with this many moves"
    : `at most ${after.bound} are possible with this many moves`;
  return [`${boxes(after.slots)} (green) after ${many(after.moves.length, "move")} (arrows): `
    + `${steps.join("; ")}; ${bound}.`];
}

/** Adds a note if the machine has changed since the question was asked. */
export function age(source: Live): void {
  const text = find("answer").textContent ?? "";
  const isOld = seq !== null && source.machine !== null && seq < source.machine.seq;
  if (isOld && text && !text.endsWith(CHANGED)) find("answer").append(CHANGED);
}

export function clear(): void {
  write("answer", "");
  seq = null;
}
