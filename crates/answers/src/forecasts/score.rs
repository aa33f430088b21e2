//! Forecast errors.

use pavior_kernel::Time;
use pavior_workload::TimeUnit;

use super::{Judged, Rivals};

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
    /// The corresponding results for the smallest, middle and largest third of jobs by node count.
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

/// Statistics about a third of the jobs by node count. Jobs of equal size share a third.
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
        let bound = |third: usize| nodes.get(nodes.len() * third / 3).copied().unwrap_or(0);
        let third = |nodes: u32| usize::from(nodes > bound(1)) + usize::from(nodes > bound(2));
        let thirds = [0, 1, 2].map(|which| {
            let own = waited.iter().filter(|job| third(job.kind.nodes) == which);
            Third { jobs: own.clone().count() as u64, held: share(own.map(|job| job.held())) }
        });
        let mean = |of: fn(&Judged) -> f64| mean(waited.iter().map(|job| of(job)));
        let mut widths: Vec<Time> =
            waited.iter().map(|job| job.forecast.high.since(job.forecast.low)).collect();
        widths.sort_unstable();
        let width = widths.get(widths.len() / 2).copied().unwrap_or(Time::ZERO);
        Score {
            jobs: judged.len() as u64,
            waited: waited.len() as u64,
            mean_wait: mean(|job| TimeUnit::SECOND.units(job.start.since(job.submit))),
            held: share(waited.iter().map(|job| job.held())),
            thirds,
            width: TimeUnit::SECOND.units(width),
            loss: mean(|job| {
                pinball([job.forecast.low, job.forecast.median, job.forecast.high], job.start)
            }),
            plan_loss: mean(|job| pinball([job.forecast.plan; 3], job.start)),
            corrected_loss: mean(|Judged { rivals: Rivals { corrected, .. }, start, .. }| {
                pinball([*corrected; 3], *start)
            }),
            past_waits_loss: mean(|job| pinball(job.rivals.past_waits, job.start)),
        }
    }
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
    use super::*;

    const SECOND: u64 = TimeUnit::SECOND.ticks;

    #[test]
    fn the_loss_weighs_each_side() {
        let at = |seconds: u64| Time(seconds * SECOND);
        let loss = pinball([at(10), at(20), at(30)], at(40));
        assert!((loss - (0.05 * 30.0 + 0.5 * 20.0 + 0.95 * 10.0)).abs() < 1e-9);
        let loss = pinball([at(10), at(20), at(30)], at(0));
        assert!((loss - (0.95 * 10.0 + 0.5 * 20.0 + 0.05 * 30.0)).abs() < 1e-9);
    }

    #[test]
    fn nothing_judged_has_no_score() {
        let score = Score::of(&[]);
        assert_eq!((score.waited, score.held, score.loss), (0, 0.0, 0.0));
    }
}
