//! Benchmarks that compare strategies by their time per allocation attempt on the same requests.
//!
//! Each strategy's churn is recorded first and then replayed in rounds. Every round runs all
//! strategies, so that any other load affects them equally. A round replays each churn twice:
//!
//! - with the clock read before and after each attempt, minus the clock's overhead. An attempt
//!   includes only the search, as in the `allocation_ns` metric. For each attempt, the middle
//!   readings over all rounds are averaged. This removes interruptions and smooths out the ticks of
//!   a coarse clock. Medians and percentiles are then computed over all attempts;
//! - with the clock read before and after every [`BATCH`] attempts, including the grants and
//!   releases, so that the clock's overhead is negligible. This measures an allocator's total work,
//!   including the upkeep of its lists.
//!
//! Everything except the times depends only on the arguments.

mod churn;
mod timing;

use pavior_allocation::{BuildError, Selection, Work};
use pavior_mesh::{Grid, Request};
use thiserror::Error;

use crate::{Progress, median};
use churn::{Churn, Demand};
use timing::{Replays, Settled};

pub use timing::{BATCH, Times};

/// The parameters of a benchmark.
#[derive(Clone)]
pub struct Bench {
    /// The machine's grid.
    pub grid: Grid,
    /// The strategies. Ratios are relative to the first.
    pub strategies: Vec<Selection>,
    /// The stream of requests, which starts over when it ends.
    pub requests: Vec<Request>,
    /// The number of attempts per strategy. Must be positive.
    pub attempts: usize,
    /// The number of warm-up attempts. If `None`, the warm-up ends once every job present at the
    /// first departure has departed.
    pub warmup: Option<u64>,
    /// The maximum fraction of nodes in use. If `None`, each strategy fills the machine.
    pub fill: Option<f64>,
    /// The number of times to replay the attempts. Must be positive.
    pub rounds: usize,
    /// The seed for strategies that use random numbers.
    pub seed: u64,
}

/// The results of a benchmark.
#[derive(Clone)]
pub struct BenchResults {
    /// The overhead of reading the clock, in nanoseconds, already subtracted from all times.
    pub clock_overhead_ns: f64,
    /// One row per strategy, in the order of `strategies`.
    pub rows: Vec<BenchRow>,
}

/// The results for one strategy.
#[derive(Clone)]
pub struct BenchRow {
    /// The strategy.
    pub strategy: Selection,
    /// The granted attempts.
    pub granted: Answers,
    /// The refused attempts.
    pub refused: Answers,
    /// All attempts.
    pub all: Answers,
    /// The number of warm-up attempts.
    pub warmup: u64,
    /// The number of requests skipped because the strategy would never grant them.
    pub rejected: u64,
    /// The mean number of busy submeshes during an attempt (m in the TBL paper).
    pub busy_submeshes: f64,
    /// The mean number of units visited per attempt to record grants and releases.
    pub upkeep: f64,
    /// The mean time of an attempt and its share of grants and releases, in nanoseconds.
    pub whole_mean_ns: f64,
    /// The strategy's total time for all attempts, divided by the first strategy's total time. This
    /// is the median of the ratios from all rounds.
    pub ratio: f64,
    /// The half-width of the 95% confidence interval for the ratio. There is no interval for the
    /// first strategy, or if there is only one round.
    pub ratio_ci95: Option<f64>,
}

/// The attempts that had the same outcome.
#[derive(Clone, Copy, Debug)]
pub struct Answers {
    /// The number of attempts.
    pub count: usize,
    /// The strategy's total work for these attempts.
    pub work: Work,
    /// The times of these attempts, or `None` if there are none.
    pub times: Option<Times>,
}

/// An error that prevents a benchmark from running.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BenchError {
    /// The strategy does not support the machine.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The strategy would not grant any of the requests, even on an empty machine.
    #[error("{strategy} grants none of the requests, even on an empty {machine}")]
    NothingFits {
        /// The strategy.
        strategy: String,
        /// The machine's grid.
        machine: Grid,
    },
}

impl Bench {
    /// Runs the benchmark.
    ///
    /// # Errors
    /// Returns an error if a strategy does not support the machine, or would never grant any of the
    /// requests.
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
