//! A plan's level of detail.

/// The intended reader of a plan's explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// The daemon. Its events do not name Jobs in other namespaces.
    Daemon,
    /// An operator of a cluster with a daemon.
    Operator,
    /// An observer; there may be no daemon.
    Observer,
}

/// The parts of a plan to compute in addition to its actions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    /// The number of Jobs at the head of the queue that get an explanation.
    pub(crate) explained: usize,
    /// The maximum number of moved Jobs in an explanation.
    pub(crate) moves: usize,
    /// True to compute each Job's start according to the time limits.
    pub(crate) starts: bool,
    pub(crate) audience: Audience,
    /// True to list allocations with names and boxes, for the page.
    pub(crate) picture: bool,
    /// True to prepare a forecast for the waiting Jobs.
    pub(crate) forecast: bool,
}

impl Detail {
    /// For the daemon: only the first Jobs in the queue are explained.
    pub(crate) const DAEMON: Detail = Detail {
        explained: 32,
        moves: 0,
        starts: false,
        audience: Audience::Daemon,
        picture: false,
        forecast: false,
    };
    /// For an operator's commands.
    pub(crate) const OPERATOR: Detail = Detail {
        explained: usize::MAX,
        starts: true,
        audience: Audience::Operator,
        forecast: true,
        ..Detail::DAEMON
    };
    /// For an observer's page.
    pub(crate) const OBSERVER: Detail =
        Detail { starts: true, audience: Audience::Observer, ..Detail::DAEMON };
}
