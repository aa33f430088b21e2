//! How long an allocation takes: strategies on one machine, with one stream of requests.
//!
//! Each strategy's churn is recorded first, and then replayed in rounds, all strategies in every
//! round, so that whatever else the machine does hits them alike. A round replays twice:
//!
//! - with a reading of the clock about every attempt, less the clock's overhead. An attempt is the
//!   question alone, as in the metric `allocation_ns`. Of an attempt's readings in all rounds the
//!   middle ones are averaged: interruptions drop out, and the ticks of a coarse clock are evened
//!   out. Medians and percentiles are then over attempts;
//! - with a reading about every [`BATCH`] attempts with their grants and releases, in which the
//!   clock weighs nothing: what an allocator does all in all, the upkeep of lists included.
//!
//! All but the times depends on the arguments alone.

mod churn;
mod timing;

use pavior_allocation::{BuildError, Selection, Work};
use pavior_mesh::{Grid, Request};
use thiserror::Error;

use crate::{Progress, median};
use churn::{Churn, Demand};
use timing::{Replays, Settled};

pub use timing::{BATCH, Times};

/// What to measure.
#[derive(Clone)]
pub struct Bench {
    /// The machine.
    pub grid: Grid,
    /// The strategies; ratios are to the first.
    pub strategies: Vec<Selection>,
    /// The stream of requests, which starts again when it ends.
    pub requests: Vec<Request>,
    /// Attempts of each strategy, at least 1.
    pub attempts: usize,
    /// Attempts before those that count. None: until the first job departs, and on until all jobs
    /// that were there then have departed.
    pub warmup: Option<u64>,
    /// The share of the nodes that is held at most; none: as many as the strategy can.
    pub fill: Option<f64>,
    /// How often the attempts are replayed, at least once.
    pub rounds: usize,
    /// The seed of strategies that draw.
    pub seed: u64,
}

/// What was measured.
#[derive(Clone)]
pub struct BenchResults {
    /// What a reading of the clock costs by itself, in nanoseconds; it was taken off.
    pub clock_overhead_ns: f64,
    /// A row a strategy, in their order.
    pub rows: Vec<BenchRow>,
}

/// One strategy.
#[derive(Clone)]
pub struct BenchRow {
    /// The strategy.
    pub strategy: Selection,
    /// Attempts that were granted.
    pub granted: Answers,
    /// Attempts that were refused.
    pub refused: Answers,
    /// All of them.
    pub all: Answers,
    /// Attempts before those that count.
    pub warmup: u64,
    /// Requests that it would never grant, and that were passed over.
    pub rejected: u64,
    /// The mean number of parts held when an attempt was made: m of the TBL paper.
    pub busy_submeshes: f64,
    /// Units tested to hear of grants and releases, per attempt.
    pub upkeep: f64,
    /// The mean time of an attempt with its share of grants and releases, in nanoseconds.
    pub whole_mean_ns: f64,
    /// Its mean time of an attempt over that of the first strategy: the median of the rounds'
    /// ratios.
    pub ratio: f64,
    /// The half-width of the ratio's 95 % confidence interval; none for the first strategy and in a
    /// single round.
    pub ratio_ci95: Option<f64>,
}

/// Attempts with one kind of answer.
#[derive(Clone, Copy, Debug)]
pub struct Answers {
    /// How many.
    pub count: usize,
    /// What the strategy looked at for them, all together.
    pub work: Work,
    /// Their times; none if there are none.
    pub times: Option<Times>,
}

/// Why nothing can be measured.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BenchError {
    /// The strategy does not work on the machine.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The strategy would not grant any of the requests, even on the empty machine.
    #[error("{strategy} grants none of the requests, not even on the empty {machine}")]
    NothingFits {
        /// The strategy.
        strategy: String,
        /// The machine.
        machine: Grid,
    },
}

impl Bench {
    /// Measures.
    ///
    /// # Errors
    /// If a strategy does not work on the machine, or would never grant any of the requests.
    pub fn run(&self, progress: &dyn Progress) -> Result<BenchResults, BenchError> {
        progress.planned((self.strategies.len() * (self.rounds + 1)) as u64);
        let demand = Demand {
            grid: self.grid,
            requests: &self.requests,
            attempts: self.attempts,
            warmup: self.warmup,
            fill: self.fill,
            seed: self.seed,
        };
        let mut churns = Vec::new();
        for strategy in &self.strategies {
            let nothing_fits =
                || BenchError::NothingFits { strategy: strategy.to_string(), machine: self.grid };
            churns.push(Churn::record(&demand, strategy)?.ok_or_else(nothing_fits)?);
            progress.done();
        }
        let mut replays = Replays::new(churns.len());
        for _ in 0..self.rounds {
            for (index, churn) in churns.iter().enumerate() {
                replays.replay(index, churn);
                progress.done();
            }
        }
        let settled: Vec<Settled> =
            churns.iter().enumerate().map(|(index, churn)| replays.settled(index, churn)).collect();
        let rows = self.strategies.iter().zip(&churns).zip(&settled);
        let rows = rows.map(|((strategy, churn), own)| row(strategy, churn, own, &settled[0]));
        Ok(BenchResults { clock_overhead_ns: replays.overhead_ns(), rows: rows.collect() })
    }
}

fn row(strategy: &Selection, churn: &Churn, settled: &Settled, first: &Settled) -> BenchRow {
    let answers = |count, work, times: &[f64]| Answers { count, work, times: Times::of(times) };
    let granted = answers(settled.granted.len(), churn.granted, &settled.granted);
    let refused = answers(settled.refused.len(), churn.refused, &settled.refused);
    let both = [&settled.granted[..], &settled.refused[..]].concat();
    let all = answers(both.len(), churn.granted + churn.refused, &both);
    let ratios: Vec<f64> =
        settled.rounds.iter().zip(&first.rounds).map(|(own, first)| own / first).collect();
    let (ratio, ratio_ci95) = median(&ratios).expect("there is at least one round");
    BenchRow {
        strategy: strategy.clone(),
        granted,
        refused,
        all,
        warmup: churn.warmup,
        rejected: churn.rejected,
        busy_submeshes: churn.parts as f64 / both.len() as f64,
        upkeep: churn.upkeep as f64 / both.len() as f64,
        whole_mean_ns: settled.whole_ns / both.len() as f64,
        ratio,
        ratio_ci95: ratio_ci95.filter(|_| !std::ptr::eq(settled, first)),
    }
}
