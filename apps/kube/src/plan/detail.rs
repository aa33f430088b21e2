//! The level of detail of a plan, and the reader for whom it is made.

/// The intended readers of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Users, through the daemon's events, which do not name Jobs in other namespaces.
    Daemon,
    /// The operator of a cluster that has a daemon.
    Operator,
    /// An observer of a cluster that may have no daemon. The plan assumes that a daemon would add
    /// its resource to all nodes, and ignores faults in reading Kueue's objects.
    Observer,
}

/// The parts of a plan that are computed in addition to its actions, and its audience.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    /// The number of Jobs to explain, starting at the head of the queue.
    pub(crate) explained: usize,
    /// The maximum number of Jobs that an explanation may propose to move.
    pub(crate) moves: usize,
    /// True if each Job's start time is to be computed from the time limits.
    pub(crate) starts: bool,
    pub(crate) audience: Audience,
    /// True if allocations are to be listed with their names and boxes, for the page.
    pub(crate) picture: bool,
    /// True if a forecast for the waiting Jobs is to be prepared.
    pub(crate) forecast: bool,
}

impl Detail {
    /// Detail for the daemon, which explains only the first Jobs in the queue.
    pub(crate) const DAEMON: Detail = Detail {
        explained: 32,
        moves: 0,
        starts: false,
        audience: Audience::Daemon,
        picture: false,
        forecast: false,
    };
    /// Detail for an operator's commands.
    pub(crate) const OPERATOR: Detail = Detail {
        explained: usize::MAX,
        starts: true,
        audience: Audience::Operator,
        forecast: true,
        ..Detail::DAEMON
    };
    /// Detail for an observer's page.
    pub(crate) const OBSERVER: Detail =
        Detail { starts: true, audience: Audience::Observer, ..Detail::DAEMON };
}
