//! The machine from above: who holds which nodes, and where the holes are. A 3D machine is drawn layer
//! by layer, z = 0 first.

use pavior_mesh::Grid;

use super::axis::label;
use super::canvas::{Anchor, COLOURS, Canvas, Ink, n, width_of};
use super::placements::{Placed, span};

const WIDTH: f64 = 640.0;
const MARGIN: f64 = 16.0;
const GAP: f64 = 18.0;
const TOP: f64 = 54.0;
/// More jobs make an animation that no viewer plays.
const MOST_JOBS: usize = 20_000;

/// Where nodes are drawn.
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
        // The number of columns that lets nodes be largest in a drawing not much taller than wide.
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

    /// The top left corner of a layer.
    fn corner(&self, layer: u16) -> (f64, f64) {
        let (row, column) = (usize::from(layer) / self.columns, usize::from(layer) % self.columns);
        (MARGIN + column as f64 * (self.layer.0 + GAP), TOP + row as f64 * (self.layer.1 + GAP))
    }
}

/// Draws the machine as it was at an instant.
///
/// # Errors
/// If there is no placement, in words.
pub fn instant(title: &str, grid: &Grid, placed: &[Placed], at: f64) -> Result<String, String> {
    let (_, last) = span(placed).ok_or("there is no placement to draw")?;
    let held = |one: &&Placed| one.start <= at && one.end.map_or(at <= last, |end| end > at);
    let holding = placed.iter().filter(held);
    let busy: u64 = holding.flat_map(|one| &one.parts).map(|part| u64::from(part.volume())).sum();
    let plan = Plan::of(grid);
    let mut canvas = Canvas::new(WIDTH, plan.height);
    let facts = format!("at {}: {busy} of {} nodes busy", label(at), grid.nodes());
    frame(&mut canvas, grid, &plan, title, &facts);
    for (index, one) in placed.iter().enumerate().filter(|(_, one)| held(one)) {
        job(&mut canvas, grid, &plan, one, index);
    }
    lattice(&mut canvas, grid, &plan);
    Ok(canvas.finish(title))
}

/// Draws the machine as a film that repeats: the whole schedule in so many seconds.
///
/// # Errors
/// If there is no placement, or there are too many, in words.
pub fn animation(
    title: &str,
    grid: &Grid,
    placed: &[Placed],
    seconds: f64,
) -> Result<String, String> {
    let (first, last) = span(placed).ok_or("there is no placement to draw")?;
    if placed.len() > MOST_JOBS {
        return Err(format!("{} jobs; an animation shows at most {MOST_JOBS}", placed.len()));
    }
    let plan = Plan::of(grid);
    let mut canvas = Canvas::new(WIDTH, plan.height + 14.0);
    let facts = format!("from {} to {} in {} s", label(first), label(last), label(seconds));
    frame(&mut canvas, grid, &plan, title, &facts);
    // Everything hangs on one clock that starts again when it ends.
    canvas.raw(&format!(
        r#"<rect class="axisf" x="{}" y="{}" width="0" height="6" fill="{}"><animate id="clock" attributeName="width" from="0" to="{}" dur="{}s" begin="0s;clock.end"/></rect>"#,
        n(MARGIN),
        n(plan.height),
        "#5b636d",
        n(WIDTH - 2.0 * MARGIN),
        n(seconds)
    ));
    let clock = |time: f64| (time - first) / (last - first) * seconds;
    for (index, one) in placed.iter().enumerate() {
        let (begin, end) = (clock(one.start), clock(one.end.unwrap_or(last)));
        if end <= begin {
            continue;
        }
        canvas.raw(&format!(
            r#"<g visibility="hidden"><set attributeName="visibility" to="visible" begin="clock.begin+{begin:.3}s" dur="{:.3}s"/>"#,
            end - begin
        ));
        job(&mut canvas, grid, &plan, one, index);
        canvas.raw("</g>");
    }
    lattice(&mut canvas, grid, &plan);
    Ok(canvas.finish(title))
}

/// The heading and the free machine.
fn frame(canvas: &mut Canvas, grid: &Grid, plan: &Plan, title: &str, facts: &str) {
    let bold = r#" font-weight="600""#;
    canvas.text((MARGIN, 24.0), Anchor::Start, 16.0, Ink::Text, title, bold);
    let facts = format!("{grid}, {facts}");
    canvas.text((MARGIN, 42.0), Anchor::Start, 13.0, Ink::Faint, &facts, "");
    for layer in 0..grid.side(2) {
        let (x, y) = plan.corner(layer);
        canvas.rect(x, y, plan.layer.0, plan.layer.1, Ink::Grid);
        if grid.side(2) > 1 && plan.layer.0 > 40.0 {
            let text = format!("z = {layer}");
            let place = (x, y + plan.layer.1 + 12.0);
            canvas.text(place, Anchor::Start, 11.0, Ink::Faint, &text, "");
        }
    }
}

/// The boxes of a job, with its name where there is room.
fn job(canvas: &mut Canvas, grid: &Grid, plan: &Plan, one: &Placed, index: usize) {
    let gap = if plan.cell > 4.0 { 0.8 } else { 0.0 };
    for part in one.parts.iter().flat_map(|part| part.unwrapped(grid)) {
        let [x, y, z] = part.base;
        let [width, depth, height] = part.sides.map(f64::from);
        for layer in z..z + height as u16 {
            let corner = plan.corner(layer);
            // y grows upwards, as in the drawings of the literature.
            let rows = f64::from(grid.side(1));
            let left = corner.0 + f64::from(x) * plan.cell;
            let top = corner.1 + (rows - f64::from(y) - depth) * plan.cell;
            let (across, down) = (width * plan.cell, depth * plan.cell);
            let ink = Ink::Series(index % COLOURS);
            canvas.rect(left + gap, top + gap, across - 2.0 * gap, down - 2.0 * gap, ink);
            let size = 12.0_f64.min(down * 0.8).min(plan.cell);
            if size >= 7.0 && width_of(&one.job, size) < across {
                let place = (left + across / 2.0, top + down / 2.0 + size * 0.36);
                canvas.text(place, Anchor::Middle, size, Ink::Paper, &one.job, "");
            }
        }
    }
}

/// Lines between nodes, where nodes are large enough to be told apart.
fn lattice(canvas: &mut Canvas, grid: &Grid, plan: &Plan) {
    if plan.cell < 6.0 || grid.nodes() > 16_384 {
        return;
    }
    let more = r#" stroke-width="0.5" stroke-opacity="0.6""#;
    for layer in 0..grid.side(2) {
        let (x, y) = plan.corner(layer);
        for column in 0..=grid.side(0) {
            let at = x + f64::from(column) * plan.cell;
            canvas.line((at, y), (at, y + plan.layer.1), Ink::Paper, more);
        }
        for row in 0..=grid.side(1) {
            let at = y + f64::from(row) * plan.cell;
            canvas.line((x, at), (x + plan.layer.0, at), Ink::Paper, more);
        }
    }
}
