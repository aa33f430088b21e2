//! Samples utilization and the largest free box over time, for the page's charts. The number of
//! intervals is limited, so the intervals become longer over time. Each interval has a minimum, a
//! maximum and a last value. Therefore, every value shown actually occurred, and no lasting change
//! is missed.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use pavior::Occupancy;
use pavior::time::{Range, Stretch, Stretches};

use super::App;
use crate::core::{ServiceLimits, ServiceState, StateView};
use crate::writer::{RecoveryError, from_snapshot};

/// The maximum number of past records between two searches for the largest free box.
const SEARCH_INTERVAL: u64 = 512;
/// The time between two samples of the current state.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(500);

/// A machine's metrics during an interval. A sample is an interval with one record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// The number of the first sampled record.
    pub(super) seq: u64,
    pub(super) at_ms: u64,
    /// The time of the last sampled record.
    pub(super) until_ms: u64,
    pub(super) busy: Range<u32>,
    pub(super) unavailable: Range<u32>,
    /// The volume of the largest free box, if it was computed.
    pub(super) largest_free: Option<Range<u32>>,
    pub(super) waiting: Range<u32>,
}

impl Stretch for Interval {
    fn at(&self) -> u64 {
        self.at_ms
    }

    fn then(&self, next: &Interval) -> Interval {
        let largest_free = match (self.largest_free, next.largest_free) {
            (Some(first), Some(next)) => Some(first.then(next)),
            (first, next) => first.or(next),
        };
        Interval {
            until_ms: next.until_ms,
            busy: self.busy.then(next.busy),
            unavailable: self.unavailable.then(next.unavailable),
            largest_free,
            waiting: self.waiting.then(next.waiting),
            ..*self
        }
    }
}

/// Samples for all machines.
#[derive(Default)]
pub(crate) struct Samples(Mutex<Vec<Stretches<Interval>>>);

impl Samples {
    /// Returns a machine's intervals, oldest first.
    pub(super) fn intervals(&self, index: usize) -> Vec<Interval> {
        self.0.lock().get(index).map_or_else(Vec::new, |machine| machine.all().to_vec())
    }

    /// Returns the first record of the last interval that starts at or before `at_ms`, or 0 if
    /// there is none.
    pub(super) fn before(&self, at_ms: u64) -> u64 {
        let machines = self.0.lock();
        let Some(intervals) = machines.first().map(Stretches::all) else { return 0 };
        let after = intervals.partition_point(|interval| interval.at_ms <= at_ms);
        after.checked_sub(1).map_or(0, |index| intervals[index].seq)
    }

    /// Returns the maximum length of an interval, in milliseconds.
    fn gap_ms(&self) -> u64 {
        let machines = self.0.lock();
        machines.iter().map(Stretches::gap).max().unwrap_or(1)
    }

    /// Adds a sample for each machine.
    fn add(&self, samples: impl Iterator<Item = Interval>) {
        let mut machines = self.0.lock();
        for (index, sample) in samples.enumerate() {
            if machines.len() <= index {
                machines.push(Stretches::default());
            }
            machines[index].add(sample);
        }
    }

    fn add_view(&self, view: &StateView) {
        self.add(view.boards.iter().map(|board| Interval {
            seq: view.seq,
            at_ms: view.now_ms,
            until_ms: view.now_ms,
            busy: Range::of(board.busy),
            unavailable: Range::of(board.unavailable),
            largest_free: Some(largest_free(&board.free)),
            waiting: Range::of(view.waiting_on(board).count() as u32),
        }));
    }

    /// Adds a sample for each machine. Searches for the largest free box if `search` is true.
    fn add_state(&self, state: &ServiceState, search: bool) {
        self.add(state.boards.iter().map(|board| Interval {
            seq: state.seq,
            at_ms: state.now_ms,
            until_ms: state.now_ms,
            busy: Range::of(board.machine().busy_nodes()),
            unavailable: Range::of(board.machine().failed_nodes()),
            largest_free: search.then(|| largest_free(board.machine().free())),
            waiting: Range::of(board.waiting().len() as u32),
        }));
    }
}

