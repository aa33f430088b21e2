//! Decisions, which turn commands into records.

use pavior::answers::Demand;
use pavior::{Answers, Cuboid, Refusal, Request};

mod batch;
mod changes;
mod clock;
mod reserve;

pub use clock::ClockRule;

use super::lease::boxes;
use super::problem::Quota;
use super::served_machine::estimate;
use super::{
    Caller, Command, Event, IdempotencyKey, KeptBody, KeptReply, Lease, LeaseRequest, Problem,
    Reason, Reply, ServiceRecord, ServiceState, WaitingRequest, Why, Written,
};
use super::{epoch, reply};

/// A decision on a command.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The reply to the caller.
    pub reply: Reply,
    /// The request to diagnose, if the strategy refused it.
    pub refused: Option<Refused>,
}

/// A request that the strategy refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The index of the machine.
    pub board: usize,
    /// The request.
    pub request: Request,
    /// The reason.
    pub refusal: Refusal,
    /// The number of nodes that the request needs, and the boxes that it may use.
    pub demand: Demand,
    /// True if the strategy decides solely by the number of free nodes.
    pub by_count: bool,
}

/// The reason why a command ends without a record.
enum Stop {
    Problem(Problem),
    Refused(Refused),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Problem(problem)
    }
}

impl From<Result<Reply, Stop>> for Decision {
    fn from(carried_out: Result<Reply, Stop>) -> Decision {
        match carried_out {
            Ok(reply) => Decision { reply, refused: None },
            Err(Stop::Problem(problem)) => {
                Decision { reply: Reply::Problem(problem), refused: None }
            }
            Err(Stop::Refused(refused)) => {
                let problem =
                    Problem::new(Reason::Refused(refused.refusal), refused.refusal.meaning());
                Decision { reply: Reply::Problem(problem), refused: Some(refused) }
            }
        }
    }
}

/// A decision in progress, with the records made so far.
struct Deciding<'a> {
    state: &'a mut ServiceState,
    now_ms: u64,
    caller: &'a Caller,
    records: &'a mut Vec<ServiceRecord>,
    /// True if another end or grant follows at the same instant; the queues advance after the last.
    more: bool,
}

impl ServiceState {
    /// Decides a command, applies the decision to the state, and adds its records.
    ///
    /// The same state, time and command always give the same records and the same reply. Leases
    /// that have expired by `now_ms` end first. A known key returns the original reply and changes
    /// nothing.
    pub fn decide(
        &mut self,
        now_ms: u64,
        caller: &Caller,
        key: Option<&IdempotencyKey>,
        command: Command,
        records: &mut Vec<ServiceRecord>,
    ) -> Decision {
        let now_ms = now_ms.max(self.now_ms);
        let mut deciding = Deciding { state: self, now_ms, caller, records, more: false };
        deciding.expire();
        let whose = caller.tenant.clone().unwrap_or_default();
        if let Some(IdempotencyKey { key, digest, .. }) = key
            && let Some((known, reply)) = deciding.state.keys.get(&whose, key)
        {
            let detail = "this Idempotency-Key was used for another request";
            let reply = match reply {
                _ if known != *digest => Reply::Problem(Problem::new(Reason::KeyReused, detail)),
                Ok(written) => Reply::Kept(written),
                Err(reason) => Reply::Problem(Problem::new(Reason::LostReply, reason)),
            };
            return Decision { reply, refused: None };
        }
        let first = deciding.records.len();
        let decision = Decision::from(deciding.carry_out(command));
        if let Some(IdempotencyKey { key, digest, write }) = key
            && decision.refused.is_none()
            && decision.reply.is_final()
        {
            let Written { status, body } = write(&decision.reply);
            let body = KeptBody::new(&body);
            let (key, digest) = (key.clone(), *digest);
            let kept = KeptReply { tenant: whose, key, digest, status, body };
            deciding.keep(first, kept);
        }
        decision
    }

    /// Advances the queues of all machines, because a server that becomes the leader has rebuilt
    /// its state from records, which do not contain the schedulers' plans.
    pub fn move_queues(&mut self, now_ms: u64, records: &mut Vec<ServiceRecord>) {
        let now_ms = now_ms.max(self.now_ms);
        let caller = &Caller::OPERATOR;
        let boards = 0..self.boards.len();
        let mut deciding = Deciding { state: self, now_ms, caller, records, more: false };
        deciding.expire();
        boards.for_each(|board| deciding.schedule(board));
    }
}

