// Runs long computations in the background: reading logs, replays and replications. To cancel one,
// the page terminates the worker.
import { type Command, Engine, Fault } from "./engine.ts";
import type { Both } from "./settings.ts";
import type { State } from "./side.ts";

/** A task from the page. A replay simulates both machines to the end and then compares them. */
export type Task = { command: Command; bytes?: Uint8Array } | { replay: Both };

export interface Replayed {
  sides: State[];
  difference: { jobs: number; difference?: number | null; half_width?: number | null };
}

/** A message to the page: progress, a result, or the reason a task failed. */
export type Report = { share: number } | { result: unknown } | { error: string };

/** The number of event times between progress reports. */
const INSTANTS = 4000;

let engine: Promise<Engine>;
const report = (one: Report): void => postMessage(one);

async function replay(settings: Both): Promise<Replayed> {
  const runs = await engine, sides: State[] = [];
  settings.forEach((own, run) => {
    const { jobs } = runs.ask<{ jobs: number }>({ do: "open", run, settings: own });
    let state: State;
    do {
      state = runs.ask<State>({ do: "step", run, instants: INSTANTS });
      report({ share: (run + Math.min(1, state.completed / Math.max(1, jobs))) / 2 });
    } while (!state.over);
    sides.push(state);
  });
  return { sides, difference: runs.ask({ do: "difference", runs: [0, 1] }) };
}

async function carryOut(task: Task): Promise<unknown> {
  if ("replay" in task) return replay(task.replay);
  return (await engine).ask(task.command, task.bytes);
}

onmessage = ({ data }: MessageEvent<WebAssembly.Module | Task>) => {
  if (data instanceof WebAssembly.Module) { engine = Engine.start(data); return; }
  carryOut(data).then(
    (result) => report({ result }),
    (error) => report({ error: error instanceof Fault ? error.message : `engine error: ${error}` }),
  );
};
