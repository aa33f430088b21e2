//! Sets the server's time at startup and handles clocks that are in doubt. A clock that is far
//! ahead of the last record may be right, because the service may have been down for a long time,
//! or it may be wrong. Trusting a wrong clock would end every lease with a time to live and make
//! all later times wrong, because time never goes back. Such a clock is therefore in doubt. Until
//! an operator confirms it, or the service starts with a clock close to the last record, time
//! continues from the last record and no lease expires.

use super::{Decider, Stop};
use crate::core::reply::Clock;
use crate::core::{Caller, EndReason, Event, Instant, Reply, ServiceRecord, ServiceState};

/// Conditions for trusting a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockRule {
    /// The maximum time, in milliseconds, that a trusted clock may be ahead of the last record.
    pub most_ahead_ms: u64,
    /// True if the operator has confirmed the clock, however far ahead the clock is.
    pub confirmed: bool,
}

impl Default for ClockRule {
    fn default() -> ClockRule {
        ClockRule { most_ahead_ms: 24 * 3600 * 1000, confirmed: false }
    }
}

impl ClockRule {
    /// Returns the time to use, given the wall-clock time and the time of the last record.
    pub fn now(&self, wall_ms: u64, last_ms: u64) -> u64 {
        if self.doubts(wall_ms, last_ms) { last_ms } else { wall_ms.max(last_ms) }
    }

    fn doubts(&self, wall_ms: u64, last_ms: u64) -> bool {
        !self.confirmed && wall_ms.saturating_sub(last_ms) > self.most_ahead_ms
    }
}

impl ServiceState {
    /// Returns the time from which the service's clock starts. Adds a record if doubt about the
    /// wall clock has begun or ended.
    pub fn begin_clock(
        &mut self,
        wall_ms: u64,
        rule: &ClockRule,
        records: &mut Vec<ServiceRecord>,
    ) -> u64 {
        if self.seq == 0 {
            return wall_ms;
        }
        let now_ms = rule.now(wall_ms, self.now_ms);
        let doubts = rule.doubts(wall_ms, self.now_ms);
        let mut decider = Decider::new(self, now_ms, &Caller::OPERATOR, records);
        match (decider.state.is_clock_doubted(), doubts) {
            (false, true) => decider.record(Event::Clock { doubted: true }),
            (true, false) => _ = decider.trust_clock(),
            _ => {}
        }
        now_ms
    }
}

impl Decider<'_> {
    /// Accepts the command's time as correct, ending any doubt about the clock.
    pub(super) fn confirm_clock(&mut self) -> Result<Reply, Stop> {
        self.caller.require_operator("confirm the clock")?;
        let was = Instant(self.state.now_ms);
        let ended = if self.state.is_clock_doubted() { self.trust_clock() } else { 0 };
        Ok(Reply::Clock(Clock { was, now: Instant(self.now_ms), ended: ended as u64 }))
    }

    /// Continues from the command's time and returns how many leases ended. Leases granted or
    /// renewed while the clock was in doubt keep their remaining time; other overdue leases end.
    fn trust_clock(&mut self) -> usize {
        let ahead = self.now_ms.saturating_sub(self.state.now_ms);
        let in_doubt = self.state.in_doubt.clone().unwrap_or_default();
        self.record(Event::Clock { doubted: false });
        for id in in_doubt {
            let expires_ms = self.state.leases.get(id).and_then(|lease| lease.expires_ms);
            if let Some(at) = expires_ms.filter(|_| ahead > 0) {
                self.record_renewal(id, Some(at.saturating_add(ahead)));
            }
        }
        let first = self.records.len();
        self.expire();
        let ended = |record: &&ServiceRecord| {
            matches!(record.event, Event::Ended { why: EndReason::Expired, .. })
        };
        self.records[first..].iter().filter(ended).count()
    }
}
