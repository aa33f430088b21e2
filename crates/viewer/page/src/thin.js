// A step function, drawn by columns of points: nothing is shown that was not there, and nothing that was
// there is lost.

/**
 * The corners of a step function's line, as [x, value, ...].
 *
 * `points` are { at, value } in the order of time: from `at` on the function has that value. Times from
 * `first` to `last` go from 0 to `width`. In a column of points in which the function changes once, the
 * line is where it changes; in one with more changes it goes from the least to the greatest value that the
 * function has there, and leaves with the last.
 */
export function corners(points, first, last, width) {
  const line = [], scale = width / (last - first);
  let value = null, index = 0;
  while (index < points.length) {
    const x = (points[index].at - first) * scale, column = Math.floor(x);
    const begins = index;
    let least = points[index].value, most = least;
    for (index++; index < points.length && Math.floor((points[index].at - first) * scale) === column; index++) {
      least = Math.min(least, points[index].value);
      most = Math.max(most, points[index].value);
    }
    const leaves = points[index - 1].value;
    if (index === begins + 1) {
      if (value !== null) line.push(x, value);
      line.push(x, leaves);
    } else {
      const middle = column + 0.5;
      if (value !== null) line.push(middle, value);
      line.push(middle, least, middle, most, middle, leaves);
    }
    value = leaves;
  }
  if (value !== null) line.push(width, value);
  return line;
}
