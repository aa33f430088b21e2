//! Records of decisions. The journal is a list of these, and the state is their fold.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{KeptBody, Lease, MachineSpec, Reservation, WaitingRequest};

/// An entry of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceRecord {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// When it was decided, in milliseconds since 1970; never less than the one before.
    pub at_ms: u64,
    /// The decision.
    pub event: Event,
    /// The reply to the command that made it, if the client gave the command a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptReply>,
}

/// A reply that a client may ask for again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptReply {
    /// The tenant that gave the key; the empty name is the operator's.
    pub tenant: String,
    /// The key.
    pub key: String,
    /// A digest of the command.
    pub digest: u64,
    /// The status of the reply.
    pub status: u16,
    /// Its body, byte for byte.
    pub body: KeptBody,
}

/// Why a lease or a reservation is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Its holder ended it.
    Ended,
    /// Its time to live passed.
    Expired,
    /// It waited, and was taken out of the queue; or a reservation was given up.
    Cancelled,
}

/// The state of a node, apart from who holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeState {
    /// It has failed.
    Failed,
    /// It is to be free for maintenance.
    Drained,
    /// It is available.
    Healthy,
}

/// A decision. It says what was decided, not why: a later version of a strategy takes old decisions
/// as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// The machines of the service, in their order; those there already stay as they are.
    Configured {
        /// The machines.
        machines: Vec<MachineSpec>,
    },
    /// A lease begins. If a request of that number waits, it leaves the queue.
    Granted {
        /// The lease.
        #[serde(with = "shared")]
        lease: Arc<Lease>,
    },
    /// A request waits.
    Queued {
        /// The request.
        #[serde(with = "shared")]
        waiting: Arc<WaitingRequest>,
    },
    /// A lease is prolonged.
    Renewed {
        /// The lease.
        id: u64,
        /// When it ends now.
        expires_ms: Option<u64>,
        /// The tenant that has it; the empty name is the operator's.
        tenant: String,
    },
    /// A lease, or a waiting request, is no more.
    Ended {
        /// The lease.
        id: u64,
        /// Why.
        why: Why,
        /// The tenant that had it; the empty name is the operator's.
        tenant: String,
    },
    /// A node has changed.
    Node {
        /// The machine.
        machine: String,
        /// The node's coordinates, as many as the machine has axes.
        node: Vec<u16>,
        /// Its state now.
        state: NodeState,
    },
    /// Nodes are reserved ahead.
    Reserved {
        /// The reservation.
        #[serde(with = "shared")]
        reservation: Arc<Reservation>,
    },
    /// A reservation is over, or was given up.
    Unreserved {
        /// The reservation.
        id: u64,
        /// Why.
        why: Why,
    },
    /// The time, noted now and then, so that a start knows how long the service was down.
    Clock {
        /// Whether the clock is in doubt: until that is over, no lease ends by time.
        doubted: bool,
    },
    /// Nothing but a kept reply.
    Kept,
}

/// Values that a record and the state share are written as themselves.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        shared: &Arc<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        T::serialize(shared, serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(deserializer).map(Arc::new)
    }
}
