//! Forecasts for the page, computed on a separate thread at most every 30 seconds, and only if
//! the nodes or the queue have changed.
#![allow(clippy::disallowed_methods, reason = "the clock limits how often forecasts run")]

use std::time::{Duration, Instant};

use tokio::task::{JoinHandle, spawn_blocking};

use crate::objects::Uid;
use crate::plan::{Forecast, Plan};

/// The minimum time between two forecasts.
const FORECAST_INTERVAL: Duration = Duration::from_secs(30);

/// The parts of a plan that a forecast depends on.
#[derive(Clone, Default, PartialEq)]
struct Load {
    waiting: Vec<Uid>,
    allocations: usize,
}

#[derive(Default)]
pub(crate) struct ForecastTask {
    latest: Option<Forecast>,
    started_at: Option<Instant>,
    /// The load when the latest forecast was started.
    forecast_load: Load,
    load: Load,
    pending: Option<JoinHandle<Result<Forecast, String>>>,
}

impl ForecastTask {
    /// Returns true if a forecast may start.
    pub(crate) fn is_due(&self) -> bool {
        self.pending.is_none() && self.started_at.is_none_or(|at| at.elapsed() >= FORECAST_INTERVAL)
    }

    /// Starts the forecast for a plan, if the plan requests one.
    pub(crate) fn update(&mut self, plan: &mut Plan) {
        let waiting = plan.waiting.iter().map(|one| one.job.uid.clone()).collect();
        let allocations = plan.picture.as_ref().map_or(0, |picture| picture.held.len());
        self.load = Load { waiting, allocations };
        if let Some(question) = plan.question.take() {
            self.forecast_load = self.load.clone();
            self.started_at = Some(Instant::now());
            self.pending = Some(spawn_blocking(|| question.answer()));
        }
    }

    pub(crate) fn latest(&self) -> Option<&Forecast> {
        self.latest.as_ref()
    }

    /// Waits until the running forecast finishes. If none is running, waits until one is due.
    pub(crate) async fn next(&mut self) {
        if let Some(pending) = &mut self.pending {
            let answer = pending.await;
            self.pending = None;
            // If the forecast fails, the previous one is kept.
            if let Ok(Ok(answer)) = answer {
                self.latest = Some(answer);
            }
        } else if let Some(at) = self.started_at.filter(|_| self.load != self.forecast_load) {
            tokio::time::sleep(FORECAST_INTERVAL.saturating_sub(at.elapsed())).await;
        } else {
            std::future::pending::<()>().await;
        }
    }
}
