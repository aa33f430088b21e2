//! Utilisation and the largest free box over time, as the page draws them: a bounded number of
//! stretches of time, which grow longer as time passes. Of each stretch the least, the greatest and
//! the last value are kept, so that nothing is shown that was not there, and nothing that lasts is
//! lost.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use pavior_mesh::Occupancy;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::extract::InQuery;
use super::machines::unknown_machine;
use super::statuses::{Guarded, Missing};
use super::{App, Fault};
use crate::core::{Instant, ServiceLimits, ServiceState, StateView};
use crate::storage::History;
use crate::writer::{RecoveryError, from_snapshot};

/// The most stretches of a machine.
const MOST: usize = 2048;
/// The records of the time before the start between looks for the largest free box, at most.
const EVERY: u64 = 512;

/// The values of a number in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    least: u32,
    most: u32,
    last: u32,
}

impl Range {
    fn of(value: u32) -> Range {
        Range { least: value, most: value, last: value }
    }

    /// With what came after.
    fn then(self, next: Range) -> Range {
        let (least, most) = (self.least.min(next.least), self.most.max(next.most));
        Range { least, most, last: next.last }
    }
}

/// A machine in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    /// The first record that was looked at, and its time.
    seq: u64,
    at_ms: u64,
    /// The time of the last one.
    until_ms: u64,
    busy: Range,
    unavailable: Range,
    largest_free: Option<Range>,
    waiting: Range,
}

impl Stretch {
    /// A machine at one record; `free` is looked at if the largest free box is asked for.
    fn at(
        (seq, at_ms): (u64, u64),
        [busy, unavailable, waiting]: [u32; 3],
        free: Option<&Occupancy>,
    ) -> Stretch {
        let largest = |free: &Occupancy| free.largest_free().map_or(0, |cuboid| cuboid.volume());
        Stretch {
            seq,
            at_ms,
            until_ms: at_ms,
            busy: Range::of(busy),
            unavailable: Range::of(unavailable),
            largest_free: free.map(|free| Range::of(largest(free))),
            waiting: Range::of(waiting),
        }
    }

    /// With what came after.
    fn then(self, next: &Stretch) -> Stretch {
        let largest_free = match (self.largest_free, next.largest_free) {
            (Some(own), Some(next)) => Some(own.then(next)),
            (own, next) => own.or(next),
        };
        Stretch {
            until_ms: next.until_ms,
            busy: self.busy.then(next.busy),
            unavailable: self.unavailable.then(next.unavailable),
            largest_free,
            waiting: self.waiting.then(next.waiting),
            ..self
        }
    }
}

/// The samples of all machines, and the length of a stretch.
struct Samples {
    by_machine: Vec<Vec<Stretch>>,
    gap_ms: u64,
}

impl Samples {
    /// Adds what was seen of each machine.
    fn add(&mut self, seen: impl Iterator<Item = Stretch>) {
        for (index, seen) in seen.enumerate() {
            if self.by_machine.len() <= index {
                self.by_machine.push(Vec::new());
            }
            self.by_machine[index].push(seen);
            join(&mut self.by_machine[index], self.gap_ms, 2);
        }
        while self.by_machine.iter().any(|samples| samples.len() > MOST) {
            self.gap_ms *= 2;
            for samples in &mut self.by_machine {
                join(samples, self.gap_ms, usize::MAX);
            }
        }
    }
}

/// Joins those of the last samples that lie in one stretch of time.
fn join(samples: &mut Vec<Stretch>, gap_ms: u64, last: usize) {
    let rest = samples.split_off(samples.len().saturating_sub(last));
    for sample in rest {
        match samples.last_mut() {
            Some(before) if before.at_ms / gap_ms == sample.at_ms / gap_ms => {
                *before = before.then(&sample);
            }
            _ => samples.push(sample),
        }
    }
}

/// The samples of all machines.
pub(crate) struct Series(Mutex<Samples>);

impl Default for Series {
    fn default() -> Series {
        Series(Mutex::new(Samples { by_machine: Vec::new(), gap_ms: 1 }))
    }
}

