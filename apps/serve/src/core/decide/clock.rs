//! The time at which a server begins to decide, and clocks that are in doubt.
//!
//! A clock that is far after the last record may be right: the service may have been down for long.
//! It may also be wrong. To believe a wrong clock would end every lease with a time to live, and
//! times would stay ahead, since they never go back. So such a clock is in doubt. Until an operator
//! confirms it, or a start finds a clock that is near to the last record, times go on from the last
//! record, and no lease ends by time.

use super::{Deciding, Stop};
use crate::core::reply::Clock;
use crate::core::{Caller, Event, Instant, Reply, ServiceRecord, ServiceState, Why};

/// When a clock is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockRule {
    /// The most milliseconds that it may be after the last record.
    pub most_ahead_ms: u64,
    /// Whether the operator has confirmed it, however far it is.
    pub confirmed: bool,
}

impl Default for ClockRule {
    fn default() -> ClockRule {
        ClockRule { most_ahead_ms: 24 * 3600 * 1000, confirmed: false }
    }
}

impl ClockRule {
    /// Returns the service's time when the wall clock shows `wall_ms` and the last record is of
    /// `last_ms`.
    pub fn now(&self, wall_ms: u64, last_ms: u64) -> u64 {
        if self.doubts(wall_ms, last_ms) { last_ms } else { wall_ms.max(last_ms) }
    }

    fn doubts(&self, wall_ms: u64, last_ms: u64) -> bool {
        !self.confirmed && wall_ms.saturating_sub(last_ms) > self.most_ahead_ms
    }
}

impl ServiceState {
    /// Begins to decide under a wall clock: adds the record of a doubt that begins or ends, and
    /// returns the time from which the service's clock goes on.
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
        let caller = &Caller::OPERATOR;
        let mut deciding = Deciding { state: self, now_ms, caller, records, more: false };
        match (deciding.state.doubted.is_some(), doubts) {
            (false, true) => deciding.record(Event::Clock { doubted: true }),
            (true, false) => drop(deciding.believe_clock()),
            _ => {}
        }
        now_ms
    }
}

impl Deciding<'_> {
    /// Ends the doubt: the time is that of the command.
    pub(super) fn confirm_clock(&mut self) -> Result<Reply, Stop> {
        self.operator("confirm the clock")?;
        let was = Instant(self.state.now_ms);
        let doubted = self.state.doubted.is_some();
        let ended = if doubted { self.believe_clock() } else { 0 };
        Ok(Reply::Clock(Clock { was, now: Instant(self.now_ms), ended: ended as u64 }))
    }

    /// Lets the time go on from that of the command. Leases that were granted or renewed in doubt
    /// keep the time that they had left; of the others those end whose time has passed. Returns how
    /// many.
    fn believe_clock(&mut self) -> usize {
        let ahead = self.now_ms.saturating_sub(self.state.now_ms);
        let since = self.state.doubted.clone().unwrap_or_default();
        self.record(Event::Clock { doubted: false });
        for id in since {
            let expires_ms = self.state.leases.get(&id).and_then(|lease| lease.expires_ms);
            if let Some(at) = expires_ms.filter(|_| ahead > 0) {
                self.record_renewal(id, Some(at.saturating_add(ahead)));
            }
        }
        let first = self.records.len();
        self.expire();
        let ended = |record: &&ServiceRecord| {
            matches!(record.event, Event::Ended { why: Why::Expired, .. })
        };
        self.records[first..].iter().filter(ended).count()
    }
}
