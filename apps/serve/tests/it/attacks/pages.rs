//! Pages that must not show what is not so.

use serde_json::json;

use crate::browser::Browser;

/// Random step functions, each on so many columns: what the page draws of it is held against all its
/// values. Answers [tried, failed].
const STEPS: &str = r"(() => {
  let state = 88172645463325252n;
  const next = (most) => {
    for (const [left, by] of [[true, 13n], [false, 7n], [true, 17n]])
      state ^= left ? (state << by) & 0xffffffffffffffffn : state >> by;
    return Number(state % BigInt(most));
  };
  let tried = 0, failed = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const width = 1 + next(400), end = 1000 + next(1000000), count = 1 + next([3, 60, 3000][round % 3]);
    // Some at one time, some at the edge of a column.
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
})()";

#[test]
fn a_curve_has_the_least_and_the_greatest_of_every_point() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    open(&mut browser, &schedule());
    let rounds = pavior_trials::size(90, 900).to_string();
    let answer = browser.value(&STEPS.replace("ROUNDS", &rounds));
    let [tried, failed] = [0, 1].map(|index| answer[index].as_u64().unwrap() as usize);
    pavior_trials::attacked("pages", "random curves, column by column", tried, failed);
}

/// A job of a second in eleven days, between jobs that come and go: a line of a point or two, and no
/// more than that.
#[test]
fn a_short_job_among_thousands_is_seen_and_stands_no_longer() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    open(&mut browser, &schedule());
    let painted = browser.value(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
          const canvas = document.getElementById('chart'), pen = canvas.getContext('2d');
          const row = Math.round(canvas.height - 2 - (44 / 64) * (canvas.height - 6));
          const bytes = pen.getImageData(0, row, canvas.width, 1).data;
          done([...Array(canvas.width).keys()].filter((x) => bytes[4 * x + 3] > 90));
        })))",
    );
    let painted: Vec<u64> = serde_json::from_value(painted).unwrap();
    let width = browser.value("document.getElementById('chart').width").as_u64().unwrap();
    // At the left edge stands the mark of the instant that is shown.
    let painted: Vec<u64> = painted.into_iter().filter(|&x| x > 2).collect();
    let wrong = painted.iter().filter(|&&x| x.abs_diff(width / 2) > 2).count();
    let failed = usize::from(painted.is_empty()) + wrong;
    pavior_trials::attacked("pages", "a job of a second in eleven days", 1, failed);
}

/// 2,000 jobs of 8 nodes, and one of 48 in the middle of them; times in seconds.
fn schedule() -> String {
    let mut points = Vec::new();
    let mut jobs = Vec::new();
    for number in 0..2000_u32 {
        let at = 500.0 * f64::from(number);
        jobs.push(job(number, at, at + 250.0, 1));
        points.extend([(at, 8), (at + 250.0, 0)]);
    }
    jobs.push(job(2000, 500_000.25, 500_001.25, 6));
    points.extend([(500_000.25, 56), (500_001.25, 8)]);
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let curve =
        points.iter().map(|&(at, busy)| pavior_viewer::CurvePoint { at, busy, largest_free: None });
    pavior_viewer::schedule("mesh:8x8", &jobs, &curve.collect::<Vec<_>>())
}

fn job(number: u32, start: f64, end: f64, columns: u16) -> pavior_viewer::ScheduledJob {
    pavior_viewer::ScheduledJob {
        name: json!(number),
        submit: start,
        start,
        end,
        nodes: 8 * u32::from(columns),
        parts: vec![(vec![u16::from(columns > 1), 0], vec![columns, 8])],
    }
}

fn open(browser: &mut Browser, page: &str) {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    browser.open(&format!("file://{}", file.display()));
    browser.until("window.pavior?.page.machine && document.getElementById('counts').textContent");
    browser.picture("short-job");
}
