//! Drawings of schedules over time, with the machine's utilization above the jobs.
//!
//! Each job is a box whose width is the job's run time and whose height is its number of nodes. On
//! a machine with one axis, the box is drawn at the position of the job's nodes. On a machine with
//! more axes, a job's nodes would be scattered over the drawing. The boxes are therefore stacked
//! without overlap, and their vertical position has no meaning. If there are too many jobs, only
//! the number of running jobs is drawn.

use std::fmt::Write;

use pavior_mesh::{Cuboid, Grid};

use crate::axis::{Scale, Unit, label};
use crate::canvas::{self, Anchor, Canvas, bold, n, turned};
use crate::chart::ChartAxis;
use crate::packing::{Held, packed};
use crate::palette::Ink;
use crate::placements::{DrawError, Placed, finite, span};
use crate::text::{cut, width_of};
use crate::xml::Element;

const WIDTH: f64 = 560.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 18.0;
/// The y coordinate of the top of each panel.
const TOPS: [f64; 2] = [66.0, 184.0];
const USED: f64 = 96.0;
const JOBS: f64 = 264.0;
const RUNNING: f64 = 120.0;
const SMALL: f64 = 13.0;
/// The maximum number of boxes to draw. Readers could not distinguish more.
const MOST_BOXES: usize = 4000;
/// The maximum number of changes that are drawn exactly. If there are more changes, the curve shows
/// means over `COLUMNS` columns.
const MOST_STEPS: usize = 1200;
const COLUMNS: usize = 470;

/// The indices of the series colors that jobs cycle through. A few muted colors are enough to
/// distinguish neighbors.
const INKS: [usize; 4] = [0, 5, 2, 4];

struct Schedule<'p> {
    grid: Grid,
    /// The start of the interval to draw, which ends at `to`.
    from: f64,
    to: f64,
    /// The jobs that use nodes during the interval, each with its index, times and size.
    jobs: Vec<(usize, &'p Placed, Held)>,
    time: Scale,
}

/// Draws the jobs that use nodes at any time between `from` and `to`, which default to the start
/// and end of the schedule. All times are in `unit`.
///
/// # Errors
/// Returns an error if no job uses nodes in the interval, if the interval is empty, or if a time is
/// not finite or is too large to draw.
pub fn schedule(
    title: &str,
    grid: &Grid,
    placed: &[Placed],
    (from, to): (Option<f64>, Option<f64>),
    unit: &str,
) -> Result<String, DrawError> {
    let (first, last) = span(placed)?;
    let from = finite("start of the interval", from.unwrap_or(first))?;
    let to = finite("end of the interval", to.unwrap_or(last))?;
    if to <= from {
        return Err(DrawError::EmptyInterval { from, to });
    }
    let held = |one: &Placed| Held {
        start: one.start,
        end: one.end.unwrap_or(last),
        nodes: one.parts.iter().map(|part| u64::from(part.volume())).sum(),
    };
    let jobs: Vec<(usize, &Placed, Held)> = placed
        .iter()
        .enumerate()
        .map(|(index, one)| (index, one, held(one)))
        .filter(|(_, _, held)| held.start < to && held.end > from)
        .collect();
    if jobs.is_empty() {
        return Err(DrawError::NoJob { from, to });
    }
    let time = Scale::plain((from, to), (LEFT, WIDTH - RIGHT));
    Ok(Schedule { grid: *grid, from, to, jobs, time }.draw(title, Unit::named(unit), unit))
}

