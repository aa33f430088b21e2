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
mod kept;
mod keys;
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
#[cfg(feature = "http")]
mod tried_machine;
mod view;

pub use pavior::workload::Ask;

pub use command::{Caller, Command, IdempotencyKey, LeaseRequest, NodeChange, ReservationRequest};
pub use decide::{ClockRule, Decision, Refused};
pub use event::{Event, KeptReply, NodeState, ServiceRecord, Why};
pub use fold::FoldError;
pub use kept::KeptBody;
pub use lease::{Box3, JobName, Lease, WaitingRequest};
pub use leases::Leases;
pub use problem::{Problem, Reason};
pub use reply::{Instant, Reply, Written};
pub use reservation::Reservation;
#[cfg(feature = "http")]
pub(crate) use served_machine::{ServedMachine, estimate, micros};
pub use snapshot::StateSnapshot;
pub use state::{MachineSpec, ServiceLimits, ServiceState, StateError};
pub use view::{BoardView, NodeCounts, StateView};