impl Series {
    /// The first record of the last stretch that begins up to an instant; 0 if there is none.
    pub(super) fn before(&self, at_ms: u64) -> u64 {
        let Ok(inner) = self.0.lock() else { return 0 };
        let Some(samples) = inner.by_machine.first() else { return 0 };
        let after = samples.partition_point(|sample| sample.at_ms <= at_ms);
        after.checked_sub(1).map_or(0, |index| samples[index].seq)
    }

    /// The length of a stretch, in milliseconds.
    fn gap_ms(&self) -> u64 {
        self.0.lock().map_or(1, |inner| inner.gap_ms)
    }

    fn add(&self, seen: impl Iterator<Item = Stretch>) {
        if let Ok(mut inner) = self.0.lock() {
            inner.add(seen);
        }
    }

    /// Adds the machines of a view.
    fn add_view(&self, view: &StateView) {
        self.add(view.boards.iter().map(|board| {
            let waiting = view.waiting.iter().filter(|one| one.machine == board.spec.name).count();
            let numbers = [board.busy, board.unavailable, waiting as u32];
            Stretch::at((view.seq, view.now_ms), numbers, Some(&board.free))
        }));
    }

    /// Adds the machines of a state; the largest free box is looked for where `look` says so.
    fn add_state(&self, state: &ServiceState, look: bool) {
        self.add(state.boards.iter().map(|board| {
            let (machine, waiting) = (board.machine(), board.waiting().len() as u32);
            let numbers = [machine.busy_nodes(), machine.failed_nodes(), waiting];
            Stretch::at((state.seq, state.now_ms), numbers, look.then(|| machine.free()))
        }));
    }
}

