//! Forecasts of start times, computed by simulating the queue with past run times.
//!
//! Past runs are read from the API server. A completed Job records its end time, and its placement
//! or first pod records its start time. Deleted Jobs are known only to processes that were running
//! when the Jobs were deleted. Nothing is stored elsewhere, so a new process may know less.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use pavior::answers::forecasts::{
    Kind, QueueForecast, Start, StartJson, StartQuestion, StartWords,
};
use pavior::workload::{Job as Run, TimeUnit};
use pavior::{Grid, JobId, Time};
use pavior_cluster::NO_LIMIT_S;

use super::context::Layout;
use super::eligibility;
use super::queue::Candidate;
use super::state::MachineState;
use crate::objects::{Object as _, Uid};
use crate::world::Index;

/// The maximum number of past Jobs to remember.
const MAX_RUNS: usize = 5_000;
const TICKS_PER_SECOND: u64 = TimeUnit::SECOND.ticks;

/// The completed Jobs on a machine.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The latest Jobs, in the order in which they were seen and, within a plan, ended.
    runs: VecDeque<(Run, Kind)>,
    /// The uids of recorded Jobs that still exist in the cluster.
    uids: HashSet<Uid>,
}

impl History {
    /// Adds completed groups whose start times are known. Runs in O(n log n) time for n Jobs.
    pub(super) fn learn(&mut self, layout: &Layout<'_>, index: &Index<'_>) {
        let world = index.world;
        self.uids.retain(|uid| world.jobs.contains_key(uid));
        let mut ended = Vec::new();
        for group in index.groups_on(layout.name) {
            if self.uids.contains(group.first().id()) {
                continue;
            }
            let ends = group.jobs().iter().map(|job| job.completed());
            let ends: Option<Vec<i64>> = ends.collect();
            let Some(end) = ends.and_then(|ends| ends.into_iter().max()) else { continue };
            // If a Job was suspended or placed again, only its last run counts.
            let Some(&start) = world.start_times.get(&group.uid()) else { continue };
            let Ok(request) = eligibility::request(&layout.config, &group) else { continue };
            self.uids.insert(group.uid());
            let limit = group.seconds().map(seconds);
            let run_time = seconds(end.saturating_sub(start).max(1) as u64);
            let created = group.jobs().iter().map(|job| job.created()).max().unwrap_or(0);
            let arrival = seconds(created.clamp(0, start.max(0)) as u64);
            let job = Run::new(JobId(0), arrival, request, run_time);
            let job = Run { estimate: limit.unwrap_or(run_time), ..job };
            let kind = kind(group.first().namespace(), request.nodes, limit);
            ended.push((end, (job, kind)));
        }
        self.remember(ended);
    }

    /// Adds runs with their end times. Forgets the oldest runs if there are too many.
    fn remember(&mut self, mut ended: Vec<(i64, (Run, Kind))>) {
        ended.sort_by_key(|(end, _)| *end);
        self.runs.extend(ended.into_iter().map(|(_, run)| run));
        self.runs.drain(..self.runs.len().saturating_sub(MAX_RUNS));
    }

    /// Returns the Jobs in order of their arrival.
    fn jobs(&self) -> Vec<(Run, Kind)> {
        let mut jobs: Vec<(Run, Kind)> = self.runs.iter().cloned().collect();
        jobs.sort_by_key(|(job, _)| job.arrival);
        for (number, (job, _)) in jobs.iter_mut().enumerate() {
            (job.id, job.number) = (JobId(number as u64), number as u64);
        }
        jobs
    }
}

/// Converts seconds to the time unit used in forecasts.
pub(super) fn seconds(seconds: u64) -> Time {
    Time(seconds.saturating_mul(TICKS_PER_SECOND))
}

/// Returns the properties that are known before a Job runs. The namespace is hashed.
fn kind(namespace: &str, nodes: u32, limit: Option<Time>) -> Kind {
    let user = BuildHasherDefault::<DefaultHasher>::default().hash_one(namespace);
    Kind { user: Some(user), nodes, estimate: limit }
}

/// A forecast that has not been computed yet.
#[derive(Debug)]
pub(crate) struct Question {
    grid: Grid,
    starts: StartQuestion,
    numbers: HashMap<Uid, JobId>,
}