impl Schedule<'_> {
    fn draw(&self, title: &str, unit: Unit, unit_name: &str) -> String {
        let boxes = self.boxes();
        let below = if boxes.is_some() { JOBS } else { RUNNING };
        let bottom = TOPS[1] + below;
        let mut canvas = Canvas::new(WIDTH, bottom + 74.0);
        let place = (LEFT, 26.0);
        let text = cut(title, 16.0 * 1.08, WIDTH - RIGHT - LEFT);
        canvas.write(bold(canvas::text(place, Anchor::Start, 16.0, Ink::Text)), &text);
        let used = self.curve(|held| held.nodes as f64);
        let mean = self.mean(&used) / f64::from(self.grid.nodes());
        let facts = self.facts(mean, unit, unit_name);
        canvas.write(canvas::text((LEFT, 45.0), Anchor::Start, SMALL, Ink::Faint), &facts);
        panel(&mut canvas, (TOPS[0], USED), "used");
        // A job's height is its number of nodes.
        panel(&mut canvas, (TOPS[1], below), if boxes.is_some() { "nodes" } else { "jobs" });
        self.time_axis(&mut canvas, bottom, unit, unit_name);
        let most = f64::from(self.grid.nodes());
        let shares = Scale::plain((0.0, most), (TOPS[0] + USED, TOPS[0]));
        self.area(&mut canvas, &self.thinned(&used), &shares);
        for share in [0.0, 0.5, 1.0] {
            tick(&mut canvas, shares.at(most * share), &format!("{}%", label(100.0 * share)));
        }
        let note = match boxes {
            Some(boxes) => self.jobs(&mut canvas, &boxes, unit),
            None => self.running(&mut canvas),
        };
        let place = (LEFT, bottom + 62.0);
        canvas.write(canvas::text(place, Anchor::Start, SMALL - 2.0, Ink::Faint), &note);
        let described = format!(
            "Top: the fraction of nodes in use over time. Bottom: the jobs. {facts}. {note}"
        );
        canvas.finish(title, &described)
    }

    fn facts(&self, mean: f64, unit: Unit, unit_name: &str) -> String {
        let count = self.jobs.len();
        let length = unit.words(self.to - self.from) + unit_of(unit_name);
        format!(
            "{}, {count} job{} in {length}; {:.1}% of the nodes in use on average",
            self.grid,
            if count == 1 { "" } else { "s" },
            100.0 * mean
        )
    }

    /// Returns each job's boxes as ranges of rows `low..high`, or `None` if there are too many
    /// boxes. On a machine with one axis, rows are nodes.
    fn boxes(&self) -> Option<Vec<Vec<(u64, u64)>>> {
        if self.jobs.len() > MOST_BOXES {
            return None;
        }
        let rows: Vec<Vec<(u64, u64)>> = if self.grid.axes() == 1 {
            self.jobs.iter().map(|(_, one, _)| runs(&self.grid, &one.parts)).collect()
        } else {
            let held: Vec<Held> = self.jobs.iter().map(|(_, _, held)| *held).collect();
            packed(&held, u64::from(self.grid.nodes()))
        };
        let boxes: usize = rows.iter().map(Vec::len).sum();
        (boxes <= MOST_BOXES).then_some(rows)
    }

    /// Returns a quantity's sum over all jobs as a step function. The result lists the times at
    /// which the sum changes, along with the new sums. The first time is the start of the interval,
    /// and the others are within the interval.
    fn curve(&self, of: impl Fn(&Held) -> f64) -> Vec<(f64, f64)> {
        let mut changes: Vec<(f64, f64)> = Vec::new();
        for (_, _, held) in &self.jobs {
            changes.push((held.start.max(self.from), of(held)));
            changes.push((held.end.min(self.to), -of(held)));
        }
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut curve = vec![(self.from, 0.0)];
        let mut sum = 0.0;
        for change in changes {
            sum += change.1;
            match curve.last_mut() {
                Some(last) if last.0 >= change.0 => last.1 = sum,
                _ => curve.push((change.0, sum)),
            }
        }
        curve
    }

    /// Returns a curve's mean over time.
    fn mean(&self, curve: &[(f64, f64)]) -> f64 {
        let ends = curve.iter().skip(1).map(|point| point.0).chain([self.to]);
        let parts = curve.iter().zip(ends).map(|((at, value), end)| value * (end - at).max(0.0));
        parts.sum::<f64>() / (self.to - self.from)
    }

    /// Returns the curve itself or, if it has far more points than the drawing has columns, the
    /// curve's means over equal parts of the interval.
    fn thinned(&self, curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
        if curve.len() <= MOST_STEPS {
            return curve.to_vec();
        }
        let width = (self.to - self.from) / COLUMNS as f64;
        let mut sums = vec![0.0; COLUMNS];
        let ends = curve.iter().skip(1).map(|point| point.0).chain([self.to]);
        for ((at, value), end) in curve.iter().zip(ends) {
            let column = |time: f64| (((time - self.from) / width) as usize).min(COLUMNS - 1);
            for (number, sum) in (0..).zip(&mut sums).take(column(end) + 1).skip(column(*at)) {
                let left = self.from + width * f64::from(number);
                *sum += value * (end.min(left + width) - at.max(left)).max(0.0);
            }
        }
        let point =
            |(number, sum): (i32, f64)| (self.from + width * f64::from(number), sum / width);
        (0..).zip(sums).map(point).collect()
    }

    /// Draws a curve as steps and fills the area underneath.
    fn area(&self, canvas: &mut Canvas, curve: &[(f64, f64)], scale: &Scale) {
        let mut data = format!("M{} {}", n(LEFT), n(scale.clamped(0.0)));
        for &(at, value) in curve {
            // Writing to a string cannot fail.
            let _ = write!(data, "H{}V{}", n(self.time.clamped(at)), n(scale.clamped(value)));
        }
        let _ = write!(data, "H{}V{}Z", n(WIDTH - RIGHT), n(scale.clamped(0.0)));
        let (class, colour) = Ink::Series(0).class();
        let path = Element::new("path").with("class", class + "f").with("d", data);
        canvas.add(path.with("fill", colour));
    }

    /// Draws the jobs' boxes and returns a note for the reader.
    fn jobs(&self, canvas: &mut Canvas, boxes: &[Vec<(u64, u64)>], unit: Unit) -> String {
        let most = f64::from(self.grid.nodes());
        let rows = Scale::plain((0.0, most), (TOPS[1] + JOBS, TOPS[1]));
        for ((index, one, held), pieces) in self.jobs.iter().zip(boxes) {
            let (left, right) = (self.time.clamped(held.start), self.time.clamped(held.end));
            let mut inner = String::new();
            for &(low, high) in pieces {
                let (bottom, top) = (rows.at(low as f64), rows.at(high as f64));
                // Leave a gap between boxes if there is room.
                let gap = |room: f64| if room > 3.0 { 0.7 } else { 0.0 };
                let size = (right - left - gap(right - left), bottom - top - gap(bottom - top));
                let size = (size.0.max(0.3), size.1.max(0.3));
                canvas::rect((left, top), size, Ink::Series(INKS[index % INKS.len()]))
                    .end(&mut inner);
                name(&one.job, (left, top), size, &mut inner);
            }
            let end = one.end.map_or("?".to_string(), |end| unit.words(end));
            let title = format!(
                "job {}: {} node{}, {} to {end}",
                one.job,
                held.nodes,
                if held.nodes == 1 { "" } else { "s" },
                unit.words(one.start)
            );
            Element::new("g").titled_around(&title, &inner, canvas.body());
        }
        for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let at = (most * share).round();
            tick(canvas, rows.at(at), &label(at));
        }
        if self.grid.axes() == 1 {
            "Each box is a job: it spans the job's run time horizontally and the job's nodes \
             vertically."
                .to_string()
        } else {
            "Each box is a job: its width is the job's duration, and its height is its number of \
             nodes. Vertical position and color have no meaning."
                .to_string()
        }
    }

    /// Draws the number of running jobs and returns a note for the reader.
    fn running(&self, canvas: &mut Canvas) -> String {
        let curve = self.thinned(&self.curve(|_| 1.0));
        let most = curve.iter().map(|point| point.1).fold(1.0, f64::max);
        let place = (TOPS[1] + RUNNING, TOPS[1]);
        let scale = Scale::new((0.0, most), (false, Unit::Plain), place, 3);
        self.area(canvas, &curve, &scale);
        for &at in &scale.ticks {
            tick(canvas, scale.at(at), &scale.label(at));
        }
        format!(
            "Bottom: the number of running jobs. To see individual jobs, choose an interval with \
             at most {MOST_BOXES} boxes."
        )
    }

    fn time_axis(&self, canvas: &mut Canvas, bottom: f64, unit: Unit, unit_name: &str) {
        let (base, since) = self.base(unit);
        let ends = (self.from - base, self.to - base);
        let scale = Scale::new(ends, (false, unit), (0.0, 1.0), 7);
        for &tick in scale.ticks.iter().filter(|tick| (ends.0..=ends.1).contains(*tick)) {
            let at = self.time.at(base + tick);
            canvas.add(canvas::line((at, TOPS[0]), (at, TOPS[0] + USED), Ink::Paper));
            canvas.add(canvas::line((at, TOPS[1]), (at, bottom), Ink::Paper));
            canvas.add(canvas::line((at, bottom), (at, bottom + 5.0), Ink::Axis));
            let text = scale.label(tick);
            // The last number must not extend past the edge.
            let middle = at.min(WIDTH - 4.0 - width_of(&text, SMALL) / 2.0);
            let place = (middle, bottom + 19.0);
            canvas.write(canvas::text(place, Anchor::Middle, SMALL, Ink::Faint), &text);
        }
        let middle = (LEFT.midpoint(WIDTH - RIGHT), bottom + 38.0);
        let axis = ChartAxis::of("time", unit_name, false).label + &since;
        let axis = cut(&axis, SMALL, WIDTH - RIGHT - LEFT);
        canvas.write(canvas::text(middle, Anchor::Middle, SMALL, Ink::Text), &axis);
    }

    /// Returns the origin of the time axis, and a phrase that names this origin. The origin is 0
    /// unless the numbers would then differ only in their last digits. In that case, it is a round
    /// time before the interval.
    fn base(&self, unit: Unit) -> (f64, String) {
        let length = self.to - self.from;
        if self.from.abs() < 20.0 * length {
            return (0.0, String::new());
        }
        let round = libm::pow(10.0, libm::floor(libm::log10(length)));
        let round = if unit == Unit::Seconds { round.max(86_400.0) } else { round };
        let base = libm::floor(self.from / round) * round;
        if !base.is_finite() {
            return (0.0, String::new());
        }
        let told = match unit {
            Unit::Seconds => unit.words(base),
            _ => format!("{base}"),
        };
        (base, format!(", since {told}"))
    }
}

