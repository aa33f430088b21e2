//! Decides commands. A decision yields a reply and the records that describe what changed.

mod batch;
mod changes;
mod clock;
mod expiry;
mod lease;
mod queue;
mod reserve;

use std::collections::BTreeSet;

use pavior::answers::Demand;
use pavior::{Refusal, Request};

pub use clock::ClockRule;

use super::{
    Caller, Command, EndReason, Event, FormattedReply, IdempotencyKey, Problem, Reason, Reply,
    ServiceRecord, ServiceState, StoredBody, StoredReply, find_machine,
};

/// A decision on a command.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The reply to the caller.
    pub reply: Reply,
    /// The request to be diagnosed, if the strategy refused it.
    pub refused: Option<RefusedRequest>,
}

/// A request that the strategy refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRequest {
    /// The index of the machine.
    pub board: usize,
    /// The request.
    pub request: Request,
    /// The reason.
    pub refusal: Refusal,
    /// The number of nodes that the request needs, and the boxes that it may use.
    pub demand: Demand,
    /// True if the strategy considers only the number of free nodes.
    pub by_count: bool,
}

/// The reason why a command was not carried out.
enum Stop {
    Problem(Problem),
    Refused(RefusedRequest),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Problem(problem)
    }
}

impl From<Result<Reply, Stop>> for Decision {
    fn from(result: Result<Reply, Stop>) -> Decision {
        let (reply, refused) = match result {
            Ok(reply) => (reply, None),
            Err(Stop::Problem(problem)) => (Reply::Problem(problem), None),
            Err(Stop::Refused(refused)) => {
                let RefusedRequest { refusal, .. } = refused;
                let problem = Problem::new(Reason::Refused(refusal), refusal.meaning());
                (Reply::Problem(problem), Some(refused))
            }
        };
        Decision { reply, refused }
    }
}

/// A decision in progress, with the records made so far.
struct Decider<'a> {
    state: &'a mut ServiceState,
    now_ms: u64,
    caller: &'a Caller,
    records: &'a mut Vec<ServiceRecord>,
    /// True if the queues should advance only after a later end or grant command in the batch.
    more: bool,
    /// The machines whose queues must still advance.
    pending_queues: BTreeSet<usize>,
}

impl ServiceState {
    /// Decides a command, applies the decision to the state, and appends its records.
    ///
    /// The same state, time and command always produce the same records and reply. Leases that have
    /// expired by `now_ms` are ended first. If the key is already known, returns the original reply
    /// without executing the command.
    pub fn decide(
        &mut self,
        now_ms: u64,
        caller: &Caller,
        key: Option<&IdempotencyKey>,
        command: Command,
        records: &mut Vec<ServiceRecord>,
    ) -> Decision {
        let mut decider = Decider::new(self, now_ms, caller, records);
        decider.expire();
        let Some(key) = key else { return decider.carry_out(command).into() };
        let tenant = caller.tenant.clone().unwrap_or_default();
        if let Some(reply) = decider.state.earlier_reply(decider.now_ms, &tenant, key) {
            return Decision { reply, refused: None };
        }
        let first = decider.records.len();
        let decision = Decision::from(decider.carry_out(command));
        if decision.refused.is_none() && decision.reply.is_final() {
            let FormattedReply { status, body } = (key.write)(&decision.reply);
            let (body, digest) = (StoredBody::new(&body), key.digest);
            let reply = StoredReply { tenant, key: key.key.clone(), digest, status, body };
            decider.store_reply(first, reply);
        }
        decision
    }

    /// Returns the reply to an earlier command with this key.
    fn earlier_reply(&self, now_ms: u64, tenant: &str, key: &IdempotencyKey) -> Option<Reply> {
        let (digest, reply) = self.replies.get(now_ms, tenant, &key.key)?;
        let detail = "this Idempotency-Key was already used for a different request";
        Some(match reply {
            _ if digest != key.digest => Reply::Problem(Problem::new(Reason::KeyReused, detail)),
            Ok(reply) => Reply::Stored(reply),
            Err(reason) => Reply::Problem(Problem::new(Reason::LostReply, reason)),
        })
    }

    /// Advances the queues on all machines. A new leader needs this because it has rebuilt its
    /// state from records, which do not contain the schedulers' plans.
    pub fn advance_queues(&mut self, now_ms: u64, records: &mut Vec<ServiceRecord>) {
        let boards = 0..self.boards.len();
        let mut decider = Decider::new(self, now_ms, &Caller::OPERATOR, records);
        decider.expire();
        boards.for_each(|board| decider.schedule(board));
    }
}

impl<'a> Decider<'a> {
    /// Returns a decision in progress at the given time, or at that of the last record if later.
    fn new(
        state: &'a mut ServiceState,
        now_ms: u64,
        caller: &'a Caller,
        records: &'a mut Vec<ServiceRecord>,
    ) -> Decider<'a> {
        let now_ms = now_ms.max(state.now_ms);
        Decider { state, now_ms, caller, records, more: false, pending_queues: BTreeSet::new() }
    }

    fn carry_out(&mut self, command: Command) -> Result<Reply, Stop> {
        match command {
            Command::Lease(request) => self.lease(request),
            Command::Hold { request, parts } => self.hold(request, &parts),
            Command::End { id, epoch } => self.end(id, epoch),
            Command::Renew { id, epoch, ttl_ms } => self.renew(id, epoch, ttl_ms),
            Command::Node { machine, node, state } => self.node(machine.as_deref(), node, state),
            Command::Reserve(request) => self.reserve(request),
            Command::Unreserve { id } => self.unreserve(id),
            Command::Batch(commands) => Ok(self.batch(commands)),
            Command::StoreReply(reply) => Ok(Reply::Stored(reply)),
            Command::ConfirmClock => self.confirm_clock(),
            Command::NoteTime => {
                self.record(Event::Clock { doubted: self.state.is_clock_doubted() });
                Ok(Reply::Done)
            }
            Command::Tick => Ok(Reply::Done),
        }
    }

    fn record(&mut self, event: Event) {
        let record =
            ServiceRecord { seq: self.state.seq + 1, at_ms: self.now_ms, event, kept: None };
        let applied = self.state.apply_event(&record);
        applied.expect("a decision follows from the state in which it was made");
        self.records.push(record);
    }

    /// Records the end of a lease or a waiting request.
    fn record_end(&mut self, id: u64, why: EndReason) {
        let tenant = self.state.tenant_of(id).unwrap_or_default().to_string();
        self.record(Event::Ended { id, why, tenant });
    }

    fn record_renewal(&mut self, id: u64, expires_ms: Option<u64>) {
        let tenant = self.state.tenant_of(id).unwrap_or_default().to_string();
        self.record(Event::Renewed { id, expires_ms, tenant });
    }

    /// Stores a reply in its command's first record, or in a separate record if there is none.
    fn store_reply(&mut self, first: usize, reply: StoredReply) {
        if self.records.len() == first {
            self.record(Event::Kept);
        }
        self.state.replies.add(self.now_ms, &reply, &self.state.limits);
        self.records[first].kept = Some(reply);
    }

    /// Returns the index of the named machine, or of the first machine if no name is given.
    fn board(&self, name: Option<&str>) -> Result<usize, Problem> {
        find_machine(self.state.boards.iter().map(|board| &board.spec), name)
    }
}
