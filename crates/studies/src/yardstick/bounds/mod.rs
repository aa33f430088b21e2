//! Certified lower bounds on the cost of any schedule for a set of jobs, and (for comparison)
//! schedules that consider only node counts.
//!
//! The certificate for a sum of weighted completion times is a price curve: the price of using one
//! node for one second, as a function of time. Prices are non-negative, constant within each
//! bucket, and 0 outside the buckets. For any prices, and in any schedule that does not interrupt
//! jobs, the weighted completion times add up to at least
//!
//! ```text
//! sum over jobs of min over start >= release of (weight * (start + run) + nodes * price)
//!     - capacity * price of the whole curve
//! ```
//!
//! where the price is summed over the job's run time. No schedule uses more nodes than the machine
//! has, so all jobs together pay at most the price of all nodes over the whole curve. This is the
//! Lagrangian relaxation of the time-indexed formulation (Dyer and Wolsey 1990; van den Akker,
//! Hurkens and Savelsbergh 2000). All numbers are integers, so there are no rounding errors. The
//! script `examples/bounds.py` checks certificates without sharing any code with this module.

mod ascent;
mod greedy;
mod rollout;

use serde::Serialize;

pub use ascent::ascend;
pub use rollout::{Arrivals, look_ahead};

/// The properties of a job that determine the bounds. Times are in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The submission time, which must not be negative.
    pub release: i64,
    /// The run time, which must be at least 1.
    pub run: i64,
    /// The number of nodes.
    pub nodes: i64,
    /// The cost of each second of completion time.
    pub weight: i64,
}

/// The number of price units that correspond to a weight of 1.
pub const SCALE: i64 = 10_000;

/// A price curve: the price of using a node for a second, in units of 1 / [`SCALE`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prices {
    /// The start of the first bucket, in seconds.
    pub start: i64,
    /// The length of a bucket in seconds, which must be at least 1.
    pub width: i64,
    /// The price in each bucket.
    pub prices: Vec<i64>,
}

/// A price curve and its integral up to each bucket edge.
struct Curve<'p> {
    of: &'p Prices,
    /// For each edge, the price of using a node from the start of the curve to that edge.
    sums: Vec<i64>,
}

impl Curve<'_> {
    fn new(of: &Prices) -> Curve<'_> {
        let mut sums = vec![0];
        sums.extend(of.prices.iter().scan(0, |sum, price| {
            *sum += price * of.width;
            Some(*sum)
        }));
        Curve { of, sums }
    }

    /// Returns the price of using a node from the start of the curve to a given time.
    fn until(&self, time: i64) -> i64 {
        let since = time - self.of.start;
        if since <= 0 {
            return 0;
        }
        let bucket = (since / self.of.width) as usize;
        match self.of.prices.get(bucket) {
            Some(price) => self.sums[bucket] + price * (since - bucket as i64 * self.of.width),
            None => self.sums[self.of.prices.len()],
        }
    }

    /// Returns a job's minimum cost and the earliest start with this cost. Tries only starts for
    /// which the job begins or ends at a bucket edge, because the cost is linear in between.
    fn least(&self, task: &Task) -> (i64, i64) {
        let edges = (0..self.sums.len() as i64).map(|edge| self.of.start + edge * self.of.width);
        let starts = edges.flat_map(|edge| [edge, edge - task.run]);
        let starts = starts.filter(|&start| start > task.release).chain([task.release]);
        let cost = |start: i64| {
            let end = start + task.run;
            SCALE * task.weight * end + task.nodes * (self.until(end) - self.until(start))
        };
        starts.map(|start| (cost(start), start)).min().expect("a job can start when it is released")
    }
}

impl Prices {
    /// Returns the bound that the prices prove, rounded down, and each job's cheapest start under
    /// these prices. Takes O(jobs x buckets) time.
    pub fn bound(&self, tasks: &[Task], capacity: i64) -> (i64, Vec<i64>) {
        let (value, starts) = self.value(tasks, capacity);
        (value.div_euclid(i128::from(SCALE)) as i64, starts)
    }

    /// Returns the same result as [`Prices::bound`], in units of 1 / [`SCALE`].
    fn value(&self, tasks: &[Task], capacity: i64) -> (i128, Vec<i64>) {
        let curve = Curve::new(self);
        let mut value = -i128::from(capacity) * i128::from(curve.sums[self.prices.len()]);
        let least = |task: &Task| {
            let (cost, start) = curve.least(task);
            value += i128::from(cost);
            start
        };
        let starts = tasks.iter().map(least).collect();
        (value, starts)
    }
}

/// The proof of a bound on the makespan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Last {
    /// All jobs released at or after this time. At best, they keep all nodes busy until the last
    /// one ends.
    From(i64),
    /// A single job, given by its index.
    Job(usize),
}

/// Returns a lower bound on the last job's end, in seconds from time 0, and the proof. Returns
/// `None` if there are no jobs. Takes O(jobs log jobs) time.
pub fn makespan(tasks: &[Task], capacity: i64) -> Option<(i64, Last)> {
    let alone = tasks.iter().enumerate().map(|(at, task)| (task.release + task.run, Last::Job(at)));
    let mut work = 0;
    let together = greedy::latest_first(tasks).into_iter().map(|at| {
        let task = &tasks[at];
        work += task.run * task.nodes;
        (task.release + (work + capacity - 1) / capacity, Last::From(task.release))
    });
    let all: Vec<(i64, Last)> = alone.chain(together).collect();
    all.into_iter().max_by_key(|&(end, _)| end)
}