/// Returns the name of a time unit, to be appended to a plain number.
fn unit_of(name: &str) -> &'static str {
    match name {
        "time_unit" => " time units",
        "cycle" => " cycles",
        _ => "",
    }
}

/// Draws the background of a panel, with the panel's name to its left.
fn panel(canvas: &mut Canvas, (top, height): (f64, f64), name: &str) {
    canvas.add(canvas::rect((LEFT, top), (WIDTH - RIGHT - LEFT, height), Ink::Grid));
    let beside = (16.0, top + height / 2.0);
    let text = canvas::text(beside, Anchor::Middle, SMALL, Ink::Text);
    canvas.write(turned(text, -90.0, beside), name);
}

/// Draws a tick and its label to the left of the panels.
fn tick(canvas: &mut Canvas, at: f64, text: &str) {
    canvas.add(canvas::line((LEFT - 5.0, at), (LEFT, at), Ink::Axis));
    let place = (LEFT - 8.0, at + 4.5);
    canvas.write(canvas::text(place, Anchor::End, SMALL - 1.0, Ink::Faint), text);
}

/// Writes a job's name in the middle of the job's box if there is room.
fn name(job: &str, (left, top): (f64, f64), (across, down): (f64, f64), out: &mut String) {
    let size = 12.0_f64.min(down * 0.8);
    if size >= 8.0 && width_of(job, size) < across - 2.0 {
        let place = (left + across / 2.0, top + down / 2.0 + size * 0.36);
        canvas::text(place, Anchor::Middle, size, Ink::Paper).text(job, out);
    }
}

