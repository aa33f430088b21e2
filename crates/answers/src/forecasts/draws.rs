//! The random draws in one future: run times and later arrivals.

use pavior_kernel::{Stream, Time};
use rustc_hash::FxHashMap;

use super::{Kind, Past};

/// The fraction of a user's jobs whose run times are all drawn from the same earlier run.
const ALIKE: f64 = 2.0 / 3.0;

/// The random number stream for one future, and the earlier run that each user's jobs resemble.
///
/// Consecutive jobs of a user have similar run times: if the first one fails immediately, for
/// example, so do the others. If each run time were drawn independently, the differences would
/// average out and all futures would look alike.
pub(crate) struct Draws {
    pub(crate) stream: Stream,
    ranks: FxHashMap<u64, f64>,
}

impl Draws {
    pub(crate) fn new(stream: Stream) -> Draws {
        Draws { stream, ranks: FxHashMap::default() }
    }

    /// Draws the total run time of a job that has already run for `age`.
    pub(crate) fn run(&mut self, past: &Past, kind: &Kind, age: Time) -> Time {
        let Draws { stream, ranks } = self;
        let own = stream.unit();
        let rank = match kind.user {
            Some(user) if stream.unit() < ALIKE => *ranks.entry(user).or_insert(own),
            _ => own,
        };
        past.draw(kind, age, rank, stream)
    }
}

#[cfg(test)]
mod tests {
    use pavior_workload::TimeUnit;

    use super::*;

    const MINUTE: Time = Time(60 * TimeUnit::SECOND.ticks);
    const HOUR: Time = Time(60 * MINUTE.0);

    /// A user's jobs must behave alike within a future. Half of the past jobs failed immediately.
    /// In some futures, most of the next twenty jobs fail; in others, only a few do.
    #[test]
    fn jobs_of_a_user_run_alike_in_a_future() {
        let kind = Kind { user: Some(1), nodes: 4, estimate: Some(HOUR) };
        let mut past = Past::new();
        (0..30).for_each(|run| past.add(kind, if run < 15 { MINUTE } else { HOUR }));
        let failures = |user: Option<u64>| -> Vec<usize> {
            let futures = (0..100).map(|number| {
                let mut draws = Draws::new(Stream::new(1, number, "test"));
                let runs = (0..20).map(|_| draws.run(&past, &Kind { user, ..kind }, Time::ZERO));
                runs.filter(|&run| run == MINUTE).count()
            });
            futures.collect()
        };
        let apart = |failures: &[usize]| failures.iter().filter(|&&n| n <= 4 || n >= 16).count();
        let own = failures(Some(1));
        assert!(apart(&own) > 60, "{own:?}");
        let unknown = failures(None);
        assert!(apart(&unknown) < 10, "jobs of unknown users differ: {unknown:?}");
        let mean = own.iter().sum::<usize>() as f64 / 100.0;
        assert!((8.0..12.0).contains(&mean), "on average half of them fail: {mean}");
    }
}
