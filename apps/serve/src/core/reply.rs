//! Replies of the core. Each interface formats them: `http` as a status and JSON, `lines` in its
//! own JSON format.

use std::fmt;
use std::time::Duration;

use pavior::answers::forecasts::StartJson;
use pavior::answers::json::{Place, Point};
use pavior::time::Date;
use pavior::{Freedom, Grid};
use serde::{Serialize, Serializer};

use super::{JobName, NodeState, Problem, lease, reservation};

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A lease has begun.
    Granted(Lease),
    /// The request is waiting.
    Waiting(Waiting),
    /// The lease was extended.
    Renewed(Lease),
    /// The lease has ended.
    Ended(Ended),
    /// The state of a node.
    Node(Node),
    /// Nodes are reserved in advance.
    Reserved(Reservation),
    /// A reservation was cancelled.
    Unreserved(Reservation),
    /// The clock is confirmed.
    Clock(Clock),
    /// The answers to the commands in a batch, in order.
    Batch(Vec<Reply>),
    /// There is nothing to report.
    Done,
    /// The reply to an earlier command with the same key, as the interface formatted it then.
    Kept(Written),
    /// The command was not carried out.
    Problem(Problem),
}

impl Reply {
    /// Returns true if the reply is stored under its key. A temporary error is not stored: the
    /// command may be sent again.
    pub(crate) fn is_final(&self) -> bool {
        !matches!(self, Reply::Problem(problem) if problem.reason.may_pass())
    }
}

/// A reply, formatted by an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// Nodes that are held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub struct Lease {
    pub(crate) id: u64,
    /// `held`.
    pub(crate) state: &'static str,
    /// The fencing token: below 2^53, and it grows from holder to holder of a node, also over the
    /// restoring of a backup.
    pub(crate) epoch: u64,
    pub(crate) machine: String,
    /// The number of nodes that are held.
    pub(crate) nodes: u64,
    /// The number of nodes that were asked for.
    pub(crate) requested: u64,
    /// Boxes that do not overlap.
    #[cfg_attr(feature = "http", schema(value_type = Vec<crate::core::schema::Part>))]
    pub(crate) parts: Vec<Place>,
    /// When it ends by itself, or null.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    pub(crate) expires: Option<Instant>,
    /// When it began.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    pub(crate) start: Instant,
    pub(crate) tenant: Option<String>,
    pub(crate) job: Option<JobName>,
}

impl Lease {
    /// Returns a lease on a machine with this grid.
    pub(crate) fn of(grid: &Grid, lease: &lease::Lease) -> Lease {
        Lease {
            id: lease.id,
            state: "held",
            epoch: lease.epoch,
            machine: lease.machine.clone(),
            nodes: lease.nodes().into(),
            requested: lease.requested.into(),
            parts: Place::all(grid, &lease.cuboids()),
            expires: lease.expires_ms.map(Instant),
            start: Instant(lease.start_ms),
            tenant: tenant(&lease.tenant),
            job: lease.job.clone(),
        }
    }
}

/// A request that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub struct Waiting {
    /// The number that its lease will have.
    pub(crate) id: u64,
    /// `waiting`.
    pub(crate) state: &'static str,
    /// Its own fencing token, with which it can be taken out of the queue. Its lease bears a
    /// greater one.
    pub(crate) epoch: u64,
    pub(crate) machine: String,
    pub(crate) requested: u64,
    #[cfg_attr(feature = "http", schema(value_type = Option<Vec<u16>>))]
    pub(crate) shape: Option<Point>,
    #[cfg_attr(feature = "http", schema(value_type = Option<crate::http::FreedomSchema>))]
    pub(crate) freedom: Option<&'static str>,
    /// When it was asked for.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    pub(crate) asked: Instant,
    pub(crate) tenant: Option<String>,
    pub(crate) job: Option<JobName>,
    /// The reason why it is waiting: in `GET /v1/queue` and `GET /v1/leases/{id}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waits_for: Option<WaitsFor>,
    /// When it will start: in `GET /v1/queue` and `GET /v1/leases/{id}`, of the first 256 of a
    /// queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "http", schema(value_type = Option<super::schema::Forecast>))]
    pub(crate) forecast: Option<Box<StartJson>>,
}

impl Waiting {
    /// Returns a waiting request for a machine with this grid.
    pub(crate) fn of(grid: &Grid, waiting: &lease::WaitingRequest) -> Waiting {
        Waiting {
            id: waiting.id,
            state: "waiting",
            epoch: waiting.epoch,
            machine: waiting.machine.clone(),
            requested: waiting.requested.into(),
            shape: waiting.shape.map(|shape| Point::of(grid, shape)),
            freedom: waiting.freedom.map(Freedom::word),
            asked: Instant(waiting.asked_ms),
            tenant: tenant(&waiting.tenant),
            job: waiting.job.clone(),
            waits_for: None,
            forecast: None,
        }
    }
}

