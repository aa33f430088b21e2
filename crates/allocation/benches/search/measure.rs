//! Replays of a record against the clock.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pavior_allocation::Selection;

use crate::record::{Record, SEARCHES, Step, World};

const ROUNDS: usize = 7;
/// Searches between two readings of the clock, where it reads them together.
const BATCH: usize = 50;
/// A strategy answers as many questions a round as it can in this time, but at least some.
const LIMIT: Duration = Duration::from_millis(250);
const LEAST: usize = 10;
/// Instructions are counted over as many questions as every strategy answers in this time.
const COUNTED: Duration = Duration::from_millis(60);

/// What came out for a strategy.
pub(crate) struct Measured {
    /// The questions that it answered.
    pub(crate) searches: usize,
    pub(crate) mean_ns: f64,
    pub(crate) median_ns: f64,
    pub(crate) p99_ns: f64,
    /// For each question the median of its readings.
    singles: Vec<f64>,
    /// Whether it answered all of them.
    complete: bool,
}

impl Measured {
    /// How many times faster this is than another, over the questions that both answered.
    pub(crate) fn speed_over(&self, other: &Measured) -> f64 {
        if self.complete && other.complete {
            return other.mean_ns / self.mean_ns;
        }
        let both = self.searches.min(other.searches);
        let sum = |one: &Measured| one.singles[..both].iter().sum::<f64>();
        sum(other) / sum(self)
    }
}

/// The number of questions over which instructions are counted: round, so that another run, with
/// other times, counts over the same ones.
pub(crate) fn countable(measured: &[Measured]) -> usize {
    let within = |one: &Measured| {
        let mut left = COUNTED.as_nanos() as f64;
        let fits = |ns: &&f64| {
            left -= **ns;
            left > 0.0
        };
        one.singles.iter().take_while(fits).count()
    };
    let most = measured.iter().map(within).min().unwrap_or(0);
    [SEARCHES, 500, 100, 30].into_iter().find(|&count| count <= most).unwrap_or(LEAST)
}

/// Readings of one strategy, round after round.
struct Readings {
    searches: usize,
    singles: Vec<Vec<f64>>,
    /// Batch by batch, with the searches less without them.
    batches: Vec<Vec<f64>>,
}

/// Measures the strategies in turn, round after round.
pub(crate) fn all(record: &Record, selections: &[Selection]) -> Vec<Measured> {
    let overhead = median((0..1000).map(|_| nanoseconds(Instant::now().elapsed())).collect());
    let mut all: Vec<Readings> = selections
        .iter()
        .map(|selection| {
            let searches = one_by_one(record, selection, SEARCHES, overhead).len();
            Readings { searches, singles: Vec::new(), batches: Vec::new() }
        })
        .collect();
    for _ in 0..ROUNDS {
        for (selection, own) in selections.iter().zip(&mut all) {
            own.singles.push(one_by_one(record, selection, own.searches, overhead));
            own.searches = own.searches.min(own.singles.last().map_or(0, Vec::len));
            if own.searches == SEARCHES {
                let with = in_batches(record, selection, true);
                let without = in_batches(record, selection, false);
                own.batches
                    .push(with.iter().zip(without).map(|(with, less)| with - less).collect());
            }
        }
    }
    all.iter().map(settle).collect()
}

/// For each thing measured the median of the rounds: interruptions drop out.
fn agreed(rounds: &[Vec<f64>], things: usize) -> Vec<f64> {
    (0..things).map(|thing| median(rounds.iter().map(|round| round[thing]).collect())).collect()
}

fn settle(readings: &Readings) -> Measured {
    let searches = readings.searches;
    let singles = agreed(&readings.singles, searches);
    let mut sorted = singles.clone();
    sorted.sort_by(f64::total_cmp);
    let percentile = |percent: usize| sorted[(searches * percent).div_ceil(100) - 1];
    let complete = readings.batches.len() == ROUNDS;
    let sum: f64 = if complete {
        agreed(&readings.batches, readings.batches[0].len()).iter().sum()
    } else {
        singles.iter().sum()
    };
    let (mean_ns, median_ns, p99_ns) = (sum / searches as f64, percentile(50), percentile(99));
    Measured { searches, mean_ns, median_ns, p99_ns, singles, complete }
}

/// A reading a search, of the first ones, as far as the time allows.
fn one_by_one(record: &Record, selection: &Selection, most: usize, overhead: f64) -> Vec<f64> {
    let mut world = World::new(record.grid, selection, &record.start);
    let mut readings = Vec::with_capacity(most);
    let mut used = Duration::ZERO;
    for step in &record.steps {
        if let Step::Search(shape, found) = step {
            if readings.len() == most || used > LIMIT && readings.len() >= LEAST {
                break;
            }
            let begin = Instant::now();
            let answer = world.search(black_box(*shape));
            let elapsed = begin.elapsed();
            used += elapsed;
            readings.push(nanoseconds(elapsed) - overhead);
            assert_eq!(answer, *found, "{selection} answers {shape:?} otherwise");
        }
        world.change(step);
    }
    readings
}

/// A reading a batch of searches and the changes among them, or of the changes alone.
fn in_batches(record: &Record, selection: &Selection, searching: bool) -> Vec<f64> {
    let mut world = World::new(record.grid, selection, &record.start);
    let mut readings = Vec::with_capacity(SEARCHES / BATCH + 1);
    let mut searches = 0;
    let mut begin = Instant::now();
    for step in &record.steps {
        if let Step::Search(shape, _) = step {
            if searches > 0 && searches % BATCH == 0 {
                readings.push(nanoseconds(begin.elapsed()));
                begin = Instant::now();
            }
            searches += 1;
            if searching {
                black_box(world.search(black_box(*shape)));
            }
        }
        world.change(black_box(step));
    }
    readings.push(nanoseconds(begin.elapsed()));
    readings
}

fn nanoseconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
