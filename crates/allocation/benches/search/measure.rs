//! Timed replays of a record.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pavior_allocation::Selection;

use crate::churn::{Record, Step, World};

const ROUNDS: usize = 7;
/// The time limit per round and strategy. At least `LEAST` questions are always answered.
const LIMIT: Duration = Duration::from_millis(250);
const LEAST: usize = 10;
/// The time limit per strategy for the questions whose instructions are counted.
const COUNTED: Duration = Duration::from_millis(60);

pub(crate) struct Measured {
    /// The number of questions that the strategy answered.
    pub(crate) searches: usize,
    pub(crate) mean_ns: f64,
    pub(crate) median_ns: f64,
    pub(crate) p99_ns: f64,
    /// The median reading for each question.
    singles: Vec<f64>,
}

impl Measured {
    /// Returns this strategy's speedup over another one on the questions that both answered.
    pub(crate) fn speed_over(&self, other: &Measured) -> f64 {
        let both = self.searches.min(other.searches);
        let sum = |one: &Measured| one.singles[..both].iter().sum::<f64>();
        sum(other) / sum(self)
    }
}

/// Returns the number of questions for which to count instructions. It is one of a few fixed
/// numbers, so runs with slightly different timings still count the same questions.
pub(crate) fn countable(measured: &[Measured]) -> usize {
    let within = |one: &Measured| {
        let mut left = COUNTED.as_nanos() as f64;
        let fits = |ns: &&f64| {
            left -= **ns;
            left > 0.0
        };
        one.singles.iter().take_while(fits).count()
    };
    let one_record = measured.iter().map(|one| one.searches).max().unwrap_or(0);
    let most = measured.iter().map(within).min().unwrap_or(0);
    [one_record, 500, 100, 30].into_iter().find(|&count| count <= most).unwrap_or(LEAST)
}

/// Measures all strategies, one after another in each round.
pub(crate) fn all(record: &Record, selections: &[Selection]) -> Vec<Measured> {
    let overhead = median((0..1000).map(|_| nanoseconds(Instant::now().elapsed())).collect());
    let once = |selection, most| one_by_one(record, selection, most, overhead);
    let mut searches: Vec<usize> =
        selections.iter().map(|selection| once(selection, record.questions).len()).collect();
    let mut rounds = vec![Vec::new(); selections.len()];
    for _ in 0..ROUNDS {
        for (index, selection) in selections.iter().enumerate() {
            let readings = once(selection, searches[index]);
            searches[index] = searches[index].min(readings.len());
            rounds[index].push(readings);
        }
    }
    rounds.iter().zip(searches).map(|(rounds, searches)| summarised(rounds, searches)).collect()
}

fn summarised(rounds: &[Vec<f64>], searches: usize) -> Measured {
    // Use each question's median over all rounds, which filters out interruptions.
    let singles: Vec<f64> = (0..searches)
        .map(|question| median(rounds.iter().map(|round| round[question]).collect()))
        .collect();
    let mut sorted = singles.clone();
    sorted.sort_by(f64::total_cmp);
    let percentile = |percent: usize| sorted[(searches * percent).div_ceil(100) - 1];
    let mean_ns = singles.iter().sum::<f64>() / searches as f64;
    Measured { searches, mean_ns, median_ns: percentile(50), p99_ns: percentile(99), singles }
}

/// Times up to `most` searches one by one, and stops early if the time limit is exceeded.
fn one_by_one(record: &Record, selection: &Selection, most: usize, overhead: f64) -> Vec<f64> {
    let mut world = World::new(record.grid, selection);
    let mut readings = Vec::with_capacity(most);
    let mut used = Duration::ZERO;
    for step in &record.steps {
        match step {
            Step::Ask(..) if readings.len() == most => break,
            Step::Ask(..) if used > LIMIT && readings.len() >= LEAST => break,
            Step::Ask(request, granted) => {
                let begin = Instant::now();
                let answer = world.counted_find(black_box(request));
                let elapsed = begin.elapsed();
                used += elapsed;
                readings.push(nanoseconds(elapsed) - overhead);
                assert_eq!(answer.is_some(), *granted, "{selection} differs: {request:?}");
            }
            Step::Take(placement) => world.take(placement),
            Step::Give(placement) => world.give(placement),
        }
    }
    readings
}

fn nanoseconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
