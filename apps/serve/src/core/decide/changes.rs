//! Decisions about existing leases and nodes.

use pavior::Coordinates;
use pavior::answers::json::Point;

use super::{Decider, Stop};
use crate::core::reply;
use crate::core::{EndReason, Event, JobName, Lease, NodeState, Problem, Reason, Reply};

impl Decider<'_> {
    pub(super) fn end(&mut self, id: u64, epoch: Option<u64>) -> Result<Reply, Stop> {
        if let Some(waiting) = self.state.waiting.get(&id)
            && self.caller.may_touch(&waiting.tenant)
        {
            if let Some(epoch) = epoch.filter(|&epoch| epoch != waiting.epoch) {
                let detail = format!("epoch {epoch} does not match the epoch of request {id}");
                return Err(Problem::new(Reason::StaleEpoch, detail).into());
            }
            let board = self.board(Some(&waiting.machine))?;
            self.record_end(id, EndReason::Cancelled);
            self.schedule(board);
            return Ok(ended_reply(id, 0));
        }
        let lease = self.held_lease(id, epoch)?;
        let (board, nodes) = (self.board(Some(&lease.machine))?, lease.nodes());
        self.record_end(id, EndReason::Ended);
        self.schedule(board);
        Ok(ended_reply(id, nodes))
    }

    pub(super) fn renew(
        &mut self,
        id: u64,
        epoch: u64,
        ttl_ms: Option<u64>,
    ) -> Result<Reply, Stop> {
        let lease = self.held_lease(id, Some(epoch))?;
        let (board, ttl) = (self.board(Some(&lease.machine))?, ttl_ms.or(lease.ttl_ms));
        let expires_ms = ttl.map(|ttl| self.now_ms.saturating_add(ttl));
        self.record_renewal(id, expires_ms);
        self.schedule(board);
        let grid = &self.state.boards[board].grid;
        let renewed = self.state.leases.get(id).expect("a renewed lease is held");
        Ok(Reply::Renewed(reply::LeaseReply::of(grid, renewed)))
    }

    /// Returns a lease if the caller holds it and the given epoch is current.
    fn held_lease(&self, id: u64, epoch: Option<u64>) -> Result<&Lease, Problem> {
        let may_touch = |tenant: &str| self.caller.may_touch(tenant);
        if let Some(lease) = self.state.leases.get(id).filter(|lease| may_touch(&lease.tenant)) {
            let detail = match epoch {
                Some(epoch) if lease.epoch == epoch => return Ok(lease),
                Some(epoch) => format!("lease {id} has epoch {}, not {epoch}", lease.epoch),
                None => format!("missing \"epoch\"; specify the epoch returned with lease {id}"),
            };
            return Err(Problem::new(Reason::StaleEpoch, detail));
        }
        if self.state.waiting.get(&id).is_some_and(|waiting| may_touch(&waiting.tenant)) {
            let detail = format!("request {id} is still waiting");
            return Err(Problem::new(Reason::StillWaiting, detail));
        }
        if self.state.ended.tenant(id).is_some_and(may_touch) {
            return Err(Problem::new(Reason::LeaseEnded, format!("lease {id} has ended")));
        }
        Err(Problem::new(Reason::UnknownLease, format!("no such lease: `{id}`")))
    }

    pub(super) fn node(
        &mut self,
        machine: Option<&str>,
        at: Coordinates,
        state: NodeState,
    ) -> Result<Reply, Stop> {
        self.caller.require_operator("fail, repair or drain nodes")?;
        let index = self.board(machine)?;
        let board = &self.state.boards[index];
        let grid = board.grid;
        let coordinates = &at[..grid.axes()];
        let Some(node) = board.node_at(coordinates) else {
            let detail = format!("node {coordinates:?} is outside {grid}");
            return Err(Problem::new(Reason::UnknownNode, detail).into());
        };
        if board.node_state(node) != state {
            let (machine, node) = (board.spec.name.clone(), coordinates.to_vec());
            self.record(Event::Node { machine, node, state });
            self.schedule(index);
        }
        let holder = self.state.boards[index].machine().holder(node).map(|job| job.0);
        let name = |id| self.state.leases.get(id).and_then(|lease| lease.job.clone());
        Ok(Reply::Node(reply::Node {
            node: Point::of(&grid, at),
            state,
            failed: state == NodeState::Failed,
            lease: holder,
            job: holder.map(|id| name(id).unwrap_or(JobName::Large(id))),
        }))
    }
}

fn ended_reply(id: u64, nodes: u32) -> Reply {
    Reply::Ended(reply::Ended { id, ended: true, nodes: nodes.into() })
}
