//! Run times of past jobs, from which future run times are drawn.

use std::collections::VecDeque;

use pavior_kernel::{Stream, Time};
use pavior_workload::TimeUnit;
use rustc_hash::FxHashMap;

use super::Kind;

/// The maximum number of runs to keep.
const RUNS: usize = 20_000;
/// The number of runs used per class: only the latest ones, which are the most informative.
const LATEST: usize = 30;
/// The number of runs used in the class that contains all jobs.
const LATEST_OF_ALL: usize = 500;
/// The weight of the next wider class, as an equivalent number of runs in the narrower class.
const PRIOR: f64 = 2.0;
const MINUTE: u64 = 60 * TimeUnit::SECOND.ticks;

/// The last 20,000 run times, grouped into classes. Times are in ticks of [`TimeUnit::SECOND`].
///
/// A run time is drawn from a class of similar jobs. From narrowest to widest, the classes are:
/// same user, nodes and estimate; same user and estimate; same user; similar nodes and estimate;
/// all jobs. A class with n runs is used with probability n / (n + 2); otherwise, the next wider
/// class is considered. Runs from the first two classes are used unchanged, runs from the third are
/// truncated at the estimate, and all others are scaled as fractions of their estimates.
///
/// ```
/// # mod pavior { pub use pavior_answers as answers; pub use pavior_kernel::*; }
/// use pavior::Time;
/// use pavior::answers::forecasts::{Kind, Past};
/// let kind = Kind { user: Some(1), nodes: 4, estimate: Some(Time(3600)) };
/// let mut past = Past::new();
/// past.add(kind, Time(1800));
/// assert_eq!(past.usual(&kind), Some(Time(1800)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Past {
    runs: VecDeque<Run>,
    classes: FxHashMap<Class, VecDeque<Run>>,
    /// The number of runs recorded so far.
    recorded: u64,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    number: u64,
    kind: Kind,
    length: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Class {
    Same(Kind),
    Estimate(u64, Option<Time>),
    User(u64),
    Similar(u32, u32),
    All,
}

impl Class {
    /// Returns a job's classes, narrowest first. If the user is unknown, omits the three classes
    /// that depend on the user.
    fn of(kind: &Kind) -> impl Iterator<Item = Class> {
        let minutes = kind.estimate.map_or(0, |estimate| estimate.0 / MINUTE);
        let similar = Class::Similar(kind.nodes.max(1).ilog2(), 64 - minutes.leading_zeros());
        let own = kind.user.map(|user| {
            [Class::Same(*kind), Class::Estimate(user, kind.estimate), Class::User(user)]
        });
        own.into_iter().flatten().chain([similar, Class::All])
    }

    fn latest(self) -> usize {
        if self == Class::All { LATEST_OF_ALL } else { LATEST }
    }

    /// Returns the run time of a job that behaves like the given run in this class.
    fn length(self, run: &Run, kind: &Kind) -> Time {
        let (Some(theirs), Some(ours)) = (run.kind.estimate, kind.estimate) else {
            return run.length;
        };
        match self {
            Class::Same(_) | Class::Estimate(..) => run.length,
            Class::User(_) => run.length.min(ours),
            Class::Similar(..) | Class::All => {
                Time((run.length.ticks() / theirs.ticks().max(1.0) * ours.ticks()) as u64)
            }
        }
    }
}

impl Past {
    /// Creates an empty record of past runs.
    pub fn new() -> Past {
        Past::default()
    }

    /// Returns the number of stored runs.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns true if no runs are stored.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Records a job's run time. Takes O(1) time.
    pub fn add(&mut self, kind: Kind, length: Time) {
        if self.runs.len() == RUNS {
            self.forget_oldest();
        }
        let run = Run { number: self.recorded, kind, length };
        self.recorded += 1;
        self.runs.push_back(run);
        for class in Class::of(&kind) {
            let runs = self.classes.entry(class).or_default();
            runs.push_back(run);
            if runs.len() > class.latest() {
                runs.pop_front();
            }
        }
    }

    /// Removes the oldest run and any class that becomes empty as a result, so that users who no
    /// longer submit jobs take up no memory.
    fn forget_oldest(&mut self) {
        let Some(oldest) = self.runs.pop_front() else { return };
        for class in Class::of(&oldest.kind) {
            let Some(runs) = self.classes.get_mut(&class) else { continue };
            if runs.front().is_some_and(|run| run.number == oldest.number) {
                runs.pop_front();
            }
            if runs.is_empty() {
                self.classes.remove(&class);
            }
        }
    }