fn largest_free(free: &Occupancy) -> Range<u32> {
    Range::of(free.largest_free().map_or(0, |cuboid| cuboid.volume()))
}

/// Samples the history once and then the current state periodically, until the service stops.
pub(crate) async fn sample(app: Arc<App>) {
    let mut stopping = app.stopping.clone();
    let shared = app.clone();
    let past = tokio::task::spawn_blocking(move || sample_history(&shared)).await;
    if let Ok(Err(error)) = past {
        tracing::warn!(%error, "cannot read past utilization");
    }
    let mut last = 0;
    loop {
        tokio::select! {
            () = tokio::time::sleep(SAMPLE_INTERVAL) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        if app.writer.seq() == last {
            continue;
        }
        let Ok(view) = app.writer.view().await else { continue };
        last = view.seq;
        let shared = app.clone();
        let _ = tokio::task::spawn_blocking(move || shared.samples.add_view(&view)).await;
    }
}

/// Samples the state after each retained record, including records that are added in the meantime.
fn sample_history(app: &App) -> Result<(), RecoveryError> {
    let (samples, history) = (&app.samples, app.writer.history());
    let limits = ServiceLimits::default();
    let mut state = from_snapshot(&**history, history.oldest()?, &limits, app.seed)?;
    // True if this state's largest free box is known. A state that outlasts its interval is always
    // searched.
    let mut searched = false;
    history.scan(state.seq(), &mut |record| {
        // Later records might not be durable.
        if record.seq > app.writer.seq() {
            return Ok(false);
        }
        let gap_ms = samples.gap_ms();
        let lasts = record.at_ms / gap_ms > state.now_ms / gap_ms;
        if lasts && !searched && state.seq() > 0 {
            samples.add_state(&state, true);
        }
        state.apply(&record)?;
        searched = record.seq % SEARCH_INTERVAL == 0 || record.seq < SEARCH_INTERVAL;
        samples.add_state(&state, searched);
        Ok(true)
    })?;
    if !searched && state.seq() > 0 {
        samples.add_state(&state, true);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ms: u64, busy: u32, largest_free: Option<u32>) -> Interval {
        Interval {
            seq: at_ms + 1,
            at_ms,
            until_ms: at_ms,
            busy: Range::of(busy),
            unavailable: Range::of(0),
            largest_free: largest_free.map(Range::of),
            waiting: Range::of(2 * busy),
        }
    }

    #[test]
    fn an_interval_covers_all_its_records_and_searches() {
        let samples = [
            sample(10, 7, None),
            sample(11, 3, Some(40)),
            sample(12, 5, Some(60)),
            sample(13, 6, None),
        ];
        let joined = samples.into_iter().reduce(|joined, next| joined.then(&next)).unwrap();
        assert_eq!((joined.seq, joined.at_ms, joined.until_ms), (11, 10, 13));
        assert_eq!(joined.busy, Range { least: 3, most: 7, last: 6 });
        assert_eq!(joined.waiting, Range { least: 6, most: 14, last: 12 });
        assert_eq!(joined.unavailable, Range::of(0));
        assert_eq!(joined.largest_free, Some(Range { least: 40, most: 60, last: 60 }));
    }

    #[test]
    fn a_machine_can_be_added_later() {
        let samples = Samples::default();
        samples.add([sample(10, 1, None)].into_iter());
        samples.add([sample(20, 2, None), sample(20, 3, None)].into_iter());
        let count = |index: usize| samples.intervals(index).len();
        assert_eq!((count(0), count(1), samples.gap_ms()), (2, 1, 1));
        assert_eq!((samples.before(9), samples.before(10), samples.before(25)), (0, 11, 21));
    }
}