/// Returns the nodes of boxes on a one-axis machine as the fewest possible runs `low..high`.
fn runs(grid: &Grid, parts: &[Cuboid]) -> Vec<(u64, u64)> {
    let pieces = parts.iter().flat_map(|part| part.unwrapped(grid));
    let mut runs: Vec<(u64, u64)> = pieces
        .map(|piece| {
            let low = u64::from(piece.base[0]);
            (low, low + u64::from(piece.sides[0]))
        })
        .collect();
    runs.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (low, high) in runs {
        match joined.last_mut() {
            Some(last) if last.1 == low => last.1 = high,
            _ => joined.push((low, high)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(job: &str, start: f64, end: f64, side: u16) -> Placed {
        let parts = vec![Cuboid::new([0; 3], [side, 4, 1])];
        Placed { job: job.into(), start, end: Some(end), parts }
    }

    #[test]
    fn nodes_of_a_line_are_runs() {
        let grid = Grid::new(&[8], &[true]).unwrap();
        let part = |base, side| Cuboid::new([base, 0, 0], [side, 1, 1]);
        assert_eq!(runs(&grid, &[part(1, 2), part(3, 2)]), [(1, 5)]);
        // The part wraps around the end of the axis.
        assert_eq!(runs(&grid, &[part(7, 2)]), [(0, 1), (7, 8)]);
    }

    #[test]
    fn what_is_used_is_said() {
        let grid: Grid = "mesh:4x4".parse().unwrap();
        let jobs = [placed("a", 0.0, 7200.0, 4), placed("b", 7200.0, 14_400.0, 2)];
        let svg = schedule("Two jobs", &grid, &jobs, (None, None), "s").unwrap();
        assert!(svg.contains("mesh:4x4, 2 jobs in 4 h; 75.0% of the nodes in use on average"));
        assert!(svg.contains("<title>job b: 8 nodes, 2 h to 4 h</title>"), "{svg}");
        assert!(svg.contains(">time<") && svg.contains(">1 h<"), "{svg}");
        let svg = schedule("Two jobs", &grid, &jobs, (None, None), "time_unit").unwrap();
        assert!(svg.contains(">time (time units)<") && svg.contains(">10,000<"), "{svg}");
    }

    #[test]
    fn times_far_from_0_are_counted_from_a_round_one() {
        let grid: Grid = "mesh:4x4".parse().unwrap();
        let day = 86_400.0;
        let jobs = [placed("a", 1000.0 * day, 1001.0 * day, 4)];
        let svg = schedule("One job", &grid, &jobs, (None, None), "s").unwrap();
        assert!(svg.contains(">time, since 1000 d<") && svg.contains(">24 h<"), "{svg}");
    }

    #[test]
    fn many_jobs_are_counted() {
        let grid: Grid = "mesh:4x4".parse().unwrap();
        let jobs: Vec<Placed> = (0..6000)
            .map(|number| placed("a", f64::from(number), f64::from(number) + 1.0, 2))
            .collect();
        let svg = schedule("Many", &grid, &jobs, (None, None), "").unwrap();
        assert!(svg.contains("the number of running jobs") && svg.len() < 40_000, "{}", svg.len());
        assert!(svg.contains("50.0% of the nodes in use"), "{svg}");
    }
}
