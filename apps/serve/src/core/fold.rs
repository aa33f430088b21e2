//! Folds records into the state.

use std::sync::Arc;

use thiserror::Error;

use super::epoch;
use super::served_machine::ServedMachine;
use super::{
    EndReason, Event, Lease, MachineSpec, Reservation, ServiceRecord, ServiceState, StateError,
    WaitingRequest,
};

/// The error for a record that cannot follow the previous ones, for example because the journal is
/// damaged or was written by another program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("record {seq}: {reason}")]
pub struct FoldError {
    /// The record's number.
    pub seq: u64,
    /// The reason.
    pub reason: String,
}

impl ServiceState {
    /// Applies a record from the journal.
    ///
    /// # Errors
    /// Returns an error if the record cannot follow the previous ones. After an error, the state
    /// must not be used.
    pub fn apply(&mut self, record: &ServiceRecord) -> Result<(), FoldError> {
        let error = |reason: String| FoldError { seq: record.seq, reason };
        if record.seq != self.seq + 1 {
            return Err(error(format!("out of order after record {}", self.seq)));
        }
        self.apply_event(record).map_err(error)
    }

    /// Applies a record. The nodes of a newly granted lease may already be allocated.
    pub(crate) fn apply_event(&mut self, record: &ServiceRecord) -> Result<(), String> {
        self.seq = record.seq;
        self.now_ms = self.now_ms.max(record.at_ms);
        self.check_tenant(&record.event)?;
        match &record.event {
            Event::Configured { machines } => {
                self.configure(machines).map_err(|error| error.to_string())?;
            }
            Event::Granted { lease } => self.begin_lease(lease)?,
            Event::Queued { waiting } => self.enqueue(waiting)?,
            Event::Renewed { id, expires_ms, .. } => self.renew_lease(*id, *expires_ms)?,
            Event::Ended { id, why, .. } => self.end_lease(*id, *why)?,
            Event::Node { machine, node, state } => {
                let board = self.board_of(machine)?;
                let board = &mut self.boards[board];
                let node = board.node_at(node).ok_or("the node is outside the machine")?;
                board.set_node(node, *state)?;
            }
            Event::Reserved { reservation } => self.reserve(reservation)?,
            Event::Unreserved { id, .. } => self.unreserve(*id)?,
            Event::Clock { doubted: false } => self.in_doubt = None,
            Event::Clock { doubted: true } => {
                self.in_doubt.get_or_insert_default();
            }
            Event::Kept => {}
        }
        if let Some(reply) = &record.kept {
            self.replies.add(record.at_ms, reply, &self.limits);
        }
        Ok(())
    }

    /// Checks that a record names the tenant that actually holds the lease.
    fn check_tenant(&self, event: &Event) -> Result<(), String> {
        let (Event::Renewed { id, tenant, .. } | Event::Ended { id, tenant, .. }) = event else {
            return Ok(());
        };
        match self.tenant_of(*id) {
            Some(holder) if holder != tenant => {
                Err(format!("ID {id} belongs to tenant `{holder}`, not `{tenant}`"))
            }
            _ => Ok(()),
        }
    }

    /// Marks a number as used, so that later numbers are greater.
    fn use_id(&mut self, id: u64) -> Result<(), String> {
        let next = id.checked_add(1).ok_or_else(|| format!("no number is left after {id}"))?;
        self.next_id = self.next_id.max(next);
        Ok(())
    }

    /// Raises the last epoch to `epoch` if `epoch` is greater.
    fn raise_epoch(&mut self, epoch: u64) -> Result<(), String> {
        if epoch > epoch::MAX_EPOCH {
            return Err(format!("epoch {epoch} is not below 2^53"));
        }
        self.epoch = self.epoch.max(epoch);
        Ok(())
    }

    /// Adds machines, and updates the strategies, schedulers and shape rules of existing machines.
    /// Leases keep their nodes.
    ///
    /// # Errors
    /// Returns an error, and leaves the state unchanged, if a description is invalid or a machine
    /// has a different grid than before.
    pub fn configure(&mut self, machines: &[MachineSpec]) -> Result<(), StateError> {
        let (mut added, mut rebuilt) = (Vec::new(), Vec::new());
        for spec in machines {
            let mut fresh = ServedMachine::new(spec, self.seed)?;
            let Some(index) = self.board_index(Some(&spec.name)) else {
                added.push(fresh);
                continue;
            };
            let known = &self.boards[index];
            if known.grid != fresh.grid {
                let (known, asked) = (known.grid, fresh.grid);
                let reason =
                    format!("its grid is {known} in the stored data, but {asked} was specified");
                return Err(StateError::new(&spec.name, reason));
            }
            if known.spec != *spec {
                let view = self.view();
                let filled = fresh.fill(&view, &view.boards[index]);
                filled.map_err(|reason| StateError::new(&spec.name, reason))?;
                rebuilt.push((index, fresh));
            }
        }
        self.boards.extend(added);
        for (index, fresh) in rebuilt {
            self.replace(index, fresh);
        }
        Ok(())
    }

