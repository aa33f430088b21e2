// The four lists next to the machine, with search and sorting. Only one is visible at a time.
import { LISTS, type List, type Sort } from "./address.ts";
import { type Ahead, aheadColumns } from "./ahead.ts";
import type { Column } from "./column.ts";
import { type Scene, jobColumns, refusedColumns, waitingColumns } from "./columns.ts";
import { attributes, element, find, many, write } from "./dom.ts";
import type { Refusal } from "./live.ts";
import type { Key, Lease, Waiting } from "./model.ts";
import { Table } from "./table.ts";

/** The actions for clicks on rows. */
export interface Acts {
  job(lease: Lease): void;
  waiting(one: Waiting): void;
  refused(one: Refusal): void;
  ahead(one: Ahead): void;
  /** Called when the user changes the list, the order or the search. */
  changed(): void;
}

/** Returns the rows that contain every search word. */
function found<Row>(rows: Row[], columns: Column<Row>[], search: string): Row[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return rows;
  const times = ["age", "ends", "when", "starts", "times"];
  const searched = columns.filter(({ id }) => !times.includes(id));
  return rows.filter((row) => {
    const text = searched.map((column) => column.text(row)).join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The default order: newest jobs and latest refusals first, everything else as received. */
const USUAL: Record<List, Sort | null> = {
  jobs: { column: "age", down: false }, waiting: null, refused: { column: "when", down: true },
  ahead: null,
};

const NOTHING: Record<List, string> = {
  jobs: "No jobs are running.",
  waiting: "No requests are waiting.",
  refused: "No requests have been refused since the service started.",
  ahead: "No nodes are reserved in advance.",
};

/** The rows of each list; null if unknown. */
type Rows = [Lease[] | null, Waiting[] | null, Refusal[] | null, Ahead[] | null];

export class Lists {
  list: List = "jobs";
  search = "";
  sort: Sort | null = null;
  private readonly columns:
    [Column<Lease>[], Column<Waiting>[], Column<Refusal>[], Column<Ahead>[]];
  private readonly tables: [Table<Lease>, Table<Waiting>, Table<Refusal>, Table<Ahead>];
  private rows: Rows = [null, null, null, null];
  private selected: Key | null = null;
  private chosen: string | null = null;

  constructor(scene: () => Scene, private readonly acts: Acts) {
    const jobs = jobColumns(scene), refused = refusedColumns(scene);
    const waiting = waitingColumns(scene, (one) => acts.waiting(one));
    const key = (row: { key: Key }) => String(row.key);
    const sorted = (sort: Sort) => { this.sort = sort; this.draw(); acts.changed(); };
    const ahead = aheadColumns(scene);
    this.columns = [jobs, waiting, refused, ahead];
    this.tables = [
      new Table<Lease>(find("jobs"), {
        label: "Jobs", columns: jobs, key, sorted, pick: (one) => acts.job(one),
      }),
      new Table<Waiting>(find("waiting"), {
        label: "Waiting requests", columns: waiting, key, sorted, pick: (one) => acts.waiting(one),
      }),
      new Table<Refusal>(find("refused"), {
        label: "Refused requests", columns: refused, key, sorted, pick: (one) => acts.refused(one),
      }),
      new Table<Ahead>(find("ahead"), {
        label: "Reservations", columns: ahead, key, sorted,
        pick: (one) => acts.ahead(one),
      }),
    ];
    for (const list of LISTS) {
      const tab = find(`tab-${list}`);
      tab.onclick = () => this.choose(list);
      tab.onkeydown = (event) => this.turn(event, list);
    }
    const search = find<HTMLInputElement>("search");
    search.oninput = () => { this.search = search.value; this.draw(); acts.changed(); };
  }

  /** Handles the keys that move between tabs, following the ARIA tabs pattern. */
  private turn(event: KeyboardEvent, list: List): void {
    const shown = LISTS.filter((one) => find(`tab-${one}`).offsetParent), at = shown.indexOf(list);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(shown[(to + shown.length) % shown.length]);
    find(`tab-${this.list}`).focus();
  }

  choose(list: List): void {
    this.list = list;
    this.draw();
    this.acts.changed();
  }

  /** Applies the settings in the URL. */
  take(list: List, search: string, sort: Sort | null): void {
    Object.assign(this, { list, search, sort });
    find<HTMLInputElement>("search").value = search;
    this.draw();
  }

  /** Shows the rows. A selected reservation is given separately from any other selected row. */
  show(rows: Rows, selected: Key | null, chosen: string | null): void {
    this.rows = rows;
    this.selected = selected;
    this.chosen = chosen;
    this.draw();
  }

  private draw(): void {
    LISTS.forEach((list, index) => {
      const isShown = list === this.list, tab = find(`tab-${list}`);
      attributes(tab, { "aria-selected": String(isShown), tabindex: isShown ? "0" : "-1" });
      find(`panel-${list}`).hidden = !isShown;
      write(`${list}-total`, this.rows[index]?.length.toLocaleString("en") ?? "");
    });
    const index = LISTS.indexOf(this.list);
    const columns = this.columns[index] as Column<any>[];
    const all: any[] | null = this.rows[index], rows = found<any>(all ?? [], columns, this.search);
    const table = this.tables[index] as Table<any>;
    const sort = this.sort && table.sorts(this.sort.column) ? this.sort : USUAL[this.list];
    const selected = this.list === "ahead" ? this.chosen : this.selected;
    table.show(rows, sort, selected === null ? null : String(selected));
    const none = !all ? "Unknown for this time."
      : all.length ? "No row contains all of these words." : NOTHING[this.list];
    const some = this.search ? `${many(rows.length, "row")} of ${all?.length}` : "";
    write("found", rows.length ? some : none);
    table.place.hidden = rows.length === 0;
  }
}

/** Shows the line that describes the selected job. */
export function chosen(lines: string[] | null, clear: () => void): void {
  const place = find("chosen");
  place.hidden = !lines;
  if (!lines) return void place.replaceChildren();
  const text = lines.join(" · ");
  if (place.firstChild?.textContent === text) return;
  const button = element("button", { type: "button", onclick: clear }, "Show all");
  place.replaceChildren(element("p", {}, text), button);
}
