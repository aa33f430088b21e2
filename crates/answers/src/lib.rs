//! Answers to questions about a machine, its queue and its running jobs: whether a request fits,
//! why it is waiting, which jobs to move, and when a job will start.
//!
//! A [`Snapshot`] contains the jobs on a machine and their nodes, regardless of which strategy
//! placed them. The following functions answer questions about a snapshot:
//!
//! - [`fit`] finds a free place for a box, and [`nearest`] finds the largest free boxes that are no
//!   larger than that box;
//! - [`blockers`] finds the cheapest place to empty, and the jobs in it;
//! - [`earliest`] finds the first place to become free as running jobs end;
//! - [`unblock`] finds the cheapest jobs to move so that a box fits and the jobs' new positions;
//!   [`unblock_any`] does the same for any one of several boxes;
//! - [`drain`] plans moves that empty a set of nodes, and [`defragment`] plans moves that free as
//!   many boxes of a shape as possible;
//! - [`room_by`] plans which jobs to move or requeue so that a box or a set of nodes is free by a
//!   given time, and [`RoomQuestion`] also finds the jobs that such a plan delays;
//! - [`slots`] counts the disjoint free boxes of a shape, [`next_slot`] finds the time when more
//!   will fit, and [`SlotsAnswer`] contains both results and the count after moves;
//! - [`why`] combines several of these functions: it explains why a request is waiting, which jobs
//!   are in the way, and which moves would help;
//! - [`waits`] explains why each job in a queue is waiting, and [`waiting`] returns everything
//!   known about one job.
//!
//! [`json`] contains the answers in the format printed by all interfaces.
//!
//! Every answer is exact. A search that could take too long has a budget and reports whether its
//! answer is proven. The budget limits the number of words read rather than the time, so the same
//! question always gets the same answer.
//!
//! ```
//! # mod pavior { pub use pavior_answers as answers; pub use pavior_allocation as strategies;
//! #     pub use pavior_allocation::*; }
//! use pavior::answers::{SearchLimits, Shape, Snapshot, Weights, unblock};
//! use pavior::strategies::Selection;
//! use pavior::{Cuboid, Grid, JobId, Machine, Placement};
//!
//! // A 2x2 job in the middle of a 6x2 mesh: 8 nodes are free, but no 3x2 box.
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
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

pub mod forecasts;
pub mod json;
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
