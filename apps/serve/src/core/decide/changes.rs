//! Decisions about existing leases and about nodes.

use pavior::Coordinates;
use pavior::answers::json::Point;

use super::{Deciding, Stop};
use crate::core::reply;
use crate::core::{Event, JobName, Lease, NodeChange, NodeState, Problem, Reason, Reply, Why};

/// Formats coordinates as JSON.
fn list(point: &[u16]) -> String {
    let all: Vec<String> = point.iter().map(u16::to_string).collect();
    format!("[{}]", all.join(","))
}

fn ended(id: u64, nodes: u32) -> Reply {
    Reply::Ended(reply::Ended { id, ended: true, nodes: nodes.into() })
}

fn shown(epoch: Option<u64>) -> String {
    epoch.map(|epoch| epoch.to_string()).unwrap_or_default()
}

impl Deciding<'_> {
    pub(super) fn end(&mut self, id: u64, epoch: Option<u64>) -> Result<Reply, Stop> {
        if let Some(waiting) = self.state.waiting.get(&id)
            && self.caller.may_touch(&waiting.tenant)
        {
            if epoch.is_some_and(|epoch| epoch != waiting.epoch) {
                let detail = format!("epoch {} is not that of request {id}", shown(epoch));
                return Err(Problem::new(Reason::StaleEpoch, detail).into());
            }
            let machine = waiting.machine.clone();
            self.record_end(id, Why::Cancelled);
            let board = self.board(Some(&machine))?;
            self.schedule(board);
            return Ok(ended(id, 0));
        }
        let (board, nodes) = {
            let lease = self.held(id, epoch)?;
            (self.board(Some(&lease.machine))?, lease.nodes())
        };
        self.record_end(id, Why::Ended);
        self.schedule(board);
        Ok(ended(id, nodes))
    }

    pub(super) fn renew(
        &mut self,
        id: u64,
        epoch: u64,
        ttl_ms: Option<u64>,
    ) -> Result<Reply, Stop> {
        let lease = self.held(id, Some(epoch))?;
        let (machine, ttl) = (lease.machine.clone(), ttl_ms.or(lease.ttl_ms));
        let expires_ms = ttl.map(|ttl| self.now_ms.saturating_add(ttl));
        self.record_renewal(id, expires_ms);
        let board = self.board(Some(&machine))?;
        self.schedule(board);
        let grid = &self.state.boards[board].grid;
        Ok(Reply::Renewed(reply::Lease::of(grid, &self.state.leases[&id])))
    }

    /// Returns a lease if the caller holds it under this epoch.
    fn held(&self, id: u64, epoch: Option<u64>) -> Result<&Lease, Problem> {
        let own = |tenant: &str| self.caller.may_touch(tenant);
        if let Some(lease) = self.state.leases.get(&id).filter(|lease| own(&lease.tenant)) {
            let detail = match epoch {
                Some(epoch) if lease.epoch == epoch => return Ok(lease),
                Some(epoch) => {
                    format!("lease {id} is held under epoch {}, not {epoch}", lease.epoch)
                }
                None => format!("missing \"epoch\", which was returned with lease {id}"),
            };
            return Err(Problem::new(Reason::StaleEpoch, detail));
        }
        if self.state.waiting.get(&id).is_some_and(|waiting| own(&waiting.tenant)) {
            return Err(Problem::new(
                Reason::StillWaiting,
                format!("request {id} is still waiting"),
            ));
        }
        if self.state.ended.tenant(id).is_some_and(own) {
            return Err(Problem::new(Reason::LeaseEnded, format!("lease {id} has ended")));
        }
        Err(Problem::new(Reason::UnknownLease, format!("there is no lease {id}")))
    }

    pub(super) fn operator(&self, what: &str) -> Result<(), Problem> {
        if self.caller.tenant.is_none() {
            return Ok(());
        }
        Err(Problem::new(Reason::OperatorOnly, format!("only the operator may {what}")))
    }

    pub(super) fn node(
        &mut self,
        machine: Option<&str>,
        at: Coordinates,
        to: NodeChange,
    ) -> Result<Reply, Stop> {
        self.operator("fail, repair and drain nodes")?;
        let index = self.board(machine)?;
        let (grid, name) =
            (self.state.boards[index].grid, self.state.boards[index].spec.name.clone());
        let Some(node) = self.state.boards[index].node_at(&at[..grid.axes()]) else {
            let detail = format!("node {} is outside {grid}", list(&at[..grid.axes()]));
            return Err(Problem::new(Reason::UnknownNode, detail).into());
        };
        let state = match to {
            NodeChange::Fail => NodeState::Failed,
            NodeChange::Repair => NodeState::Healthy,
            NodeChange::Drain => NodeState::Drained,
        };
        if self.state.boards[index].node(node) != state {
            let node = at[..grid.axes()].to_vec();
            self.record(Event::Node { machine: name, node, state });
            self.schedule(index);
        }
        let holder = self.state.boards[index].machine().holder(node).map(|job| job.0);
        let job = |id| self.state.leases[&id].job.clone().unwrap_or(JobName::Large(id));
        Ok(Reply::Node(reply::Node {
            node: Point::of(&grid, at),
            state,
            failed: state == NodeState::Failed,
            lease: holder,
            job: holder.map(job),
        }))
    }
}
