//! The core's replies. Each interface formats them in its own way: `http` as a status and JSON,
//! `lines` as JSON in another format.

use std::fmt;
use std::time::Duration;

use pavior::answers::forecasts::StartJson;
use pavior::answers::json::{Place, Point};
use pavior::time::Date;
use pavior::{Freedom, Grid, Time};
use serde::{Serialize, Serializer};

use super::{JobName, Lease, NodeState, Problem, Reservation, WaitingRequest};

/// The reply to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A lease has begun.
    Granted(LeaseReply),
    /// The request is waiting.
    Waiting(Waiting),
    /// The lease was extended.
    Renewed(LeaseReply),
    /// The lease has ended.
    Ended(Ended),
    /// The state of a node.
    Node(Node),
    /// Nodes are reserved in advance.
    Reserved(ReservationReply),
    /// A reservation was canceled.
    Unreserved(ReservationReply),
    /// The clock was confirmed.
    Clock(Clock),
    /// The replies to the commands in a batch, in order.
    Batch(Vec<Reply>),
    /// The command succeeded, and there is nothing to report.
    Done,
    /// The stored reply to an earlier command with the same key, exactly as originally formatted.
    Stored(FormattedReply),
    /// The command failed.
    Problem(Problem),
}

impl Reply {
    /// Returns true if the reply should be stored under its idempotency key. Problems that are not
    /// decisions are not stored, so that the client can retry with the same key.
    pub(crate) fn is_final(&self) -> bool {
        !matches!(self, Reply::Problem(problem) if !problem.reason.is_decision())
    }
}

/// A reply, formatted by an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormattedReply {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// A lease of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = Lease))]
pub struct LeaseReply {
    pub(crate) id: u64,
    /// Always `held`.
    pub(crate) state: &'static str,
    /// The fencing token, an integer below 2^53. Each new holder of a node gets a greater token,
    /// even after a backup is restored.
    pub(crate) epoch: u64,
    pub(crate) machine: String,
    /// The number of nodes held.
    pub(crate) nodes: u64,
    /// The number of nodes requested.
    pub(crate) requested: u64,
    /// The boxes, which are disjoint.
    #[cfg_attr(feature = "http", schema(value_type = Vec<crate::core::schema::Part>))]
    pub(crate) parts: Vec<Place>,
    /// The time when the lease expires; null if it does not expire.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    pub(crate) expires: Option<Instant>,
    /// The time when the lease began.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    pub(crate) start: Instant,
    pub(crate) tenant: Option<String>,
    pub(crate) job: Option<JobName>,
}

