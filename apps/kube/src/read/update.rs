//! Updates from watches and background tasks.

use kube::runtime::watcher::Event;

use crate::objects::{
    AdmissionCheck, Job, Machine, Node, Placement, Pod, ResourceFlavor, Uid, Workload,
};

/// An update, usually about one kind of object.
pub(crate) enum Update {
    Machine(Event<Machine>),
    Node(Event<Node>),
    Job(Event<Job>),
    Pod(Event<Pod>),
    Placement(Event<Placement>),
    /// The time according to the API server's clock, if known.
    Time(Option<i64>),
    /// The start times of completed Jobs.
    StartTimes(Vec<(Uid, i64)>),
    Workload(Event<Workload>),
    Check(Event<AdmissionCheck>),
    Flavor(Event<ResourceFlavor>),
    /// A kind of object that can be read again after a failure.
    Readable(String),
    /// A kind of object that cannot be read.
    Unreadable {
        kind: String,
        why: String,
    },
}
