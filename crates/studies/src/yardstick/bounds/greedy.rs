//! A greedy schedule, used for comparison with bounds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Task;

/// Returns the cost of a greedy schedule that considers only node counts. Whenever a job is
/// released or ends, waiting jobs are tried in descending order of weight per node-second, and each
/// job that fits is started. Takes O(jobs x jobs) time. Every job must fit within `capacity` nodes.
pub(super) fn reached(tasks: &[Task], capacity: i64) -> i64 {
    Counts::new(tasks, capacity, &latest_first(tasks)).rest()
}

/// Returns the task indices in order of release, latest first.
pub(super) fn latest_first(tasks: &[Task]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|&at| Reverse(tasks[at].release));
    order
}

/// A partial schedule that considers only node counts. Jobs are identified by their task index.
#[derive(Clone)]
pub(super) struct Counts<'t> {
    tasks: &'t [Task],
    now: i64,
    free: i64,
    /// The end times and node counts of the running jobs.
    running: BinaryHeap<Reverse<(i64, i64)>>,
    /// Waiting jobs, in descending order of weight per node-second.
    waiting: Vec<usize>,
    /// Jobs that have not yet been released, latest first.
    coming: &'t [usize],
}

impl<'t> Counts<'t> {
    /// Creates an empty schedule, before the first release.
    pub(super) fn new(tasks: &'t [Task], capacity: i64, coming: &'t [usize]) -> Counts<'t> {
        let (running, waiting) = (BinaryHeap::new(), Vec::new());
        Counts { tasks, now: 0, free: capacity, running, waiting, coming }
    }

    /// Returns a copy of the schedule in which no more jobs are released.
    pub(super) fn without_arrivals(&self) -> Counts<'t> {
        Counts { coming: &[], ..self.clone() }
    }

    pub(super) fn fitting(&self) -> impl Iterator<Item = usize> + '_ {
        self.waiting.iter().copied().filter(|&at| self.tasks[at].nodes <= self.free)
    }

    /// Advances to the next time when a job is released or ends. Returns false if there is none.
    pub(super) fn advance(&mut self) -> bool {
        let release = self.coming.last().map(|&at| self.tasks[at].release);
        let end = self.running.peek().map(|&Reverse((end, _))| end);
        let Some(now) = release.into_iter().chain(end).min() else { return false };
        self.now = now;
        while let Some((&at, rest)) = self.coming.split_last() {
            if self.tasks[at].release > now {
                break;
            }
            self.coming = rest;
            let density = |at: usize| {
                let task = &self.tasks[at];
                task.weight as f64 / (task.run * task.nodes) as f64
            };
            let place = self.waiting.partition_point(|&other| density(other) >= density(at));
            self.waiting.insert(place, at);
        }
        while self.running.peek().is_some_and(|&Reverse((end, _))| end <= now) {
            let Some(Reverse((_, nodes))) = self.running.pop() else { break };
            self.free += nodes;
        }
        true
    }

    /// Starts a waiting job, which must fit, and returns its end time.
    pub(super) fn start(&mut self, at: usize) -> i64 {
        self.waiting.retain(|&other| other != at);
        self.runs(at)
    }

    fn runs(&mut self, at: usize) -> i64 {
        let task = &self.tasks[at];
        let end = self.now + task.run;
        self.free -= task.nodes;
        self.running.push(Reverse((end, task.nodes)));
        end
    }

    /// Returns the cost of all unstarted jobs if, from now on, jobs are tried in queue order and
    /// each one is started as soon as it fits.
    pub(super) fn rest(mut self) -> i64 {
        let mut sum = 0;
        loop {
            let mut waiting = std::mem::take(&mut self.waiting);
            waiting.retain(|&at| {
                let starts = self.tasks[at].nodes <= self.free;
                if starts {
                    sum += self.tasks[at].weight * self.runs(at);
                }
                !starts
            });
            self.waiting = waiting;
            if !self.advance() {
                return sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Task, reached};

    #[test]
    fn short_jobs_go_first_and_those_that_fit_pass() {
        let task = |release, run, nodes| Task { release, run, nodes, weight: 1 };
        // Each job needs all nodes, so the jobs end at 10, 30, 60, 100 and 150.
        let one_by_one = [30, 10, 50, 20, 40].map(|run| task(0, run, 16));
        assert_eq!(reached(&one_by_one, 16), 350);
        // The second job waits for the first. The third overtakes it. The fourth waits for both.
        let passed = [task(0, 10, 10), task(1, 5, 12), task(2, 20, 6), task(3, 1, 16)];
        assert_eq!(reached(&passed, 16), 10 + 22 + 23 + 28);
    }
}