impl LeaseReply {
    pub(crate) fn of(grid: &Grid, lease: &Lease) -> LeaseReply {
        LeaseReply {
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

/// A waiting request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub struct Waiting {
    /// The number of the request. The lease will get the same number.
    pub(crate) id: u64,
    /// Always `waiting`.
    pub(crate) state: &'static str,
    /// The request's fencing token, which is not needed to remove the request from the queue. The
    /// lease will get a greater token.
    pub(crate) epoch: u64,
    pub(crate) machine: String,
    pub(crate) requested: u64,
    #[cfg_attr(feature = "http", schema(value_type = Option<Vec<u16>>))]
    pub(crate) shape: Option<Point>,
    #[cfg_attr(feature = "http", schema(value_type = Option<super::schema::Freedom>))]
    pub(crate) freedom: Option<&'static str>,
    /// The time when the request was made.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    pub(crate) asked: Instant,
    pub(crate) tenant: Option<String>,
    pub(crate) job: Option<JobName>,
    /// The reason for waiting; only in `GET /v1/queue` and `GET /v1/leases/{id}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waits_for: Option<WaitsFor>,
    /// The predicted start; only in `GET /v1/queue` and `GET /v1/leases/{id}`, and only for the
    /// first 256 requests of each queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "http", schema(value_type = Option<super::schema::Forecast>))]
    pub(crate) forecast: Option<Box<StartJson>>,
}

impl Waiting {
    pub(crate) fn of(grid: &Grid, waiting: &WaitingRequest) -> Waiting {
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

/// Reasons why a request cannot start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum WaitsForKind {
    /// There are fewer free nodes than the request needs.
    Nodes,
    /// Enough nodes are free, but the strategy cannot place the request on them.
    Place,
    /// The request would fit now, but only on nodes that are reserved for another purpose.
    Reservation,
    /// Another request must start first, or the scheduler has not considered this one yet.
    Turn,
    /// The scheduler is not starting the request, for an unknown reason.
    Scheduler,
}

/// The reason why a request is waiting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub struct WaitsFor {
    pub(crate) kind: WaitsForKind,
    /// The reason as a sentence.
    pub(crate) sentence: String,
    /// The number of free nodes required.
    pub(crate) needed: u64,
    /// The number of free nodes.
    pub(crate) free: u64,
    /// The request that holds the reservation or must start first; null if there is no such request
    /// or if the reservation was made in advance.
    pub(crate) by: Option<Other>,
    /// The start of the reservation (RFC 3339).
    #[cfg_attr(feature = "http", schema(value_type = Option<String>))]
    pub(crate) from: Option<Instant>,
    /// The end of the reservation; null if its request has no estimate.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>))]
    pub(crate) until: Option<Instant>,
    /// The planned start; null if the scheduler has no plan for the request.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>))]
    pub(crate) planned: Option<Instant>,
}

/// A reference to another request, with details omitted if that request belongs to another tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub struct Other {
    pub(crate) id: Option<u64>,
    pub(crate) job: Option<JobName>,
}

/// A lease that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[expect(clippy::struct_field_names, reason = "the JSON member has this name")]
pub struct Ended {
    pub(crate) id: u64,
    pub(crate) ended: bool,
    /// The number of nodes released.
    pub(crate) nodes: u64,
}

/// The state of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[expect(clippy::struct_field_names, reason = "the JSON member has this name")]
pub struct Node {
    #[cfg_attr(feature = "http", schema(value_type = Vec<u16>))]
    pub(crate) node: Point,
    /// `healthy`, `failed` or `drained`.
    #[cfg_attr(feature = "http", schema(value_type = String))]
    pub(crate) state: NodeState,
    pub(crate) failed: bool,
    /// The number of the lease that holds the node, if any.
    pub(crate) lease: Option<u64>,
    pub(crate) job: Option<JobName>,
}

/// An advance reservation of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = Reservation))]
pub struct ReservationReply {
    pub(crate) id: u64,
    pub(crate) machine: String,
    /// The boxes as requested.
    #[cfg_attr(feature = "http", schema(value_type = Vec<crate::core::schema::Part>))]
    pub(crate) parts: Vec<Place>,
    /// The start of the reservation.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    pub(crate) from: Instant,
    /// The end of the reservation, after which jobs may run on its nodes again.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    pub(crate) to: Instant,
    pub(crate) name: Option<String>,
    /// The leases visible to the caller that hold some of these nodes and are expected to run past
    /// the reservation's start. These leases keep their nodes until they end.
    pub(crate) leases: Vec<u64>,
}

impl ReservationReply {
    /// Describes a reservation, and lists the given leases that conflict with it.
    pub(crate) fn of<'a>(
        grid: &Grid,
        reservation: &Reservation,
        now_ms: u64,
        leases: impl Iterator<Item = &'a Lease>,
    ) -> ReservationReply {
        ReservationReply {
            id: reservation.id,
            machine: reservation.machine.clone(),
            parts: Place::all(grid, &reservation.cuboids()),
            from: Instant(reservation.from_ms),
            to: Instant(reservation.to_ms),
            name: reservation.name.clone(),
            leases: reservation.conflicting_leases(grid, now_ms, leases),
        }
    }
}

/// A confirmed clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub struct Clock {
    /// The time of the previous record.
    #[cfg_attr(feature = "http", schema(value_type = String))]
    pub(crate) was: Instant,
    /// The current time.
    #[cfg_attr(feature = "http", schema(value_type = String))]
    pub(crate) now: Instant,
    /// The number of leases that ended when the clock was confirmed.
    pub(crate) ended: u64,
}

/// Returns a tenant as shown in replies: `None` means the operator.
fn tenant(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| name.to_string())
}

/// A time, stored as milliseconds since 1970. All replies show it in RFC 3339 format, in UTC with
/// milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub u64);

impl From<Time> for Instant {
    fn from(time: Time) -> Instant {
        Instant(time.0 / 1000)
    }
}

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
