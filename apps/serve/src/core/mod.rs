//! The service as a pure function: it takes a [`Command`] and a time, and returns
//! [`ServiceRecord`]s and a [`Reply`]. This module never reads a clock, a file or a socket. The
//! same commands at the same times therefore always produce the same records, and folding the
//! records always produces the same [`ServiceState`].

mod command;
mod decide;
mod ended;
mod epoch;
mod event;
mod fold;
mod lease;
mod leases;
pub(crate) mod problem;
pub mod reply;
mod reservation;
#[cfg(feature = "http")]
pub(crate) mod schema;
mod served_machine;
pub(crate) mod shares;
mod snapshot;
mod state;
mod stored_body;
mod stored_replies;
mod view;

pub use pavior::workload::Ask;

pub(crate) use command::node_coordinates;
pub use command::{Caller, Command, IdempotencyKey, LeaseRequest, ReservationRequest};
pub use decide::{ClockRule, Decision, RefusedRequest};
pub use event::{EndReason, Event, NodeState, ServiceRecord, StoredReply};
pub use fold::FoldError;
pub use lease::{Box3, JobName, Lease, WaitingRequest};
pub use leases::Leases;
pub use problem::{Problem, Reason};
pub use reply::{FormattedReply, Instant, Reply};
pub use reservation::Reservation;
#[cfg(feature = "http")]
pub(crate) use served_machine::{ServedMachine, UNLIMITED, job, micros};
pub use snapshot::StateSnapshot;
pub(crate) use state::find_machine;
pub use state::{MachineSpec, ServiceLimits, ServiceState, StateError};
pub use stored_body::StoredBody;
pub use view::{BoardView, NodeCounts, StateView};
