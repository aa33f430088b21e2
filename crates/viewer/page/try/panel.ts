// Long computations that the user starts: replications, reading a log, and replays.
import { element, find, many, plain, write } from "../src/dom.ts";
import { lasting } from "../src/times.ts";
import type { Background } from "./background.ts";
import { type Both, OWN, type Settings } from "./settings.ts";
import type { Replayed, Task } from "./worker.ts";

interface Summary {
  kept: number; span: number; load: number | null; machine_size: number | null;
  skipped: { reason: string; count: number }[];
}
interface Metric { mean: number; ci95: number | null; unit: string }
interface Measured {
  results: { strategy: string; scheduler: string; metrics: Record<string, Metric | null> }[];
}
interface Advice {
  measures: [string, string][];
  alternatives: { name: string; words: string; changes: ([number, number | null] | null)[] }[];
  recommendations: string[];
}

/** The metrics in the table of replications. */
const SHOWN = ["waiting", "turnaround", "utilization", "external_fragmentation", "rejected"];
/** The number of metrics to show in the table of alternatives. */
const COLUMNS = 3;
/** Settings for synthetic jobs, which do not apply to a log. */
const DRAWN = ["load", "jobs", "sides", "service", "arrivals", "warmup"];
/** The maximum size of a log, in bytes. Two copies of the log are kept in memory. */
const LONGEST = 256 * 1024 * 1024;

/** Formats a number with three significant digits, or as an integer. */
export const brief = (value: number | null | undefined): string =>
  (value === null || value === undefined ? "–"
    : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en")
      : String(Number(value.toPrecision(3))));

const ranged = (value: number | null, half: number | null | undefined): string =>
  (half === null || half === undefined ? brief(value) : `${brief(value)} ± ${brief(half)}`);

function table(head: string[], rows: string[][]): HTMLElement {
  const cells = (row: string[]) => row.map((text, index) =>
    (index ? element("td", {}, text) : element("th", { scope: "row" }, text)));
  return element("table", {},
    element("thead", {}, element("tr", {}, ...head.map((text) =>
      element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row)))));
}

function fail(place: string, reason: string): void {
  find(place).replaceChildren(element("p", { role: "alert" }, plain(reason, 400)));
}

export class Panel {
  private name = "";
  private bytes: Uint8Array | null = null;

  constructor(
    private readonly background: Background, private readonly both: () => Both,
  ) {
    find("cancel").onclick = () => background.cancel();
    find("measure").onclick = () => void this.measure();
    find("replay").onclick = () => void this.replay();
    find("advise").onclick = () => void this.advise(false);
    find("advise-all").onclick = () => void this.advise(true);
    const file = find<HTMLInputElement>("file"), place = find("log");
    file.onchange = () => void this.read(file.files?.[0]);
    addEventListener("dragover", (event) => {
      event.preventDefault();
      place.classList.add("over");
    });
    addEventListener("dragleave", () => place.classList.remove("over"));
    addEventListener("drop", (event) => {
      event.preventDefault();
      place.classList.remove("over");
      void this.read(event.dataTransfer?.files[0]);
    });
  }

  /** Runs a task, showing its progress and then its result or the reason for its failure. */
  private async work<T>(
    title: string, place: string, task: Task, show: (result: T) => (Node | string)[],
  ): Promise<boolean> {
    const began = performance.now(), bar = find<HTMLProgressElement>("progress");
    bar.removeAttribute("value");
    find("working").hidden = false;
    write("task", title);
    try {
      const result = await this.background.run<T>(task, (share) => { bar.value = share; });
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      find(place).replaceChildren(...show(result), element("p", {}, `This took ${seconds} s.`));
      return true;
    } catch (error) {
      fail(place, (error as Error).message);
      return false;
    } finally {
      find("working").hidden = true;
    }
  }

  /** Runs the replications that the displayed command would run. */
  private async measure(): Promise<void> {
    const [one, other] = this.both(), settings: Record<string, string[]> = {};
    for (const name of Object.keys(one)) settings[name] = [...new Set([one[name], other[name]])];
    const command = { do: "simulate", settings };
    // All combinations are run; only those of the two machines are shown.
    const isShown = (row: Measured["results"][0]) =>
      this.both().some((own) => OWN.every((name) => own[name] === row[name]));
    await this.work<Measured>("Ten replications", "measured", { command }, ({ results }) => [
      table(["", ...SHOWN], results.filter(isShown).map(({ strategy, scheduler, metrics }) => [
        `${strategy}, ${scheduler}`,
        ...SHOWN.map((name) => ranged(metrics[name]?.mean ?? null, metrics[name]?.ci95)),
      ])),
      element("p", {}, "Means over replications with 95% confidence intervals."),
    ]);
  }

