//! Learns from what happens on a machine, and says when what waits will start.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pavior_kernel::{Stream, Time};
use pavior_mesh::JobId;
use pavior_scheduling::{DispatchError, Dispatcher, RunningJob, Selection};
use pavior_workload::Job;
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::arrivals::{Arrival, Arrivals};
use super::calibration::{Calibration, Record, Said};
use super::draws::Draws;
use super::future::starts;
use super::obstacle::obstacle;
use super::{Experience, HORIZON, Kind, Past, QueueForecast, Start};

/// How forecasts are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The number of futures, at least 1.
    pub futures: usize,
    /// The most threads that run them.
    pub threads: usize,
    /// The seed of what they draw.
    pub seed: u64,
}

impl Default for Effort {
    /// Eight futures on one thread.
    fn default() -> Effort {
        Effort { futures: 8, threads: 1, seed: 1 }
    }
}

/// When a job will start: instants in the ticks of [`TimeUnit::SECOND`].
///
/// [`TimeUnit::SECOND`]: pavior_workload::TimeUnit::SECOND
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The job.
    pub job: JobId,
    /// Earlier than this in about 5 of 100 cases.
    pub low: Time,
    /// Earlier and later equally often.
    pub median: Time,
    /// Later than this in about 5 of 100 cases. What would be [`HORIZON`] from now may be later
    /// still. A job that starts in no future and not in the plan has that in all four.
    pub high: Time,
    /// When it starts if each job runs as long as its user says, and none arrives any more.
    pub plan: Time,
}

/// No forecast can be made.
#[derive(Clone, Debug, Error)]
pub enum ForecastError {
    /// Scheduler or strategy have failed in a future.
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
    /// The scheduler cannot be made.
    #[error("no scheduler for a future: {0}")]
    Scheduler(String),
    /// The machine cannot be made.
    #[error("no machine for the past: {0}")]
    Machine(String),
    /// It was stopped ([`Forecaster::stop_by`]).
    #[error("the forecast was stopped")]
    Stopped,
}

/// Learns from what happens on a machine, and says when what waits will start.
///
/// The caller tells what happens: [`submitted`](Forecaster::submitted),
/// [`started`](Forecaster::started), [`ended`](Forecaster::ended) and
/// [`withdrawn`](Forecaster::withdrawn). [`Forecaster::forecast`] runs the machine's own strategy
/// and scheduler forward from a state of its [`Dispatcher`], several times, with run times and
/// later arrivals drawn from the past. The quantiles of the starts are shifted by what earlier
/// promises were off, so that what is promised holds. The run time of a job is never read before
/// the job has ended.
///
/// Memory is bounded: 20,000 run times, 20,000 arrivals of seven days, 100,000 open promises.
pub struct Forecaster {
    scheduler: Selection,
    effort: Effort,
    past: Past,
    arrivals: Arrivals,
    calibration: Calibration,
    kinds: FxHashMap<JobId, Kind>,
    asked: u64,
    stop: Arc<AtomicBool>,
}

impl Forecaster {
    /// Knows nothing yet. The scheduler is that of the dispatchers it will be asked about.
    pub fn new(scheduler: Selection, effort: Effort) -> Forecaster {
        Forecaster {
            scheduler,
            effort,
            past: Past::new(),
            arrivals: Arrivals::default(),
            calibration: Calibration::default(),
            kinds: FxHashMap::default(),
            asked: 0,
            stop: Arc::default(),
        }
    }

    /// Sets the flag that stops forecasts: while it is true they end soon, with
    /// [`ForecastError::Stopped`].
    pub fn stop_by(&mut self, flag: Arc<AtomicBool>) {
        self.stop = flag;
    }

    /// The dispatchers that it will be asked about have another scheduler from now on. What was
    /// learned stays.
    pub fn order_by(&mut self, scheduler: Selection) {
        self.scheduler = scheduler;
    }

    /// The run times that it knows.
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// How good its promises have been.
    pub fn record(&self) -> Record {
        self.calibration.record()
    }

    /// Whether enough promises have been held against what came. Before, intervals have a margin
    /// that nothing supports.
    pub fn is_calibrated(&self) -> bool {
        self.calibration.is_learned()
    }

    /// A job has arrived. Jobs come in the order of their arrivals.
    pub fn submitted(&mut self, job: &Job, kind: Kind) {
        self.arrivals.add(Arrival { at: job.arrival, request: job.request, kind });
        self.kinds.insert(job.id, kind);
    }

