//! Commands of callers.

use pavior::{Coordinates, Cuboid, Freedom};

use super::{Ask, JobName, Reply, Written};
#[cfg(feature = "http")]
use super::{Problem, Reason};

/// The sender of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The tenant; `None` is the operator, who sees and may do everything.
    pub tenant: Option<String>,
}

impl Caller {
    /// The operator.
    pub const OPERATOR: Caller = Caller { tenant: None };

    /// Returns true if the caller may see and end a tenant's leases and requests.
    pub fn may_touch(&self, tenant: &str) -> bool {
        self.tenant.as_deref().is_none_or(|own| own == tenant)
    }

    /// Checks that the caller is the operator, who alone is told how leases could move.
    #[cfg(feature = "http")]
    pub(crate) fn may_see_moves(&self) -> Result<(), Problem> {
        let detail = "only the operator may see how to move leases";
        self.tenant
            .is_none()
            .then_some(())
            .ok_or_else(|| Problem::new(Reason::OperatorOnly, detail))
    }
}

/// A key that a client gives to a command, so that sending it twice does it once.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    /// The key, as the client wrote it. Tenants' keys are apart.
    pub key: String,
    /// A digest of the command; the same key with another command is an error.
    pub digest: u64,
    /// The function by which the interface of the client writes the reply, which is kept as it was
    /// written.
    pub write: fn(&Reply) -> Written,
}

/// A request for nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRequest {
    /// The machine's name; `None` is the first.
    pub machine: Option<String>,
    /// The nodes or the box.
    pub ask: Ask,
    /// The freedom to place it; `None` leaves that to the strategy.
    pub freedom: Option<Freedom>,
    /// The length in milliseconds; `None` is until it is ended.
    pub ttl_ms: Option<u64>,
    /// The time that the job is said to run, for schedulers; `None` is the time to live.
    pub estimate_ms: Option<u64>,
    /// For whom; `None` is the caller.
    pub tenant: Option<String>,
    /// The client's name for the job.
    pub job: Option<JobName>,
    /// Whether to wait in the queue if it cannot start now.
    pub wait: bool,
}

impl LeaseRequest {
    /// Makes a request of the caller for nodes of the first machine, which does not wait.
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

/// A change of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeChange {
    /// It is broken: a lease that holds it keeps it, and then it is unavailable.
    Fail,
    /// It is available again, whether it had failed or was drained.
    Repair,
    /// It is to be free for maintenance: as a failure, but under another name.
    Drain,
}

/// Nodes to be reserved ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservationRequest {
    /// The machine's name; `None` is the first.
    pub machine: Option<String>,
    /// The boxes, which may overlap.
    pub parts: Vec<Cuboid>,
    /// When the nodes are to be free, in milliseconds since 1970; `None` is now.
    pub from_ms: Option<u64>,
    /// When jobs may run on them again.
    pub to_ms: u64,
    /// Its name.
    pub name: Option<String>,
}

/// Commands of callers; each is decided at once and as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Asks for nodes.
    Lease(LeaseRequest),
    /// Takes over nodes that are in use already, whatever the strategy would have proposed.
    Hold {
        /// The machine, the time to live, tenant and job; the rest is not looked at.
        request: LeaseRequest,
        /// The boxes.
        parts: Vec<Cuboid>,
    },
    /// Ends a lease, or takes a waiting request out of the queue.
    End {
        /// The lease.
        id: u64,
        /// Its fencing token; not needed for a request that waits.
        epoch: Option<u64>,
    },
    /// Prolongs a lease.
    Renew {
        /// The lease.
        id: u64,
        /// Its fencing token.
        epoch: u64,
        /// The new time to live from now; `None` is the one that it was granted with.
        ttl_ms: Option<u64>,
    },
    /// Changes a node.
    Node {
        /// The machine's name; `None` is the first.
        machine: Option<String>,
        /// The node.
        node: Coordinates,
        /// The change.
        change: NodeChange,
    },
    /// Reserves nodes ahead.
    Reserve(ReservationRequest),
    /// Gives up a reservation.
    Unreserve {
        /// The reservation.
        id: u64,
    },
    /// Carries out commands in order, each on its own, at one instant. Ends that stand together
    /// free their nodes together: what waits is offered the nodes of all of them at once.
    Batch(Vec<Command>),
    /// Keeps the reply to a refused command under its key, once it has been diagnosed.
    Keep(Written),
    /// Ends the doubt about the clock (operator); the time of the command is that of the clock.
    ConfirmClock,
    /// Notes the time; sent by the service's own clock.
    NoteTime,
    /// Lets leases expire and the queue move; sent by the service's own clock.
    Tick,
}
