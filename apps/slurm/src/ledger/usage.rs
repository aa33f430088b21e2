//! Limits of arrays, QOSes and associations, and the usage that Slurm reports for them.

use std::collections::HashMap;
use std::rc::Rc;

mod grammar;
mod reader;
#[cfg(test)]
pub(crate) mod tests;
mod throttles;

pub(crate) use reader::Reader;

/// The unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    Jobs,
    Nodes,
    Processors,
    /// Wall-clock minutes.
    Minutes,
}

/// A limit's name in Slurm and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LimitKind {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
}

/// A limit and its current usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) kind: LimitKind,
    /// The limit, or `None` if unlimited.
    pub(crate) most: Option<u64>,
    pub(crate) used: u64,
}

/// A QOS's limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QosLimits {
    pub(crate) group: Vec<Limit>,
    pub(crate) accounts: HashMap<String, Vec<Limit>>,
    /// The limits by user id.
    pub(crate) users: HashMap<u32, Vec<Limit>>,
}

/// The owner of an association: an account or one of its users, possibly in one partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Member {
    pub(crate) account: String,
    pub(crate) user: Option<u32>,
    pub(crate) partition: String,
}

/// An association's limits and its parent account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Association {
    pub(crate) parent: Option<String>,
    pub(crate) limits: Vec<Limit>,
}

/// An array's limit on the number of concurrent tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Throttle {
    /// The limit has not been read yet, so only one task may run.
    Unknown,
    /// The array has no limit or has ended.
    Unlimited,
    Tasks(u64),
}

/// The limits and the usage that Slurm reports in a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) qos: HashMap<String, QosLimits>,
    pub(crate) associations: Rc<HashMap<Member, Association>>,
    /// The throttles of arrays with waiting tasks.
    pub(crate) throttles: HashMap<u32, Throttle>,
}
