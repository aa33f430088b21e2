//! Commands and their senders.

use pavior::{Coordinates, Cuboid, Freedom, Grid};

use super::{Ask, FormattedReply, JobName, NodeState, Problem, Reason, Reply};

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
        self.tenant.as_deref().is_none_or(|name| name == tenant)
    }

    /// Returns a problem unless the caller is the operator, who alone may do `action`.
    pub(crate) fn require_operator(&self, action: &str) -> Result<(), Problem> {
        if self.tenant.is_none() {
            return Ok(());
        }
        Err(Problem::new(Reason::OperatorOnly, format!("only the operator may {action}")))
    }

    /// Checks that the caller is the operator; no one else may see how leases could be moved.
    #[cfg(feature = "http")]
    pub(crate) fn may_see_moves(&self) -> Result<(), Problem> {
        self.require_operator("see plans for moving leases")
    }
}

/// A key chosen by the client so that a retried command is executed only once.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    /// The key as sent by the client. Every tenant has its own key space.
    pub key: String,
    /// A digest of the command. Reusing the key for a different command is an error.
    pub digest: u64,
    /// A function that formats the reply for the client's interface and for storage.
    pub write: fn(&Reply) -> FormattedReply,
}

/// A request for nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRequest {
    /// The machine's name; `None` means the first machine.
    pub machine: Option<String>,
    /// The requested box or number of nodes.
    pub ask: Ask,
    /// The placement freedom; `None` lets the strategy decide.
    pub freedom: Option<Freedom>,
    /// The time to live in milliseconds; `None` means that the lease never expires on its own.
    pub ttl_ms: Option<u64>,
    /// The job's expected run time, used by schedulers; if it is `None`, they use the time to live.
    pub estimate_ms: Option<u64>,
    /// The tenant that receives the lease; `None` means the caller.
    pub tenant: Option<String>,
    /// The client's name for the job.
    pub job: Option<JobName>,
    /// True if the request should wait in the queue when it cannot start now.
    pub wait: bool,
}

impl LeaseRequest {
    /// Returns a non-waiting request for nodes on the first machine, on behalf of the caller.
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

/// A request to reserve nodes in advance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservationRequest {
    /// The machine's name; `None` means the first machine.
    pub machine: Option<String>,
    /// The boxes, which may overlap.
    pub parts: Vec<Cuboid>,
    /// The start of the reservation, in milliseconds since 1970; `None` means now.
    pub from_ms: Option<u64>,
    /// The end of the reservation, after which jobs may run on the nodes again.
    pub to_ms: u64,
    /// The reservation's name.
    pub name: Option<String>,
}

/// A command, which is decided immediately and atomically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Requests nodes.
    Lease(LeaseRequest),
    /// Records a lease on nodes that are already in use, bypassing the strategy.
    Hold {
        /// The machine, times, tenant and job. The other fields are ignored.
        request: LeaseRequest,
        /// The boxes.
        parts: Vec<Cuboid>,
    },
    /// Ends a lease or removes a waiting request from the queue.
    End {
        /// The number of the lease or waiting request.
        id: u64,
        /// The fencing token; not needed for a waiting request.
        epoch: Option<u64>,
    },
    /// Extends a lease.
    Renew {
        /// The lease's number.
        id: u64,
        /// The fencing token.
        epoch: u64,
        /// The new time to live, starting now; `None` means the original time to live.
        ttl_ms: Option<u64>,
    },
    /// Changes a node.
    Node {
        /// The machine's name; `None` means the first machine.
        machine: Option<String>,
        /// The node's coordinates.
        node: Coordinates,
        /// The new state. A lease that holds the node keeps it.
        state: NodeState,
    },
    /// Reserves nodes in advance.
    Reserve(ReservationRequest),
    /// Cancels a reservation.
    Unreserve {
        /// The reservation's number.
        id: u64,
    },
    /// Executes commands in order, each independently, with the same timestamp. Consecutive `End`
    /// commands free their nodes together, so waiting requests can use all of them.
    Batch(Vec<Command>),
    /// Stores the reply to a refused command under the command's key, after the refusal has been
    /// diagnosed.
    StoreReply(FormattedReply),
    /// Confirms a clock that is in doubt (operator only). The command's time is accepted as
    /// correct.
    ConfirmClock,
    /// Records the time. Only the service itself sends this command.
    NoteTime,
    /// Expires leases and advances the queues. Only the service itself sends this command.
    Tick,
}

/// Checks a node's coordinates.
pub(crate) fn node_coordinates(coordinates: &[u64], grid: &Grid) -> Result<Coordinates, Problem> {
    let axes = grid.axes();
    if coordinates.len() != axes {
        return Err(Problem::bad(format!("\"node\" must have {axes} coordinates")));
    }
    let outside = || {
        let detail = format!("node {coordinates:?} is outside {grid}");
        Problem::new(Reason::UnknownNode, detail)
    };
    let mut point = [0; 3];
    for (entry, &coordinate) in point.iter_mut().zip(coordinates) {
        *entry = u16::try_from(coordinate).map_err(|_| outside())?;
    }
    if grid.contains(point) { Ok(point) } else { Err(outside()) }
}
