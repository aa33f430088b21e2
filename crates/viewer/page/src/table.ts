// A sortable table that contains elements only for the rows in view.
import type { Sort } from "./address.ts";
import type { Shade } from "./colours.ts";
import { attributes, element } from "./dom.ts";
import { paint } from "./hatch.ts";

/** A bar and a mark on it, as fractions of the cell's width. */
export interface Bar { from: number; to: number; at: number }

/** A column of a table. */
export interface Column<Row> {
  id: string;
  title: string;
  /** The column's share of the width. */
  wide: number;
  isMinor?: boolean;
  /** True for numbers, which are right-aligned. */
  isNumber?: boolean;
  /** True for names, which usually differ at the end, so long ones are shortened before it. */
  isName?: boolean;
  text(row: Row): string;
  /** Returns the value for sorting. Rows without a value come last. */
  order?(row: Row): number | string | null;
  /** Returns the text next to the pointer, if it differs from the cell. */
  hint?(row: Row): string;
  /** Returns a longer text for screen readers. */
  spoken?(row: Row): string;
  /** Returns a bar under the text. */
  bar?(row: Row): Bar | null;
  /** Returns a color before the text. */
  patch?(row: Row): Shade | null;
  /** Runs the action of the button that shows the text. */
  act?(row: Row): void;
}

export interface TableOptions<Row> {
  label: string;
  columns: Column<Row>[];
  key(row: Row): string;
  /** Runs the action of the first cell, which has no button if this is missing. */
  pick?(row: Row): void;
  sorted(sort: Sort): void;
}

/** The number of extra rows drawn above and below the visible ones. */
const MORE = 6;
/** The number of letters at the end of a name that are never cut. */
const TAIL = 6;

export class Table<Row> {
  private rows: Row[] = [];
  private drawn: [number, number] = [0, 0];
  /** The elements of drawn rows, by key. */
  private known = new Map<string, HTMLTableRowElement>();
  private readonly data = new WeakMap<HTMLTableRowElement, Row>();
  private readonly above = space();
  private readonly below = space();
  private sort: Sort | null = null;
  private selected: string | null = null;
  private readonly body = element("tbody");
  private readonly table: HTMLTableElement;
  private readonly heads = new Map<string, { cell: HTMLElement; mark: HTMLElement }>();

  constructor(readonly place: HTMLElement, private readonly options: TableOptions<Row>) {
    const row = element("tr", {}, ...options.columns.map((column) => this.head(column)));
    const columns = options.columns.map((column) => {
      const one = element("col", { className: column.isMinor ? "minor" : "" });
      one.style.width = `${column.wide}%`;
      return one;
    });
    const head = [element("colgroup", {}, ...columns), element("thead", {}, row)];
    this.table = element("table", {}, ...head, this.body);
    attributes(this.table, { "aria-label": options.label });
    attributes(place, { role: "region", "aria-label": `${options.label}, list`, tabindex: "0" });
    place.replaceChildren(this.table);
    place.addEventListener("scroll", () => this.window(false));
    place.addEventListener("keydown", (event) => this.step(event));
    new ResizeObserver(() => this.window(true)).observe(place);
  }

  private head(column: Column<Row>): HTMLElement {
    const mark = element("span", { className: "mark" });
    attributes(mark, { "aria-hidden": "true" });
    const cell = element("th", { scope: "col", className: this.classOf(column) });
    if (column.order) {
      const button = element("button", { type: "button" }, column.title, mark);
      button.onclick = () => {
        const down = this.sort?.column === column.id ? !this.sort.down : false;
        this.options.sorted({ column: column.id, down });
      };
      cell.append(button);
    } else {
      cell.append(column.title);
    }
    this.heads.set(column.id, { cell, mark });
    return cell;
  }

  private classOf({ isNumber, isMinor }: Column<Row>): string {
    return [isNumber && "number", isMinor && "minor"].filter(Boolean).join(" ");
  }

