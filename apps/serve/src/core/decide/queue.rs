//! Adds requests to the queues, enforces quotas, and starts waiting requests.

use super::Decider;
use super::lease::Admission;
use crate::core::problem::Quota;
use crate::core::{Event, Problem, Reason, Reply, epoch, reply};

impl Decider<'_> {
    /// Adds a request to its machine's queue. The request may start immediately.
    pub(super) fn enqueue(&mut self, admission: Admission) -> Result<Reply, Problem> {
        let board = admission.board;
        if !self.state.boards[board].has_queue() {
            let detail = "requests cannot wait: the service was started without --scheduler";
            return Err(Problem::new(Reason::NoScheduler, detail));
        }
        self.check_queue_share(board, &admission.tenant)?;
        let waiting = self.new_request(admission);
        let id = waiting.id;
        let reply = reply::Waiting::of(&self.state.boards[board].grid, &waiting);
        self.record(Event::Queued { waiting: waiting.into() });
        self.schedule(board);
        Ok(match self.state.leases.get(id) {
            Some(lease) => {
                Reply::Granted(reply::LeaseReply::of(&self.state.boards[board].grid, lease))
            }
            None => Reply::Waiting(reply),
        })
    }

    /// Checks that a machine's queue has a free slot. A tenant may not occupy more slots than are
    /// still free, so no tenant can lock out the others.
    fn check_queue_share(&self, board: usize, tenant: &str) -> Result<(), Problem> {
        let most = self.state.limits.waiting;
        let count = self.state.boards[board].waiting().len();
        let left = most.saturating_sub(count);
        if left == 0 {
            return Err(Problem::new(
                Reason::QueueFull,
                format!("the queue is full: {most} requests are already waiting"),
            ));
        }
        // The operator is exempt. While most slots are free, no tenant can exceed the limit.
        if self.caller.tenant.is_none() || count < left {
            return Ok(());
        }
        let is_theirs = |id: &u64| self.state.waiting[id].tenant == tenant;
        let theirs = self.state.boards[board].waiting().filter(is_theirs).count();
        if theirs >= left {
            let detail = format!(
                "tenant `{tenant}` already has {theirs} of the {count} waiting requests; of the \
                 {most} queue slots, a tenant may not use more than are still free"
            );
            return Err(Problem::new(Reason::QueueFull, detail));
        }
        Ok(())
    }

    /// Checks that granting a tenant `nodes` more nodes would not exceed its quota.
    pub(super) fn check_quota(&self, tenant: &str, nodes: u64) -> Result<(), Problem> {
        let used = self.state.usage.get(tenant).copied().unwrap_or(0);
        match self.state.quota(tenant) {
            Some(quota) if used.saturating_add(nodes) > quota => {
                let detail = format!(
                    "tenant `{tenant}` already holds or is waiting for {used} of its {quota} \
                     nodes and is requesting {nodes} more"
                );
                let quota = Some(Quota { quota, used });
                Err(Problem { quota, ..Problem::new(Reason::OverQuota, detail) })
            }
            _ => Ok(()),
        }
    }

    /// Advances a machine's queue, unless another end or grant command follows in the batch.
    pub(super) fn schedule(&mut self, board: usize) {
        self.pending_queues.insert(board);
        self.advance_queues();
    }

    /// Advances the pending queues, unless another end or grant command follows in the batch.
    pub(super) fn advance_queues(&mut self) {
        while !self.more
            && let Some(board) = self.pending_queues.pop_first()
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
            let lease = self.new_lease(&waiting, &parts, Some(waiting.asked_ms));
            self.record(Event::Granted { lease: lease.into() });
        }
    }
}