  private async read(file: File | undefined): Promise<void> {
    if (!file) return;
    find("replays").hidden = true;
    find("replayed").replaceChildren();
    if (file.size > LONGEST)
      return fail("summary", "The file is larger than 256 MiB.");
    this.name = file.name;
    this.bytes = new Uint8Array(await file.arrayBuffer());
    const isRead = await this.open((machine) => {
      find<HTMLInputElement>("log-machine").value = machine;
    });
    find("replays").hidden = !isRead;
  }

  /** Sends the log to the worker. Each task needs this, because cancellation terminates the worker.
   */
  private open(machine: (text: string) => void = () => {}): Promise<boolean> {
    const command = { do: "log", name: this.name }, bytes = this.bytes ?? undefined;
    return this.work<{ summary: Summary; machine: string }>("Reading the log", "summary",
      { command, bytes }, ({ summary, machine: suggested }) => {
        machine(suggested);
        const lost = summary.skipped.filter(({ count }) => count > 0);
        const skipped = lost.map(({ reason, count }) => `${count} ${reason}`).join(", ");
        const nodes = summary.machine_size, load = summary.load;
        const size = nodes ? `, a machine of ${many(nodes, "node")}` : "";
        return [element("p", {}, `${plain(this.name)}: ${many(summary.kept, "job")} in `
          + `${lasting(summary.span)}${size}${load === null ? "" : `, load ${brief(load)}`}.`
          + (skipped ? ` Skipped: ${skipped}.` : ""))];
      });
  }

  /** Returns a machine's settings for use with the log. */
  private ofLog(own: Settings): Settings {
    const rest = Object.entries(own).filter(([name]) => !DRAWN.includes(name));
    const machine = find<HTMLInputElement>("log-machine").value.trim();
    return { ...Object.fromEntries(rest), machine, trace: this.name };
  }

  private async replay(): Promise<void> {
    if (!await this.open()) return;
    const [one, other] = this.both(), replay: Both = [this.ofLog(one), this.ofLog(other)];
    await this.work<Replayed>("Replaying the log", "replayed", { replay }, (result) => {
      const names = replay.map((own) => OWN.map((name) => own[name]).join(", "));
      const row = (title: string, value: (side: Replayed["sides"][0]) => string) =>
        [title, ...result.sides.map(value)];
      const { jobs, difference, half_width: half } = result.difference;
      const isKnown = typeof difference === "number" && typeof half === "number";
      return [
        table(["", ...names], [
          row("mean wait", ({ wait }) => lasting(wait ?? 0)),
          row("utilization", ({ utilization }) => `${brief(100 * (utilization ?? 0))}%`),
          row("jobs completed", ({ completed }) => completed.toLocaleString("en")),
          row("never started", ({ waiting }) => waiting.toLocaleString("en")),
        ]),
        element("p", {}, isKnown ? `Over the same ${many(jobs, "job")}, the mean wait of the `
          + `second is ${brief(Math.abs(difference) / 60)} ± ${brief(half / 60)} min `
          + `${difference < 0 ? "shorter" : "longer"} (95% interval).` : ""),
      ];
    });
  }

  private async advise(all: boolean): Promise<void> {
    if (!await this.open()) return;
    const settings = this.ofLog(this.both()[0]), command = { do: "advise", settings, all };
    await this.work<Advice>("Trying alternatives", "replayed", { command }, (advice) => {
      const titles = advice.measures.map(([title, unit]) => `${title} (${unit})`);
      const rows = advice.alternatives.map(({ words, changes }) =>
        [plain(words), ...changes.map((change) => (change ? ranged(...change) : "–"))]);
      return [
        ...advice.recommendations.map((text) => element("p", {}, plain(text, 600))),
        table(["alternative", ...titles.slice(0, COLUMNS)],
          rows.map((row) => row.slice(0, COLUMNS + 1))),
      ];
    });
  }
}
