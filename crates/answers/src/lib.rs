//! Questions about a machine, its queue and its running jobs: does a request fit, why not, how many
//! fit, which jobs would have to move, who makes room by when, and when it will start.
//!
//! A [`Snapshot`] is who holds what on a machine, whatever strategy put it there. On it,
//!
//! - [`fit`] and [`nearest`] say where a box is free, or which smaller ones are;
//! - [`blockers`] finds the place of least weight: the jobs that would have to go;
//! - [`earliest`] says when running jobs will have made room, and where;
//! - [`unblock`] finds the cheapest set of jobs whose moving makes the box fit, with where each
//!   goes, and [`unblock_any`] that for one of several boxes;
//! - [`drain`] plans how a set of nodes is emptied, and [`defragment`] how many boxes of a shape
//!   can be made free at once;
//! - [`room_by`] says who moves or is requeued so that a box or some nodes are free by a time, and
//!   [`RoomQuestion`] which jobs that delays;
//! - [`slots`] says how many boxes of a shape can be placed side by side now, and [`next_slot`]
//!   when there are more; [`SlotsAnswer`] is both, and how many there are after moves;
//! - [`why`] puts these together: what a request waits for, who is in its way, and what would help;
//! - [`waits`] gives the reason why each job of a queue is waiting, and [`waiting`] all that is
//!   known of one of them.
//!
//! Every answer is exact. A search that could take too long has a budget. The budget counts words
//! looked at, not time, so that the same question always has the same answer. Such a search says
//! whether its answer is proven.
//!
//! ```
//! use pavior_allocation::{Machine, Placement, Selection};
//! use pavior_mesh::{Cuboid, Grid, JobId};
//! use pavior_answers::{SearchLimits, Shape, Snapshot, Weights, unblock};
//!
//! // A job of 2x2 in the middle of 6x2: no 3x2 is free, though 8 nodes are.
//! let mut machine = Machine::with_seed(Grid::mesh(&[6, 2])?, &"ff".parse::<Selection>()?, 1)?;
//! machine.allocate_at(JobId(7), Placement::Whole(Cuboid::new([2, 0, 0], [2, 2, 1])))?;
//! let snapshot = Snapshot::of(&machine);
//! let weights = Weights::nodes(&snapshot);
//! let answer = unblock(&snapshot, Shape::new([3, 2, 1]), &weights, &SearchLimits::jobs(1));
//! let plan = answer.plan.expect("moving the job by a column is enough");
//! assert_eq!((plan.cost, plan.jobs, answer.proven), (4, vec![JobId(7)], true));
//! assert_eq!(plan.boxes, [Cuboid::new([0, 0, 0], [3, 2, 1])]);
//! assert_eq!(plan.moves[0].to, [Cuboid::new([3, 0, 0], [2, 2, 1])]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod forecasts;
mod plans;
mod room;
mod waits;
mod why;

pub use plans::{
    Blockers, Defragmented, Earliest, Move, MovePlan, NextSlot, Planned, Prospect, Room, RoomBy,
    RoomPlan, SearchLimits, Shape, Slots, SlotsAnswer, Snapshot, TooHeavy, Weights, blockers,
    defragment, drain, earliest, fit, nearest, next_slot, room_by, slots, unblock, unblock_any,
};
pub use room::{DelayedJob, RoomError, RoomQuestion};
pub use waits::waits;
pub use why::{
    Blocked, Cause, Demand, NAMED, PlannedStart, Question, Queued, Why, Words, waiting, why,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