/// Samples the history once, then the state once a second, until the service stops.
pub(crate) async fn sample(app: Arc<App>) {
    let mut stopping = app.stopping.clone();
    let (own, seed, until) = (app.clone(), app.seed, app.writer.seq());
    let past = tokio::task::spawn_blocking(move || {
        look_back(&own.series, &**own.writer.history(), until, seed)
    });
    if let Ok(Err(error)) = past.await {
        tracing::warn!(%error, "the past cannot be drawn");
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

/// Samples the records that are kept.
fn look_back(
    series: &Series,
    history: &dyn History,
    until: u64,
    seed: u64,
) -> Result<(), RecoveryError> {
    let oldest = history.oldest()?;
    // The newest snapshot at which the kept records begin.
    let limits = ServiceLimits::default();
    let mut state = from_snapshot(history, oldest.max(1).min(until), &limits, seed)?;
    // Of the largest free box, what holds from one stretch to the next is looked at.
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

/// A machine in a stretch of time.
#[derive(Serialize, ToSchema)]
pub(crate) struct Sample {
    /// The first record of the stretch of time, and when it was.
    seq: u64,
    #[schema(value_type = String, format = DateTime)]
    at: Instant,
    /// When the last record of the stretch was.
    #[schema(value_type = String, format = DateTime)]
    until: Instant,
    /// Nodes that leases hold: the last of the numbers in the stretch, the least and the greatest.
    busy: u64,
    busy_least: u64,
    busy_most: u64,
    /// Nodes, failed or drained, that no lease holds.
    unavailable: u64,
    unavailable_least: u64,
    unavailable_most: u64,
    /// The nodes of the largest free box; null where it was not looked for.
    largest_free: Option<u64>,
    largest_free_least: Option<u64>,
    largest_free_most: Option<u64>,
    waiting: u64,
    waiting_least: u64,
    waiting_most: u64,
}

impl From<Stretch> for Sample {
    fn from(stretch: Stretch) -> Sample {
        let Stretch { seq, at_ms, until_ms, busy, unavailable, largest_free, waiting } = stretch;
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

/// A machine over time.
#[derive(Serialize, ToSchema)]
#[schema(as = Series)]
pub(crate) struct SeriesReply {
    /// The oldest first.
    samples: Vec<Sample>,
    /// The time of the answer (RFC 3339): what the last sample says holds until then.
    #[schema(value_type = String)]
    now: Instant,
}

/// Which machine.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SeriesQuery {
    /// The machine; the first one if left out.
    machine: Option<String>,
}

/// Utilisation and the largest free box over time: stretches of time, each with the least, the
/// greatest and the last value. What holds from the last one on holds until `now`.
#[utoipa::path(
    get, path = "/v1/series", tag = "machines", params(SeriesQuery),
    responses(
        (status = 200, description = "the samples, the oldest first", body = SeriesReply),
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
    let samples = app.series.0.lock().ok().and_then(|inner| {
        let samples = inner.by_machine.get(index)?;
        Some(samples.iter().copied().map(Sample::from).collect())
    });
    let now = Instant(app.writer.clock.now_ms());
    Ok(Json(SeriesReply { samples: samples.unwrap_or_default(), now }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(at_ms: u64, busy: u32) -> Stretch {
        let largest_free = (busy % 3 > 0).then_some(Range::of(100 - busy));
        let one = Stretch::at((at_ms + 1, at_ms), [busy, 0, 2 * busy], None);
        Stretch { largest_free, ..one }
    }

    /// A generator of numbers that look random (xorshift).
    fn next(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    /// Step functions with 10 times as many events as there are stretches: each stretch has the
    /// true least, greatest and last value, and nothing lies between stretches.
    #[test]
    fn stretches_have_the_true_least_and_greatest() {
        for seed in 1..=pavior_trials::size(8, 60) as u64 {
            let mut state = seed;
            let mut samples = Samples { by_machine: Vec::new(), gap_ms: 1 };
            let mut all = Vec::new();
            let mut at = 1_000_000 + next(&mut state) % 1000;
            for _ in 0..10 * MOST {
                at += if next(&mut state) % 50 == 0 { next(&mut state) % 100_000 } else { 3 };
                let one = seen(at, (next(&mut state) % 101) as u32);
                all.push(one);
                samples.add([one].into_iter());
            }
            let thinned = &samples.by_machine[0];
            assert!(thinned.len() <= MOST && thinned.len() > MOST / 4, "{}", thinned.len());
            let mut rest = &all[..];
            for sample in thinned {
                let (own, after) =
                    rest.split_at(rest.partition_point(|one| one.at_ms <= sample.until_ms));
                rest = after;
                assert_eq!((sample.seq, sample.at_ms), (own[0].seq, own[0].at_ms));
                let range = |values: Vec<u32>| {
                    let least = *values.iter().min()?;
                    Some(Range { least, most: *values.iter().max()?, last: *values.last()? })
                };
                let busy = range(own.iter().map(|one| one.busy.last).collect());
                assert_eq!(Some(sample.busy), busy);
                let waiting = range(own.iter().map(|one| one.waiting.last).collect());
                assert_eq!(Some(sample.waiting), waiting);
                let largest =
                    range(own.iter().filter_map(|one| Some(one.largest_free?.last)).collect());
                assert_eq!(sample.largest_free, largest);
            }
            assert_eq!(rest, []);
        }
    }

    /// Few events are all there, at their times.
    #[test]
    fn few_events_are_kept_as_they_are() {
        let mut samples = Samples { by_machine: Vec::new(), gap_ms: 1 };
        let all: Vec<Stretch> = (0..MOST as u64).map(|at| seen(7 * at, (at % 60) as u32)).collect();
        for &one in &all {
            samples.add([one].into_iter());
        }
        assert_eq!(samples.by_machine[0], all);
    }

    /// What was seen last is there, however young the one before it is: it may hold for a day.
    #[test]
    fn the_last_state_is_not_lost() {
        let mut samples = Samples { by_machine: Vec::new(), gap_ms: 1 };
        for at in 0..3 * MOST as u64 {
            samples.add([seen(1000 * at, 50)].into_iter());
        }
        samples.add([seen(3_000_000 * MOST as u64, 50)].into_iter());
        samples.add([seen(3_000_000 * MOST as u64 + 1, 0)].into_iter());
        let last = samples.by_machine[0].last().unwrap();
        assert_eq!((last.busy.last, last.busy.most), (0, 50));
    }
}
