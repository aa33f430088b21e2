//! When waiting Jobs will probably start: the queue is run forward, with run times of the past.
//!
//! The past is what the API server has of it: a Job that is complete says when it ended, and the
//! record of its nodes, or its first pod, when it began. Jobs that were deleted are known only if
//! the process has seen them run. Nothing is kept elsewhere, so a new process may know less.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use pavior_allocation::{Machine as Engine, Selection as Strategy};
use pavior_answers::forecasts::{Effort, Forecast, Forecaster, Kind, Record, range, taught};
use pavior_kernel::Time;
use pavior_mesh::{Grid, JobId};
use pavior_scheduling::{Dispatcher, Selection as Scheduler};
use pavior_workload::{Job as Told, Service, TimeUnit};

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
    runs: VecDeque<(Told, Kind)>,
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
            let job = Told {
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

    fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The Jobs in the order of their arrival.
    fn jobs(&self) -> Vec<(Told, Kind)> {
        let mut jobs: Vec<(Told, Kind)> = self.runs.iter().cloned().collect();
        jobs.sort_by_key(|(job, _)| job.arrival);
        for (number, (job, _)) in jobs.iter_mut().enumerate() {
            (job.id, job.number) = (JobId(number as u64), number as u64);
        }
        jobs
    }
}

/// Seconds in the unit of forecasts.
fn seconds(seconds: u64) -> Time {
    Time(seconds.saturating_mul(TICKS))
}

/// What is known of a Job before it runs. Namespaces are told apart by a digest.
pub(super) fn kind(namespace: &str, nodes: u32, said: Option<Time>) -> Kind {
    let user = BuildHasherDefault::<DefaultHasher>::default().hash_one(namespace);
    Kind { user: Some(user), nodes, estimate: said }
}

/// All that is needed to say when the waiting Jobs of a machine will start.
pub(crate) struct Question {
    grid: Grid,
    strategy: Strategy,
    scheduler: Scheduler,
    past: Vec<(Told, Kind)>,
    dispatcher: Dispatcher,
    now: Time,
    kinds: Vec<(JobId, Kind)>,
    waiting: Vec<(JobId, Vec<Uid>)>,
}

impl std::fmt::Debug for Question {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Question").field("waiting", &self.waiting).finish_non_exhaustive()
    }
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
        // Without a past, who says nothing runs as long as it seems to the scheduler.
        let endless = past.is_empty().then(|| seconds(super::queue::ENDLESS));
        let said = |(id, kind): (JobId, Kind)| {
            (id, Kind { estimate: kind.estimate.map(|said| seconds(said.0)).or(endless), ..kind })
        };
        Ok(Question {
            grid: site.grid,
            strategy: site.strategy.clone(),
            scheduler: site.scheduler.clone(),
            past: past.jobs(),
            dispatcher: dispatcher.fork_in(scheduler, TICKS),
            now: seconds(now),
            kinds: known.map(said).collect(),
            waiting,
        })
    }

    /// The answer. Costs the replay of the past, a forecast for each of the last 200 Jobs of it
    /// that had to wait, and eight runs of the queue.
    ///
    /// # Errors
    /// If scheduler or strategy fail.
    pub(crate) fn answer(self) -> Result<Foretold, String> {
        let runs = self.past.len();
        let mut forecaster = if runs == 0 {
            Forecaster::new(self.scheduler, Effort::default())
        } else {
            let machine = Engine::with_seed(self.grid, &self.strategy, 1);
            let machine = machine.map_err(|error| error.to_string())?;
            taught(&self.scheduler, machine, self.past).map_err(|error| error.to_string())?
        };
        for (job, kind) in self.kinds {
            forecaster.found(job, kind);
        }
        let (record, calibrated) = (forecaster.record(), forecaster.is_calibrated());
        let ids: Vec<JobId> = self.waiting.iter().map(|(id, _)| *id).collect();
        let told = if ids.is_empty() {
            Vec::new()
        } else {
            let told = forecaster.forecast(&self.dispatcher, self.now, &ids);
            told.map_err(|error| error.to_string())?
        };
        let each = self.waiting.into_iter().zip(told);
        let starts = each.flat_map(|((_, jobs), one)| jobs.into_iter().map(move |uid| (uid, one)));
        Ok(Foretold { now: self.now, starts: starts.collect(), record, calibrated, runs })
    }
}

/// When waiting Jobs will probably start, and how good such answers have been.
#[derive(Clone, Debug)]
pub(crate) struct Foretold {
    now: Time,
    starts: HashMap<Uid, Forecast>,
    pub(crate) record: Record,
    /// Whether enough has been learned.
    pub(crate) calibrated: bool,
    /// The Jobs that have run and are known.
    runs: usize,
}

impl Foretold {
    /// Of a Job, in seconds since 1970: the earliest, the median, the latest, and the plan.
    pub(crate) fn of(&self, job: &Uid) -> Option<[u64; 4]> {
        let one = self.starts.get(job)?;
        Some([one.low, one.median, one.high, one.plan].map(|time| time.0 / TICKS))
    }

    /// The same in sentences.
    pub(crate) fn words(&self, job: &Uid, date: impl Fn(u64) -> String) -> Option<String> {
        let one = self.starts.get(job)?;
        if self.calibrated {
            return Some(range(one, self.record, self.now, date));
        }
        let waited = self.record.kept + self.record.broken;
        Some(format!(
            "A range is told when 30 Jobs that have run had to wait; of {} that are known, \
             {waited} had to.",
            self.runs
        ))
    }
}
