//! Commands of callers.

use pavior::{Coordinates, Cuboid, Freedom};

use super::{Ask, JobName, Reply, Written};
#[cfg(feature = "http")]
use super::{Problem, Reason};

/// The sender of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The tenant; `None` means the operator, who may see and do everything.
    pub tenant: Option<String>,
}

impl Caller {
    /// The operator.
    pub const OPERATOR: Caller = Caller { tenant: None };

    /// Returns true if the caller may see and end a tenant's leases and requests.
    pub fn may_touch(&self, tenant: &str) -> bool {
        self.tenant.as_deref().is_none_or(|own| own == tenant)
    }

    /// Checks that the caller is the operator; no one else may see how leases could be moved.
    #[cfg(feature = "http")]
    pub(crate) fn may_see_moves(&self) -> Result<(), Problem> {
        let detail = "only the operator may see how to move leases";
        self.tenant
            .is_none()
            .then_some(())
            .ok_or_else(|| Problem::new(Reason::OperatorOnly, detail))
    }
}

/// A key chosen by the client, so that a command that is sent twice is carried out only once.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    /// The key, as written by the client. Each tenant has its own keys.
    pub key: String,
    /// A digest of the command; using the same key for another command is an error.
    pub digest: u64,
    /// The function that formats the reply for the client's interface. The reply is stored in this
    /// format.
    pub write: fn(&Reply) -> Written,
}

/// A request for nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRequest {
    /// The machine's name; `None` means the first one.
    pub machine: Option<String>,
    /// The nodes or the box.
    pub ask: Ask,
    /// The freedom in placing the request; `None` leaves the decision to the strategy.
    pub freedom: Option<Freedom>,
    /// The time to live in milliseconds; `None` means until the lease is ended.
    pub ttl_ms: Option<u64>,
    /// The expected run time of the job, for schedulers; `None` means the time to live.
    pub estimate_ms: Option<u64>,
    /// The tenant that gets the lease; `None` means the caller.
    pub tenant: Option<String>,
    /// The client's name for the job.
    pub job: Option<JobName>,
    /// True to wait in the queue if the request cannot start now.
    pub wait: bool,
}

impl LeaseRequest {
    /// Creates a request by the caller for nodes of the first machine. The request does not wait.
    pub fn of(ask: Ask) -> LeaseRequest {
        LeaseRequest {
            machine: None,
            ask,
            freedom: None,
            ttl_ms: None,
            estimate_ms: None,
            tenant: None,
            job: None,
            wait: false,
        }
    }
}

/// A change to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeChange {
    /// The node has failed. A lease that holds it keeps it; after that, it is unavailable.
    Fail,
    /// The node is available again after a failure or a drain.
    Repair,
    /// The node should become free for maintenance. Apart from the name, this is like a failure.
    Drain,
}

/// Nodes to reserve in advance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservationRequest {
    /// The machine's name; `None` means the first one.
    pub machine: Option<String>,
    /// The boxes, which may overlap.
    pub parts: Vec<Cuboid>,
    /// The time when the nodes should become free, in milliseconds since 1970; `None` means now.
    pub from_ms: Option<u64>,
    /// The time when jobs may run on the nodes again.
    pub to_ms: u64,
    /// The name.
    pub name: Option<String>,
}

/// Commands of callers; each is decided immediately and atomically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Asks for nodes.
    Lease(LeaseRequest),
    /// Registers nodes that are already in use, regardless of the strategy.
    Hold {
        /// The machine, time to live, tenant and job; everything else is ignored.
        request: LeaseRequest,
        /// The boxes.
        parts: Vec<Cuboid>,
    },
    /// Ends a lease or takes a waiting request out of the queue.
    End {
        /// The lease.
        id: u64,
        /// The fencing token; not needed for a waiting request.
        epoch: Option<u64>,
    },
    /// Extends a lease.
    Renew {
        /// The lease.
        id: u64,
        /// The fencing token.
        epoch: u64,
        /// The new time to live from now; `None` means the original one.
        ttl_ms: Option<u64>,
    },
    /// Changes a node.
    Node {
        /// The machine's name; `None` means the first one.
        machine: Option<String>,
        /// The node.
        node: Coordinates,
        /// The change.
        change: NodeChange,
    },
    /// Reserves nodes in advance.
    Reserve(ReservationRequest),
    /// Cancels a reservation.
    Unreserve {
        /// The reservation.
        id: u64,
    },
    /// Carries out commands in order and independently, all at the same instant. Consecutive ends
    /// free their nodes together, so waiting requests can use all of these nodes.
    Batch(Vec<Command>),
    /// Stores the reply to a refused command under its key, once the refusal has been diagnosed.
    Keep(Written),
    /// Confirms a clock that is in doubt (operator). The command has the time of that clock.
    ConfirmClock,
    /// Records the time; sent by the service's own clock.
    NoteTime,
    /// Expires leases and advances the queue; sent by the service's own clock.
    Tick,
}