/// Why a request does not start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum WaitsForKind {
    /// Fewer nodes are free than it needs.
    Nodes,
    /// As many are free, but the strategy finds no place among them.
    Place,
    /// It could be placed now, but on nodes that are reserved for another request, or ahead.
    Reservation,
    /// Another request starts before it, whatever is free, or the scheduler does not look at it
    /// yet.
    Turn,
    /// The scheduler keeps it waiting, and does not say more.
    Scheduler,
}

/// The reason why a request is waiting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub struct WaitsFor {
    pub(crate) kind: WaitsForKind,
    /// The same in a sentence.
    pub(crate) sentence: String,
    /// The nodes that must be free for it.
    pub(crate) needed: u64,
    /// Those that are.
    pub(crate) free: u64,
    /// The request that has the reservation, or that starts before; null where there is none, as
    /// for what is reserved ahead.
    pub(crate) by: Option<Other>,
    /// When the reservation begins (RFC 3339).
    #[cfg_attr(feature = "http", schema(value_type = Option<String>))]
    pub(crate) from: Option<Instant>,
    /// When it ends; null of a request without an estimate.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>))]
    pub(crate) until: Option<Instant>,
    /// When the scheduler plans to start it; null if it does not plan, or cannot say.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>))]
    pub(crate) planned: Option<Instant>,
}

/// Another request: of another tenant's, nothing is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub struct Other {
    pub(crate) id: Option<u64>,
    pub(crate) job: Option<JobName>,
}

/// A lease that is no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[expect(clippy::struct_field_names, reason = "it is the name of the member")]
pub struct Ended {
    pub(crate) id: u64,
    pub(crate) ended: bool,
    /// The nodes that were given back.
    pub(crate) nodes: u64,
}

/// A node's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[expect(clippy::struct_field_names, reason = "it is the name of the member")]
pub struct Node {
    #[cfg_attr(feature = "http", schema(value_type = Vec<u16>))]
    pub(crate) node: Point,
    /// `healthy`, `failed` or `drained`.
    #[cfg_attr(feature = "http", schema(value_type = String))]
    pub(crate) state: NodeState,
    pub(crate) failed: bool,
    /// The lease that holds it.
    pub(crate) lease: Option<u64>,
    pub(crate) job: Option<JobName>,
}

/// Nodes that are reserved ahead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub struct Reservation {
    pub(crate) id: u64,
    pub(crate) machine: String,
    /// The boxes, as they were given.
    #[cfg_attr(feature = "http", schema(value_type = Vec<crate::core::schema::Part>))]
    pub(crate) parts: Vec<Place>,
    /// When its nodes are to be free.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    pub(crate) from: Instant,
    /// When jobs may run on them again.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    pub(crate) to: Instant,
    pub(crate) name: Option<String>,
    /// The leases, of those that the caller may see, that hold some of its nodes and are said to
    /// end after it begins. No lease is ended for a reservation.
    pub(crate) leases: Vec<u64>,
}

impl Reservation {
    /// Returns a reservation on a machine with this grid, together with those of the given leases
    /// that are in its way.
    pub(crate) fn of<'a>(
        grid: &Grid,
        one: &reservation::Reservation,
        leases: impl Iterator<Item = &'a lease::Lease>,
    ) -> Reservation {
        Reservation {
            id: one.id,
            machine: one.machine.clone(),
            parts: Place::all(grid, &one.cuboids()),
            from: Instant(one.from_ms),
            to: Instant(one.to_ms),
            name: one.name.clone(),
            leases: one.in_the_way(grid, leases),
        }
    }
}

/// A clock that was confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub struct Clock {
    /// The time of the last record before.
    #[cfg_attr(feature = "http", schema(value_type = String))]
    pub(crate) was: Instant,
    /// The time now.
    #[cfg_attr(feature = "http", schema(value_type = String))]
    pub(crate) now: Instant,
    /// The number of leases that have ended by it.
    pub(crate) ended: u64,
}

/// Returns a tenant as callers see it: the operator has no name.
fn tenant(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| name.to_string())
}

/// A time in the format of every reply (RFC 3339 in UTC, with milliseconds), stored as milliseconds
/// since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub u64);

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", Date(Duration::from_millis(self.0)))
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
