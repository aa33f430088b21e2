//! A record as text, and its replay: what callgrind counts.

use pavior_allocation::{Placement, Selection};
use pavior_mesh::{Cuboid, Grid, Request};

use crate::callgrind;
use crate::record::{Record, Step, World};

/// Instructions of a question; none if callgrind fails.
pub(crate) fn per_question(record: &Record, search: &Selection) -> Option<f64> {
    let count = callgrind::count("counted_find", &search.to_string(), &written(record));
    count.map(|count| count / record.questions as f64)
}

/// The record as text: the grid, then a line a step that is not left out.
fn written(record: &Record) -> String {
    let parts = |word: &str, placement: &Placement| {
        let numbers = placement.parts().iter().flat_map(|part| [part.base, part.sides]).flatten();
        callgrind::line(word, numbers)
    };
    let mut text = format!("{}\n", record.grid);
    for step in &record.steps {
        text += &match step {
            Step::Ask(request, true) => callgrind::line("ask", request.shape.unwrap_or([1; 3])),
            Step::Ask(_, false) => continue,
            Step::Take(placement) => parts("take", placement),
            Step::Give(placement) => parts("give", placement),
        };
    }
    text
}

/// Replays a written record.
pub(crate) fn replay_from_input(strategy: &str) {
    let selection: Selection = strategy.parse().expect("the parent names a strategy");
    let mut lines = callgrind::lines();
    let grid: Grid = lines.next().and_then(|line| line.0.parse().ok()).expect("the grid is first");
    let mut world = World::new(grid, &selection);
    for (word, numbers) in lines {
        let part = |part: &[u16]| Cuboid::new(callgrind::three(part), callgrind::three(&part[3..]));
        let parts = || match numbers.chunks(6).map(part).collect::<Vec<_>>() {
            one if one.len() == 1 => Placement::Whole(one[0]),
            many => Placement::Parts(many),
        };
        world.step(&match word.as_str() {
            "take" => Step::Take(parts()),
            "give" => Step::Give(parts()),
            _ => Step::Ask(Request::shape(callgrind::three(&numbers)), true),
        });
    }
}