    /// A job runs of which nothing was told before.
    pub fn found(&mut self, job: JobId, kind: Kind) {
        self.kinds.insert(job, kind);
    }

    /// A job has started.
    pub fn started(&mut self, job: JobId, now: Time) {
        self.calibration.started(job, now);
    }

    /// A job has ended by itself after it has run for `length`.
    pub fn ended(&mut self, job: JobId, length: Time) {
        if let Some(kind) = self.kinds.remove(&job) {
            self.past.add(kind, length);
        }
    }

    /// A job is gone of which nothing can be learned: it has left the queue, or was cut short.
    pub fn withdrawn(&mut self, job: JobId) {
        self.kinds.remove(&job);
        self.calibration.withdrawn(job);
    }

    /// What runs and waits is forgotten, with what was said of it. What has been learned stays.
    pub fn forget_jobs(&mut self) {
        self.kinds.clear();
        self.calibration.forget_open();
    }

    /// Returns what has been learned so far.
    pub fn experience(&self) -> Experience {
        let runs = self.past.len() as u64;
        Experience { runs, promises: self.record(), calibrated: self.is_calibrated() }
    }

    /// Forecasts when some jobs of a queue will start. Those that the scheduler names now are
    /// started in `state`, and their forecast is `now`.
    ///
    /// Costs as [`Forecaster::forecast_waiting`] of those that are left.
    ///
    /// # Errors
    /// If scheduler or strategy fail.
    pub fn forecast_queue(
        &mut self,
        state: &mut Dispatcher,
        now: Time,
        jobs: &[JobId],
    ) -> Result<QueueForecast, ForecastError> {
        let mut started = FxHashMap::default();
        while let Some(start) = state.start_next(now, &mut ())? {
            started.insert(start.job.id, Start::at(now));
        }
        let (known, left): (Vec<JobId>, Vec<JobId>) =
            jobs.iter().partition(|&job| started.contains_key(job));
        let mut forecast = self.forecast_waiting(state, now, &left)?;
        forecast.starts.extend(known.into_iter().map(|job| (job, started[&job])));
        Ok(forecast)
    }

    /// Forecasts when waiting jobs will start, as [`Forecaster::forecast`] does, and says why a job
    /// has no time.
    ///
    /// Costs as the forecast, and one search of the strategy and one look at all places of its box
    /// for each job that has no time.
    ///
    /// # Errors
    /// If scheduler or strategy fail.
    pub fn forecast_waiting(
        &mut self,
        state: &Dispatcher,
        now: Time,
        jobs: &[JobId],
    ) -> Result<QueueForecast, ForecastError> {
        let known = if jobs.is_empty() { Vec::new() } else { self.forecast(state, now, jobs)? };
        Ok(self.answer(state, now, &known))
    }

    fn answer(&self, state: &Dispatcher, now: Time, known: &[Forecast]) -> QueueForecast {
        let end = now.saturating_add(HORIZON);
        let mut empty = None;
        let start = |one: &Forecast| {
            let mut start = Start::of(one, end);
            if start.is_unknown() {
                let job = state.queue().iter().find(|job| job.id == one.job);
                start.obstacle = job.map(|job| obstacle(state.machine(), &mut empty, &job.request));
            }
            (one.job, start)
        };
        let starts = known.iter().map(start).collect();
        QueueForecast { now, starts, experience: self.experience() }
    }

    /// When waiting jobs will start, as of now, after the scheduler has named no job to start. The
    /// first forecast of a job that has a time is a promise, from which later ones learn.
    ///
    /// Costs as many runs as there are futures, each until the last of the jobs has started.
    ///
    /// # Errors
    /// If scheduler or strategy fail.
    pub fn forecast(
        &mut self,
        state: &Dispatcher,
        now: Time,
        jobs: &[JobId],
    ) -> Result<Vec<Forecast>, ForecastError> {
        Ok(self.forecast_beside(state, now, jobs, &[Plan::Said])?.0)
    }

