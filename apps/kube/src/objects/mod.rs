//! API server objects, reduced to the fields that decisions depend on. Because users can put
//! anything into an object (up to the API server's limit of 1.5 MB), we drop unneeded fields while
//! parsing, and keep only annotations that begin with `pavior.dev`.

mod job;
mod kueue;
mod machine;
mod node;
mod object;
mod placement;
mod pod;

pub(crate) use job::Job;
pub(crate) use kueue::{AdmissionCheck, CheckState, QUEUE, Quota, ResourceFlavor, Workload};
#[cfg(test)]
pub(crate) use kueue::{AdmissionCheckState, CONTROLLER};
pub(crate) use machine::{
    CoordinateSource, Machine, MachineSpec, MachineStatus, Maintenance, SlotCount,
};
pub(crate) use node::Node;
#[cfg(test)]
pub(crate) use object::{BOX, SECONDS, SHAPE};
pub(crate) use object::{
    Condition, GATE, GLOBAL_INDEX, MACHINE, Object, ObjectRef, Uid, parse_digits, resource, slim,
};
pub(crate) use placement::{Placement, PlacementSpec, PlacementStatus};
pub(crate) use pod::{CompactJson, Pod, PodSpec};
