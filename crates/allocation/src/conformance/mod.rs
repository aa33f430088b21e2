//! Tests of strategies' claims. Each test covers every strategy in the registry.
//!
//! - [`judge()`] compares one answer with the [`oracle`](crate::oracle).
//! - [`every_occupancy`] iterates over every set of busy nodes on a small grid, changing one node
//!   at a time, and checks every request in each state.
//! - [`random_boxes`] fills a machine with random boxes, empties it again, and checks requests.
//! - [`history()`] runs a [`Machine`](crate::Machine) through allocations, releases, reservations,
//!   failures and repairs, and validates every index after every step.
//! - [`lock_step()`] checks that a strategy's two searches give the same answers.
//! - [`freedoms()`] tries requests with every freedom in every occupancy of a small grid.
//! - [`suite()`] runs all of these for one selection; `cargo xtask conformance NAME` calls it.

mod flaw;
mod freedoms;
mod history;
mod judge;
mod lock_step;
mod states;
mod suite;

use pavior_mesh::{Grid, Request, Sides, volume};

use crate::Selection;

pub use flaw::{Counterexample, Flaw};
pub use freedoms::freedoms;
pub use history::history;
pub use judge::judge;
pub use lock_step::lock_step;
pub use states::{every_occupancy, random_boxes};
pub use suite::{plain_of, suite, walks};

/// Returns the requests to try in every state of a small grid. They include every shape with sides
/// up to the grid's longest side, so some shapes fit only when rotated and some never fit. For a
/// strategy that grants by count, they also include every count without a shape, up to one count
/// that is too large, and shapes with a count below the shape's volume.
pub fn requests(selection: &Selection, grid: &Grid) -> Vec<Request> {
    let longest = grid.sides().into_iter().fold(1, u16::max);
    let most = |axis: usize| if axis < grid.axes() { longest } else { 1 };
    let mut requests = Vec::new();
    for a in 1..=most(0) {
        for b in 1..=most(1) {
            for c in 1..=most(2) {
                requests.push(Request::shape([a, b, c]));
            }
        }
    }
    if !selection.entry.does.contiguous {
        let hinted = |request: &Request| {
            let shape: Sides = request.shape?;
            (volume(shape) > 2).then(|| Request::hinted(request.nodes - 1, shape))
        };
        requests.extend(requests.clone().iter().filter_map(hinted));
        requests.extend((1..=grid.nodes() + 1).map(Request::nodes));
    }
    requests
}