    /// The same, and when the jobs start by each of some plans. The first of these is that of the
    /// forecasts.
    pub(crate) fn forecast_beside(
        &mut self,
        state: &Dispatcher,
        now: Time,
        jobs: &[JobId],
        plans: &[Plan],
    ) -> Result<(Vec<Forecast>, Vec<Vec<Time>>), ForecastError> {
        self.calibration.advance(now);
        let mut ways = plans
            .iter()
            .map(|&plan| self.planned(state, now, plan))
            .collect::<Result<Vec<_>, _>>()?;
        ways.extend(self.drawn(state, now)?);
        let mut planned = self.starts(ways, now, jobs)?;
        let futures = planned.split_off(plans.len());
        let kind = |job: &JobId| self.kinds.get(job).copied();
        let kinds: Vec<Kind> = jobs.iter().map(|job| kind(job).unwrap_or(UNKNOWN)).collect();
        let mut forecasts = Vec::with_capacity(jobs.len());
        for (place, (&job, &plan)) in jobs.iter().zip(&planned[0]).enumerate() {
            let starts = futures.iter().map(|starts| starts[place]);
            let Some(said) = self.said(now, &kinds[place], plan, starts) else {
                forecasts.push(Forecast::beyond(job, plan));
                continue;
            };
            self.calibration.promise(job, now, &kinds[place], &said);
            forecasts.push(said.forecast(job, now, plan));
        }
        Ok((forecasts, planned))
    }

    /// Forecasts when a job would start that is submitted now: an answer of this job alone. Nothing
    /// is promised, and nothing learned.
    ///
    /// # Errors
    /// If scheduler or strategy fail.
    pub fn forecast_request(
        &mut self,
        state: &Dispatcher,
        job: Job,
        kind: Kind,
    ) -> Result<QueueForecast, ForecastError> {
        let (id, now) = (job.id, job.arrival);
        let mut state = state.fork(self.scheduler()?, |job| job.estimate);
        state.submit(job).map_err(DispatchError::from)?;
        self.kinds.insert(id, kind);
        let answer = self.forecast_submitted(&state, now, id, &kind);
        self.kinds.remove(&id);
        Ok(self.answer(&state, now, &[answer?]))
    }

    fn forecast_submitted(
        &mut self,
        state: &Dispatcher,
        now: Time,
        job: JobId,
        kind: &Kind,
    ) -> Result<Forecast, ForecastError> {
        let way = self.planned(state, now, Plan::Said)?;
        let plan = self.starts(vec![way], now, &[job])?[0][0];
        if plan == now {
            return Ok(Forecast { job, low: now, median: now, high: now, plan });
        }
        let futures = self.drawn(state, now)?;
        let futures = self.starts(futures, now, &[job])?;
        let said = self.said(now, kind, plan, futures.iter().map(|starts| starts[0]));
        let beyond = Forecast::beyond(job, plan);
        Ok(said.map_or(beyond, |said| said.forecast(job, now, plan)))
    }

    /// What is said of the starts of a job in each of the futures. None if it starts in none of
    /// them, and not in the plan: an error of earlier promises shifts nothing where there is no
    /// time.
    fn said(
        &self,
        now: Time,
        kind: &Kind,
        plan: Time,
        starts: impl Iterator<Item = Time>,
    ) -> Option<Said> {
        let waits: Vec<Time> = starts.map(|start| start.since(now)).collect();
        let starts = plan.since(now) < HORIZON || waits.iter().any(|&wait| wait < HORIZON);
        starts.then(|| self.calibration.waits(now, kind, &waits))
    }

    /// A way without later arrivals. A job of which nothing is said runs for an hour.
    fn planned(&self, state: &Dispatcher, now: Time, plan: Plan) -> Result<Way, ForecastError> {
        let runs = all(state).map(|(job, start)| {
            let kind = self.kinds.get(&job.id).unwrap_or(&UNKNOWN);
            let said = match plan {
                Plan::Said => kind.estimate.or_else(|| self.past.usual(kind)),
                Plan::Corrected => self.past.corrected(kind),
            };
            let estimate = said.unwrap_or(HOUR);
            let started = RunningJob { job: Job { estimate, ..job.clone() }, start: now };
            let run = start.map_or(estimate, |start| {
                RunningJob { start, ..started }.expected_end(now).since(start)
            });
            (job.id, run)
        });
        let runs = runs.collect();
        Ok(Way { dispatcher: self.fork(state, &runs)?, runs, draws: None })
    }

