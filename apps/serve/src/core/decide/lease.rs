//! Decisions on requests for nodes.

use pavior::answers::Demand;
use pavior::{Answers, Cuboid, Refusal, Request};

use super::{Decider, RefusedRequest, Stop};
use crate::core::lease::{boxes, estimate};
use crate::core::{
    Event, Lease, LeaseRequest, Problem, Reason, Reply, WaitingRequest, epoch, reply,
};

/// A request with its machine and tenant resolved.
pub(super) struct Admission {
    pub(super) board: usize,
    pub(super) tenant: String,
    /// The request for the strategy.
    pub(super) request: Request,
    /// The request as the client sent it.
    pub(super) asked: LeaseRequest,
}

impl Decider<'_> {
    pub(super) fn lease(&mut self, asked: LeaseRequest) -> Result<Reply, Stop> {
        let (board, tenant) = self.resolve(&asked)?;
        let request = self.state.boards[board].request(asked.ask).with_freedom(asked.freedom);
        let fits = self.state.boards[board].could_ever_fit(&request);
        fits.map_err(|refusal| self.refusal(board, request, refusal))?;
        let machine = self.state.boards[board].machine();
        // If the request may wait, apply the quota to the largest number of nodes that the request
        // could get.
        let needed = if asked.wait { machine.most(&request) } else { machine.needed(&request) };
        self.check_quota(&tenant, needed)?;
        let admission = Admission { board, tenant, request, asked };
        if admission.asked.wait {
            return Ok(self.enqueue(admission)?);
        }
        let parts = self.allocate(&admission)?;
        Ok(self.grant(admission, &parts))
    }

    /// Has the strategy allocate nodes for a request that does not wait.
    fn allocate(&mut self, admission: &Admission) -> Result<Vec<Cuboid>, Stop> {
        let Admission { board, ref tenant, request, ref asked } = *admission;
        let (now_ms, estimate) = (self.now_ms, estimate(asked.estimate_ms, asked.ttl_ms));
        // A strategy may round up, so check the number of nodes that it would actually grant.
        if let Ok(placement) = self.state.boards[board].probe(&request, now_ms, estimate) {
            self.check_quota(tenant, u64::from(placement.nodes()))?;
        }
        let (id, machine) = (self.state.next_id, &mut self.state.boards[board]);
        let error = match machine.grant(id, request, now_ms, estimate) {
            Ok(parts) => return Ok(parts),
            Err(error) => error,
        };
        let reservation = machine.blocking_reservation(&request, now_ms, estimate);
        if let Some(reservation) = reservation.and_then(|id| self.state.reservations.get(&id)) {
            return Err(super::reserve::reserved_problem(reservation).into());
        }
        Err(match error.refusal() {
            Some(refusal) => self.refusal(board, request, refusal),
            None => Stop::Problem(Problem::new(Reason::BadStrategy, error.to_string())),
        })
    }

    /// Grants a lease on specific free nodes. Unlike [`Decider::allocate`], does not check advance
    /// reservations, because a job is already using the nodes.
    pub(super) fn hold(&mut self, asked: LeaseRequest, parts: &[Cuboid]) -> Result<Reply, Stop> {
        self.caller.require_operator("hold nodes")?;
        let (board, tenant) = self.resolve(&asked)?;
        let free = self.state.boards[board].check_free(parts);
        free.map_err(|reason| Problem::new(Reason::NotFree, reason))?;
        let nodes: u64 = parts.iter().map(|part| u64::from(part.volume())).sum();
        self.check_quota(&tenant, nodes)?;
        let grid = self.state.boards[board].grid;
        let parts: Vec<Cuboid> = parts.iter().map(|part| part.canonical(&grid)).collect();
        let shape = if let [only] = parts[..] { Some(only.sides) } else { None };
        let request = Request { nodes: nodes as u32, shape, freedom: None, pool: None };
        Ok(self.grant(Admission { board, tenant, request, asked }, &parts))
    }

    /// Resolves a request's machine and tenant. Also checks that the job name is not in use and
    /// that unused epochs are left.
    fn resolve(&self, request: &LeaseRequest) -> Result<(usize, String), Problem> {
        let board = self.board(request.machine.as_deref())?;
        if self.state.epoch + 1 >= epoch::MAX_EPOCH {
            return Err(Problem::new(
                Reason::NoEpochs,
                "the service has used up all epochs below 2^53",
            ));
        }
        let tenant = match (&self.caller.tenant, &request.tenant) {
            (None, named) => named.clone().unwrap_or_default(),
            (Some(tenant), None) => tenant.clone(),
            (Some(tenant), Some(named)) if tenant == named => tenant.clone(),
            (Some(tenant), Some(_)) => {
                let detail = format!("tenant `{tenant}` may not act on behalf of another tenant");
                return Err(Problem::new(Reason::OtherTenant, detail));
            }
        };
        if let Some(job) = &request.job
            && self.state.jobs.contains_key(&(tenant.clone(), job.clone()))
        {
            let detail = format!("job {job} is already waiting or already holds nodes");
            return Err(Problem::new(Reason::RepeatedJob, detail));
        }
        Ok((board, tenant))
    }

    /// Returns the refusal of a request, along with the data needed to diagnose it.
    fn refusal(&self, board: usize, request: Request, refusal: Refusal) -> Stop {
        let machine = self.state.boards[board].machine();
        let demand = Demand::refused(machine, &request);
        let by_count = machine.answers(&request) == Answers::Count;
        Stop::Refused(RefusedRequest { board, request, refusal, demand, by_count })
    }

    /// Records a lease on nodes that the machine has granted. The scheduler replans waiting
    /// requests whose reservations overlap the lease.
    fn grant(&mut self, admission: Admission, parts: &[Cuboid]) -> Reply {
        let board = admission.board;
        let lease = self.new_lease(&self.new_request(admission), parts, None);
        let reply = Reply::Granted(reply::LeaseReply::of(&self.state.boards[board].grid, &lease));
        self.record(Event::Granted { lease: lease.into() });
        self.schedule(board);
        reply
    }

    /// Creates a waiting request with the next unused number.
    pub(super) fn new_request(&self, admission: Admission) -> WaitingRequest {
        let Admission { board, tenant, request, asked } = admission;
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

    /// Creates a lease that begins now. `asked_ms` is the time of the request, if it had to wait.
    pub(super) fn new_lease(
        &self,
        request: &WaitingRequest,
        parts: &[Cuboid],
        asked_ms: Option<u64>,
    ) -> Lease {
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
}
