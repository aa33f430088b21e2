//! Reasons why a command failed.

use pavior::Refusal;

/// Defines the problems other than a strategy's refusals, each with its code and title.
macro_rules! reasons {
    ($($name:ident: $word:literal, $title:literal;)*) => {
        /// A kind of problem, with a machine-readable code and a title.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Reason {
            /// The strategy refuses the request.
            Refused(Refusal),
            $(#[doc = $title] $name,)*
        }

        impl Reason {
            /// Returns the machine-readable code and the title.
            fn parts(self) -> (&'static str, &'static str) {
                match self {
                    Reason::Refused(refusal) => (refusal.word(), refusal.meaning()),
                    $(Reason::$name => ($word, $title),)*
                }
            }
        }
    };
}

reasons! {
    Reserved: "reserved", "the nodes are reserved";
    OverQuota: "over-quota", "the request exceeds the tenant's quota";
    NotFree: "not-free", "some of the nodes are not free";
    StaleEpoch: "stale-epoch", "the lease has a different epoch";
    LeaseEnded: "lease-ended", "the lease has ended";
    // There is no lease to extend yet.
    StillWaiting: "still-waiting", "the request is still waiting";
    // The lease may exist, but the caller may not see it.
    UnknownLease: "unknown-lease", "no such lease";
    UnknownReservation: "unknown-reservation", "no such reservation";
    UnknownMachine: "unknown-machine", "no such machine";
    UnknownNode: "unknown-node", "no such node";
    UnknownStrategy: "unknown-strategy", "no such strategy";
    KeyReused: "key-reused", "the Idempotency-Key was used for a different request";
    RepeatedJob: "repeated-job", "the job name is already in use";
    QueueFull: "queue-full", "the queue is full";
    NoScheduler: "no-scheduler", "the machine has no scheduler";
    OperatorOnly: "operator-only", "only the operator may do this";
    OtherTenant: "other-tenant", "a tenant may act only for itself";
    NotYet: "not-yet", "past records are still being read";
    BadValue: "bad-value", "a value is invalid";
    TooLarge: "too-large", "the request is too large";
    LostReply: "lost-reply", "the stored reply cannot be read";
    // All epochs below 2^53 are used up.
    NoEpochs: "no-epochs", "no epochs left";
    // The strategy proposed nodes that cannot be granted.
    BadStrategy: "bad-strategy", "the strategy violated its contract";
}

impl Reason {
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