    /// As many futures as are asked for, with run times drawn for all that runs and waits.
    fn drawn(&mut self, state: &Dispatcher, now: Time) -> Result<Vec<Way>, ForecastError> {
        let first = self.asked;
        self.asked += self.effort.futures.max(1) as u64;
        // By number: the order of estimated ends would tell of run times where none is said.
        let mut jobs: Vec<_> = all(state).collect();
        jobs.sort_unstable_by_key(|(job, _)| job.id);
        let way = |number| {
            let mut draws = Draws::new(Stream::new(self.effort.seed, number, "future"));
            let drawn = jobs.iter().map(|(job, start)| {
                let kind = self.kinds.get(&job.id).unwrap_or(&UNKNOWN);
                let age = start.map_or(Time::ZERO, |start| now.since(start));
                (job.id, draws.run(&self.past, kind, age))
            });
            let runs = drawn.collect();
            Ok(Way { dispatcher: self.fork(state, &runs)?, runs, draws: Some(draws) })
        };
        (first..self.asked).map(way).collect()
    }

    /// When jobs start on each of some ways.
    fn starts(
        &self,
        ways: Vec<Way>,
        now: Time,
        jobs: &[JobId],
    ) -> Result<Vec<Vec<Time>>, ForecastError> {
        let (past, arrivals, stop) = (&self.past, &self.arrivals, &*self.stop);
        let run = |Way { dispatcher, runs, draws }: Way| {
            let later = draws.into_iter().flat_map(|mut draws| {
                let later = arrivals.later(now, &mut draws.stream);
                later.map(move |arrival| {
                    let run = draws.run(past, &arrival.kind, Time::ZERO);
                    (arrival, run)
                })
            });
            starts((dispatcher, now), &runs, later, jobs, stop)
        };
        let started = in_parallel(ways, self.effort.threads, run);
        if stop.load(Ordering::Relaxed) {
            return Err(ForecastError::Stopped);
        }
        Ok(started.into_iter().collect::<Result<_, _>>()?)
    }

    /// The state with nothing in it that is not known: a job without an estimate is said to run as
    /// long as it does in this future.
    fn fork(
        &self,
        state: &Dispatcher,
        runs: &FxHashMap<JobId, Time>,
    ) -> Result<Dispatcher, ForecastError> {
        Ok(state.fork(self.scheduler()?, |job| {
            let kind = self.kinds.get(&job.id).unwrap_or(&UNKNOWN);
            kind.estimate.unwrap_or_else(|| runs[&job.id])
        }))
    }

    fn scheduler(&self) -> Result<Box<dyn pavior_scheduling::Scheduler>, ForecastError> {
        let built = self.scheduler.build(());
        built.map_err(|error| ForecastError::Scheduler(error.to_string()))
    }
}

impl Forecast {
    /// That of a job that does not start before `end`.
    fn beyond(job: JobId, end: Time) -> Forecast {
        Forecast { job, low: end, median: end, high: end, plan: end }
    }
}

impl Said {
    fn forecast(&self, job: JobId, now: Time, plan: Time) -> Forecast {
        let [low, median, high] = self.waits.map(|wait| now.saturating_add(wait));
        Forecast { job, low, median, high, plan }
    }
}

const HOUR: Time = Time(3600 * pavior_workload::TimeUnit::SECOND.ticks);

/// A job of which nothing was told.
const UNKNOWN: Kind = Kind { user: None, nodes: 1, estimate: None };

/// How long jobs run if nothing is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// As long as their users say, and without an estimate as long as jobs like them usually do.
    Said,
    /// As corrected estimates say ([`Past::corrected`]).
    Corrected,
}

/// A way in which time may run on.
struct Way {
    dispatcher: Dispatcher,
    /// How long each job runs that runs or waits.
    runs: FxHashMap<JobId, Time>,
    /// For what arrives later. None if nothing does.
    draws: Option<Draws>,
}

/// All that runs, with its start, and all that waits.
fn all(state: &Dispatcher) -> impl Iterator<Item = (&Job, Option<Time>)> {
    let running = state.running().by_estimated_end().map(|run| (&run.job, Some(run.start)));
    running.chain(state.queue().iter().map(|job| (job, None)))
}

/// The results in the order of the tasks, whatever the number of threads. A thread that is done
/// takes the next task.
fn in_parallel<T: Send, R: Send>(
    tasks: Vec<T>,
    threads: usize,
    run: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(tasks.len());
    if threads <= 1 {
        return tasks.into_iter().map(run).collect();
    }
    let left = Mutex::new(tasks.into_iter().enumerate());
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let done = std::iter::from_fn(next).map(|(place, task)| (place, run(task)));
        done.collect::<Vec<_>>()
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for thread in others {
            match thread.join() {
                Ok(results) => done.extend(results),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|&(place, _)| place);
    done.into_iter().map(|(_, result)| result).collect()
}
