//! Utilisation and the largest free box over time, as the page draws them: a bounded number of
//! samples, which grow apart as time passes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;
use utoipa::IntoParams;

use super::documents::SeriesDocument;
use super::extract::InQuery;
use super::reads::unknown_machine;
use super::statuses::{Guarded, Missing};
use super::{App, Fault};
use crate::core::{Instant, Reply, ServiceLimits, ServiceState, StateView};
use crate::storage::History;
use crate::writer::RecoveryError;

/// The most samples of a machine.
const MOST: usize = 2048;
/// The records between samples of the time before the start, at least.
const EVERY: u64 = 512;

/// A machine at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Sample {
    seq: u64,
    #[serde(rename = "at", serialize_with = "shown")]
    at_ms: u64,
    busy: u32,
    unavailable: u32,
    largest_free: u32,
    waiting: usize,
}

/// A time as replies write it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn shown<S: Serializer>(at_ms: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    Instant(*at_ms).serialize(serializer)
}

/// The samples of all machines.
#[derive(Default)]
pub(crate) struct Series {
    /// By machine; and the milliseconds between samples.
    samples: Mutex<(Vec<Vec<Sample>>, u64)>,
}

impl Series {
    /// The record of the last sample up to an instant; 0 if there is none.
    pub(super) fn before(&self, at_ms: u64) -> u64 {
        let Ok(inner) = self.samples.lock() else { return 0 };
        let Some(samples) = inner.0.first() else { return 0 };
        let after = samples.partition_point(|sample| sample.at_ms <= at_ms);
        after.checked_sub(1).map_or(0, |index| samples[index].seq)
    }

    /// Adds the machines of a view, unless the last sample is too young.
    fn add(&self, view: &StateView) {
        let Ok(mut inner) = self.samples.lock() else { return };
        let (all, gap_ms) = &mut *inner;
        all.resize_with(view.boards.len(), Vec::new);
        for (samples, board) in all.iter_mut().zip(&view.boards) {
            if samples.last().is_some_and(|last| view.now_ms < last.at_ms + *gap_ms) {
                continue;
            }
            samples.push(Sample {
                seq: view.seq,
                at_ms: view.now_ms,
                busy: board.busy,
                unavailable: board.unavailable,
                largest_free: board.free.largest_free().map_or(0, |cuboid| cuboid.volume()),
                waiting: view.waiting.iter().filter(|one| one.machine == board.spec.name).count(),
            });
        }
        if all.iter().any(|samples| samples.len() > MOST) {
            // Every second one goes, and the next ones come half as often.
            for samples in all.iter_mut() {
                let mut keep = false;
                samples.retain(|_| {
                    keep = !keep;
                    keep
                });
            }
            *gap_ms = (*gap_ms * 2).max(500);
        }
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
        let _ = tokio::task::spawn_blocking(move || own.series.add(&view)).await;
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
    let mut state = match history.snapshot(oldest.max(1).min(until))? {
        Some(snapshot) => ServiceState::restore(&snapshot, ServiceLimits::default(), seed)
            .map_err(|reason| RecoveryError::Snapshot { seq: snapshot.seq, reason })?,
        None => ServiceState::new(ServiceLimits::default(), seed),
    };
    let every = EVERY.max((until - oldest.min(until)) / MOST as u64);
    history.scan(state.seq(), &mut |record| {
        if record.seq > until {
            return Ok(false);
        }
        state.apply(&record)?;
        if record.seq % every == 0 || record.seq < EVERY {
            series.add(&state.view());
        }
        Ok(true)
    })?;
    Ok(())
}

/// Which machine.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SeriesQuery {
    /// The machine; the first one if left out.
    machine: Option<String>,
}

/// Utilisation and the largest free box over time.
#[utoipa::path(
    get, path = "/v1/series", tag = "machines",
    params(SeriesQuery),
    responses(
        (status = 200, description = "the samples, the oldest first", body = SeriesDocument),
        Guarded, Missing
    )
)]
pub(crate) async fn series(
    State(app): State<Arc<App>>,
    InQuery(query): InQuery<SeriesQuery>,
) -> Result<Reply, Fault> {
    let wanted = query.machine.as_deref();
    let index =
        app.machines.iter().position(|(spec, _)| wanted.is_none_or(|name| spec.name == name));
    let Some(index) = index else { return Ok(unknown_machine(wanted)) };
    let samples = app.series.samples.lock().ok().and_then(|inner| inner.0.get(index).cloned());
    Ok(Reply::new(200, &json!({ "samples": samples.unwrap_or_default() })))
}
