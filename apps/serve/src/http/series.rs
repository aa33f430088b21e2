//! Utilization and the largest free box over time, as drawn by the page. The number of intervals is
//! limited, so they become longer as time passes. Each interval has a minimum, a maximum and a last
//! value, so every value shown has occurred, and no lasting change is lost.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use parking_lot::Mutex;
use pavior::Occupancy;
use pavior::time::{Range, Stretch, Stretches};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::extract::InQuery;
use super::machines::unknown_machine;
use super::statuses::{Guarded, Missing};
use super::{App, Fault};
use crate::core::{Instant, ServiceLimits, ServiceState, StateView};
use crate::storage::History;
use crate::writer::{RecoveryError, from_snapshot};

/// The maximum number of past records between two searches for the largest free box.
const EVERY: u64 = 512;

/// The values of a machine during an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    /// The first sampled record and its time.
    seq: u64,
    at_ms: u64,
    /// The time of the last sampled record.
    until_ms: u64,
    busy: Range<u32>,
    unavailable: Range<u32>,
    largest_free: Option<Range<u32>>,
    waiting: Range<u32>,
}

impl Seen {
    /// Returns a sample at one record. The largest free box is searched for only if `free` is
    /// given.
    fn of(
        (seq, at_ms): (u64, u64),
        [busy, unavailable, waiting]: [u32; 3],
        free: Option<&Occupancy>,
    ) -> Seen {
        let largest = |free: &Occupancy| free.largest_free().map_or(0, |cuboid| cuboid.volume());
        Seen {
            seq,
            at_ms,
            until_ms: at_ms,
            busy: Range::of(busy),
            unavailable: Range::of(unavailable),
            largest_free: free.map(|free| Range::of(largest(free))),
            waiting: Range::of(waiting),
        }
    }
}

impl Stretch for Seen {
    fn at(&self) -> u64 {
        self.at_ms
    }

    fn then(&self, next: &Seen) -> Seen {
        let largest_free = match (self.largest_free, next.largest_free) {
            (Some(own), Some(next)) => Some(own.then(next)),
            (own, next) => own.or(next),
        };
        Seen {
            until_ms: next.until_ms,
            busy: self.busy.then(next.busy),
            unavailable: self.unavailable.then(next.unavailable),
            largest_free,
            waiting: self.waiting.then(next.waiting),
            ..*self
        }
    }
}

/// The samples of all machines.
#[derive(Default)]
pub(crate) struct Series(Mutex<Vec<Stretches<Seen>>>);

impl Series {
    /// Returns the first record of the last interval that begins by the given time, or 0.
    pub(super) fn before(&self, at_ms: u64) -> u64 {
        let machines = self.0.lock();
        let Some(samples) = machines.first().map(Stretches::all) else { return 0 };
        let after = samples.partition_point(|sample| sample.at_ms <= at_ms);
        after.checked_sub(1).map_or(0, |index| samples[index].seq)
    }

    /// Returns the length of the longest intervals, in milliseconds.
    fn gap_ms(&self) -> u64 {
        let machines = self.0.lock();
        machines.iter().map(Stretches::gap).max().unwrap_or(1)
    }

    /// Adds a sample of each machine.
    fn add(&self, seen: impl Iterator<Item = Seen>) {
        let mut machines = self.0.lock();
        for (index, seen) in seen.enumerate() {
            if machines.len() <= index {
                machines.push(Stretches::default());
            }
            machines[index].add(seen);
        }
    }

    fn add_view(&self, view: &StateView) {
        self.add(view.boards.iter().map(|board| {
            let waiting = view.waiting.iter().filter(|one| one.machine == board.spec.name).count();
            let numbers = [board.busy, board.unavailable, waiting as u32];
            Seen::of((view.seq, view.now_ms), numbers, Some(&board.free))
        }));
    }

    /// Adds a sample of each machine; `look` is true to search for the largest free box.
    fn add_state(&self, state: &ServiceState, look: bool) {
        self.add(state.boards.iter().map(|board| {
            let (machine, waiting) = (board.machine(), board.waiting().len() as u32);
            let numbers = [machine.busy_nodes(), machine.failed_nodes(), waiting];
            Seen::of((state.seq, state.now_ms), numbers, look.then(|| machine.free()))
        }));
    }
}

/// Samples the history once, then the state every half second, until the service stops.
pub(crate) async fn sample(app: Arc<App>) {
    let mut stopping = app.stopping.clone();
    let (own, seed, until) = (app.clone(), app.seed, app.writer.seq());
    let past = tokio::task::spawn_blocking(move || {
        look_back(&own.series, &**own.writer.history(), until, seed)
    });
    if let Ok(Err(error)) = past.await {
        tracing::warn!(%error, "cannot read past utilization");
    }
    let mut last = 0;
    loop {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(500)) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        if app.writer.seq() == last {
            continue;
        }
        let Ok(view) = app.writer.view().await else { continue };
        last = view.seq;
        let own = app.clone();
        let _ = tokio::task::spawn_blocking(move || own.series.add_view(&view)).await;
    }
}

