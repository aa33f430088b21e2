// Converts the settings of both machines between the URL, the form, and commands.
import { element, find } from "../src/dom.ts";

/** Settings for `pavior simulate`, by name, and the settings of both machines. */
export type Settings = Record<string, string>;
export type Both = [Settings, Settings];

interface Option { key: string; values: string; meaning: string }
interface Entry { name: string; title: string; source: string; options: Option[] }
interface Parameter {
  name: string; meaning: string; unit: string; heading: string; default: string;
}

/** The available choices. */
export interface Registries {
  strategies: Entry[];
  schedulers: Entry[];
  patterns: Entry[];
  parameters: Parameter[];
}

/** The settings that can differ between the machines. */
export const OWN = ["strategy", "scheduler"] as const;
const FIRST: [string, string, string][] =
  [["machine", "torus:8x8x8", ""], ["strategy", "ff", "tff"], ["scheduler", "fcfs", "fcfs"],
    ["sides", "uniform:most=5", ""], ["load", "9", ""], ["jobs", "3000", ""], ["seed", "1", ""]];
/** Parameters that have their own field. */
const FIELDS = ["machine", "load", "sides", "jobs", "seed", "mttf", "mttr", "freedom"];
/** Parameters that have no field because they need files or belong to only one machine. */
const LEFT_OUT = [...OWN, "trace", "failures", "reservations"];
const HEADINGS = ["Job log", "Snapshots", "Results"];
const LONGEST = 300;

/** The contents of the URL: the settings of both machines, and the view. */
export interface Address { both: Both; view: Settings }

/** The parts of the URL that are not settings. */
const VIEW = ["view", "speed", "t", "shape", "paused"];

