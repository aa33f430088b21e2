// Table columns, and the sorting of rows by a column.
import type { Shade } from "./colors.ts";

/** A bar with a mark on it. All positions are fractions of the cell's width. */
export interface Bar { from: number; to: number; at: number }

/** A column of a table. */
export interface Column<Row> {
  id: string;
  title: string;
  /** The column's share of the table's width. */
  wide: number;
  isMinor?: boolean;
  /** True for numbers, which are right-aligned. */
  isNumber?: boolean;
  /** True for names. They usually differ at the end, so long ones are shortened in the middle. */
  isName?: boolean;
  text(row: Row): string;
  /** Returns the value to sort by. Rows without a value come last. */
  order?(row: Row): number | string | null;
  /** Returns the text shown next to the pointer, if it differs from the text in the cell. */
  hint?(row: Row): string;
  /** Returns a longer text for screen readers. */
  spoken?(row: Row): string;
  /** Returns the bar to draw under the text. */
  bar?(row: Row): Bar | null;
  /** Returns the color to show before the text. */
  patch?(row: Row): Shade | null;
  /** Handles a click on the text. If defined, the text is a button. */
  act?(row: Row): void;
}

/** Returns the CSS classes for a column's cells. */
export const classOf = ({ isNumber, isMinor }: { isNumber?: boolean; isMinor?: boolean }): string =>
  [isNumber && "number", isMinor && "minor"].filter(Boolean).join(" ");

/** Returns the rows sorted by a column. Rows with equal values keep their order. */
export function sorted<Row>(rows: Row[], { order }: Column<Row>, isDescending: boolean): Row[] {
  if (!order) return rows;
  const sign = isDescending ? -1 : 1;
  const known = rows.map((row, index) => ({ row, value: order(row), index }));
  known.sort((a, b) => {
    if (a.value === null || b.value === null)
      return Number(a.value === null) - Number(b.value === null) || a.index - b.index;
    return sign * compare(a.value, b.value) || a.index - b.index;
  });
  return known.map(({ row }) => row);
}

const names = new Intl.Collator("en", { numeric: true });

function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return names.compare(String(a), String(b));
}