    /// Draws a run time longer than `age`, the time that the job has already run. The draw is based
    /// on the run at `rank` in the chosen class, from the oldest run (0) to the latest (1). If no
    /// past run is long enough, the run time is uniformly distributed up to the estimate or, if the
    /// age already exceeds the estimate, up to twice the age.
    pub(crate) fn draw(&self, kind: &Kind, age: Time, rank: f64, stream: &mut Stream) -> Time {
        for class in Class::of(kind) {
            let Some(runs) = self.classes.get(&class) else { continue };
            let longer = || runs.iter().map(|run| class.length(run, kind)).filter(|&run| run > age);
            let count = longer().count() as u64;
            let share = count as f64 / (count as f64 + PRIOR);
            if count > 0 && (class == Class::All || stream.unit() < share) {
                let chosen = (rank * count as f64) as usize;
                return longer().nth(chosen).unwrap_or(age);
            }
        }
        let end = kind.estimate.filter(|&estimate| estimate > age);
        let rest = end.map_or(age.max(Time(MINUTE)), |end| end.since(age));
        age.saturating_add(Time((rest.ticks() * stream.unit()) as u64)).saturating_add(Time(1))
    }

    /// Returns a job's usual run time: the median over its narrowest class that has any runs.
    pub fn usual(&self, kind: &Kind) -> Option<Time> {
        Class::of(kind).find_map(|class| {
            let runs = self.classes.get(&class)?;
            let mut lengths: Vec<Time> = runs.iter().map(|run| class.length(run, kind)).collect();
            lengths.sort_unstable();
            lengths.get(lengths.len() / 2).copied()
        })
    }

    /// Returns the estimate, corrected by the method of Tsafrir, Etsion & Feitelson 2007. The
    /// corrected estimate is the mean of the user's last two run times, capped at the estimate. If
    /// the user has run fewer than two jobs, returns the estimate unchanged.
    pub fn corrected(&self, kind: &Kind) -> Option<Time> {
        let own = kind.user.and_then(|user| self.classes.get(&Class::User(user)));
        let mut last = own.into_iter().flat_map(|runs| runs.iter().rev().map(|run| run.length.0));
        match (last.next(), last.next()) {
            (Some(last), Some(before)) => {
                let mean = Time(last / 2 + before / 2);
                Some(kind.estimate.map_or(mean, |estimate| mean.min(estimate)))
            }
            _ => kind.estimate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Time = Time(60 * MINUTE);

    fn kind(user: u64) -> Kind {
        Kind { user: Some(user), nodes: 4, estimate: Some(HOUR) }
    }

    #[test]
    fn a_drawn_run_is_longer_than_the_age() {
        let mut past = Past::new();
        let mut stream = Stream::new(1, 0, "test");
        for age in [Time(0), Time(MINUTE), HOUR, Time(5 * HOUR.0)] {
            assert!(past.draw(&kind(1), age, 0.5, &mut stream) > age, "nothing is known");
        }
        (1..50).for_each(|minutes| past.add(kind(1), Time(minutes * MINUTE)));
        for age in [Time(0), Time(10 * MINUTE), Time(49 * MINUTE), HOUR] {
            (0..100).for_each(|_| assert!(past.draw(&kind(1), age, 0.5, &mut stream) > age));
        }
    }

    #[test]
    fn a_users_own_runs_weigh_most() {
        let mut past = Past::new();
        (0..30).for_each(|_| past.add(kind(1), Time(MINUTE)));
        (0..300).for_each(|_| past.add(kind(2), HOUR));
        let mut stream = Stream::new(1, 0, "test");
        let draws = (0..1000).map(|_| {
            let rank = stream.unit();
            past.draw(&kind(1), Time(0), rank, &mut stream)
        });
        let own = draws.filter(|&run| run == Time(MINUTE)).count();
        assert!(own >= 990, "two of 32^3 are drawn from a class with others: {own}");
        assert_eq!(past.corrected(&kind(1)), Some(Time(MINUTE)));
        assert_eq!(past.corrected(&kind(3)), Some(HOUR), "a user without runs");
        assert_eq!(past.usual(&Kind { user: None, ..kind(2) }), Some(HOUR));
    }

    #[test]
    fn memory_is_bounded_whatever_the_users() {
        let mut past = Past::new();
        for user in 0..3 * RUNS as u64 {
            past.add(kind(user), Time(MINUTE));
        }
        assert_eq!(past.len(), RUNS);
        assert_eq!(past.classes.len(), 3 * RUNS + 2, "three classes per user, and two for all");
    }

    #[test]
    fn a_user_is_forgotten_after_the_last_run() {
        for own in [1, LATEST, LATEST + 1, 3 * LATEST] {
            let mut past = Past::new();
            (0..own).for_each(|_| past.add(kind(1), Time(MINUTE)));
            (1..RUNS).for_each(|_| past.add(kind(2), HOUR));
            let runs = |past: &Past| past.classes.get(&Class::User(1)).map(VecDeque::len);
            assert_eq!(runs(&past), Some(1), "{own} runs, the last of which is among the latest");
            past.add(kind(2), HOUR);
            assert_eq!(runs(&past), None, "{own} runs");
        }
    }
}
