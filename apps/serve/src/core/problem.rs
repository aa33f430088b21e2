//! Reasons why a command failed.

use pavior::Refusal;

/// A kind of problem, with a machine-readable code and a title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The strategy refuses the request.
    Refused(Refusal),
    /// The request would overlap a reservation.
    Reserved,
    /// The tenant would exceed its quota.
    OverQuota,
    /// Some of the requested nodes are not free.
    NotFree,
    /// The epoch does not match the lease's current epoch.
    StaleEpoch,
    /// The lease has ended.
    LeaseEnded,
    /// The request is still waiting, so there is no lease to extend.
    StillWaiting,
    /// The lease does not exist, or the caller may not see it.
    UnknownLease,
    /// The reservation does not exist.
    UnknownReservation,
    /// The machine does not exist.
    UnknownMachine,
    /// The node does not exist on this machine.
    UnknownNode,
    /// The strategy does not exist.
    UnknownStrategy,
    /// The key was used for another command.
    KeyReused,
    /// The job name is already in use.
    RepeatedJob,
    /// The queue is full.
    QueueFull,
    /// The machine has no scheduler, so requests cannot wait.
    NoScheduler,
    /// Only the operator may do this.
    OperatorOnly,
    /// A tenant may act only for itself.
    OtherTenant,
    /// Past records are still being read.
    NotYet,
    /// A value is invalid.
    BadValue,
    /// The request exceeds a limit on the size of a single request.
    TooLarge,
    /// The reply stored under the key is corrupt.
    LostReply,
    /// All epochs below 2^53 are used up.
    NoEpochs,
    /// The strategy violated its contract by proposing nodes that cannot be granted.
    BadStrategy,
}

impl Reason {
    /// Returns the machine-readable code and the title.
    fn parts(self) -> (&'static str, &'static str) {
        match self {
            Reason::Refused(refusal) => (refusal.word(), refusal.meaning()),
            Reason::Reserved => ("reserved", "the nodes are reserved"),
            Reason::OverQuota => ("over-quota", "the request exceeds the tenant's quota"),
            Reason::NotFree => ("not-free", "some of the nodes are not free"),
            Reason::StaleEpoch => ("stale-epoch", "the lease has a different epoch"),
            Reason::LeaseEnded => ("lease-ended", "the lease has ended"),
            Reason::StillWaiting => ("still-waiting", "the request is still waiting"),
            Reason::UnknownLease => ("unknown-lease", "no such lease"),
            Reason::UnknownReservation => ("unknown-reservation", "no such reservation"),
            Reason::UnknownMachine => ("unknown-machine", "no such machine"),
            Reason::UnknownNode => ("unknown-node", "no such node"),
            Reason::UnknownStrategy => ("unknown-strategy", "no such strategy"),
            Reason::KeyReused => {
                ("key-reused", "the Idempotency-Key was used for a different request")
            }
            Reason::RepeatedJob => ("repeated-job", "the job name is already in use"),
            Reason::QueueFull => ("queue-full", "the queue is full"),
            Reason::NoScheduler => ("no-scheduler", "the machine has no scheduler"),
            Reason::OperatorOnly => ("operator-only", "only the operator may do this"),
            Reason::OtherTenant => ("other-tenant", "a tenant may act only for itself"),
            Reason::NotYet => ("not-yet", "past records are still being read"),
            Reason::BadValue => ("bad-value", "a value is invalid"),
            Reason::TooLarge => ("too-large", "the request is too large"),
            Reason::LostReply => ("lost-reply", "the stored reply cannot be read"),
            Reason::NoEpochs => ("no-epochs", "no epochs left"),
            Reason::BadStrategy => ("bad-strategy", "the strategy violated its contract"),
        }
    }

    /// Returns the machine-readable code.
    pub fn word(self) -> &'static str {
        self.parts().0
    }

    /// Returns the title.
    pub fn title(self) -> &'static str {
        self.parts().1
    }

    /// Returns true if the problem is a decision about the command, which is then stored under the
    /// command's key. If false, the service could not decide, and the key remains unused.
    pub(crate) fn is_decision(self) -> bool {
        use Reason::{BadStrategy, LostReply, NoEpochs, NotYet, QueueFull};
        !matches!(self, BadStrategy | LostReply | NoEpochs | NotYet | QueueFull)
    }
}

/// The reason why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of problem.
    pub reason: Reason,
    /// A one-sentence description of the problem.
    pub detail: String,
    /// The exceeded quota.
    pub(crate) quota: Option<Quota>,
}

/// A tenant's node quota and the number of nodes it currently uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    pub(crate) quota: u64,
    pub(crate) used: u64,
}

impl Problem {
    /// Returns a problem with the given description and no quota.
    pub fn new(reason: Reason, detail: impl Into<String>) -> Problem {
        Problem { reason, detail: detail.into(), quota: None }
    }

    /// Returns the problem for an invalid value.
    pub(crate) fn bad(detail: impl Into<String>) -> Problem {
        Problem::new(Reason::BadValue, detail)
    }
}
