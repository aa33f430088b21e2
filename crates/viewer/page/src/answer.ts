// Why a request waits or would be refused, in sentences, with the places that are drawn.
import { find, many, plain, write } from "./dom.ts";
import type { Live } from "./live.ts";
import type { Mark, Move } from "./marks.ts";
import type { Raw } from "./model.ts";
import { GREEN, RED } from "./theme.ts";
import { local } from "./times.ts";
import { place, where } from "./words.ts";

export interface Answer { marks: Mark[]; moves: Move[] }

const CHANGED = " (The machine has changed since.)";
let seq: number | null = null;

/** Why a strategy refuses: what is missing is nodes, or a place among enough of them. */
function refused(choice: Raw, { missing, needed, counts }: Raw): string {
  return missing === "nodes"
    ? `it needs ${many(needed, "node")}, and ${counts.free} are free (${choice.reason})`
    : plain(choice.reason);
}

function blockers({ jobs, failed, drained }: Raw): string {
  const by = jobs.map((job: Raw) =>
    `job ${plain(job.job ?? job.lease ?? "of another tenant")} (${many(job.nodes, "node")})`);
  const lost = failed.length + drained.length;
  if (lost) by.push(many(lost, "unavailable node"));
  return by.join(", ");
}

/** The fewest moves that would make room for a box, if the service can tell. */
async function moves(source: Live, { blocked }: Raw, words: string[]): Promise<Move[]> {
  try {
    const plan = await source.unblock({ shape: blocked.sides });
    if (!plan.moves?.length) return [];
    const names = plan.moves.map((move: Raw) => {
      const job = source.machine?.leases.get(move.job)?.job ?? move.job;
      return `job ${plain(job)} to ${where(move.to)}`;
    });
    words.push(`Room is made by moving ${names.join(", then ")} (arrows).`);
    return plan.moves.map((move: Raw): Move => ({ from: move.from[0], to: move.to[0] }));
  } catch {
    // Without an answer the diagnosis stands for itself.
    return [];
  }
}

/** Asks, and writes the answer. */
export async function why(source: Live, asked: Raw): Promise<Answer> {
  const answer: Answer = { marks: [], moves: [] };
  try {
    const { strategies: [choice], diagnosis, waits_for: wait } = await source.explain(asked);
    const words: string[] = wait ? [local(plain(wait.sentence, 1000))] : [];
    if (choice.granted) {
      const at = where(choice.parts);
      words.push(wait
        ? `It would lie at ${at} (green).`
        : `It fits: ${choice.strategy} would grant it now, to a request that does not wait: ${at} `
          + "(green).");
      answer.marks = choice.parts.map((part: Raw) => ({ part, shade: GREEN }));
    } else {
      const reason = refused(choice, diagnosis);
      if (!wait) words.push(`It does not fit: ${choice.strategy} refuses it: ${reason}.`);
      if (diagnosis.nearest) {
        words.push(`The nearest free box is ${place(diagnosis.nearest)} (green).`);
        answer.marks.push({ part: diagnosis.nearest, shade: GREEN });
      }
      if (diagnosis.blocked) {
        const { blocked } = diagnosis;
        words.push(`The place with the fewest nodes in its way is ${place(blocked)} (red), `
          + `blocked by ${blockers(blocked)}.`);
        answer.marks.push({ part: blocked, shade: RED });
        answer.moves = await moves(source, diagnosis, words);
      }
    }
    write("answer", words.join(" "));
    seq = source.machine?.seq ?? null;
  } catch (error) {
    write("answer", plain((error as Error).message, 400));
  }
  return answer;
}

/** The answer is about the machine as it was when it was asked. */
export function age(source: Live): void {
  const text = find("answer").textContent ?? "";
  const isOld = seq !== null && source.machine !== null && seq < source.machine.seq;
  if (isOld && text && !text.endsWith(CHANGED)) write("answer", text + CHANGED);
}

export function clear(): void {
  write("answer", "");
  seq = null;
}

/** A shape such as `4x4`, or a number of nodes; null if it is neither. */
export function read(text: string, axes: number): Raw | null {
  const sides = text.trim().split(/[x×*, ]+/i).map(Number);
  if (sides.some((side) => !Number.isInteger(side) || side < 1)) return null;
  return sides.length === 1 && axes > 1 ? { nodes: sides[0] } : { shape: sides };
}
