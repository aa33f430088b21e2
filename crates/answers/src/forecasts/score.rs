//! Forecast errors.

use pavior_kernel::Time;
use pavior_workload::TimeUnit;

use super::Judged;

/// Statistics about forecasts for jobs that had to wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The number of jobs, including those that started immediately.
    pub jobs: u64,
    /// The number of jobs that had to wait.
    pub waited: u64,
    /// The mean wait, in seconds, of the jobs that had to wait.
    pub mean_wait: f64,
    /// The fraction of waiting jobs that started within their interval, or 0 if none waited.
    pub held: f64,
    /// The same results for the smallest, middle and largest thirds of the waiting jobs by node
    /// count.
    pub thirds: [Third; 3],
    /// The median width of the intervals, in seconds.
    pub width: f64,
    /// The mean pinball loss, in seconds, summed over the 5%, 50% and 95% quantiles. Lower is
    /// better.
    pub loss: f64,
    /// The loss of a forecast that uses the planned start for all three quantiles.
    pub plan_loss: f64,
    /// The loss of a forecast that uses the planned start with corrected estimates.
    pub corrected_loss: f64,
    /// The loss of a forecast that uses the quantiles of past waits.
    pub past_waits_loss: f64,
}

/// Statistics about a third of the jobs by node count. Jobs of equal size are in the same third.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Third {
    /// The number of jobs.
    pub jobs: u64,
    /// The fraction of these jobs that started within the interval, or 0 if there are no jobs.
    pub held: f64,
}

impl Score {
    /// Computes the statistics. Takes O(n log n) time for n jobs.
    pub fn of(judged: &[Judged]) -> Score {
        let waited: Vec<&Judged> = judged.iter().filter(|job| job.waited()).collect();
        let mut nodes: Vec<u32> = waited.iter().map(|job| job.kind.nodes).collect();
        nodes.sort_unstable();
        let third = thirds(&nodes);
        let thirds = [0, 1, 2].map(|which| {
            let own = waited.iter().filter(|job| third(job.kind.nodes) == which);
            Third { jobs: own.clone().count() as u64, held: share(own.map(|job| job.held())) }
        });
        let mean_of = |value: fn(&Judged) -> f64| mean(waited.iter().map(|job| value(job)));
        let mut widths: Vec<Time> =
            waited.iter().map(|job| job.forecast.high.since(job.forecast.low)).collect();
        widths.sort_unstable();
        let width = widths.get(widths.len() / 2).copied().unwrap_or(Time::ZERO);
        Score {
            jobs: judged.len() as u64,
            waited: waited.len() as u64,
            mean_wait: mean_of(|job| TimeUnit::SECOND.units(job.start.since(job.submit))),
            held: share(waited.iter().map(|job| job.held())),
            thirds,
            width: TimeUnit::SECOND.units(width),
            loss: mean_of(|job| {
                pinball([job.forecast.low, job.forecast.median, job.forecast.high], job.start)
            }),
            plan_loss: mean_of(|job| pinball([job.forecast.plan; 3], job.start)),
            corrected_loss: mean_of(|job| pinball([job.rivals.corrected; 3], job.start)),
            past_waits_loss: mean_of(|job| pinball(job.rivals.past_waits, job.start)),
        }
    }
}

/// Divides jobs into thirds by size, given their sorted node counts. The returned function maps a
/// node count to its third: 0, 1 or 2. Jobs of equal size share a third.
pub fn thirds(sorted: &[u32]) -> impl Fn(u32) -> usize {
    let last = |third: usize| (sorted.len() * third).div_ceil(3).checked_sub(1);
    let bounds = [1, 2].map(|third| last(third).map_or(0, |last| sorted[last]));
    move |nodes| bounds.iter().filter(|&&bound| nodes > bound).count()
}

fn share(held: impl Iterator<Item = bool>) -> f64 {
    mean(held.map(f64::from))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u64), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 0.0 } else { sum / count as f64 }
}

/// Returns the total pinball loss of the 5%, 50% and 95% quantiles, in seconds (Koenker & Bassett
/// 1978).
fn pinball(quantiles: [Time; 3], came: Time) -> f64 {
    let loss = |(quantile, level): (Time, f64)| {
        let above = TimeUnit::SECOND.units(came.since(quantile));
        let below = TimeUnit::SECOND.units(quantile.since(came));
        level * above + (1.0 - level) * below
    };
    quantiles.into_iter().zip([0.05, 0.5, 0.95]).map(loss).sum()
}

#[cfg(test)]
mod tests {
    use pavior_mesh::JobId;

    use super::*;
    use crate::forecasts::{Forecast, Kind, Rivals};

    const SECOND: u64 = TimeUnit::SECOND.ticks;

    #[test]
    fn the_loss_weighs_each_side() {
        let at = |seconds: u64| Time(seconds * SECOND);
        let loss = pinball([at(10), at(20), at(30)], at(40));
        assert!((loss - (0.05 * 30.0 + 0.5 * 20.0 + 0.95 * 10.0)).abs() < 1e-9);
        let loss = pinball([at(10), at(20), at(30)], at(0));
        assert!((loss - (0.95 * 10.0 + 0.5 * 20.0 + 0.05 * 30.0)).abs() < 1e-9);
    }

    /// Creates a job that is submitted at time 0. Its forecast interval is 10 seconds wide.
    fn judged(nodes: u32, start: u64, low: u64) -> Judged {
        let [start, low, high] = [start, low, low + 10].map(|seconds| Time(seconds * SECOND));
        Judged {
            number: 0,
            kind: Kind { user: None, nodes, estimate: None },
            submit: Time::ZERO,
            start,
            forecast: Forecast { job: JobId(0), low, median: low, high, plan: start },
            rivals: Rivals { corrected: start, past_waits: [start; 3] },
        }
    }

    #[test]
    fn thirds_have_equally_many_jobs() {
        for (nodes, expected) in [
            (&[1, 2, 3][..], [1, 1, 1]),
            (&[1, 1, 1, 2, 2, 2, 3, 3, 3], [3, 3, 3]),
            (&[1, 2, 3, 4], [2, 1, 1]),
            (&[1, 2, 2, 2], [4, 0, 0]),
            (&[5], [1, 0, 0]),
        ] {
            let jobs: Vec<Judged> = nodes.iter().rev().map(|&own| judged(own, 5, 0)).collect();
            assert_eq!(Score::of(&jobs).thirds.map(|third| third.jobs), expected, "{nodes:?}");
        }
    }

    #[test]
    fn only_jobs_that_waited_count() {
        let jobs = [judged(1, 0, 20), judged(1, 5, 0), judged(2, 10, 0), judged(3, 15, 0)];
        let score = Score::of(&jobs);
        assert_eq!((score.jobs, score.waited, score.mean_wait), (4, 3, 10.0));
        assert_eq!((score.held, score.width), (2.0 / 3.0, 10.0));
        assert_eq!(score.thirds, [1.0, 1.0, 0.0].map(|held| Third { jobs: 1, held }));
    }

    #[test]
    fn nothing_judged_has_no_score() {
        let score = Score::of(&[]);
        assert_eq!((score.waited, score.held, score.loss), (0, 0.0, 0.0));
    }
}
