//! Making room for boxes: blocking jobs, times at which boxes become free, and jobs to move.

pub(crate) mod blockers;
mod by;
mod defragment;
mod drain;
pub(crate) mod earliest;
mod near;
mod order;
mod packing;
mod plan;
mod relocation;
mod search;
mod slots;
mod snapshot;
mod unblock;
mod windows;

pub use blockers::{Blockers, blockers};
pub use by::{Prospect, Room, RoomBy, RoomPlan, room_by};
pub use defragment::{Defragmented, defragment};
pub use drain::drain;
pub use earliest::{Earliest, earliest};
pub use near::{fit, nearest};
pub use plan::{Move, MovePlan, Planned, SearchLimits};
pub use slots::{NextSlot, Slots, SlotsAnswer, next_slot, slots};
pub use snapshot::{Shape, Snapshot, TooHeavy, Weights};
pub use unblock::{unblock, unblock_any};
