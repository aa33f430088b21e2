//! A record as text, and its replay: what callgrind counts.

use pavior_allocation::Selection;
use pavior_mesh::{Cuboid, Grid};

use crate::callgrind::{self, three};
use crate::record::{Record, Step, World};

/// Instructions per search, over the first searches of a record; none if callgrind fails.
pub(crate) fn per_search(record: &Record, strategy: &str, first: usize) -> Option<f64> {
    let count = callgrind::count("counted_search", strategy, &written(record, first));
    count.map(|count| count / first as f64)
}

/// The record as text, to the end of the first searches: the grid, then a line a step.
fn written(record: &Record, first: usize) -> String {
    let cuboid = |word: &str, part: &Cuboid| {
        callgrind::line(word, [part.base, part.sides].into_iter().flatten())
    };
    let mut text = format!("{}\n", record.grid);
    for part in &record.start {
        text += &cuboid("take", part);
    }
    let mut searches = 0;
    for step in &record.steps {
        text += &match step {
            Step::Search(..) if searches == first => break,
            Step::Search(shape, found) => {
                searches += 1;
                callgrind::line(if *found { "found" } else { "nowhere" }, *shape)
            }
            Step::Take(part) => cuboid("take", part),
            Step::Give(part) => cuboid("give", part),
        };
    }
    text
}

/// Replays a written record.
pub(crate) fn replay_from_input(strategy: &str) {
    let selection: Selection = strategy.parse().expect("the parent names a strategy");
    let mut lines = callgrind::lines();
    let grid: Grid = lines.next().and_then(|line| line.0.parse().ok()).expect("the grid is first");
    let mut world = World::new(grid, &selection, &[]);
    for (word, numbers) in lines {
        let part = || Cuboid::new(three(&numbers), three(&numbers[3..]));
        match word.as_str() {
            "take" => world.change(&Step::Take(part())),
            "give" => world.change(&Step::Give(part())),
            word => {
                assert_eq!(world.search(three(&numbers)), word == "found", "{strategy}: {word}");
            }
        }
    }
}
