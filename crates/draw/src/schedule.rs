//! A space-time chart of a schedule: time along x, nodes in row-major order along y, a box a job.

use pavior_mesh::{Cuboid, Grid};

use crate::axis::{Scale, label, with_unit};
use crate::canvas::{self, Anchor, Canvas, bold, turned};
use crate::palette::{COLOURS, Ink};
use crate::placements::{DrawError, Placed, finite, span};
use crate::xml::Element;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 52.0;
/// More boxes make a file that no viewer shows.
const MOST_BOXES: usize = 200_000;

/// Draws the jobs that hold nodes at some time from `from` to `to` (the whole schedule where they
/// are none).
///
/// # Errors
/// If there is nothing to draw, or too much, or a time that is no number.
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
    let drawn: Vec<(usize, &Placed)> = placed
        .iter()
        .enumerate()
        .filter(|(_, one)| one.start < to && one.end.unwrap_or(last) > from)
        .collect();
    if drawn.is_empty() {
        return Err(DrawError::NoJob { from, to });
    }
    let mut time = Scale::new((from, to), false, (LEFT, WIDTH - 16.0), 8);
    let ticks: Vec<f64> =
        time.ticks.iter().copied().filter(|tick| (from..=to).contains(tick)).collect();
    time = Scale::plain((from, to), (LEFT, WIDTH - 16.0));
    let nodes = Scale::plain((0.0, f64::from(grid.nodes())), (TOP, HEIGHT - BOTTOM));
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    canvas.write(bold(canvas::text((LEFT, 26.0), Anchor::Start, 16.0, Ink::Text)), title);
    let size = (WIDTH - 16.0 - LEFT, HEIGHT - BOTTOM - TOP);
    canvas.add(canvas::rect((LEFT, TOP), size, Ink::Grid));
    let mut boxes = 0;
    for (index, one) in drawn {
        let (start, end) = (one.start.max(from), one.end.unwrap_or(last).min(to));
        let (left, right) = (time.at(start), time.at(end));
        let mut inner = String::new();
        for (low, high) in runs(grid, &one.parts) {
            boxes += 1;
            let (top, bottom) = (nodes.at(f64::from(low)), nodes.at(f64::from(high)));
            // A gap between boxes, where there is room for one.
            let gap = if bottom - top > 3.0 { 0.6 } else { 0.0 };
            let width = (right - left - 0.6).max(0.4);
            let ink = Ink::Series(index % COLOURS);
            canvas::rect((left, top), (width, bottom - top - gap), ink).end(&mut inner);
        }
        let title = format!(
            "job {}: {} to {}",
            one.job,
            label(one.start),
            one.end.map_or("?".to_string(), label)
        );
        Element::new("g").titled_around(&title, &inner, canvas.body());
        if boxes > MOST_BOXES {
            return Err(DrawError::TooManyBoxes { most: MOST_BOXES });
        }
    }
    axes(&mut canvas, grid, &time, &ticks, unit);
    Ok(canvas.finish(title))
}

fn axes(canvas: &mut Canvas, grid: &Grid, time: &Scale, ticks: &[f64], unit: &str) {
    let bottom = HEIGHT - BOTTOM;
    for &tick in ticks {
        let at = time.at(tick);
        canvas.add(canvas::line((at, bottom), (at, bottom + 5.0), Ink::Axis));
        let place = (at, bottom + 19.0);
        canvas.write(canvas::text(place, Anchor::Middle, 13.0, Ink::Faint), &label(tick));
    }
    let top_node = f64::from(grid.nodes());
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let at = TOP + share * (bottom - TOP);
        canvas.add(canvas::line((LEFT - 5.0, at), (LEFT, at), Ink::Axis));
        let text = label((top_node * share).round());
        let place = (LEFT - 8.0, at + 4.5);
        canvas.write(canvas::text(place, Anchor::End, 13.0, Ink::Faint), &text);
    }
    let middle = (LEFT.midpoint(WIDTH), HEIGHT - 12.0);
    canvas.write(canvas::text(middle, Anchor::Middle, 13.0, Ink::Text), &with_unit("time", unit));
    let beside = (16.0, TOP.midpoint(bottom));
    let text = canvas::text(beside, Anchor::Middle, 13.0, Ink::Text);
    canvas.write(turned(text, -90.0, beside), "node (row-major)");
}

/// The row-major numbers of the nodes of some boxes, as runs `low..high`, neighbours joined.
fn runs(grid: &Grid, parts: &[Cuboid]) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for part in parts.iter().flat_map(|part| part.unwrapped(grid)) {
        let ([x, y, z], [a, b, c]) = (part.base, part.sides);
        for layer in z..z + c {
            for row in y..y + b {
                let low = grid.id([x, row, layer]).0;
                runs.push((low, low + u32::from(a)));
            }
        }
    }
    runs.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
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

    #[test]
    fn full_rows_are_one_run() {
        let grid = Grid::new(&[4, 4], &[true, false]).unwrap();
        let part = |base, sides| Cuboid { base, sides };
        assert_eq!(runs(&grid, &[part([0, 1, 0], [4, 2, 1])]), [(4, 12)]);
        // Past the end of the axis that wraps.
        assert_eq!(runs(&grid, &[part([3, 0, 0], [2, 1, 1])]), [(0, 1), (3, 4)]);
        assert_eq!(runs(&grid, &[part([0, 0, 0], [2, 2, 1])]), [(0, 2), (4, 6)]);
    }
}
