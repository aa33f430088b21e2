//! Tests that check a strategy's claim. All of them cover every strategy in the registry.
//!
//! - [`judge()`] compares one answer with the [`oracle`](crate::oracle).
//! - [`every_occupancy`] goes through every set of busy nodes on a small grid, one node at a time,
//!   and checks every request in each state.
//! - [`random_boxes`] fills machines with random boxes like those in a busy list.
//! - [`history()`] runs a [`Machine`](crate::Machine) through allocations, releases, reservations,
//!   failures and repairs, and validates every index after every step.
//! - [`lock_step()`] checks that a strategy's two searches give the same answers.
//! - [`freedoms()`] tries requests with every freedom in every occupancy of a small grid.
//! - [`suite()`] does all of this for one selection; `cargo xtask conformance NAME` runs it.

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

/// Returns the requests to try in every state of a small grid. They include every shape up to the
/// longest side on each axis, so that some fit only when rotated and some never fit. For strategies
/// that grant by count, they also include every count without a shape, up to one that is too large,
/// and shapes with counts below their volume.
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