impl Question {
    /// Prepares a forecast of when the Jobs that are still waiting will start.
    ///
    /// # Errors
    /// Returns an error if the scheduler cannot be created.
    pub(super) fn of(
        layout: &Layout<'_>,
        past: &History,
        state: &MachineState<'_>,
        candidates: &[Candidate<'_>],
        started: &HashSet<JobId>,
    ) -> Result<Question, String> {
        let (config, dispatcher) = (&layout.config, state.planner.dispatcher());
        let scheduler = config.scheduler.build(()).map_err(|error| error.to_string())?;
        // Candidates that have been started are running but are not holders yet.
        let queued = candidates.iter().map(|candidate| {
            let Candidate { group, id, request } = candidate;
            let limit = group.seconds().map(seconds);
            (*id, kind(group.first().namespace(), request.nodes, limit))
        });
        let running = state.holders().filter_map(|(id, holder)| {
            let job = &dispatcher.running().get(id)?.job;
            let limit = holder.end.map(|_| seconds(job.estimate.0));
            Some((job.id, kind(holder.namespace, job.request.nodes, limit)))
        });
        let waiting = || candidates.iter().filter(|candidate| !started.contains(&candidate.id));
        let starts = StartQuestion {
            scheduler: config.scheduler.clone(),
            strategy: config.strategy.clone(),
            dispatcher: dispatcher.fork_in(scheduler, TICKS_PER_SECOND),
            now: seconds(state.now),
            past: (!past.runs.is_empty()).then(|| past.jobs()),
            kinds: running.chain(queued).collect(),
            // For a Job without a limit, use the run time that the scheduler assumes.
            endless: seconds(NO_LIMIT_S),
            jobs: waiting().map(|candidate| candidate.id).collect(),
        };
        let numbers = waiting().flat_map(|candidate| {
            candidate.group.jobs().iter().map(|job| (job.uid(), candidate.id))
        });
        Ok(Question { grid: config.grid, starts, numbers: numbers.collect() })
    }

    /// Computes the forecast, which may take a while (see [`StartQuestion::answer`]).
    ///
    /// # Errors
    /// Returns an error if the scheduler or strategy fails.
    pub(crate) fn answer(self) -> Result<Forecast, String> {
        let Question { grid, starts, numbers } = self;
        let queue = starts.answer().map_err(|error| error.to_string())?;
        Ok(Forecast { grid, queue, numbers })
    }
}

/// The predicted start of each waiting Job, and the accuracy of past forecasts.
#[derive(Clone, Debug)]
pub(crate) struct Forecast {
    grid: Grid,
    pub(crate) queue: QueueForecast,
    numbers: HashMap<Uid, JobId>,
}

impl Forecast {
    /// Returns the predicted start of a Job.
    pub(crate) fn of(&self, job: &Uid) -> Option<&Start> {
        self.queue.starts.get(self.numbers.get(job)?)
    }

    /// Returns a Job's predicted start in the page's format. `date` formats seconds since 1970.
    pub(crate) fn json(&self, job: &Uid, date: impl Fn(u64) -> String) -> Option<StartJson> {
        let number = *self.numbers.get(job)?;
        self.queue.json(number, &self.grid, |time| date(time.0 / TICKS_PER_SECOND))
    }

    /// Describes a Job's predicted start in words.
    pub(crate) fn words(&self, job: &Uid, date: impl Fn(u64) -> String) -> Option<String> {
        let words = StartWords {
            grid: &self.grid,
            date: &date,
            jobs: "completed Jobs",
            known: "are known",
        };
        self.queue.words(*self.numbers.get(job)?, &words)
    }
}

#[cfg(test)]
mod tests {
    use pavior::Request;

    use super::*;

    #[test]
    fn the_jobs_that_ended_last_are_remembered() {
        let run = |end: i64| {
            let job = Run::new(JobId(0), Time(end as u64), Request::nodes(1), seconds(1));
            (end, (job, kind("team", 1, None)))
        };
        let mut history = History::default();
        history.remember((0..=MAX_RUNS as i64).rev().map(run).collect());
        assert_eq!(history.runs.len(), MAX_RUNS);
        assert!(history.runs.iter().all(|(job, _)| job.arrival > Time(0)));
    }
}
