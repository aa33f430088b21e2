//! `pavior plot --html`: an HTML page that plays a schedule.

use pavior::draw::Placed;
use pavior::{Grid, Occupancy};
use pavior_viewer::{CurvePoint, ScheduledJob};

use super::placements::Placements;

/// The largest product of event count and node count for which the largest free box is computed
/// after every event. At this limit, the computation takes a few seconds. Above it, the box is
/// computed only for states that last into the next column of the schedule.
const MAX_EVENT_NODES: u64 = 200_000_000;
/// The number of columns in the schedule, chosen to exceed the width of a screen in pixels.
const SCHEDULE_COLUMNS: f64 = 8192.0;
/// The maximum number of placements on a page. Browsers cannot handle more.
const MAX_JOBS: usize = 200_000;

/// Creates the page.
///
/// # Errors
/// Returns a message if the placements cannot be played.
pub(super) fn render(
    grid: &Grid,
    Placements { placed, jobs, .. }: Placements,
) -> Result<String, String> {
    if placed.is_empty() {
        return Err("no placements to draw".to_string());
    }
    if placed.len() > MAX_JOBS {
        return Err(format!(
            "a page can show at most {MAX_JOBS} jobs, but there are {}",
            placed.len()
        ));
    }
    let last = placed.iter().filter_map(|one| one.end).fold(0.0, f64::max);
    let jobs: Vec<ScheduledJob> = placed
        .iter()
        .zip(jobs)
        .map(|(one, (name, submit))| ScheduledJob {
            name,
            submit: submit.unwrap_or(one.start),
            start: one.start,
            end: one.end.unwrap_or(last.max(one.start)),
            nodes: one.parts.iter().map(pavior::Cuboid::volume).sum(),
            parts: one.parts.iter().map(|part| coordinates(grid, part)).collect(),
        })
        .collect();
    if let Some(job) = jobs.iter().find(|job| !(job.start.is_finite() && job.end.is_finite())) {
        return Err(format!("job {}: start and end must be finite numbers", job.name));
    }
    let samples = samples(grid, &placed, &jobs)?;
    Ok(pavior_viewer::schedule(&grid.to_string(), &jobs, &samples))
}

fn coordinates(grid: &Grid, part: &pavior::Cuboid) -> (Vec<u16>, Vec<u16>) {
    (part.base[..grid.axes()].to_vec(), part.sides[..grid.axes()].to_vec())
}

/// Returns the machine's state after every start and end that changes it. If there are too many
/// events, the largest free box is included only for states that last into the next column of the
/// schedule.
fn samples(
    grid: &Grid,
    placed: &[Placed],
    jobs: &[ScheduledJob],
) -> Result<Vec<CurvePoint>, String> {
    // At equal times, ends precede starts.
    let ends = jobs.iter().enumerate().map(|(index, job)| (job.end, false, index));
    let starts = jobs.iter().enumerate().map(|(index, job)| (job.start, true, index));
    // A job of zero length never holds any nodes.
    let lasts = |&(_, _, index): &(f64, bool, usize)| jobs[index].end > jobs[index].start;
    let mut events: Vec<_> = ends.chain(starts).filter(lasts).collect();
    events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (Some(first), Some(last)) = (events.first(), events.last()) else { return Ok(Vec::new()) };
    let (begin, column_width) = (first.0, (last.0 - first.0) / SCHEDULE_COLUMNS);
    let column = |at: f64| ((at - begin) / column_width).floor();
    let computes_all = events.len() as u64 * u64::from(grid.nodes()) <= MAX_EVENT_NODES;
    let mut free = Occupancy::all_free(*grid);
    let mut samples: Vec<CurvePoint> = Vec::new();
    for (number, &(at, starts, index)) in events.iter().enumerate() {
        for part in &placed[index].parts {
            let change = if starts { free.take(part) } else { free.give(part) };
            change.map_err(|error| format!("job {}: {error}", jobs[index].name))?;
        }
        let next = events.get(number + 1).map_or(f64::INFINITY, |next| next.0);
        if next <= at {
            continue;
        }
        let largest = || free.largest_free().map_or(0, |cuboid| cuboid.volume());
        let largest_free = (computes_all || column(next) > column(at)).then(largest);
        let point = CurvePoint { at, busy: grid.nodes() - free.count(), largest_free };
        let is_same = |before: &CurvePoint| {
            before.busy == point.busy && before.largest_free == point.largest_free
        };
        if !samples.last().is_some_and(is_same) {
            samples.push(point);
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use pavior::Cuboid;

    use super::*;

    fn job(name: u64, start: f64, end: f64, base: u16, side: u16) -> (Placed, ScheduledJob) {
        let part = Cuboid { base: [base, 0, 0], sides: [side, 4, 1] };
        let placed = Placed { job: name.to_string(), start, end: Some(end), parts: vec![part] };
        let parts = vec![(vec![base, 0], vec![side, 4])];
        let nodes = part.volume();
        (placed, ScheduledJob { name: name.into(), submit: start, start, end, nodes, parts })
    }

    /// Checks that a one-second job among thousands is shown for one second, and that no state is
    /// shown for longer than it lasts.
    #[test]
    fn every_start_and_end_is_on_the_curve() {
        let grid: Grid = "mesh:8x4".parse().unwrap();
        let jobs = (0..5000_u64).map(|number| {
            let start = 100.0 * number as f64;
            let length = [1.0, 60.0, 99.0][number as usize % 3];
            job(number, start, start + length, (number % 5) as u16, 1 + (number % 3) as u16)
        });
        let (placed, jobs): (Vec<_>, Vec<_>) = jobs.unzip();
        let points = samples(&grid, &placed, &jobs).unwrap();
        assert_eq!(points.len(), 10_000);
        for (pair, job) in points.chunks_exact(2).zip(&jobs) {
            assert_eq!((pair[0].at, pair[0].busy), (job.start, job.nodes));
            assert_eq!((pair[1].at, pair[1].busy), (job.end, 0));
            assert_eq!(pair[1].largest_free, Some(32));
            let base = placed[pair[0].at as usize / 100].parts[0].base[0];
            let side = job.nodes as u16 / 4;
            assert_eq!(pair[0].largest_free, Some(4 * u32::from((8 - base - side).max(base))));
        }
    }
}
