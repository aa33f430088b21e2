// Reduces a step function to pixel columns without losing or inventing values.

/** A value and the time from which it applies. */
export interface Point { at: number; value: number }

export interface Column {
  column: number;
  changes: number;
  x: number;
  enters: number | null;
  least: number;
  most: number;
  leaves: number;
  mean: number;
}

/** Returns the pixel columns in which a step function changes, in order. `points` are in order of
 * time: from `at` on, the function has `value`. Times from `first` to `last` are mapped to 0 to
 * `width`. In each column, `x` is the position of the first change, and `enters` is the value
 * before this change (null if there is none). `least`, `most` and `leaves` are the minimum, maximum
 * and last value in the column, and `mean` is the mean over its time. A change at the edge of a
 * column belongs to the column that begins there, and so does the value before the change, since
 * the line goes up or down there. */
export function columns(points: Point[], first: number, last: number, width: number): Column[] {
  const found: Column[] = [], scale = width / (last - first);
  const x = (index: number) => (points[index].at - first) * scale;
  let enters: number | null = null, index = 0;
  while (index < points.length) {
    const column = Math.floor(x(index)), begins = index;
    const from: number = enters === null ? x(index) : column;
    let least: number = enters ?? Infinity, most: number = enters ?? -Infinity;
    let sum = 0, value: number = enters ?? 0, since = from;
    for (; index < points.length && Math.floor(x(index)) === column; index++) {
      const at = x(index);
      sum += value * (at - since);
      [value, since] = [points[index].value, at];
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    sum += value * (column + 1 - since);
    const mean = sum / (column + 1 - from);
    const changes = index - begins;
    found.push({ column, changes, x: x(begins), enters, least, most, leaves: value, mean });
    enters = value;
  }
  return found;
}

/** Returns a step function's value at a time, or null before its first point, in O(log points). */
export function valueAt(points: Point[], at: number): number | null {
  let low = 0, high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle].at <= at) low = middle + 1;
    else high = middle;
  }
  return low ? points[low - 1].value : null;
}
