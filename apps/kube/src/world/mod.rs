//! The state of the cluster when it was last read. A plan depends on nothing else.

mod group;
mod index;
mod kueue;
mod state;

pub(crate) use group::JobGroup;
pub(crate) use index::Index;
pub(crate) use kueue::quota;
pub(crate) use state::World;