  /** Returns true if rows can be sorted by the column with that name. */
  sorts(column: string): boolean {
    return this.options.columns.some((one) => one.id === column && one.order);
  }

  /** Shows rows in a given order. */
  show(rows: Row[], sort: Sort | null, selected: string | null): void {
    this.selected = selected;
    this.sort = sort && this.sorts(sort.column) ? sort : null;
    this.rows = this.ordered(rows);
    for (const [id, { cell, mark }] of this.heads) {
      const way = this.sort?.column === id ? (this.sort.down ? "descending" : "ascending") : null;
      attributes(cell, { "aria-sort": way });
      mark.textContent = way ? (way === "ascending" ? "▲" : "▼") : "";
    }
    attributes(this.table, { "aria-rowcount": String(this.rows.length + 1) });
    this.window(true);
  }

  private ordered(rows: Row[]): Row[] {
    const column = this.options.columns.find(({ id }) => id === this.sort?.column);
    const order = column?.order;
    if (!order || !this.sort) return rows;
    const way = this.sort.down ? -1 : 1;
    const known = rows.map((row, index) => ({ row, value: order(row), index }));
    known.sort((a, b) => {
      if (a.value === null || b.value === null)
        return Number(a.value === null) - Number(b.value === null) || a.index - b.index;
      return way * compare(a.value, b.value) || a.index - b.index;
    });
    return known.map(({ row }) => row);
  }

  private rowHeight(): number {
    return parseFloat(getComputedStyle(this.place).getPropertyValue("--row")) || 30;
  }

  /** Draws the visible rows, if they differ from the drawn ones. */
  private window(anew: boolean): void {
    const tall = this.rowHeight(), { scrollTop, clientHeight } = this.place;
    const from = Math.max(0, Math.floor(scrollTop / tall) - MORE);
    const to = Math.min(this.rows.length, Math.ceil((scrollTop + clientHeight) / tall) + MORE);
    if (!anew && from === this.drawn[0] && to === this.drawn[1]) return;
    this.drawn = [from, to];
    const rows = this.rows.slice(from, to);
    const made = rows.map((row, index) => this.row(row, from + index));
    this.known = new Map(made.map((row) => [row.dataset.key as string, row]));
    this.above.style.height = `${from * tall}px`;
    this.below.style.height = `${(this.rows.length - to) * tall}px`;
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    this.arrange([this.above, ...made, this.below]);
    if (focused instanceof HTMLElement && document.activeElement !== focused) {
      if (focused.isConnected) focused.focus({ preventScroll: true });
      else this.place.focus({ preventScroll: true });
    }
  }

  /** Arranges rows without removing those that stay, because the user may be clicking one. */
  private arrange(rows: HTMLTableRowElement[]): void {
    const wanted = new Set<Element>(rows), { children } = this.body;
    for (const one of [...children]) if (!wanted.has(one)) one.remove();
    rows.forEach((row, index) => {
      if (children[index] !== row) this.body.insertBefore(row, children[index] ?? null);
    });
  }

  /** Returns a row's element, reusing and updating an existing one. */
  private row(row: Row, index: number): HTMLTableRowElement {
    const key = this.options.key(row), made = this.known.get(key) ?? this.empty(key);
    attributes(made, { "aria-rowindex": String(index + 2) });
    const isSelected = key === this.selected;
    made.classList.toggle("selected", isSelected);
    this.data.set(made, row);
    this.options.columns.forEach((column, place) => {
      const cell = made.cells[place], text = column.text(row), hint = column.hint?.(row) ?? text;
      const holder = cell.querySelector("button") ?? cell;
      const words = holder.querySelector(".text") ?? holder;
      if (words.textContent !== text) words.replaceChildren(...column.isName ? ends(text) : [text]);
      if (cell.title !== hint) cell.title = hint;
      if (column.bar) stretch(cell, column.bar(row));
      const more = cell.querySelector(".unseen"), spoken = column.spoken?.(row) ?? "";
      if (more && more.textContent !== spoken) more.textContent = spoken;
      const patch = cell.querySelector<HTMLElement>(".patch"), shade = column.patch?.(row);
      if (patch && shade) paint(patch, shade);
      if (place === 0 && this.options.pick)
        attributes(holder, { "aria-pressed": String(isSelected) });
    });
    return made;
  }

