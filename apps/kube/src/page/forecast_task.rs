//! Computes forecasts for the page on a separate thread, at most once every 30 seconds, each from a
//! plan. If the nodes or the queue have changed, a plan is made as soon as a forecast is due.
//! Otherwise, the forecast waits for the next plan.
#![allow(clippy::disallowed_methods, reason = "the clock limits how often forecasts run")]

use std::time::{Duration, Instant};

use pavior_cluster::Holding;
use serde_json::json;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::log::log;
use crate::objects::Uid;
use crate::plan::{Forecast, Plan, Waiting};

/// The minimum time between two forecasts.
const FORECAST_INTERVAL: Duration = Duration::from_secs(30);

/// The parts of a plan that a forecast depends on.
#[derive(Clone, Debug, Default, PartialEq)]
struct Load {
    waiting: Vec<Uid>,
    /// The names of the Jobs and other owners that hold nodes.
    holders: Vec<String>,
}

impl Load {
    fn of(waiting: &[Waiting], holdings: &[Holding]) -> Load {
        Load {
            waiting: waiting.iter().map(|waiting| waiting.job.uid.clone()).collect(),
            holders: holdings.iter().map(|holding| holding.id.clone()).collect(),
        }
    }
}

/// The latest computation, running or finished.
struct Computation {
    load: Load,
    started_at: Instant,
    /// The running thread, or `None` once it has finished.
    thread: Option<JoinHandle<Result<Forecast, String>>>,
}

#[derive(Default)]
pub(super) struct ForecastTask {
    /// The latest successful forecast.
    latest: Option<Forecast>,
    computation: Option<Computation>,
    /// The load of the latest plan.
    load: Load,
}

impl ForecastTask {
    /// Returns true if a new forecast may start.
    pub(super) fn is_due(&self) -> bool {
        self.computation.as_ref().is_none_or(|latest| {
            latest.thread.is_none() && latest.started_at.elapsed() >= FORECAST_INTERVAL
        })
    }

    /// Starts computing the forecast that a plan requests, if any.
    pub(super) fn update(&mut self, plan: &mut Plan) {
        let holdings = plan.picture.as_ref().map_or(&[][..], |picture| &picture.held);
        self.load = Load::of(&plan.waiting, holdings);
        if let Some(question) = plan.question.take() {
            self.computation = Some(Computation {
                load: self.load.clone(),
                started_at: Instant::now(),
                thread: Some(spawn_blocking(|| question.answer())),
            });
        }
    }

    pub(super) fn latest(&self) -> Option<&Forecast> {
        self.latest.as_ref()
    }

    /// Waits until the running forecast finishes or, if none is running, until the next one is due.
    pub(super) async fn next(&mut self) {
        let Some(computation) = &mut self.computation else { return std::future::pending().await };
        if let Some(thread) = &mut computation.thread {
            let result = thread.await.unwrap_or_else(|panic| Err(panic.to_string()));
            computation.thread = None;
            match result {
                Ok(forecast) => self.latest = Some(forecast),
                // Keep the previous forecast.
                Err(why) => log("warn", "cannot compute a forecast", json!({ "why": why })),
            }
        } else if computation.load == self.load {
            std::future::pending::<()>().await;
        } else {
            let elapsed = computation.started_at.elapsed();
            tokio::time::sleep(FORECAST_INTERVAL.saturating_sub(elapsed)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_changes_if_one_job_replaces_another() {
        let holding = |id: &str| Holding { id: id.to_string(), ..Holding::default() };
        let load = |ids: [&str; 2]| Load::of(&[], &ids.map(holding));
        assert_eq!(load(["Job a/first", "Job a/other"]), load(["Job a/first", "Job a/other"]));
        assert_ne!(load(["Job a/first", "Job a/other"]), load(["Job a/second", "Job a/other"]));
    }
}
