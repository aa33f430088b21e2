//! SVG drawings of plans: a machine before and after jobs are moved.
//!
//! There are two panels. The first shows the jobs before the moves, with an arrow from the center
//! of each moving box to the center of its new position. The arrows are numbered in move order. The
//! second panel shows the jobs after the moves, along with the boxes that are then free. The panels
//! are side by side if they are narrow enough; otherwise, they are stacked.

use pavior_allocation::explain::{State, words};
use pavior_mesh::{Cuboid, JobId};

use crate::explanation::{AXIS, GAP, View, WIDE, busy_nodes, drawing, label, plane, rect, text};
use crate::xml::Element;

/// A job's boxes before and after a move, with the parts in the same order.
#[derive(Clone, Copy, Debug)]
pub struct PlannedMove<'a> {
    /// The boxes before the move.
    pub from: &'a [Cuboid],
    /// The boxes after the move.
    pub to: &'a [Cuboid],
}

/// Draws a plan, given the states before and after the moves, the moves in order, and the boxes
/// that become free. Both states list the jobs in the same order. `name` returns a job's name.
pub fn plan(
    before: &State,
    after: &State,
    moves: &[PlannedMove<'_>],
    boxes: &[Cuboid],
    name: &dyn Fn(JobId) -> String,
) -> String {
    let view = View::of(before.grid());
    let [wide, high] = view.panel();
    let columns = if 2.0 * wide + 3.0 * GAP <= WIDE + 2.0 * GAP { 2.0 } else { 1.0 };
    let width = GAP + columns * (wide + GAP);
    let rows = 2.0 / columns;
    let height = GAP + rows * (high + GAP);
    let freed: Vec<String> = boxes.iter().map(|at| words(before.grid(), at)).collect();
    let quiet = match (freed.len(), moves.len()) {
        (0, _) => String::new(),
        (1, _) => format!("free: {}", freed[0]),
        (count, _) => format!("{count} boxes are free"),
    };
    let count = words_of(moves.len());
    let mut body = String::new();
    for (number, (state, title, quiet)) in
        [(before, "before", count), (after, "after", quiet)].into_iter().enumerate()
    {
        let mut inner = String::new();
        text("name", [AXIS, 12.0], 14.0).text(title, &mut inner);
        text("quiet", [AXIS, 29.0], 12.0).text(&quiet, &mut inner);
        for z in 0..state.grid().side(2) {
            plane(&view, z, &mut inner);
        }
        busy_nodes(&view, state, name, &mut inner);
        if number == 0 {
            arrows(&view, moves, &mut inner);
        } else {
            for (at, size) in boxes.iter().flat_map(|at| view.pieces(at)) {
                rect("choice", at, size).end(&mut inner);
            }
        }
        let place = number as f64;
        let (x, y) = match columns {
            2.0 => (GAP + place * (wide + GAP), GAP),
            _ => (GAP, GAP + place * (high + GAP)),
        };
        Element::new("g")
            .with("transform", format!("translate({x} {y})"))
            .around(&inner, &mut body);
    }
    let title = format!("{} to free a box on {}", words_of(moves.len()), before.grid());
    let boxes = if freed.is_empty() { "nothing".to_string() } else { freed.join(", ") };
    let seen = format!("The machine before and after the moves. Free afterward: {boxes}.");
    drawing([width, height], [&title, &seen], "", &body)
}

fn words_of(moves: usize) -> String {
    format!("{moves} move{}", if moves == 1 { "" } else { "s" })
}

/// Draws an arrow for each part that moves, with the move number at its tip.
fn arrows(view: &View, moves: &[PlannedMove<'_>], out: &mut String) {
    for (number, step) in moves.iter().enumerate() {
        for (from, to) in step.from.iter().zip(step.to).filter(|(from, to)| from != to) {
            let (Some(start), Some(end)) = (middle(view, from), middle(view, to)) else { continue };
            let (dx, dy) = (end[0] - start[0], end[1] - start[1]);
            let length = dx.hypot(dy).max(1.0);
            let (ux, uy) = (dx / length, dy / length);
            // The arrowhead consists of two strokes running back from the tip, one per side.
            let head = |side: f64| {
                let x = end[0] - 8.0 * ux - side * 5.0 * uy;
                let y = end[1] - 8.0 * uy + side * 5.0 * ux;
                format!("L{x:.1} {y:.1}M{:.1} {:.1}", end[0], end[1])
            };
            let line = format!(
                "M{:.1} {:.1}L{:.1} {:.1}{}{}",
                start[0],
                start[1],
                end[0],
                end[1],
                head(1.0),
                head(-1.0)
            );
            for class in ["halo", "arrow"] {
                Element::new("path").with("class", class).with("d", &line).end(out);
            }
            if moves.len() > 1 {
                let at = [start[0] - 8.0, start[1] - 8.0];
                rect("choice", at, [16.0; 2]).end(out);
                label("number", &(number + 1).to_string(), (at, [16.0; 2]), out);
            }
        }
    }
}

/// Returns the center of the first piece of a box.
fn middle(view: &View, cuboid: &Cuboid) -> Option<[f64; 2]> {
    let (at, size) = *view.pieces(cuboid).first()?;
    Some([at[0] + size[0] / 2.0, at[1] + size[1] / 2.0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use pavior_mesh::Grid;

    #[test]
    fn a_move_is_an_arrow_and_its_box_a_choice() {
        let part = |x, sides| Cuboid::new([x, 0, 0], sides);
        let state = |x| {
            let mut state = State::new(Grid::mesh(&[6, 2]).unwrap());
            state.hold(JobId(7), &[part(x, [2, 2, 1])]).unwrap();
            state
        };
        let (from, to) = ([part(2, [2, 2, 1])], [part(3, [2, 2, 1])]);
        let moves = [PlannedMove { from: &from, to: &to }];
        let boxes = [part(0, [3, 2, 1])];
        let svg = plan(&state(2), &state(3), &moves, &boxes, &|_| "<7>".into());
        assert_eq!(svg.matches("<path").count(), 2 + 2, "grids and the arrow");
        assert!(svg.contains("&lt;7&gt;") && svg.contains("free: 3x2 at 0,0"), "{svg}");
    }
}