  private empty(key: string): HTMLTableRowElement {
    const made = element("tr");
    made.dataset.key = key;
    const { columns, pick } = this.options;
    columns.forEach((column, place) => {
      const cell = place === 0 ? element("th", { scope: "row" }) : element("td");
      cell.className = this.classOf(column);
      const inner: Node[] = column.patch ? [element("i", { className: "patch" })] : [];
      if (column.patch || column.bar || column.isName)
        inner.push(element("span", { className: "text" }));
      if (column.spoken) inner.push(element("span", { className: "unseen" }));
      if (column.bar) inner.push(track());
      if (place === 0 && pick)
        cell.append(element("button", { type: "button", className: "name" }, ...inner));
      else if (column.act) cell.append(element("button", { type: "button", className: "act" }));
      else cell.append(...inner);
      const act = cell.querySelector<HTMLElement>(".act");
      if (act) act.onclick = () => { const row = this.data.get(made); if (row) column.act?.(row); };
      made.append(cell);
    });
    made.onclick = (event) => {
      const row = this.data.get(made), inner = (event.target as Element).closest("button");
      if (row && (!inner || inner.className === "name")) pick?.(row);
    };
    return made;
  }

  /** Moves from one row's button to the next or previous row's button. */
  private step(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = document.activeElement?.closest("tr");
    if (!by || !row?.dataset.key) return;
    const at = this.rows.findIndex((one) => this.options.key(one) === row.dataset.key) + by;
    if (at < 0 || at >= this.rows.length) return;
    event.preventDefault();
    event.stopPropagation();
    const tall = this.rowHeight(), { scrollTop, clientHeight } = this.place, head = tall;
    if (at * tall < scrollTop) this.place.scrollTop = at * tall;
    if ((at + 1) * tall + head > scrollTop + clientHeight)
      this.place.scrollTop = (at + 1) * tall + head - clientHeight;
    this.window(false);
    const key = this.options.key(this.rows[at]);
    const next = [...this.body.rows].find((one) => one.dataset.key === key);
    next?.querySelector("button")?.focus({ preventScroll: true });
  }
}

/** Splits a name into a first part, which may be cut, and its end. */
function ends(name: string): HTMLElement[] {
  const letters = [...name], at = Math.max(0, letters.length - TAIL);
  return [letters.slice(0, at), letters.slice(at)]
    .map((part) => element("span", {}, part.join("")));
}

/** Returns the element that contains a bar. Its value is also given in words. */
function track(): HTMLElement {
  const parts = [element("i", { className: "reach" }), element("i", { className: "middle" })];
  const made = element("span", { className: "track" }, ...parts);
  return attributes(made, { "aria-hidden": "true" });
}

function stretch(cell: HTMLElement, bar: Bar | null): void {
  const [room, reach, middle] =
    [".track", ".reach", ".middle"].map((one) => cell.querySelector<HTMLElement>(one));
  if (!room || !reach || !middle) return;
  room.hidden = !bar;
  if (!bar) return;
  const share = (part: number) => `${(100 * part).toFixed(1)}%`;
  reach.style.left = share(bar.from);
  reach.style.width = share(bar.to - bar.from);
  middle.style.left = share(bar.at);
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return names.compare(String(a), String(b));
}

const names = new Intl.Collator("en", { numeric: true });

/** Returns a placeholder for rows that are not drawn. */
function space(): HTMLTableRowElement {
  return attributes(element("tr", { className: "space" }), { "aria-hidden": "true" });
}
