//! Why a command is not carried out.

use pavior_allocation::Refusal;
use serde_json::{Map, Value, json};

use super::Reply;

/// The kind of a problem: a word that programs read, with its HTTP status and title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The strategy refuses the request.
    Refused(Refusal),
    /// The tenant would hold more than its quota.
    OverQuota,
    /// The boxes of a hold are not free.
    NotFree,
    /// The lease is held under another epoch.
    StaleEpoch,
    /// The lease has ended.
    LeaseEnded,
    /// The request still waits: there is no lease to prolong.
    StillWaiting,
    /// No such lease, for this caller.
    UnknownLease,
    /// No such machine.
    UnknownMachine,
    /// No such node on this machine.
    UnknownNode,
    /// No such strategy.
    UnknownStrategy,
    /// The key was used for another command.
    KeyReused,
    /// A live lease bears this job's name.
    RepeatedJob,
    /// The queue is full.
    QueueFull,
    /// The machine has no scheduler: requests cannot wait.
    NoScheduler,
    /// Only the operator may do this.
    OperatorOnly,
    /// A tenant may name only itself.
    OtherTenant,
    /// A value is wrong.
    BadValue,
    /// More is asked for at once than may be.
    TooLarge,
    /// The reply that was kept under the key cannot be read.
    LostReply,
    /// There is no epoch left below 2^53.
    NoEpochs,
    /// The strategy proposed nodes that cannot be granted: it breaks its contract.
    BadStrategy,
}

impl Reason {
    /// The status, the word and the title.
    fn parts(self) -> (u16, &'static str, &'static str) {
        match self {
            Reason::Refused(refusal) => (409, refusal.word(), refusal.meaning()),
            Reason::OverQuota => (409, "over-quota", "the tenant's quota is used up"),
            Reason::NotFree => (409, "not-free", "some of the nodes are not free"),
            Reason::StaleEpoch => (409, "stale-epoch", "the lease is held under another epoch"),
            Reason::LeaseEnded => (409, "lease-ended", "the lease has ended"),
            Reason::StillWaiting => (409, "still-waiting", "the request still waits"),
            Reason::UnknownLease => (404, "unknown-lease", "there is no such lease"),
            Reason::UnknownMachine => (404, "unknown-machine", "there is no such machine"),
            Reason::UnknownNode => (404, "unknown-node", "there is no such node"),
            Reason::UnknownStrategy => (404, "unknown-strategy", "there is no such strategy"),
            Reason::KeyReused => (422, "key-reused", "the key was used for another request"),
            Reason::RepeatedJob => (409, "repeated-job", "a live lease bears this job's name"),
            Reason::QueueFull => (503, "queue-full", "the queue is full"),
            Reason::NoScheduler => (400, "no-scheduler", "the service orders no jobs"),
            Reason::OperatorOnly => (403, "operator-only", "only the operator may do this"),
            Reason::OtherTenant => (403, "other-tenant", "a tenant may name only itself"),
            Reason::TooLarge => (413, "too-large", "more is asked for at once than may be"),
            Reason::LostReply => (500, "lost-reply", "the kept reply cannot be read"),
            Reason::NoEpochs => (500, "no-epochs", "the epochs are used up"),
            Reason::BadValue => (400, "bad-value", "a value is wrong"),
            Reason::BadStrategy => (500, "bad-strategy", "the strategy breaks its contract"),
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        self.parts().1
    }
}

/// Why a command is not carried out, for people and for programs (RFC 9457).
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The kind.
    pub reason: Reason,
    /// What is wrong here, in a sentence.
    pub detail: String,
    /// Further members.
    pub members: Map<String, Value>,
}

impl Problem {
    /// A problem with a sentence.
    pub fn new(reason: Reason, detail: impl Into<String>) -> Problem {
        Problem { reason, detail: detail.into(), members: Map::new() }
    }

    /// The same with one more member.
    pub fn with(mut self, member: &str, value: Value) -> Problem {
        self.members.insert(member.to_string(), value);
        self
    }

    /// The reply that carries it.
    pub fn reply(&self) -> Reply {
        let (status, word, title) = self.reason.parts();
        let Value::Object(mut body) = json!({
            "type": format!("urn:pavior:problem:{word}"),
            "title": title,
            "status": status,
            "detail": self.detail,
            "reason": word,
        }) else {
            unreachable!("an object was just written")
        };
        body.extend(self.members.clone());
        Reply::new(status, &Value::Object(body))
    }
}
