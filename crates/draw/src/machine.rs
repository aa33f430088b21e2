//! Drawings of the machine from above, with each job's nodes and the free nodes. A 3D machine is
//! drawn layer by layer, starting at z = 0.

use pavior_mesh::Grid;

use crate::axis::{Unit, label};
use crate::canvas::{self, Anchor, Canvas, bold, n};
use crate::palette::{COLOURS, Ink};
use crate::placements::{DrawError, Placed, finite, span};
use crate::text::{cut, width_of};
use crate::xml::Element;

const WIDTH: f64 = 560.0;
const MARGIN: f64 = 16.0;
const GAP: f64 = 18.0;
const TOP: f64 = 54.0;
/// The maximum number of jobs in an animation. Viewers cannot play larger animations.
const MOST_JOBS: usize = 20_000;
/// The minimum time, in seconds, for which an animation shows a job. It is shorter than a frame.
const SHORTEST: f64 = 1e-6;

/// The layout of nodes in the drawing.
struct Plan {
    /// The width of a node.
    cell: f64,
    columns: usize,
    layer: (f64, f64),
    height: f64,
}

impl Plan {
    fn of(grid: &Grid) -> Plan {
        let [width, depth, layers] = grid.sides().map(f64::from);
        let layers_count = usize::from(grid.side(2));
        // Choose the number of columns that maximizes the node size within a height of 900.
        let cell_with = |columns: usize| {
            let across =
                (WIDTH - 2.0 * MARGIN - GAP * (columns as f64 - 1.0)) / (width * columns as f64);
            let rows = layers_count.div_ceil(columns) as f64;
            across.min((900.0 - GAP * rows) / (depth * rows)).min(36.0)
        };
        let columns = (1..=layers_count.min(16))
            .max_by(|&a, &b| cell_with(a).total_cmp(&cell_with(b)))
            .unwrap_or(1);
        let cell = cell_with(columns).max(0.05);
        let layer = (cell * width, cell * depth);
        let rows = (layers / columns as f64).ceil();
        Plan { cell, columns, layer, height: TOP + rows * (layer.1 + GAP) + 8.0 }
    }

    /// Returns the top left corner of a layer.
    fn corner(&self, layer: u16) -> (f64, f64) {
        let (row, column) = (usize::from(layer) / self.columns, usize::from(layer) % self.columns);
        (MARGIN + column as f64 * (self.layer.0 + GAP), TOP + row as f64 * (self.layer.1 + GAP))
    }
}

/// Draws the machine at a single point in time. `at` and all placement times are in `unit`.
///
/// # Errors
/// Returns an error if there are no placements, or if a time is not finite or is too large to draw.
pub fn instant(
    title: &str,
    grid: &Grid,
    placed: &[Placed],
    at: f64,
    unit: &str,
) -> Result<String, DrawError> {
    let (_, last) = span(placed)?;
    let at = finite("instant", at)?;
    let held = |one: &&Placed| one.start <= at && one.end.map_or(at <= last, |end| end > at);
    let holding = placed.iter().filter(held);
    let busy: u64 = holding.flat_map(|one| &one.parts).map(|part| u64::from(part.volume())).sum();
    let plan = Plan::of(grid);
    let mut canvas = Canvas::new(WIDTH, plan.height);
    let time = Unit::named(unit).words(at);
    let jobs = placed.iter().filter(held).count();
    let nodes = grid.nodes();
    let facts = match jobs {
        1 => format!("at {time}: 1 job holds {busy} of {nodes} nodes; free nodes are gray"),
        _ => format!("at {time}: {jobs} jobs hold {busy} of {nodes} nodes; free nodes are gray"),
    };
    frame(&mut canvas, grid, &plan, title, &facts);
    for (index, one) in placed.iter().enumerate().filter(|(_, one)| held(one)) {
        job(canvas.body(), grid, &plan, one, index);
    }
    lattice(&mut canvas, grid, &plan);
    Ok(canvas.finish(title, &described(grid, &facts)))
}

