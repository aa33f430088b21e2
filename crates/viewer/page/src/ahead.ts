// What is ahead of a machine: nodes that are reserved, and plans that make room, step by step.
import { plain } from "./dom.ts";
import type { Mark, Move } from "./marks.ts";
import type { Machine, Part, Raw } from "./model.ts";
import type { Column } from "./table.ts";
import { VIOLET } from "./theme.ts";
import { type Clock, millis, short } from "./times.ts";
import { boxes, nameOf, where } from "./words.ts";

/** A row: a reservation, a plan, or a step of one. */
export interface Ahead {
  key: string;
  what: string;
  parts: Part[];
  /** When it begins and is over, in ms; a step has no times. */
  from: number | null;
  to: number | null;
  state: string;
  /** All of it, in sentences. */
  words(clock: Clock): string[];
  /** Where those go who move. */
  moves: Move[];
  /** Of what is over nothing is drawn, unless it is chosen. */
  isOver: boolean;
  isStep: boolean;
}

/** Plans that are over and are still shown, the last ones. */
const OVER = 8;

/** A job by the number of its lease. */
function job(machine: Machine, lease: number): string {
  const found = machine.leases.get(lease);
  return found ? `job ${nameOf(found)}` : `lease ${lease}`;
}

const same = (a: Part[], b: Part[]): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A reservation that a plan which is under way keeps: the plan says it. */
const isOf = (plans: Raw[]) => (one: Raw): boolean =>
  plans.some((plan) => plan.state === "under-way" && one.name === `plan ${plan.id}`
    && [plan.room, ...plan.steps.map((step: Raw) => step.to)].some((to) => same(to, one.parts)));

function reservation(machine: Machine, one: Raw): Ahead {
  const { parts, leases } = one;
  const from = millis(one.from) ?? 0, to = millis(one.to) ?? 0;
  const name = one.name === null ? `reservation ${one.id}` : plain(one.name);
  const state = () => {
    const begins = from > machine.now ? `in ${short(from - machine.now)}` : "has begun";
    return leases.length ? `${begins}, ${leases.length} in its way` : begins;
  };
  return {
    key: `r${one.id}`, what: name, parts, from, to, state: state(), moves: [], isOver: false,
    isStep: false,
    words(clock) {
      const [begin, end] = [clock.at(from), clock.at(to)];
      const lines = [`${name}: ${where(parts)} kept free from ${begin} to ${end}.`];
      const holders = leases.slice(0, 5).map((lease: number) => job(machine, lease)).join(", ");
      const more = leases.length > 5 ? ` and ${leases.length - 5} more` : "";
      if (leases.length) lines.push(`Said to hold nodes there when it begins: ${holders}${more}.`);
      return lines;
    },
  };
}

/** A plan, and what it asks of each lease that moves or waits again. */
function plan(machine: Machine, one: Raw): Ahead[] {
  const { room, steps } = one, by = millis(one.by), isOver = one.state !== "under-way";
  const done = steps.filter((step: Raw) => step.done).length;
  const progress = steps.length ? `${done} of ${steps.length} steps done` : "nobody moves";
  const ended = one.state === "free" ? "the room is free" : `given up${because(one)}`;
  const rows = steps.map((step: Raw, index: number): Ahead => {
    const who = job(machine, step.lease), { to } = step;
    const goes = to.length ? `goes to ${where(to)}` : "ends, and its request waits again";
    const holds = machine.leases.get(step.lease)?.parts ?? [];
    const moves = step.done || isOver ? []
      : to.map((part: Part, at: number) => ({ from: holds[at] ?? holds[0], to: part }))
        .filter((move: Move) => move.from);
    return {
      key: `p${one.id}s${index}`, what: `${index + 1}. ${who}`, parts: to, from: null, to: null,
      state: step.done ? "done" : isOver ? "not done" : to.length ? "to move" : "to wait again",
      words: () =>
        [`Step ${index + 1} of plan ${one.id}: ${who} ${goes}. ${stepWords(step, isOver)}`],
      moves, isOver: isOver || step.done, isStep: true,
    };
  });
  const words = (clock: Clock) => [
    `Plan ${one.id} makes ${where(room)} free by ${by === null ? "?" : clock.at(by)}.`,
    !isOver ? `It is under way: ${progress}.`
      : one.state === "free" ? "The room is free." : `It was ${ended}.`,
  ];
  const head = {
    key: `p${one.id}`, what: `plan ${one.id}`, parts: room, from: by, to: null, words,
    state: isOver ? ended : progress, moves: rows.flatMap(({ moves }: Ahead) => moves), isOver,
    isStep: false,
  };
  return [head, ...rows];
}

