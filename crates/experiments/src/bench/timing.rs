//! Timed replays of churn, and analysis of the clock readings.

use std::hint::black_box;

use pavior_simulation::Stopwatch;

use super::churn::{Churn, Step};

/// The number of attempts between clock readings when grants and releases are also measured.
pub const BATCH: usize = 64;

/// The amount by which a reading must exceed twice the expected duration to count as interrupted.
/// Cold caches and mispredicted branches cost less than this amount; interruptions by the operating
/// system cost more.
const INTERRUPTION_NS: f64 = 1000.0;

/// Times of attempts, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// The median.
    pub median_ns: f64,
    /// The mean.
    pub mean_ns: f64,
    /// The 99th percentile.
    pub p99_ns: f64,
}

impl Times {
    /// Summarizes attempt times. Returns `None` if there are no times.
    pub(super) fn of(times: &[f64]) -> Option<Times> {
        if times.is_empty() {
            return None;
        }
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        // The percentile is the smallest time within which at least `percent` % of the attempts
        // finish. Times below the clock's resolution can become negative when the overhead is
        // subtracted.
        let percentile =
            |percent: usize| sorted[(sorted.len() * percent).div_ceil(100) - 1].max(0.0);
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        Some(Times { median_ns: percentile(50), mean_ns: mean.max(0.0), p99_ns: percentile(99) })
    }
}

/// The readings from all rounds.
pub(super) struct Replays {
    watch: Stopwatch,
    by_strategy: Vec<Readings>,
}

#[derive(Default)]
struct Readings {
    /// One reading per attempt, round by round, in single precision to save memory.
    attempts: Vec<f32>,
    /// One reading per batch, round by round.
    batches: Vec<f32>,
    rounds: usize,
}

/// The times, combined over all rounds.
pub(super) struct Settled {
    /// The total time of each round's attempts, excluding interruptions.
    pub(super) rounds: Vec<f64>,
    /// The times of granted attempts. `refused` holds the times of refused attempts.
    pub(super) granted: Vec<f64>,
    pub(super) refused: Vec<f64>,
    /// The total time of all batches.
    pub(super) whole_ns: f64,
}

impl Replays {
    pub(super) fn new(strategies: usize) -> Replays {
        let by_strategy = (0..strategies).map(|_| Readings::default()).collect();
        Replays { watch: Stopwatch::new(), by_strategy }
    }

    pub(super) fn overhead_ns(&self) -> f64 {
        self.watch.overhead_ns()
    }

    pub(super) fn replay(&mut self, strategy: usize, churn: &Churn) {
        let readings = &mut self.by_strategy[strategy];
        one_by_one(churn, &mut self.watch, &mut readings.attempts);
        in_batches(churn, &mut self.watch, &mut readings.batches);
        readings.rounds += 1;
    }

    /// Combines a strategy's times over all rounds.
    pub(super) fn settled(&self, strategy: usize, churn: &Churn) -> Settled {
        let readings = &self.by_strategy[strategy];
        let times = settle(&readings.attempts, readings.rounds);
        let rounds =
            readings.attempts.chunks(times.len()).map(|round| uninterrupted(round, &times));
        let rounds = rounds.collect();
        let asked = churn.steps.iter().filter_map(|step| match step {
            Step::Ask { granted, .. } => Some(*granted),
            Step::Release(_) => None,
        });
        let (mut granted, mut refused) = (Vec::new(), Vec::new());
        for (time, was_granted) in times.into_iter().zip(asked) {
            if was_granted { &mut granted } else { &mut refused }.push(time);
        }
        let batches = settle(&readings.batches, readings.rounds);
        let whole_ns = batches.into_iter().sum::<f64>().max(0.0);
        Settled { rounds, granted, refused, whole_ns }
    }
}

/// Adds up a round's readings. A reading far above the settled time of the same item counts as
/// interrupted and is replaced by the settled time.
fn uninterrupted(round: &[f32], settled: &[f64]) -> f64 {
    let each = round.iter().zip(settled).map(|(reading, settled)| {
        let reading = f64::from(*reading);
        if reading > 2.0 * settled + INTERRUPTION_NS { *settled } else { reading }
    });
    each.sum()
}

/// Returns, for each measured item, the mean of roughly the middle half of its readings.
fn settle(readings: &[f32], rounds: usize) -> Vec<f64> {
    let things = readings.len() / rounds;
    let cut = rounds.div_ceil(4).min((rounds - 1) / 2);
    let mut own = vec![0.0; rounds];
    let settled = (0..things).map(|thing| {
        for (round, reading) in own.iter_mut().enumerate() {
            *reading = f64::from(readings[round * things + thing]);
        }
        own.sort_by(f64::total_cmp);
        let middle = &own[cut..rounds - cut];
        middle.iter().sum::<f64>() / middle.len() as f64
    });
    settled.collect()
}

fn one_by_one(churn: &Churn, watch: &mut Stopwatch, readings: &mut Vec<f32>) {
    let mut machine = churn.start.clone();
    for step in &churn.steps {
        match step {
            Step::Ask { job, request, granted } => {
                watch.begin();
                let answer = black_box(machine.probe(black_box(request)));
                readings.push(watch.end() as f32);
                assert_eq!(
                    answer.is_ok(),
                    *granted,
                    "the replay and the churn gave different answers"
                );
                if *granted {
                    machine.allocate(*job, request).expect("it was just promised");
                }
            }
            Step::Release(job) => {
                machine.release(*job).expect("it holds nodes");
            }
        }
    }
}

fn in_batches(churn: &Churn, watch: &mut Stopwatch, readings: &mut Vec<f32>) {
    let mut machine = churn.start.clone();
    let mut asked = 0;
    watch.begin();
    for step in &churn.steps {
        match step {
            Step::Ask { job, request, .. } => {
                if asked == BATCH {
                    readings.push(watch.end() as f32);
                    asked = 0;
                    watch.begin();
                }
                asked += 1;
                // `one_by_one` has already checked this answer.
                let _ = black_box(machine.allocate(*job, black_box(request)));
            }
            Step::Release(job) => {
                machine.release(*job).expect("it holds nodes");
            }
        }
    }
    readings.push(watch.end() as f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interruptions_drop_out() {
        // Two items were measured in three rounds, and one of the readings was interrupted.
        assert_eq!(settle(&[10.0, 1.0, 12.0, 900.0, 11.0, 3.0], 3), [11.0, 3.0]);
        assert_eq!(settle(&[10.0, 20.0], 1), [10.0, 20.0]);
        assert_eq!(settle(&[10.0, 20.0], 2), [15.0]);
        // The sum of a round, excluding interruptions.
        let sum = uninterrupted(&[12.0, 900.0, 1e6], &[11.0, 10.0, 3.0]);
        assert!((sum - (12.0 + 900.0 + 3.0)).abs() < 1e-9);
        // Only the middle three of the seven readings count.
        assert_eq!(settle(&[9.0, 10.0, 20.0, 30.0, 31.0, 99.0, 99.0], 7), [27.0]);
    }

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let expected = Times { median_ns: 100.0, mean_ns: 100.5, p99_ns: 198.0 };
        assert_eq!(Times::of(&times), Some(expected));
        let one = Times { median_ns: 7.0, mean_ns: 7.0, p99_ns: 7.0 };
        assert_eq!(Times::of(&[7.0]), Some(one));
        assert_eq!(Times::of(&[]), None);
    }
}
