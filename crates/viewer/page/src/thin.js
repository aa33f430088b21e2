// A step function by columns of points: nothing is shown that was not there, and nothing that was there is
// lost.

/**
 * The columns of points in which a step function changes, in order.
 *
 * `points` are { at, value } in the order of time: from `at` on the function has that value. Times from
 * `first` to `last` go from 0 to `width`. Each column is { column, changes, x, enters, least, most, leaves,
 * mean }: where the first change is, the value before (null if there is none), the least, the greatest, and
 * the last value that the function has there, and its mean over the column's time. A change at the edge of
 * a column counts to the column that begins there; the value before it is one of that column's, too, since
 * the line goes down or up there.
 */
export function columns(points, first, last, width) {
  const found = [], scale = width / (last - first), x = (index) => (points[index].at - first) * scale;
  let enters = null, index = 0;
  while (index < points.length) {
    const column = Math.floor(x(index)), begins = index, from = enters === null ? x(index) : column;
    let least = enters ?? Infinity, most = enters ?? -Infinity, sum = 0, value = enters ?? 0, since = from;
    for (; index < points.length && Math.floor(x(index)) === column; index++) {
      const at = x(index);
      sum += value * (at - since);
      [value, since] = [points[index].value, at];
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    sum += value * (column + 1 - since);
    found.push({ column, changes: index - begins, x: x(begins), enters, least, most, leaves: value, mean: sum / (column + 1 - from) });
    enters = value;
  }
  return found;
}
