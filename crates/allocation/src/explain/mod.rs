//! A strategy's answer in a given state, and how good that answer is.
//!
//! A [`State`] is a machine's state without its strategy, either copied from a machine or built up
//! job by job. [`answer`] queries any strategy in that state. `pavior-answers` explains what blocks
//! a request, and `pavior-draw` draws the results. Nothing in this module changes a machine.
//!
//! ```
//! # mod pavior { pub use pavior_allocation as strategies; pub use pavior_allocation::*; }
//! use pavior::strategies::explain::{State, answer};
//! use pavior::{Cuboid, Grid, JobId, Request};
//!
//! let mut state = State::new(Grid::mesh(&[4, 2])?);
//! state.hold(JobId(7), &[Cuboid::new([1, 0, 0], [1, 2, 1])])?;
//! let found = answer(&state, &"bf".parse()?, &Request::shape([2, 1, 1]), 1)?;
//! // The box is in the lower right corner, next to the job: four of its six faces touch something.
//! assert_eq!(found.outcome.map(|choice| choice.index()), Ok(4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod state;

use pavior_mesh::{Cuboid, Grid, Occupancy, Request, Sides, orientations};

pub use state::{Clash, State};

use crate::strategies::shared::contact::{contact, most_contact};
use crate::{BuildError, Machine, Placement, Refusal, Selection};

/// One strategy's answer.
#[derive(Clone)]
pub struct Answer {
    /// The strategy.
    pub selection: Selection,
    /// The placement that the strategy would choose, or the reason why it would refuse the request.
    pub outcome: Result<Choice, Refusal>,
}

/// A placement and its optimality index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The placement.
    pub placement: Placement,
    /// The optimality index of each part.
    pub indices: Vec<i64>,
}

impl Choice {
    /// Returns the optimality index of the whole placement: the sum over its parts.
    ///
    /// The index is the number of (node in the placement, direction) pairs whose neighbor is busy,
    /// failed or beyond the border. Nodes in the same placement do not count, because they are free
    /// when it is chosen. The sum over the parts is therefore the index of the whole placement.
    pub fn index(&self) -> i64 {
        self.indices.iter().sum()
    }
}

fn choose(machine: &mut Machine, request: &Request) -> Result<Choice, Refusal> {
    let placement = machine.probe(request)?;
    let indices = placement.parts().iter().map(|part| index(machine.free(), part)).collect();
    Ok(Choice { placement, indices })
}

/// Finds the nodes that a strategy would grant. A randomized strategy draws from the `allocation`
/// stream for the given `seed`.
///
/// # Errors
/// Returns an error if the strategy does not work on this machine, or if the caller's code fails.
pub fn answer(
    state: &State,
    selection: &Selection,
    request: &Request,
    seed: u64,
) -> Result<Answer, BuildError> {
    let mut machine = state.machine(selection, seed)?;
    let outcome = choose(&mut machine, request);
    if let Some(error) = machine.error() {
        return Err(BuildError::Failed(error));
    }
    Ok(Answer { selection: selection.clone(), outcome })
}

/// Returns a free box's optimality index: the number of its nodes' faces that touch busy nodes,
/// failed nodes or the border. In 2D, this is the MFA paper's definition.
pub fn index(free: &Occupancy, cuboid: &Cuboid) -> i64 {
    contact(free, cuboid)
}

/// Returns the highest index that the requested box could have, in any orientation that fits the
/// machine.
pub fn perfect_index(state: &State, shape: Sides) -> Option<i64> {
    let grid = state.grid();
    let fitting = orientations(shape).filter(|&sides| grid.fits(sides));
    fitting.map(|sides| most_contact(grid, sides)).max()
}

/// Describes a box by its sides and base, such as `3x2 at 2,5`.
pub fn words(grid: &Grid, cuboid: &Cuboid) -> String {
    let list = |numbers: [u16; 3], between: &str| {
        let shown: Vec<String> = numbers[..grid.axes()].iter().map(u16::to_string).collect();
        shown.join(between)
    };
    format!("{} at {}", list(cuboid.sides, "x"), list(cuboid.base, ","))
}
