//! Records of decisions. The journal is a list of records; folding them yields the state.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Lease, MachineSpec, Reservation, StoredBody, WaitingRequest};

/// A journal entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceRecord {
    /// The record's number. Numbers start at 1 and have no gaps.
    pub seq: u64,
    /// The time of the decision, in milliseconds since 1970. It never decreases.
    pub at_ms: u64,
    /// The decision.
    pub event: Event,
    /// The reply to the command, if the client sent a key with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<StoredReply>,
}

/// A reply stored in case the client repeats the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredReply {
    /// The tenant that chose the key; empty for the operator.
    pub tenant: String,
    /// The key.
    pub key: String,
    /// A digest of the command.
    pub digest: u64,
    /// The reply's status.
    pub status: u16,
    /// The body, byte for byte.
    pub body: StoredBody,
}

/// The reason why a lease, waiting request or reservation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// The holder ended the lease.
    Ended,
    /// The lease or reservation expired.
    Expired,
    /// A waiting request was removed from the queue, or a reservation was canceled.
    Cancelled,
}

/// The state of a node, regardless of any lease that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeState {
    /// The node has failed.
    Failed,
    /// The node has been taken out of service for maintenance.
    Drained,
    /// The node is neither failed nor drained.
    Healthy,
}

/// A decision. It contains the outcome but not the reasons, so a later version of a strategy cannot
/// change past decisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// The machines to serve, in order. Existing machines keep their leases.
    Configured {
        /// The machines.
        machines: Vec<MachineSpec>,
    },
    /// A lease begins. Any waiting request with the same number leaves the queue.
    Granted {
        /// The lease.
        #[serde(with = "shared")]
        lease: Arc<Lease>,
    },
    /// A request joins the queue.
    Queued {
        /// The request.
        #[serde(with = "shared")]
        waiting: Arc<WaitingRequest>,
    },
    /// A lease is extended.
    Renewed {
        /// The lease's number.
        id: u64,
        /// The new expiry time.
        expires_ms: Option<u64>,
        /// The tenant that holds the lease; empty for the operator.
        tenant: String,
    },
    /// A lease or a waiting request ends.
    Ended {
        /// The number of the lease or waiting request.
        id: u64,
        /// The reason.
        why: EndReason,
        /// The tenant of the lease or request; empty for the operator.
        tenant: String,
    },
    /// A node's state changes.
    Node {
        /// The machine's name.
        machine: String,
        /// The node's coordinates, one per axis of the machine.
        node: Vec<u16>,
        /// The new state.
        state: NodeState,
    },
    /// Nodes are reserved in advance.
    Reserved {
        /// The reservation.
        #[serde(with = "shared")]
        reservation: Arc<Reservation>,
    },
    /// A reservation ends or is canceled.
    Unreserved {
        /// The reservation's number.
        id: u64,
        /// The reason.
        why: EndReason,
    },
    /// The current time, recorded periodically to show at startup how long the service was down.
    Clock {
        /// True if the clock is in doubt, in which case no lease expires.
        doubted: bool,
    },
    /// Nothing was decided; the record exists only to store a reply.
    Kept,
}

/// Serializes values held in an `Arc` as if they were plain values.
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
