// The elements that make up a table row.
import { type Bar, type Column, classOf } from "./column.ts";
import { attributes, element } from "./dom.ts";
import { paint } from "./hatch.ts";

/** The number of letters that are never cut off at the end of a name. */
const TAIL = 6;

/** Returns an empty row. Actions call `rowOf` to get the data that the row currently shows. The
 * first cell is a button if `pick` is given. */
export function emptyRow<Row>(
  columns: Column<Row>[],
  pick: ((row: Row) => void) | undefined,
  rowOf: (made: HTMLTableRowElement) => Row | undefined,
): HTMLTableRowElement {
  const made = element("tr");
  columns.forEach((column, index) => {
    const cell = index === 0 ? element("th", { scope: "row" }) : element("td");
    cell.className = classOf(column);
    const inner: Node[] = column.patch ? [element("i", { className: "patch" })] : [];
    if (column.patch || column.bar || column.isName)
      inner.push(element("span", { className: "text" }));
    if (column.spoken) inner.push(element("span", { className: "unseen" }));
    if (column.bar) inner.push(track());
    if (index === 0 && pick)
      cell.append(element("button", { type: "button", className: "name" }, ...inner));
    else if (column.act) cell.append(element("button", { type: "button", className: "act" }));
    else cell.append(...inner);
    const act = cell.querySelector<HTMLElement>(".act");
    if (act) act.onclick = () => { const row = rowOf(made); if (row) column.act?.(row); };
    made.append(cell);
  });
  made.onclick = (event) => {
    const row = rowOf(made), inner = (event.target as Element).closest("button");
    if (row && (!inner || inner.className === "name")) pick?.(row);
  };
  return made;
}

/** Shows data in a column's cell, changing only the parts that differ. */
export function updateCell<Row>(cell: HTMLTableCellElement, column: Column<Row>, row: Row): void {
  const text = column.text(row), hint = column.hint?.(row) ?? text;
  const holder = cell.querySelector("button") ?? cell;
  const words = holder.querySelector(".text") ?? holder;
  if (words.textContent !== text) words.replaceChildren(...column.isName ? ends(text) : [text]);
  if (cell.title !== hint) cell.title = hint;
  if (column.bar) stretch(cell, column.bar(row));
  const more = cell.querySelector(".unseen"), spoken = column.spoken?.(row) ?? "";
  if (more && more.textContent !== spoken) more.textContent = spoken;
  const patch = cell.querySelector<HTMLElement>(".patch"), shade = column.patch?.(row);
  if (patch && shade) paint(patch, shade);
}

/** Splits a name into its beginning, which may be cut off, and its end. */
function ends(name: string): HTMLElement[] {
  const letters = [...name], at = Math.max(0, letters.length - TAIL);
  return [letters.slice(0, at), letters.slice(at)]
    .map((part) => element("span", {}, part.join("")));
}

/** Returns an element for a bar, hidden from screen readers because words also give the value. */
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
