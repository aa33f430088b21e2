//! Computes prices that prove good bounds, first from the mean-busy-time relaxation and then by
//! subgradient steps.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::greedy::{latest_first, reached};
use super::{Prices, SCALE, Task};

/// The number of consecutive steps without a better bound after which the step size is halved.
const PATIENCE: u32 = 10;

/// Computes prices for a set of jobs. The initial prices come from the mean-busy-time relaxation
/// (Goemans 1997), and up to `steps` subgradient steps improve them. The step length follows Polyak
/// (1969), with the cost of a greedy schedule as the target value. The prices depend only on the
/// arguments. Any prices prove a valid bound. Takes O(steps x jobs x buckets) time.
pub fn ascend(tasks: &[Task], capacity: i64, buckets: usize, steps: u32) -> Prices {
    let fluid = Fluid::new(tasks, capacity);
    let start = tasks.iter().map(|task| task.release).min().unwrap_or(0);
    // Because jobs cannot be interrupted here, they end slightly later than in the relaxation.
    let length =
        fluid.end() - start as f64 + tasks.iter().map(|task| task.run).max().unwrap_or(1) as f64;
    let width = ((length / buckets as f64).ceil() as i64).max(1);
    let zero = Prices { start, width, prices: vec![0; buckets] };
    let middle = |bucket: usize| start as f64 + (bucket as f64 + 0.5) * width as f64;
    let prices = (0..buckets).map(|bucket| (fluid.price(middle(bucket)) * SCALE as f64) as i64);
    let warm = Prices { prices: prices.collect(), ..zero.clone() };
    let value = |prices: &Prices| prices.value(tasks, capacity).0;
    let mut best = if value(&warm) > value(&zero) { warm } else { zero };
    let (mut most, mut now) = (value(&best), best.clone());
    let (mut factor, mut waited) = (1.0, 0);
    let goal = reached(tasks, capacity) as f64 * SCALE as f64;
    for _ in 0..steps {
        let (value, starts) = now.value(tasks, capacity);
        if value > most {
            (best, most, waited) = (now.clone(), value, 0);
        } else {
            waited += 1;
        }
        if waited > PATIENCE {
            (now, factor, waited) = (best.clone(), factor / 2.0, 0);
            continue;
        }
        let slope = slope(&now, tasks, &starts, capacity);
        let norm: f64 = slope.iter().map(|slope| slope * slope).sum();
        if norm == 0.0 || value as f64 >= goal {
            break;
        }
        let step = factor * (goal - value as f64) / norm;
        for (price, slope) in now.prices.iter_mut().zip(&slope) {
            *price = ((*price as f64 + step * slope).round() as i64).max(0);
        }
    }
    best
}

/// Returns the amount by which the demand in each bucket exceeds the machine's capacity, in
/// node-seconds.
fn slope(prices: &Prices, tasks: &[Task], starts: &[i64], capacity: i64) -> Vec<f64> {
    let Prices { start, width, .. } = *prices;
    let mut wanted = vec![-capacity * width; prices.prices.len()];
    for (task, &from) in tasks.iter().zip(starts) {
        let to = from + task.run;
        let first = ((from - start) / width).max(0) as usize;
        for (bucket, wanted) in wanted.iter_mut().enumerate().skip(first) {
            let begin = start + bucket as i64 * width;
            if begin >= to {
                break;
            }
            *wanted += task.nodes * (to.min(begin + width) - from.max(begin));
        }
    }
    wanted.into_iter().map(|wanted| wanted as f64).collect()
}

/// A waiting job, ordered by its weight per node-second.
struct Waiting(f64, usize);

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        self.0.total_cmp(&other.0).then(other.1.cmp(&self.1))
    }
}

/// The price curve from the relaxation's schedule. In this schedule, jobs can be interrupted, and
/// all nodes work on the job with the largest weight per node-second.
struct Fluid {
    pieces: Vec<Piece>,
}

/// A linear piece of the price curve.
struct Piece {
    start: f64,
    end: f64,
    /// The line's decrease per second.
    slope: f64,
    /// The line's value at time 0.
    intercept: f64,
}

/// An uninterrupted part of a job's run.
struct Segment {
    start: f64,
    end: f64,
    task: usize,
}

impl Fluid {
    fn new(tasks: &[Task], capacity: i64) -> Fluid {
        let work = |task: &Task| (task.run * task.nodes) as f64;
        let density = |at: usize| tasks[at].weight as f64 / work(&tasks[at]);
        let mut order = latest_first(tasks);
        let mut left: Vec<f64> = tasks.iter().map(|task| work(task) / capacity as f64).collect();
        let (mut waiting, mut now, mut segments) = (BinaryHeap::new(), 0.0_f64, Vec::new());
        while let Some(next) = order.last().copied().or_else(|| top(&waiting)) {
            if waiting.is_empty() {
                now = now.max(tasks[next].release as f64);
            }
            while let Some(&at) = order.last().filter(|&&at| tasks[at].release as f64 <= now) {
                waiting.push(Waiting(density(at), at));
                order.pop();
            }
            let Some(at) = top(&waiting) else { continue };
            let until = order.last().map_or(f64::INFINITY, |&at| tasks[at].release as f64);
            let end = until.min(now + left[at]);
            segments.push(Segment { start: now, end, task: at });
            left[at] -= end - now;
            if end < until || left[at] <= 0.0 {
                waiting.pop();
            }
            now = end;
        }
        Fluid { pieces: price_pieces(&segments, &density, tasks.len()) }
    }

    fn end(&self) -> f64 {
        self.pieces.last().map_or(0.0, |piece| piece.end)
    }

    fn price(&self, time: f64) -> f64 {
        let at = self.pieces.partition_point(|piece| piece.end <= time);
        let piece = self.pieces.get(at).filter(|piece| piece.start <= time);
        piece.map_or(0.0, |piece| (piece.intercept - piece.slope * time).max(0.0))
    }
}

fn top(waiting: &BinaryHeap<Waiting>) -> Option<usize> {
    waiting.peek().map(|&Waiting(_, at)| at)
}

/// Computes prices backward from the end. All pieces that belong to the same job lie on one line.
/// Two lines intersect where one job follows another.
fn price_pieces(segments: &[Segment], density: &dyn Fn(usize) -> f64, jobs: usize) -> Vec<Piece> {
    let mut intercepts: Vec<Option<f64>> = vec![None; jobs];
    let (mut price, mut begin) = (0.0, f64::INFINITY);
    let mut pieces = Vec::with_capacity(segments.len());
    for &Segment { start, end, task } in segments.iter().rev() {
        let slope = density(task);
        // If an idle interval follows, the price is 0 at the end of the segment.
        let price_at_end = if end < begin { 0.0 } else { price };
        let intercept = *intercepts[task].get_or_insert(price_at_end + slope * end);
        (price, begin) = (intercept - slope * start, start);
        pieces.push(Piece { start, end, slope, intercept });
    }
    pieces.reverse();
    pieces
}
