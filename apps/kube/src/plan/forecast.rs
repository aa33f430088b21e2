//! When waiting Jobs will probably start: the queue is run forward, with run times of the past.
//!
//! The past is what the API server has of it: a Job that is complete says when it ended, and the
//! record of its nodes, or its first pod, when it began. Jobs that were deleted are known only if
//! the process has seen them run. Nothing is kept elsewhere, so a new process may know less.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use pavior::answers::forecasts::{
    Kind, QueueForecast, Start, StartJson, StartQuestion, StartWords,
};
use pavior::scheduling::Dispatcher;
use pavior::workload::{Job as Run, Service, TimeUnit};
use pavior::{Grid, JobId, Time};

use super::Plot;
use crate::objects::{Known as _, Uid};
use crate::world::Index;

/// The latest Jobs that have run which count.
const RUNS: usize = 5_000;
const TICKS: u64 = TimeUnit::SECOND.ticks;

/// Jobs that have run on a machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    /// The latest, in the order in which they were seen.
    runs: VecDeque<(Run, Kind)>,
    /// Those of them that the API server still has.
    known: HashSet<Uid>,
}

impl Past {
    /// Takes in the Jobs, or sets, that are complete and whose begin was seen. O(n) for n Jobs.
    pub(super) fn learn(&mut self, plot: &Plot<'_>, index: &Index<'_>) {
        let world = index.world;
        self.known.retain(|uid| world.jobs.contains_key(uid));
        for unit in index.units_on(plot.name) {
            let ends = unit.jobs().iter().map(|job| job.completed());
            let Some(end) =
                ends.collect::<Option<Vec<i64>>>().and_then(|ends| ends.into_iter().max())
            else {
                continue;
            };
            let Some(&begin) = world.begun.get(&unit.uid()) else { continue };
            let Ok(request) = plot.site.request(&unit) else { continue };
            if !self.known.insert(unit.uid()) {
                continue;
            }
            let said = unit.seconds().map(seconds);
            let run = seconds(end.saturating_sub(begin).max(1) as u64);
            let created = unit.jobs().iter().map(|job| job.created()).max().unwrap_or(0);
            let job = Run {
                id: JobId(0),
                index: 0,
                number: 0,
                // Of a Job that was suspended, or placed several times, only the last run counts.
                arrival: seconds(created.clamp(0, begin.max(0)) as u64),
                request,
                service: Service::Run(run),
                estimate: said.unwrap_or(run),
            };
            let kind = kind(unit.first().namespace(), request.nodes, said);
            self.runs.push_back((job, kind));
            if self.runs.len() > RUNS {
                self.runs.pop_front();
            }
        }
    }

    /// The Jobs in the order of their arrival.
    fn jobs(&self) -> Vec<(Run, Kind)> {
        let mut jobs: Vec<(Run, Kind)> = self.runs.iter().cloned().collect();
        jobs.sort_by_key(|(job, _)| job.arrival);
        for (number, (job, _)) in jobs.iter_mut().enumerate() {
            (job.id, job.number) = (JobId(number as u64), number as u64);
        }
        jobs
    }
}

/// Seconds in the unit of forecasts.
pub(super) fn seconds(seconds: u64) -> Time {
    Time(seconds.saturating_mul(TICKS))
}

/// What is known of a Job before it runs. Namespaces are told apart by a digest.
pub(super) fn kind(namespace: &str, nodes: u32, said: Option<Time>) -> Kind {
    let user = BuildHasherDefault::<DefaultHasher>::default().hash_one(namespace);
    Kind { user: Some(user), nodes, estimate: said }
}

/// The question when the waiting Jobs of a machine will start.
#[derive(Debug)]
pub(crate) struct Question {
    grid: Grid,
    starts: StartQuestion,
    numbers: HashMap<Uid, JobId>,
}

impl Question {
    /// Of a machine as it is when the scheduler starts no other Job. What holds nodes and what
    /// waits comes with what is known of it; of one that says nothing, `said` is none.
    ///
    /// # Errors
    /// If the scheduler cannot be made.
    pub(super) fn of(
        plot: &Plot<'_>,
        past: &Past,
        dispatcher: &Dispatcher,
        now: u64,
        known: impl Iterator<Item = (JobId, Kind)>,
        waiting: Vec<(JobId, Vec<Uid>)>,
    ) -> Result<Question, String> {
        let site = &plot.site;
        let scheduler = site.scheduler.build(()).map_err(|error| error.to_string())?;
        let starts = StartQuestion {
            scheduler: site.scheduler.clone(),
            strategy: site.strategy.clone(),
            dispatcher: dispatcher.fork_in(scheduler, TICKS),
            now: seconds(now),
            past: (!past.runs.is_empty()).then(|| past.jobs()),
            kinds: known.collect(),
            // Who says nothing runs as long as it seems to the scheduler.
            endless: seconds(super::queue::ENDLESS),
            jobs: waiting.iter().map(|(id, _)| *id).collect(),
        };
        let numbers =
            waiting.into_iter().flat_map(|(id, uids)| uids.into_iter().map(move |uid| (uid, id)));
        Ok(Question { grid: site.grid, starts, numbers: numbers.collect() })
    }

    /// The answer, which takes a while: see [`StartQuestion::answer`].
    ///
    /// # Errors
    /// If scheduler or strategy fail.
    pub(crate) fn answer(self) -> Result<Forecast, String> {
        let Question { grid, starts, numbers } = self;
        let queue = starts.answer().map_err(|error| error.to_string())?;
        Ok(Forecast { grid, queue, numbers })
    }
}

/// When waiting Jobs will probably start, and how good such answers have been.
#[derive(Clone, Debug)]
pub(crate) struct Forecast {
    grid: Grid,
    pub(crate) queue: QueueForecast,
    numbers: HashMap<Uid, JobId>,
}

impl Forecast {
    /// The start of a Job.
    pub(crate) fn of(&self, job: &Uid) -> Option<&Start> {
        self.queue.starts.get(self.numbers.get(job)?)
    }

    /// The same as the page reads it; `date` writes seconds since 1970.
    pub(crate) fn json(&self, job: &Uid, date: impl Fn(u64) -> String) -> Option<StartJson> {
        let number = *self.numbers.get(job)?;
        self.queue.json(number, &self.grid, |time| date(time.0 / TICKS))
    }

    /// The same in sentences.
    pub(crate) fn words(&self, job: &Uid, date: impl Fn(u64) -> String) -> Option<String> {
        let words = StartWords {
            grid: &self.grid,
            date: &date,
            jobs: "Jobs that have run",
            known: "are known",
        };
        self.queue.words(*self.numbers.get(job)?, &words)
    }
}