/// Samples the states after all retained records.
fn look_back(
    series: &Series,
    history: &dyn History,
    until: u64,
    seed: u64,
) -> Result<(), RecoveryError> {
    let oldest = history.oldest()?;
    let limits = ServiceLimits::default();
    let mut state = from_snapshot(history, oldest.max(1).min(until), &limits, seed)?;
    // The state at the end of an interval lasts, so its largest free box is searched for.
    let mut looked = false;
    history.scan(state.seq(), &mut |record| {
        if record.seq > until {
            return Ok(false);
        }
        let gap_ms = series.gap_ms();
        let lasts = record.at_ms / gap_ms > state.now_ms / gap_ms;
        if lasts && !looked && state.seq() > 0 {
            series.add_state(&state, true);
        }
        state.apply(&record)?;
        looked = record.seq % EVERY == 0 || record.seq < EVERY;
        series.add_state(&state, looked);
        Ok(true)
    })?;
    if !looked && state.seq() > 0 {
        series.add_state(&state, true);
    }
    Ok(())
}

/// The values of a machine during an interval.
#[derive(Serialize, ToSchema)]
pub(crate) struct Sample {
    /// The first record of the interval.
    seq: u64,
    #[schema(value_type = String, format = DateTime)]
    at: Instant,
    /// The time of the last record of the interval.
    #[schema(value_type = String, format = DateTime)]
    until: Instant,
    /// Nodes held by leases: the last, minimum and maximum number in the interval.
    busy: u64,
    busy_least: u64,
    busy_most: u64,
    /// Failed or drained nodes that no lease holds.
    unavailable: u64,
    unavailable_least: u64,
    unavailable_most: u64,
    /// The number of nodes in the largest free box; null if it was not computed.
    largest_free: Option<u64>,
    largest_free_least: Option<u64>,
    largest_free_most: Option<u64>,
    waiting: u64,
    waiting_least: u64,
    waiting_most: u64,
}

impl From<Seen> for Sample {
    fn from(seen: Seen) -> Sample {
        let Seen { seq, at_ms, until_ms, busy, unavailable, largest_free, waiting } = seen;
        Sample {
            seq,
            at: Instant(at_ms),
            until: Instant(until_ms),
            busy: busy.last.into(),
            busy_least: busy.least.into(),
            busy_most: busy.most.into(),
            unavailable: unavailable.last.into(),
            unavailable_least: unavailable.least.into(),
            unavailable_most: unavailable.most.into(),
            largest_free: largest_free.map(|range| range.last.into()),
            largest_free_least: largest_free.map(|range| range.least.into()),
            largest_free_most: largest_free.map(|range| range.most.into()),
            waiting: waiting.last.into(),
            waiting_least: waiting.least.into(),
            waiting_most: waiting.most.into(),
        }
    }
}

/// The values of a machine over time.
#[derive(Serialize, ToSchema)]
#[schema(as = Series)]
pub(crate) struct SeriesReply {
    /// The samples, oldest first.
    samples: Vec<Sample>,
    /// The time of the reply (RFC 3339), until which the last sample is valid.
    #[schema(value_type = String)]
    now: Instant,
}

/// The machine to return.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SeriesQuery {
    /// The machine; by default the first one.
    machine: Option<String>,
}

/// Returns utilization and the largest free box over time, as intervals with their minimum, maximum
/// and last value.
#[utoipa::path(
    get, path = "/v1/series", tag = "machines", params(SeriesQuery),
    responses(
        (status = 200, description = "the samples, oldest first", body = SeriesReply),
        Guarded, Missing
    )
)]
pub(crate) async fn series(
    State(app): State<Arc<App>>,
    InQuery(query): InQuery<SeriesQuery>,
) -> Result<Json<SeriesReply>, Fault> {
    let wanted = query.machine.as_deref();
    let index =
        app.machines.iter().position(|(spec, _)| wanted.is_none_or(|name| spec.name == name));
    let index = index.ok_or_else(|| unknown_machine(wanted))?;
    let machines = app.series.0.lock();
    let samples = machines.get(index).into_iter().flat_map(Stretches::all);
    let samples = samples.copied().map(Sample::from).collect();
    Ok(Json(SeriesReply { samples, now: Instant(app.writer.clock.now_ms()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(at_ms: u64, busy: u32, largest_free: Option<u32>) -> Seen {
        let one = Seen::of((at_ms + 1, at_ms), [busy, 0, 2 * busy], None);
        Seen { largest_free: largest_free.map(Range::of), ..one }
    }

    /// Checks that an interval begins at its first record, and that its largest free box covers all
    /// searches.
    #[test]
    fn a_stretch_has_all_numbers_of_its_records() {
        let joined =
            [seen(10, 7, None), seen(11, 3, Some(40)), seen(12, 5, Some(60)), seen(13, 6, None)];
        let joined = joined.into_iter().reduce(|one, next| one.then(&next)).unwrap();
        assert_eq!((joined.seq, joined.at_ms, joined.until_ms), (11, 10, 13));
        assert_eq!(joined.busy, Range { least: 3, most: 7, last: 6 });
        assert_eq!(joined.waiting, Range { least: 6, most: 14, last: 12 });
        assert_eq!(joined.unavailable, Range::of(0));
        assert_eq!(joined.largest_free, Some(Range { least: 40, most: 60, last: 60 }));
    }

    /// Checks that machines can be added later.
    #[test]
    fn each_machine_has_its_samples() {
        let series = Series::default();
        series.add([seen(10, 1, None)].into_iter());
        series.add([seen(20, 2, None), seen(20, 3, None)].into_iter());
        let count = |index: usize| series.0.lock()[index].all().len();
        assert_eq!((count(0), count(1), series.gap_ms()), (2, 1, 1));
        assert_eq!((series.before(9), series.before(10), series.before(25)), (0, 11, 21));
    }
}
