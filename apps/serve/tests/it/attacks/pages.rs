//! Checks the page's curves against the data.

use pavior_trials::Browser;
use serde_json::json;

/// Random step functions, compared column by column with the curves that the page draws.
const STEPS: &str = include_str!("steps.js");

#[test]
fn a_curve_shows_the_minimum_and_maximum_at_every_point() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    open(&mut browser, &schedule());
    let rounds = pavior_trials::size(90, 90, 900).to_string();
    let answer = browser.value(&STEPS.replace("ROUNDS", &rounds));
    let [tried, failed] = [0, 1].map(|index| answer[index].as_u64().unwrap() as usize);
    pavior_trials::attacked("pages", "random curves, column by column", tried, failed);
}

/// Checks that a one-second job in an eleven-day schedule is drawn as a narrow line within two
/// pixels of its position.
#[test]
fn a_short_job_among_thousands_is_a_narrow_line() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    open(&mut browser, &schedule());
    let painted = browser.value(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
          const { chart } = window.pavior, pen = chart.canvas.getContext('2d');
          const { left, width } = chart.area(), row = Math.round(chart.y(44));
          const bytes = pen.getImageData(left, row, width, 1).data;
          // The curve is blue; the grid lines behind it are light.
          done([...Array(width).keys()].filter((x) => bytes[4 * x + 3] > 90 && bytes[4 * x] < 128));
        })))",
    );
    let painted: Vec<u64> = serde_json::from_value(painted).unwrap();
    let width = browser.value("window.pavior.chart.area().width").as_u64().unwrap();
    // Skip the current-time marker at the left edge.
    let painted: Vec<u64> = painted.into_iter().filter(|&x| x > 2).collect();
    let wrong = painted.iter().filter(|&&x| x.abs_diff(width / 2) > 2).count();
    let failed = usize::from(painted.is_empty()) + wrong;
    pavior_trials::attacked("pages", "a one-second job in eleven days", 1, failed);
}

/// Returns a page with 2,000 eight-node jobs and one 48-node job in the middle.
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
    browser.open_text(page);
    browser.until("window.pavior?.page.machine && document.getElementById('counts').textContent");
    browser.picture("short-job");
}