/** A tenant is told no reason. */
const because = ({ reason }: Raw): string => (reason ? `: ${plain(reason, 300)}` : "");

function stepWords(step: Raw, isOver: boolean): string {
  if (step.done) return "It is done.";
  return isOver ? "It was not done." : "Its holder is asked to.";
}

/** Plans under way with their steps, then reservations as they begin, then plans that are over. */
export function rowsOf(machine: Machine, reservations: Raw[], plans: Raw[]): Ahead[] {
  const mine = isOf(plans);
  const kept = reservations.filter((one) => !mine(one)).map((one) => reservation(machine, one));
  kept.sort((a, b) => (a.from ?? 0) - (b.from ?? 0));
  const isOver = (one: Raw) => one.state !== "under-way";
  const over = plans.filter(isOver).slice(-OVER).reverse();
  const all = (some: Raw[]) => some.flatMap((one) => plan(machine, one));
  return [...all(plans.filter((one) => !isOver(one))), ...kept, ...all(over)];
}

/** Boxes and arrows of a row that was chosen, or of all that is still ahead. */
export function drawn(rows: Ahead[], chosen: Ahead | null): { marks: Mark[]; moves: Move[] } {
  const shown = chosen ? [chosen] : rows.filter(({ isOver }) => !isOver);
  const marks = shown.flatMap(({ parts }) => parts.map((part) => ({ part, shade: VIOLET })));
  // The head of a plan has the moves of its steps: none is drawn twice.
  const moving = chosen ? shown : shown.filter(({ isStep }) => isStep);
  return { marks, moves: moving.flatMap(({ moves }) => moves) };
}

/** The time of day, with the day where it is another one. */
function brief(ms: number, now: number, clock: Clock): string {
  const time = clock.tick(ms, 60_000), day = clock.tick(ms, 86_400_000);
  return day === clock.tick(now, 86_400_000) || day === time ? time : `${day} ${time}`;
}

/** The columns; rows stay in their order, so that steps stand under their plan. */
export function aheadColumns(
  scene: () => { machine: Machine; clock: Clock },
): Column<Ahead>[] {
  const times = ({ from, to }: Ahead, write: (ms: number) => string) => {
    if (from === null) return "";
    if (to === null) return `by ${write(from)}`;
    const [begin, end] = [write(from), write(to)], day = / \d\d:\d\d(:\d\d)?$/;
    const isOneDay = begin.replace(day, "") === end.replace(day, "");
    return `${begin} – ${isOneDay ? end.split(" ").at(-1) : end}`;
  };
  const more = (one: Ahead) => one.words(scene().clock).join(" ");
  return [
    { id: "what", title: "What", wide: 24, text: ({ what }) => what, hint: more },
    {
      id: "box", title: "Box", wide: 14, isMinor: true, hint: ({ parts }) => where(parts),
      text: ({ parts }) => (parts.length ? boxes(parts) : "—"),
    },
    {
      id: "times", title: "When", wide: 36, hint: (one) => times(one, scene().clock.at),
      text: (one) => times(one, (ms) => brief(ms, scene().machine.now, scene().clock)),
    },
    { id: "state", title: "State", wide: 26, text: ({ state }) => state, hint: more },
  ];
}
