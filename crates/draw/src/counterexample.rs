//! SVG drawings of states in which a strategy gives a wrong answer, showing the busy nodes, the
//! granted placement and the expected placement.

use pavior_allocation::conformance::Counterexample;
use pavior_mesh::{Cuboid, Grid, Occupancy};

use crate::explanation::{AXIS, GAP, View, drawing, label, off_the_edge, plane, rect, text};
use crate::palette;

/// The side length of a color swatch in the legend.
const SAMPLE: f64 = 14.0;

/// The color of busy nodes.
const BUSY: &str = palette::JOBS[4];

/// Draws the state of a counterexample. Planes of constant z are drawn side by side, with the
/// origin at the lower left. Granted boxes are numbered, and boxes that should have been granted
/// have dashed outlines.
pub fn counterexample(example: &Counterexample) -> String {
    let Counterexample { free, answer, expected, .. } = example;
    let grid = free.grid();
    let view = View::of(grid);
    let mut panel = String::new();
    text("name", [AXIS, 12.0], 14.0).text(&format!("{} requested", example.asked()), &mut panel);
    text("quiet", [AXIS, 29.0], 12.0).text(&example.strategy, &mut panel);
    for z in 0..grid.side(2) {
        plane(&view, z, &mut panel);
    }
    for row in busy_rows(free) {
        for (at, size) in view.pieces(&row) {
            rect("job", at, size).with("fill", BUSY).end(&mut panel);
        }
    }
    let granted = answer.as_ref().map_or(&[][..], |placement| placement.parts());
    for (number, part) in granted.iter().enumerate() {
        if let Some(part) = within(part, grid) {
            for (at, size) in view.pieces(&part) {
                rect("choice", at, size).with("fill-opacity", 0.75).end(&mut panel);
                label("number", &(number + 1).to_string(), (at, size), &mut panel);
            }
        }
    }
    for place in expected.iter().flat_map(|part| view.pieces(part)) {
        outline(place, &mut panel);
    }
    let [wide, high] = view.panel();
    let legend = legend(high + GAP, &mut panel);
    let [width, height] = [wide.max(360.0) + 2.0 * GAP, high + 2.0 * GAP + legend];
    drawing([width, height], [&example.sentence(), ""], "", &off_the_edge(&panel))
}

/// Returns the busy nodes as maximal runs along x.
fn busy_rows(free: &Occupancy) -> Vec<Cuboid> {
    let grid = free.grid();
    let [w, d, h] = grid.sides();
    let is_busy = |x: u16, y: u16, z: u16| !free.is_node_free(grid.id([x, y, z]));
    let mut rows = Vec::new();
    for (y, z) in (0..h).flat_map(|z| (0..d).map(move |y| (y, z))) {
        let mut x = 0;
        while x < w {
            let run = (x..w).take_while(|&next| is_busy(next, y, z)).count() as u16;
            if run > 0 {
                rows.push(Cuboid::new([x, y, z], [run, 1, 1]));
            }
            x += run.max(1);
        }
    }
    rows
}

/// Clips a box to the machine, because a faulty strategy may return one that extends past its edge.
fn within(part: &Cuboid, grid: &Grid) -> Option<Cuboid> {
    if part.lies_on(grid) {
        return Some(*part);
    }
    let inside = (0..3).all(|axis| part.base[axis] < grid.side(axis));
    let left = |axis: usize| part.sides[axis].min(grid.side(axis) - part.base[axis]);
    inside.then(|| Cuboid::new(part.base, [left(0), left(1), left(2)]))
}

fn outline((at, size): ([f64; 2], [f64; 2]), out: &mut String) {
    let rect = rect("expected", at, size).with("fill", "none").with("stroke", "#00795a");
    rect.with("stroke-width", 3).with("stroke-dasharray", "6 4").end(out);
}

/// Draws the legend below the planes. Returns its height.
fn legend(top: f64, out: &mut String) -> f64 {
    let sample = |number: f64| ([AXIS + number * 120.0, top], [SAMPLE; 2]);
    let (at, size) = sample(0.0);
    rect("job", at, size).with("fill", BUSY).end(out);
    let (at, size) = sample(1.0);
    rect("choice", at, size).end(out);
    outline(sample(2.0), out);
    for (number, meaning) in [(0.0, "busy"), (1.0, "granted"), (2.0, "expected")] {
        let ([x, y], _) = sample(number);
        text("quiet", [x + SAMPLE + 6.0, y + 11.5], 12.0).text(meaning, out);
    }
    SAMPLE
}
