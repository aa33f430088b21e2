//! Forecasts for the page, computed on a separate thread at most every 30 seconds, and only if
//! nodes or the queue have changed.

use std::time::{Duration, Instant};

use tokio::task::{JoinHandle, spawn_blocking};

use crate::objects::Uid;
use crate::plan::{Forecast, Plan};

/// The minimum time between two forecasts.
const REST: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(crate) struct ForecastTask {
    latest: Option<Forecast>,
    asked: Option<Instant>,
    /// The waiting Jobs and the number of allocations, as of the latest forecast and now.
    seen: [(Vec<Uid>, usize); 2],
    pending: Option<JoinHandle<Result<Forecast, String>>>,
}

impl ForecastTask {
    /// Returns true if a forecast may start.
    pub(crate) fn is_due(&self) -> bool {
        self.pending.is_none() && self.asked.is_none_or(|at| at.elapsed() >= REST)
    }

    /// Starts the forecast for a plan, if the plan requests one.
    pub(crate) fn update(&mut self, made: &mut Plan) {
        let waiting = made.waiting.iter().map(|one| one.job.uid.clone()).collect();
        let held = made.picture.as_ref().map_or(0, |picture| picture.held.len());
        self.seen[1] = (waiting, held);
        if let Some(question) = made.question.take() {
            self.seen[0] = self.seen[1].clone();
            self.asked = Some(Instant::now());
            self.pending = Some(spawn_blocking(|| question.answer()));
        }
    }

    /// Returns the latest forecast.
    pub(crate) fn latest(&self) -> Option<&Forecast> {
        self.latest.as_ref()
    }

    /// Waits for the running forecast, or until one is due.
    pub(crate) async fn next(&mut self) {
        if let Some(pending) = &mut self.pending {
            let answer = pending.await;
            self.pending = None;
            // If the forecast fails, the previous one is kept.
            if let Ok(Ok(answer)) = answer {
                self.latest = Some(answer);
            }
        } else if let Some(asked) = self.asked.filter(|_| self.seen[0] != self.seen[1]) {
            tokio::time::sleep(REST.saturating_sub(asked.elapsed())).await;
        } else {
            std::future::pending::<()>().await;
        }
    }
}
