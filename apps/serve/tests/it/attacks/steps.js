// Draws random step functions with random numbers of columns, and compares each column with all
// points in it. Returns [tried, failed].
(() => {
  let state = 88172645463325252n;
  const next = (most) => {
    for (const [left, by] of [[true, 13n], [false, 7n], [true, 17n]])
      state ^= left ? (state << by) & 0xffffffffffffffffn : state >> by;
    return Number(state % BigInt(most));
  };
  let tried = 0, failed = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const width = 1 + next(400), end = 1000 + next(1000000), count = 1 + next([3, 60, 3000][round % 3]);
    // Some points lie on the edge of a column.
    const at = [...Array(count)].map(() => (next(4) ? next(end) : (next(width) * end) / width)).sort((a, b) => a - b);
    const points = at.map((at) => ({ at, value: next(100) }));
    const found = new Map(window.pavior.columns(points, 0, end, width).map((one) => [one.column, one]));
    let enters = null;
    for (let column = 0; column < width; column++) {
      tried++;
      const scale = width / end, inside = points.filter(({ at }) => Math.floor(at * scale) === column);
      const one = found.get(column);
      if (!inside.length) { if (one) failed++; continue; }
      const values = [...(enters === null ? [] : [enters]), ...inside.map(({ value }) => value)];
      let sum = 0, since = enters === null ? inside[0].at * scale : column, value = enters;
      const from = since;
      for (const point of [...inside, { at: (column + 1) / scale, value: 0 }]) {
        const x = Math.min(point.at * scale, column + 1);
        if (value !== null) sum += value * (x - since);
        [since, value] = [x, point.value];
      }
      const mean = sum / (column + 1 - from);
      const right = one && one.enters === enters && one.leaves === inside.at(-1).value && one.changes === inside.length
        && one.x === inside[0].at * scale && one.least === Math.min(...values) && one.most === Math.max(...values)
        && Math.abs(one.mean - mean) < 1e-6 * Math.max(1, Math.abs(mean));
      if (!right) failed++;
      enters = inside.at(-1).value;
    }
  }
  return [tried, failed];
})()
