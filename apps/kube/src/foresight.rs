//! Forecasts for the page. They are made beside the work, in a thread of their own, and at most
//! every half minute, when what holds nodes or waits has changed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::{JoinHandle, spawn_blocking};

use crate::objects::Uid;
use crate::plan::{Forecast, Plan};

/// Between two questions.
const REST: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(crate) struct Foresight {
    latest: Option<Arc<Forecast>>,
    asked: Option<Instant>,
    /// What waited and how much was held at the latest question, and what does now.
    seen: [(Vec<Uid>, usize); 2],
    pending: Option<JoinHandle<Result<Forecast, String>>>,
}

impl Foresight {
    /// Whether a question may be asked now.
    pub(crate) fn is_due(&self) -> bool {
        self.pending.is_none() && self.asked.is_none_or(|at| at.elapsed() >= REST)
    }

    /// Takes a question from a plan, if it has one.
    pub(crate) fn see(&mut self, made: &mut Plan) {
        let waiting = made.waiting.iter().map(|one| one.job.uid.clone()).collect();
        let held = made.picture.as_ref().map_or(0, |picture| picture.held.len());
        self.seen[1] = (waiting, held);
        if let Some(question) = made.question.take() {
            self.seen[0] = self.seen[1].clone();
            self.asked = Some(Instant::now());
            self.pending = Some(spawn_blocking(|| question.answer()));
        }
    }

    /// The latest answer.
    pub(crate) fn latest(&self) -> Option<Arc<Forecast>> {
        self.latest.clone()
    }

    /// Waits for an answer, or until a question is due.
    pub(crate) async fn next(&mut self) {
        if let Some(pending) = &mut self.pending {
            let answer = pending.await;
            self.pending = None;
            // Without an answer the last one stands.
            if let Ok(Ok(answer)) = answer {
                self.latest = Some(Arc::new(answer));
            }
        } else if let Some(asked) = self.asked.filter(|_| self.seen[0] != self.seen[1]) {
            tokio::time::sleep(REST.saturating_sub(asked.elapsed())).await;
        } else {
            std::future::pending::<()>().await;
        }
    }
}