    /// Replaces a machine and recounts its waiting requests, whose node counts may have changed.
    fn replace(&mut self, index: usize, fresh: ServedMachine) {
        let old = std::mem::replace(&mut self.boards[index], fresh);
        for waiting in old.waiting().map(|id| &self.waiting[&id]) {
            let (before, now) = (old.quota_nodes(waiting), self.boards[index].quota_nodes(waiting));
            let used = self.usage.entry(waiting.tenant.clone()).or_insert(0);
            *used = used.saturating_sub(before).saturating_add(now);
        }
    }

    /// Allocates a lease's nodes. Dequeues the waiting request with the same number, if any.
    pub(crate) fn begin_lease(&mut self, lease: &Arc<Lease>) -> Result<(), String> {
        if self.leases.contains(lease.id) {
            return Err(format!("lease {} is already held", lease.id));
        }
        self.use_id(lease.id)?;
        self.raise_epoch(lease.epoch)?;
        if let Some(waiting) = self.waiting.remove(&lease.id) {
            self.leave_queue(&waiting)?;
        }
        let board = self.board_of(&lease.machine)?;
        self.boards[board].hold(lease)?;
        self.add_usage(lease.id, &lease.tenant, lease.job.as_ref(), u64::from(lease.nodes()));
        if let Some(in_doubt) = &mut self.in_doubt {
            in_doubt.insert(lease.id);
        }
        self.expiries.extend(lease.expires_ms.map(|at| (at, lease.id)));
        self.leases.insert(board, lease.clone());
        Ok(())
    }

    /// Removes a request from its machine's queue and from its tenant's usage.
    fn leave_queue(&mut self, waiting: &WaitingRequest) -> Result<(), String> {
        let board = self.board_of(&waiting.machine)?;
        self.boards[board].withdraw(waiting.id);
        let nodes = self.boards[board].quota_nodes(waiting);
        self.remove_usage(&waiting.tenant, waiting.job.as_ref(), nodes);
        Ok(())
    }

    pub(crate) fn enqueue(&mut self, waiting: &Arc<WaitingRequest>) -> Result<(), String> {
        if self.tenant_of(waiting.id).is_some() {
            let id = waiting.id;
            return Err(format!("request {id} is already waiting or already holds nodes"));
        }
        self.use_id(waiting.id)?;
        self.raise_epoch(waiting.epoch)?;
        let board = self.board_of(&waiting.machine)?;
        let nodes = self.boards[board].enqueue(waiting)?;
        self.add_usage(waiting.id, &waiting.tenant, waiting.job.as_ref(), nodes);
        self.waiting.insert(waiting.id, waiting.clone());
        Ok(())
    }

    fn renew_lease(&mut self, id: u64, expires_ms: Option<u64>) -> Result<(), String> {
        let lease = self.leases.get(id).ok_or_else(|| format!("lease {id} is not held"))?;
        let board = self.board_of(&lease.machine)?;
        let mut renewed = Lease::clone(lease);
        renewed.expires_ms = expires_ms;
        self.expiries.extend(expires_ms.map(|at| (at, id)));
        if let Some(at) = lease.expires_ms.filter(|&at| Some(at) != expires_ms) {
            self.expiries.remove(&(at, id));
        }
        self.boards[board].renew(&renewed);
        if let Some(in_doubt) = &mut self.in_doubt {
            in_doubt.insert(id);
        }
        self.leases.insert(board, Arc::new(renewed));
        Ok(())
    }

    fn end_lease(&mut self, id: u64, why: EndReason) -> Result<(), String> {
        if why == EndReason::Cancelled {
            let waiting = self.waiting.remove(&id);
            let waiting = waiting.ok_or_else(|| format!("request {id} is not waiting"))?;
            self.leave_queue(&waiting)?;
            self.ended.add(id, waiting.tenant.clone());
            return Ok(());
        }
        let lease = self.leases.remove(id).ok_or_else(|| format!("lease {id} is not held"))?;
        let board = self.board_of(&lease.machine)?;
        self.boards[board].end(id);
        if let Some(at) = lease.expires_ms {
            self.expiries.remove(&(at, id));
        }
        if let Some(in_doubt) = &mut self.in_doubt {
            in_doubt.remove(&id);
        }
        self.remove_usage(&lease.tenant, lease.job.as_ref(), u64::from(lease.nodes()));
        self.ended.add(id, lease.tenant.clone());
        Ok(())
    }

    /// Reserves nodes in advance.
    pub(crate) fn reserve(&mut self, reservation: &Arc<Reservation>) -> Result<(), String> {
        let id = reservation.id;
        if self.tenant_of(id).is_some() || self.reservations.contains_key(&id) {
            return Err(format!("ID {id} is already in use"));
        }
        let board = self.board_of(&reservation.machine)?;
        self.boards[board].reserve(reservation)?;
        self.use_id(id)?;
        self.reservation_ends.insert((reservation.to_ms, id));
        self.reservations.insert(id, reservation.clone());
        Ok(())
    }

    fn unreserve(&mut self, id: u64) -> Result<(), String> {
        let removed = self.reservations.remove(&id);
        let removed = removed.ok_or_else(|| format!("no such reservation: {id}"))?;
        self.reservation_ends.remove(&(removed.to_ms, id));
        let board = self.board_of(&removed.machine)?;
        self.boards[board].unreserve(id);
        Ok(())
    }

    pub(crate) fn board_of(&self, name: &str) -> Result<usize, String> {
        self.board_index(Some(name)).ok_or_else(|| format!("no such machine: `{name}`"))
    }
}
