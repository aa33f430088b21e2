// A sortable table that creates elements only for the rows in view.
import type { Sort } from "./address.ts";
import { type Column, classOf, sorted } from "./column.ts";
import { attributes, element } from "./dom.ts";
import { emptyRow, updateCell } from "./row.ts";

export interface TableOptions<Row> {
  label: string;
  columns: Column<Row>[];
  key(row: Row): string;
  /** Handles clicks on the first cell. If undefined, that cell is not a button. */
  pick?(row: Row): void;
  sorted(sort: Sort): void;
}

/** The number of extra rows to draw above and below the visible ones. */
const MORE = 6;

export class Table<Row> {
  private rows: Row[] = [];
  private drawn: [number, number] = [0, 0];
  /** The elements of the drawn rows, by row key. */
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
    place.addEventListener("scroll", () => this.drawWindow(false));
    place.addEventListener("keydown", (event) => this.step(event));
    new ResizeObserver(() => this.drawWindow(true)).observe(place);
  }

  private head(column: Column<Row>): HTMLElement {
    const mark = element("span", { className: "mark" });
    attributes(mark, { "aria-hidden": "true" });
    const cell = element("th", { scope: "col", className: classOf(column) });
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

  /** Returns true if rows can be sorted by the column with this name. */
  sorts(column: string): boolean {
    return this.options.columns.some((one) => one.id === column && one.order);
  }

  /** Shows rows in a given order. */
  show(rows: Row[], sort: Sort | null, selected: string | null): void {
    this.selected = selected;
    this.sort = sort && this.sorts(sort.column) ? sort : null;
    const column = this.options.columns.find(({ id }) => id === this.sort?.column);
    this.rows = column ? sorted(rows, column, Boolean(this.sort?.down)) : rows;
    for (const [id, { cell, mark }] of this.heads) {
      const way = this.sort?.column === id ? (this.sort.down ? "descending" : "ascending") : null;
      attributes(cell, { "aria-sort": way });
      mark.textContent = way ? (way === "ascending" ? "▲" : "▼") : "";
    }
    attributes(this.table, { "aria-rowcount": String(this.rows.length + 1) });
    this.drawWindow(true);
  }

  private rowHeight(): number {
    return parseFloat(getComputedStyle(this.place).getPropertyValue("--row")) || 30;
  }

  /** Draws the visible rows if they differ from those already drawn. */
  private drawWindow(anew: boolean): void {
    const tall = this.rowHeight(), { scrollTop, clientHeight } = this.place;
    // If rows were removed, the browser has not yet scrolled back to those that remain.
    const last = this.rows.length - Math.ceil(clientHeight / tall);
    const from = Math.max(0, Math.min(Math.floor(scrollTop / tall), last) - MORE);
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

  /** Arranges the rows without removing any that stay, because the user may be clicking one. */
  private arrange(rows: HTMLTableRowElement[]): void {
    const wanted = new Set<Element>(rows), { children } = this.body;
    for (const one of [...children]) if (!wanted.has(one)) one.remove();
    rows.forEach((row, index) => {
      if (children[index] !== row) this.body.insertBefore(row, children[index] ?? null);
    });
  }

  /** Returns a row's element, reusing and updating an existing one. */
  private row(row: Row, index: number): HTMLTableRowElement {
    const { columns, pick } = this.options, key = this.options.key(row);
    const made = this.known.get(key) ?? emptyRow(columns, pick, (made) => this.data.get(made));
    made.dataset.key = key;
    attributes(made, { "aria-rowindex": String(index + 2) });
    const isSelected = key === this.selected;
    made.classList.toggle("selected", isSelected);
    this.data.set(made, row);
    columns.forEach((column, place) => updateCell(made.cells[place], column, row));
    if (pick) {
      const first = made.cells[0], button = first.querySelector("button") ?? first;
      attributes(button, { "aria-pressed": String(isSelected) });
    }
    return made;
  }

  /** Moves the focus from a row's button to that of the next or previous row. */
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
    this.drawWindow(false);
    const key = this.options.key(this.rows[at]);
    const next = [...this.body.rows].find((one) => one.dataset.key === key);
    next?.querySelector("button")?.focus({ preventScroll: true });
  }
}

/** Returns a placeholder for rows that are not drawn. */
function space(): HTMLTableRowElement {
  return attributes(element("tr", { className: "space" }), { "aria-hidden": "true" });
}
