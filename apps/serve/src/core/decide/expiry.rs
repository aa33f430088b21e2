//! Ends overdue leases and reservations.

use std::collections::BTreeSet;

use super::Decider;
use crate::core::EndReason;

impl Decider<'_> {
    /// Ends overdue reservations and leases, then advances the queues of their machines.
    pub(super) fn expire(&mut self) {
        if self.state.is_clock_doubted() {
            return;
        }
        let mut boards = BTreeSet::new();
        while let Some(&(at, id)) = self.state.reservation_ends.first()
            && at <= self.now_ms
        {
            boards.extend(self.record_unreserved(id, EndReason::Expired));
        }
        while let Some(&(at, id)) = self.state.expiries.first()
            && at <= self.now_ms
        {
            let lease = self.state.leases.get(id);
            boards.extend(lease.and_then(|lease| self.state.board_index(Some(&lease.machine))));
            self.record_end(id, EndReason::Expired);
        }
        for board in boards {
            self.schedule(board);
        }
    }
}