/** Parses the part of the URL after `#`. A setting that occurs once applies to both machines. */
export function read(hash: string): Address {
  const words = new URLSearchParams(hash.replace(/^#/, "").slice(0, 4000));
  const both: Both = [{}, {}], view: Settings = {};
  for (const [name, first, second] of FIRST) {
    both[0][name] = first;
    both[1][name] = second || first;
  }
  for (const name of new Set(words.keys())) {
    if (!/^[a-z-]{1,40}$/.test(name)) continue;
    const all = words.getAll(name).map((text) => text.slice(0, LONGEST));
    if (VIEW.includes(name)) view[name] = all[0];
    else both.forEach((own, side) => { own[name] = all[Math.min(side, all.length - 1)]; });
  }
  return { both, view };
}

/** Formats the settings and the view as the part of the URL after `#`. */
export function write({ both, view }: Address): string {
  const words: [string, string][] = [];
  for (const name of Object.keys(both[0])) {
    words.push([name, both[0][name]]);
    if (both[1][name] !== both[0][name]) words.push([name, both[1][name]]);
  }
  words.push(...Object.entries(view));
  return new URLSearchParams(words).toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
}

/** Returns the settings as shell-quoted command-line arguments. */
function shellWords(both: Both, names: readonly string[]): string {
  const plain = (text: string) =>
    (/^[\w:.,=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  return names.map((name) => {
    const values = [...new Set(both.map((own) => own[name]))];
    return `--${name} ${plain(values.join(","))}`;
  }).join(" ");
}

/** Returns true if a single command, which runs all strategy-scheduler pairs, can compare both
 * machines. */
const together = (both: Both): boolean =>
  OWN.some((name) => both[0][name] === both[1][name]);

/** Returns the equivalent commands for a terminal and for Python. */
export function commands(both: Both): { shell: string; python: string } {
  const names = Object.keys(both[0]).filter((name) => both[0][name] !== "");
  const sets = together(both) ? [both] : both.map((own): Both => [own, own]);
  const shell = sets.map((set) => `pavior simulate ${shellWords(set, names)}`).join("\n");
  const python = sets.map((set) => {
    const value = (name: string) => {
      const values = [...new Set(set.map((own) => own[name]))];
      const texts = values.map((text) => (isNumber(text) ? text : JSON.stringify(text)));
      return values.length > 1 ? `[${texts.join(", ")}]` : texts[0];
    };
    const keywords = names.map((name) => `${name.replaceAll("-", "_")}=${value(name)}`);
    return `results = pavior.Experiment(${keywords.join(", ")}).run()\n`
      + 'print(results.files()["results.csv"].decode())';
  });
  return { shell, python: `import pavior\n${python.join("\n")}` };
}

const isNumber = (text: string): boolean => /^\d+(\.\d+)?$/.test(text);

/** The settings form. */
export class Form {
  /** Creates the fields from the registries. `changed` is called with the complete settings. */
  constructor(
    private readonly all: Registries,
    private readonly changed: (both: Both) => void,
  ) {
    for (const side of [0, 1])
      for (const name of OWN) {
        const entries = name === "strategy" ? all.strategies : all.schedulers;
        const select = find<HTMLSelectElement>(`${name}-${side}`);
        select.append(...entries.map((one) =>
          element("option", { value: one.name }, `${one.name}: ${one.title}`)));
        select.onchange = () => {
          find<HTMLInputElement>(`${name}-options-${side}`).value = "";
          this.submit();
        };
      }
    const usable = all.parameters.filter(({ name, heading }) =>
      !LEFT_OUT.includes(name) && !HEADINGS.includes(heading));
    const ofField = FIELDS.map((name) => usable.find((one) => one.name === name));
    find("fields").append(...ofField.flatMap((one) => (one ? [this.field(one)] : [])));
    const rest = usable.filter(({ name }) => !FIELDS.includes(name));
    for (const heading of new Set(rest.map((one) => one.heading))) {
      const own = rest.filter((one) => one.heading === heading);
      find("more").append(element("h3", {}, heading),
        element("div", { className: "fields" }, ...own.map((one) => this.field(one))));
    }
    find<HTMLFormElement>("settings").onsubmit = (event) => {
      event.preventDefault();
      this.submit();
    };
  }

  /** Applies the values in the form. */
  submit(): void { this.changed(this.values()); }

  private field({ name, meaning, unit, default: usual }: Parameter): HTMLElement {
    const id = `set-${name}`;
    const input = element("input", {
      id, name, placeholder: usual, autocomplete: "off", spellcheck: false,
    });
    input.setAttribute("aria-describedby", `${id}-meaning`);
    const known = name === "pattern" ? this.all.patterns : [];
    if (known.length) input.setAttribute("list", `${id}-known`);
    const list = element("datalist", { id: `${id}-known` }, ...known.map((one) =>
      element("option", { value: one.name }, one.title)));
    return element("div", { className: "field" },
      element("label", { htmlFor: id }, name), input, ...(known.length ? [list] : []),
      element("p", { id: `${id}-meaning` }, unit ? `${meaning} (${unit})` : meaning));
  }

  private inputs(): HTMLInputElement[] {
    return [...find("settings").querySelectorAll<HTMLInputElement>("input[name]")];
  }

  private values(): Both {
    const shared: Settings = {};
    for (const { name, value } of this.inputs()) if (value.trim()) shared[name] = value.trim();
    const ofSide = (side: number): Settings => {
      const own: Settings = {};
      for (const name of OWN) {
        const options = find<HTMLInputElement>(`${name}-options-${side}`).value.trim();
        const chosen = find<HTMLSelectElement>(`${name}-${side}`).value;
        own[name] = options ? `${chosen}:${options}` : chosen;
      }
      const { machine, ...rest } = shared;
      return { machine: machine ?? FIRST[0][1], ...own, ...rest };
    };
    return [ofSide(0), ofSide(1)];
  }

  /** Shows the settings in the fields. */
  show(both: Both): void {
    both.forEach((own, side) => {
      for (const name of OWN) {
        const [chosen, ...options] = (own[name] ?? "").split(":");
        find<HTMLSelectElement>(`${name}-${side}`).value = chosen;
        find<HTMLInputElement>(`${name}-options-${side}`).value = options.join(":");
      }
    });
    for (const input of this.inputs()) input.value = both[0][input.name] ?? "";
    this.describe();
  }

  /** Describes the chosen strategies and schedulers. */
  private describe(): void {
    for (const side of [0, 1])
      for (const name of OWN) {
        const entries = name === "strategy" ? this.all.strategies : this.all.schedulers;
        const chosen = find<HTMLSelectElement>(`${name}-${side}`).value;
        const one = entries.find((entry) => entry.name === chosen);
        const options = (one?.options ?? []).map(({ key, values, meaning }) =>
          `${key}=${values}: ${meaning}`);
        find(`${name}-about-${side}`).replaceChildren(
          one ? [one.title, one.source].filter(Boolean).map((text) => `${text}. `).join("") : "",
          ...options.map((text) => element("span", {}, text)));
      }
  }

  /** Marks the field that contains an invalid setting. */
  blame(setting: string | null): void {
    for (const input of this.inputs())
      input.setAttribute("aria-invalid", String(input.name === setting));
  }
}
