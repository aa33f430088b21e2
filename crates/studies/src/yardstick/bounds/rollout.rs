//! A look-ahead schedule based on node counts, with or without knowledge of future arrivals.
//!
//! Whenever a job is released or ends, the scheduler simulates starting each job that fits, with
//! all others following the rule in `greedy.rs`. It also simulates waiting until the next event.
//! It chooses the alternative with the lowest sum of weighted completion times, and repeats this
//! until the best alternative is to wait. Ties go to the job with the largest weight per
//! node-second, and waiting comes last. This is a rollout (Bertsekas, Tsitsiklis and Wu, Rollout
//! algorithms for combinatorial optimization, Journal of Heuristics 3, 1997).
//!
//! If future arrivals are known, the simulated continuations include them, so nodes can be kept
//! free for a job that has not arrived yet. If they are unknown, the continuations include only
//! jobs that have already arrived. With known arrivals, the schedule is never worse than the greedy
//! one, because the greedy rule's next step is always one of the alternatives, and the continuation
//! of the chosen alternative remains available.

use super::Task;
use super::greedy::{Counts, latest_first};

/// The scheduler's knowledge about jobs that have not arrived yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Everything is known: arrival times, run times and numbers of nodes.
    Known,
    /// Nothing is known.
    Unknown,
}

/// Returns each job's end time in seconds, in the order of `tasks`, or `None` for a job that needs
/// more than `capacity` nodes. Run times are known in advance. Makes O(jobs) decisions. Each
/// decision tries O(jobs) starts, and each try takes O(jobs x jobs) time.
///
/// ```
/// use pavior_studies::yardstick::bounds::{Arrivals, Task, look_ahead};
/// // A long job arrives, then a short one that needs all nodes.
/// let task = |release, run, nodes| Task { release, run, nodes, weight: 1 };
/// let tasks = [task(0, 100, 2), task(1, 2, 4)];
/// assert_eq!(look_ahead(&tasks, 4, Arrivals::Unknown), [Some(100), Some(102)]);
/// assert_eq!(look_ahead(&tasks, 4, Arrivals::Known), [Some(103), Some(3)]);
/// ```
pub fn look_ahead(tasks: &[Task], capacity: i64, arrivals: Arrivals) -> Vec<Option<i64>> {
    let order = latest_first(tasks);
    let mut schedule = Counts::new(tasks, capacity, &order);
    let mut ends = vec![None; tasks.len()];
    while schedule.advance() {
        while let Some(at) = choice(&schedule, tasks, arrivals) {
            ends[at] = Some(schedule.start(at));
        }
    }
    ends
}

/// Returns the job to start now, or `None` if it is better to wait or no job fits.
fn choice(schedule: &Counts<'_>, tasks: &[Task], arrivals: Arrivals) -> Option<usize> {
    schedule.fitting().next()?;
    let seen = match arrivals {
        Arrivals::Known => schedule.clone(),
        Arrivals::Unknown => schedule.without_arrivals(),
    };
    let started = |at: usize| {
        let mut next = seen.clone();
        let own = tasks[at].weight * next.start(at);
        (own + next.rest(), Some(at))
    };
    let mut later = seen.clone();
    let waited = later.advance().then(|| (later.rest(), None));
    let best = seen.fitting().map(started).chain(waited).min_by_key(|&(sum, _)| sum);
    best.and_then(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::super::greedy::reached;
    use super::*;
    use pavior::Stream;

    fn drawn(seed: u64, jobs: usize) -> Vec<Task> {
        let mut draw = Stream::new(seed, 0, "rollout");
        let mut release = 0;
        let mut task = || {
            release += draw.below(20) as i64;
            let (run, nodes) = (1 + draw.below(40) as i64, 1 + draw.below(16) as i64);
            Task { release, run, nodes, weight: 1 + draw.below(2) as i64 }
        };
        (0..jobs).map(|_| task()).collect()
    }

    /// Returns the maximum number of nodes in use at any time.
    fn most(tasks: &[Task], ends: &[Option<i64>]) -> i64 {
        let held = |now: i64| -> i64 {
            let runs = |(task, end): (&Task, &Option<i64>)| {
                let end = end.unwrap();
                if end - task.run <= now && now < end { task.nodes } else { 0 }
            };
            tasks.iter().zip(ends).map(runs).sum()
        };
        let starts = tasks.iter().zip(ends).map(|(task, end)| end.unwrap() - task.run);
        starts.map(held).max().unwrap_or_default()
    }

    #[test]
    fn schedules_are_possible_and_known_arrivals_are_never_worse_than_the_rule() {
        let (mut known, mut unknown) = (0, 0);
        for seed in 0..40 {
            let tasks = drawn(seed, 40);
            let mut sums = [Arrivals::Known, Arrivals::Unknown].map(|arrivals| {
                let ends = look_ahead(&tasks, 16, arrivals);
                assert!(tasks.iter().zip(&ends).all(|(t, end)| end.unwrap() >= t.release + t.run));
                assert!(most(&tasks, &ends) <= 16);
                let weighted =
                    tasks.iter().zip(&ends).map(|(task, end)| task.weight * end.unwrap());
                weighted.sum::<i64>()
            });
            assert!(sums[0] <= reached(&tasks, 16), "seed {seed}");
            let released: i64 = tasks.iter().map(|task| task.weight * task.release).sum();
            sums = sums.map(|sum| sum - released);
            known += sums[0];
            unknown += sums[1];
        }
        // On average over many sets of jobs, knowing the arrivals reduces the cost.
        assert!(known < unknown, "{known}, {unknown}");
    }

    #[test]
    fn what_has_not_come_cannot_change_what_is_done_before_without_knowledge() {
        let tasks = drawn(7, 30);
        let whole = look_ahead(&tasks, 16, Arrivals::Unknown);
        let until = tasks[20].release;
        let part = look_ahead(&tasks[..20], 16, Arrivals::Unknown);
        let started = |(end, task): (&Option<i64>, &Task)| {
            end.map(|end| end - task.run).filter(|&start| start < until)
        };
        let starts = |ends: &[Option<i64>]| -> Vec<Option<i64>> {
            ends[..20].iter().zip(&tasks).map(started).collect()
        };
        assert_eq!(starts(&whole), starts(&part));
        assert!(starts(&whole).iter().flatten().count() > 5);
    }

    #[test]
    fn a_job_that_needs_more_than_there_is_never_ends() {
        let task = |run, nodes| Task { release: 0, run, nodes, weight: 1 };
        for arrivals in [Arrivals::Known, Arrivals::Unknown] {
            let ends = look_ahead(&[task(5, 9), task(5, 3)], 8, arrivals);
            assert_eq!(ends, [None, Some(5)]);
        }
    }
}