impl Deciding<'_> {
    fn carry_out(&mut self, command: Command) -> Result<Reply, Stop> {
        match command {
            Command::Lease(request) => self.lease(request),
            Command::Hold { request, parts } => self.hold(request, &parts),
            Command::End { id, epoch } => self.end(id, epoch),
            Command::Renew { id, epoch, ttl_ms } => self.renew(id, epoch, ttl_ms),
            Command::Node { machine, node, change } => self.node(machine.as_deref(), node, change),
            Command::Reserve(request) => self.reserve(request),
            Command::Unreserve { id } => self.unreserve(id),
            Command::Batch(all) => Ok(self.batch(all)),
            Command::Keep(written) => Ok(Reply::Kept(written)),
            Command::ConfirmClock => self.confirm_clock(),
            Command::NoteTime => {
                self.record(Event::Clock { doubted: self.state.doubted.is_some() });
                Ok(Reply::Done)
            }
            Command::Tick => Ok(Reply::Done),
        }
    }

    fn record(&mut self, event: Event) {
        let record =
            ServiceRecord { seq: self.state.seq + 1, at_ms: self.now_ms, event, kept: None };
        self.state.enter(&record).expect("a decision follows from the state in which it was made");
        self.records.push(record);
    }

    /// Records the end of a lease or a waiting request.
    fn record_end(&mut self, id: u64, why: Why) {
        let tenant = self.state.tenant_of(id).unwrap_or_default().to_string();
        self.record(Event::Ended { id, why, tenant });
    }

    fn record_renewal(&mut self, id: u64, expires_ms: Option<u64>) {
        let tenant = self.state.tenant_of(id).unwrap_or_default().to_string();
        self.record(Event::Renewed { id, expires_ms, tenant });
    }

    /// Stores a reply in its command's first record, or in a separate record if there is none.
    fn keep(&mut self, first: usize, kept: KeptReply) {
        if self.records.len() == first {
            self.record(Event::Kept);
        }
        self.state.keys.keep(self.now_ms, &kept, &self.state.limits);
        self.records[first].kept = Some(kept);
    }

    /// Ends overdue reservations and leases, then advances the queues of their machines.
    fn expire(&mut self) {
        if self.state.doubted.is_some() {
            return;
        }
        let mut moved = Vec::new();
        while let Some(&(at, id)) = self.state.over.first()
            && at <= self.now_ms
        {
            let board = self.record_unreserved(id, Why::Expired);
            moved.extend(board.filter(|board| !moved.contains(board)));
        }
        while let Some(&(at, id)) = self.state.expiries.first()
            && at <= self.now_ms
        {
            let machine = self.state.leases[&id].machine.clone();
            self.record_end(id, Why::Expired);
            let board = self.state.board_index(Some(&machine));
            moved.extend(board.filter(|board| !moved.contains(board)));
        }
        for board in moved {
            self.schedule(board);
        }
    }

    /// Advances a machine's queue.
    fn schedule(&mut self, board: usize) {
        self.state.moving.insert(board);
        self.move_queues();
    }

    /// Advances the pending queues, unless another end follows at the same instant.
    fn move_queues(&mut self) {
        while !self.more
            && let Some(board) = self.state.moving.pop_first()
        {
            self.start_waiting(board);
        }
    }

    /// Starts the requests that a machine's scheduler can start now.
    fn start_waiting(&mut self, board: usize) {
        while self.state.epoch < epoch::MAX_EPOCH
            && let Some((id, parts)) = self.state.boards[board].start_next(self.now_ms)
        {
            let waiting = self.state.waiting[&id].clone();
            let lease = self.begun(&waiting, &parts, Some(waiting.asked_ms));
            self.record(Event::Granted { lease: lease.into() });
        }
    }

    /// Returns a request with the next number.
    fn numbered(
        &self,
        board: usize,
        tenant: String,
        request: &Request,
        asked: LeaseRequest,
    ) -> WaitingRequest {
        WaitingRequest {
            id: self.state.next_id,
            epoch: self.state.epoch + 1,
            machine: self.state.boards[board].spec.name.clone(),
            requested: request.nodes,
            shape: request.shape,
            freedom: request.freedom,
            tenant,
            job: asked.job,
            asked_ms: self.now_ms,
            ttl_ms: asked.ttl_ms,
            estimate_ms: asked.estimate_ms,
        }
    }

    /// Returns a lease that begins now; `asked_ms` is set if its request has waited.
    fn begun(&self, request: &WaitingRequest, parts: &[Cuboid], asked_ms: Option<u64>) -> Lease {
        Lease {
            id: request.id,
            epoch: self.state.epoch + 1,
            machine: request.machine.clone(),
            parts: boxes(parts),
            requested: request.requested,
            shape: request.shape,
            freedom: request.freedom,
            tenant: request.tenant.clone(),
            job: request.job.clone(),
            start_ms: self.now_ms,
            expires_ms: request.ttl_ms.map(|ttl| self.now_ms.saturating_add(ttl)),
            ttl_ms: request.ttl_ms,
            estimate_ms: request.estimate_ms,
            asked_ms,
        }
    }

    /// Returns the machine and the tenant of a request whose job name is unused.
    fn enter(&self, request: &LeaseRequest) -> Result<(usize, String), Problem> {
        let board = self.board(request.machine.as_deref())?;
        if self.state.epoch + 1 >= epoch::MAX_EPOCH {
            return Err(Problem::new(Reason::NoEpochs, "no epochs are left below 2^53"));
        }
        let tenant = match (&self.caller.tenant, &request.tenant) {
            (None, named) => named.clone().unwrap_or_default(),
            (Some(own), None) => own.clone(),
            (Some(own), Some(named)) if own == named => own.clone(),
            (Some(own), Some(_)) => {
                let detail = format!("only the operator may act for a tenant other than `{own}`");
                return Err(Problem::new(Reason::OtherTenant, detail));
            }
        };
        if let Some(job) = &request.job
            && self.state.jobs.contains_key(&(tenant.clone(), job.clone()))
        {
            let detail = format!("job {job} already holds nodes or is waiting");
            return Err(Problem::new(Reason::RepeatedJob, detail));
        }
        Ok((board, tenant))
    }

    fn board(&self, name: Option<&str>) -> Result<usize, Problem> {
        self.state.board_index(name).ok_or_else(|| {
            let known: Vec<&str> =
                self.state.boards.iter().map(|board| board.spec.name.as_str()).collect();
            let asked = name.unwrap_or_default();
            let detail =
                format!("there is no machine `{asked}`; the machines are {}", known.join(", "));
            Problem::new(Reason::UnknownMachine, detail)
        })
    }

    fn within_quota(&self, tenant: &str, nodes: u64) -> Result<(), Problem> {
        let used = self.state.usage.get(tenant).copied().unwrap_or(0);
        match self.state.quota(tenant) {
            Some(quota) if used.saturating_add(nodes) > quota => {
                let detail = format!(
                    "tenant `{tenant}` already holds or waits for {used} of its {quota} nodes and \
                     requests {nodes} more"
                );
                let quota = Some(Quota { quota, used });
                Err(Problem { quota, ..Problem::new(Reason::OverQuota, detail) })
            }
            _ => Ok(()),
        }
    }

    fn lease(&mut self, asked: LeaseRequest) -> Result<Reply, Stop> {
        let (board, tenant) = self.enter(&asked)?;
        let request = self.state.boards[board].request(asked.ask).with_freedom(asked.freedom);
        let fits = self.state.boards[board].could_ever_fit(&request);
        fits.map_err(|refusal| self.refused(board, request, refusal))?;
        let machine = self.state.boards[board].machine();
        // A waiting request counts with the most nodes that it may be granted later.
        let needed = if asked.wait { machine.most(&request) } else { machine.needed(&request) };
        self.within_quota(&tenant, needed)?;
        if asked.wait {
            return Ok(self.queue(board, tenant, &request, asked)?);
        }
        // A strategy may round up, so the nodes that it would grant are counted.
        let estimate = estimate(asked.estimate_ms, asked.ttl_ms);
        let now_ms = self.now_ms;
        if let Ok(placement) = self.state.boards[board].probe(&request, now_ms, estimate) {
            self.within_quota(&tenant, u64::from(placement.nodes()))?;
        }
        let (id, served) = (self.state.next_id, &mut self.state.boards[board]);
        let granted = served.grant(id, request, now_ms, estimate);
        let reserved = granted.is_err().then(|| served.reserved_for(&request, now_ms, estimate));
        if let Some(reservation) = reserved.flatten() {
            return Err(self.reserved_problem(reservation).into());
        }
        let parts = granted.map_err(|error| match error.refusal() {
            Some(refusal) => self.refused(board, request, refusal),
            None => Stop::Problem(Problem::new(Reason::BadStrategy, error.to_string())),
        })?;
        Ok(self.grant(board, tenant, &request, &parts, asked))
    }

    /// Returns the refusal of a request, with the strategy's demand for the diagnosis.
    fn refused(&self, board: usize, request: Request, refusal: Refusal) -> Stop {
        let machine = self.state.boards[board].machine();
        let demand = Demand::refused(machine, &request);
        let by_count = machine.answers(&request) == Answers::Count;
        Stop::Refused(Refused { board, request, refusal, demand, by_count })
    }

    /// Records a lease of nodes that the machine has granted. The scheduler replans waiting
    /// requests whose reservations overlap it.
    fn grant(
        &mut self,
        board: usize,
        tenant: String,
        request: &Request,
        parts: &[Cuboid],
        asked: LeaseRequest,
    ) -> Reply {
        let request = self.numbered(board, tenant, request, asked);
        let lease = self.begun(&request, parts, None);
        let reply = Reply::Granted(reply::Lease::of(&self.state.boards[board].grid, &lease));
        self.record(Event::Granted { lease: lease.into() });
        self.schedule(board);
        reply
    }

    fn queue(
        &mut self,
        board: usize,
        tenant: String,
        request: &Request,
        asked: LeaseRequest,
    ) -> Result<Reply, Problem> {
        if !self.state.boards[board].orders() {
            let detail = "requests cannot wait: the service was started without --scheduler";
            return Err(Problem::new(Reason::NoScheduler, detail));
        }
        self.place_in_queue(board, &tenant)?;
        let waiting = self.numbered(board, tenant, request, asked);
        let id = waiting.id;
        let shown = reply::Waiting::of(&self.state.boards[board].grid, &waiting);
        self.record(Event::Queued { waiting: waiting.into() });
        self.schedule(board);
        Ok(match self.state.leases.get(&id) {
            Some(lease) => Reply::Granted(reply::Lease::of(&self.state.boards[board].grid, lease)),
            None => Reply::Waiting(shown),
        })
    }

    /// Checks that a machine's queue has a free place. A tenant may not occupy more places than
    /// remain free, so no tenant can lock out the others.
    fn place_in_queue(&self, board: usize, tenant: &str) -> Result<(), Problem> {
        let most = self.state.limits.waiting;
        let all = self.state.boards[board].waiting();
        let count = all.count();
        let left = most.saturating_sub(count);
        if left == 0 {
            return Err(Problem::new(
                Reason::QueueFull,
                format!("{most} requests are already waiting"),
            ));
        }
        // While more than half of the places are free, no tenant can occupy more than that.
        if self.caller.tenant.is_none() || count < left {
            return Ok(());
        }
        let own = |id: &u64| self.state.waiting[id].tenant == tenant;
        let own = self.state.boards[board].waiting().filter(own).count();
        if own >= left {
            let detail = format!(
                "tenant `{tenant}` has {own} of the {count} waiting requests; one tenant can \
                 occupy at most as many of the {most} places as are free"
            );
            return Err(Problem::new(Reason::QueueFull, detail));
        }
        Ok(())
    }

    fn hold(&mut self, asked: LeaseRequest, parts: &[Cuboid]) -> Result<Reply, Stop> {
        self.operator("hold nodes")?;
        let (board, tenant) = self.enter(&asked)?;
        let free = self.state.boards[board].check(parts);
        free.map_err(|reason| Problem::new(Reason::NotFree, reason))?;
        let nodes: u64 = parts.iter().map(|part| u64::from(part.volume())).sum();
        self.within_quota(&tenant, nodes)?;
        let grid = self.state.boards[board].grid;
        let parts: Vec<Cuboid> = parts.iter().map(|part| part.canonical(&grid)).collect();
        let shape = if let [only] = parts[..] { Some(only.sides) } else { None };
        let request = Request { nodes: nodes as u32, shape, freedom: None, pool: None };
        Ok(self.grant(board, tenant, &request, &parts, asked))
    }
}