/// Draws a looping animation of the whole schedule that lasts `seconds`. Placement times use
/// `unit`.
///
/// # Errors
/// Returns an error if there are no placements or more than 20,000 of them, if a time is not finite
/// or is too large to draw, or if `seconds` is not a positive, finite number.
pub fn animation(
    title: &str,
    grid: &Grid,
    placed: &[Placed],
    seconds: f64,
    unit: &str,
) -> Result<String, DrawError> {
    let (first, last) = span(placed)?;
    if placed.len() > MOST_JOBS {
        return Err(DrawError::TooManyJobs { jobs: placed.len(), most: MOST_JOBS });
    }
    if !(seconds > 0.0 && seconds.is_finite()) {
        return Err(DrawError::NoNumber { what: "length in seconds", value: seconds });
    }
    let plan = Plan::of(grid);
    let mut canvas = Canvas::new(WIDTH, plan.height + 34.0);
    let unit = Unit::named(unit);
    let [begin, end] = [first, last].map(|time| unit.words(time));
    let length = label(seconds);
    let facts = format!("from {begin} to {end}, played in {length} s; free nodes are gray");
    frame(&mut canvas, grid, &plan, title, &facts);
    let wide = WIDTH - 2.0 * MARGIN;
    // A single clock drives the whole animation, which restarts when the clock ends.
    let clock = Element::new("animate").with("id", "clock").with("attributeName", "width");
    let clock = clock.with("from", "0").with("to", n(wide));
    let clock = clock.with("dur", n(seconds) + "s").with("begin", "0s;clock.end");
    canvas::rect((MARGIN, plan.height), (0.0, 6.0), Ink::Axis).holding(&clock, canvas.body());
    for (share, anchor) in [(0.0, Anchor::Start), (0.5, Anchor::Middle), (1.0, Anchor::End)] {
        let place = (MARGIN + share * wide, plan.height + 20.0);
        let words = unit.words(first + share * (last - first));
        canvas.write(canvas::text(place, anchor, 11.0, Ink::Faint), &words);
    }
    let clock = |time: f64| (time - first) / (last - first) * seconds;
    for (index, one) in placed.iter().enumerate() {
        let (begin, end) = (clock(one.start), clock(one.end.unwrap_or(last)));
        // Viewers ignore a duration of 0 and would show the job until the animation ends.
        if end - begin < SHORTEST {
            continue;
        }
        let set = Element::new("set").with("attributeName", "visibility").with("to", "visible");
        let set = set.with("begin", format_args!("clock.begin+{begin:.6}s"));
        let set = set.with("dur", format_args!("{:.6}s", end - begin));
        let group = Element::new("g").with("visibility", "hidden");
        let mut boxes = String::new();
        job(&mut boxes, grid, &plan, one, index);
        group.around_first(&set, &boxes, canvas.body());
    }
    lattice(&mut canvas, grid, &plan);
    Ok(canvas.finish(title, &described(grid, &facts)))
}

fn described(grid: &Grid, facts: &str) -> String {
    let planes = if grid.side(2) > 1 { ", one square per plane of constant z" } else { "" };
    format!(
        "The nodes of {grid}, seen from above{planes}, {facts}. Colors serve only to distinguish \
         neighboring jobs."
    )
}

/// Draws the heading and the machine with all nodes free.
fn frame(canvas: &mut Canvas, grid: &Grid, plan: &Plan, title: &str, facts: &str) {
    let title = cut(title, 16.0 * 1.08, WIDTH - 2.0 * MARGIN);
    canvas.write(bold(canvas::text((MARGIN, 24.0), Anchor::Start, 16.0, Ink::Text)), &title);
    let facts = format!("{grid}, {facts}");
    canvas.write(canvas::text((MARGIN, 42.0), Anchor::Start, 13.0, Ink::Faint), &facts);
    for layer in 0..grid.side(2) {
        let (x, y) = plan.corner(layer);
        canvas.add(canvas::rect((x, y), plan.layer, Ink::Grid));
        if grid.side(2) > 1 && plan.layer.0 > 40.0 {
            let text = format!("z = {layer}");
            let place = (x, y + plan.layer.1 + 12.0);
            canvas.write(canvas::text(place, Anchor::Start, 11.0, Ink::Faint), &text);
        }
    }
}

/// Draws a job's boxes, and its name if there is room.
fn job(out: &mut String, grid: &Grid, plan: &Plan, one: &Placed, index: usize) {
    let gap = if plan.cell > 4.0 { 0.8 } else { 0.0 };
    for part in one.parts.iter().flat_map(|part| part.unwrapped(grid)) {
        let [x, y, z] = part.base;
        let [width, depth, height] = part.sides.map(f64::from);
        for layer in z..z + height as u16 {
            let corner = plan.corner(layer);
            // The y axis points up, as in drawings in the literature.
            let rows = f64::from(grid.side(1));
            let left = corner.0 + f64::from(x) * plan.cell;
            let top = corner.1 + (rows - f64::from(y) - depth) * plan.cell;
            let (across, down) = (width * plan.cell, depth * plan.cell);
            let ink = Ink::Series(index % COLOURS);
            let size = (across - 2.0 * gap, down - 2.0 * gap);
            canvas::rect((left + gap, top + gap), size, ink).end(out);
            let size = 12.0_f64.min(down * 0.8).min(plan.cell);
            if size >= 7.0 && width_of(&one.job, size) < across {
                let place = (left + across / 2.0, top + down / 2.0 + size * 0.36);
                canvas::text(place, Anchor::Middle, size, Ink::Paper).text(&one.job, out);
            }
        }
    }
}

/// Draws lines between nodes if the nodes are large enough to distinguish.
fn lattice(canvas: &mut Canvas, grid: &Grid, plan: &Plan) {
    if plan.cell < 6.0 || grid.nodes() > 16_384 {
        return;
    }
    let mut add = |from, to| {
        let line = canvas::line(from, to, Ink::Paper);
        canvas.add(line.with("stroke-width", "0.5").with("stroke-opacity", "0.6"));
    };
    for layer in 0..grid.side(2) {
        let (x, y) = plan.corner(layer);
        for column in 0..=grid.side(0) {
            let at = x + f64::from(column) * plan.cell;
            add((at, y), (at, y + plan.layer.1));
        }
        for row in 0..=grid.side(1) {
            let at = y + f64::from(row) * plan.cell;
            add((x, at), (x + plan.layer.0, at));
        }
    }
}
