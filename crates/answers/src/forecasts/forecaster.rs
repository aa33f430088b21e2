//! Start-time prediction from simulated futures.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pavior_kernel::{Stream, Time};
use pavior_mesh::JobId;
use pavior_scheduling::{DispatchError, Dispatcher, RunningJob, Selection};
use pavior_workload::Job;
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::arrivals::{Arrival, Arrivals};
use super::calibration::{Calibration, Corrections, Record, WaitForecast};
use super::draws::Draws;
use super::future::starts;
use super::obstacle::obstacle;
use super::{Experience, HORIZON, Kind, Past, QueueForecast, Start};

/// The amount of work spent on a forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The number of futures to simulate, which is at least 1.
    pub futures: usize,
    /// The maximum number of threads that run the futures.
    pub threads: usize,
    /// The seed for the random draws.
    pub seed: u64,
}

impl Default for Effort {
    /// Returns an effort of eight futures on one thread.
    fn default() -> Effort {
        Effort { futures: 8, threads: 1, seed: 1 }
    }
}

/// A job's predicted start, in ticks of [`TimeUnit::SECOND`].
///
/// [`TimeUnit::SECOND`]: pavior_workload::TimeUnit::SECOND
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The job whose start is predicted.
    pub job: JobId,
    /// The 5% quantile: about 5% of jobs start earlier.
    pub low: Time,
    /// The median: half of the jobs start earlier.
    pub median: Time,
    /// The 95% quantile: about 5% of jobs start later. If this is [`HORIZON`] from now, the job may
    /// start even later. If the job starts neither in any future nor in the plan, all four times
    /// have this value.
    pub high: Time,
    /// The start time if every job runs for its estimate and no more jobs arrive.
    pub plan: Time,
}

/// The reason that a forecast failed.
#[derive(Clone, Debug, Error)]
pub enum ForecastError {
    /// The scheduler or the strategy failed while a future was simulated.
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
    /// The scheduler cannot be created.
    #[error("cannot create the scheduler for a simulated future: {0}")]
    Scheduler(String),
    /// The machine cannot be created.
    #[error("cannot create the machine for replaying past jobs: {0}")]
    Machine(String),
    /// The forecast was stopped ([`Forecaster::stop_by`]).
    #[error("the forecast was stopped")]
    Stopped,
}

/// A model that learns from events on a machine and predicts when waiting jobs will start.
///
/// The caller reports the events: [`submitted`](Forecaster::submitted),
/// [`started`](Forecaster::started), [`ended`](Forecaster::ended) and
/// [`withdrawn`](Forecaster::withdrawn). [`Forecaster::forecast`] simulates several futures:
/// starting from the state of a [`Dispatcher`], it runs the machine's own strategy and scheduler
/// forward, with run times and later arrivals drawn from the past. The quantiles of the start times
/// are then corrected using the errors of earlier forecasts, so that about nine out of ten
/// intervals contain the actual start. A job's run time is never used before the job has ended.
///
/// Memory use is bounded: the forecaster stores at most 20,000 run times, 20,000 arrivals from the
/// last seven days, and 100,000 open promises.
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
    /// Creates an untrained forecaster for dispatchers that use `scheduler`.
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

    /// Sets the flag that stops forecasts. While the flag is true, forecasts end early with
    /// [`ForecastError::Stopped`].
    pub fn stop_by(&mut self, flag: Arc<AtomicBool>) {
        self.stop = flag;
    }

    /// Changes the scheduler assumed by later forecasts, keeping everything learned so far.
    pub fn order_by(&mut self, scheduler: Selection) {
        self.scheduler = scheduler;
    }

    /// Returns the run times of past jobs.
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// Returns the numbers of promises made, kept and broken.
    pub fn record(&self) -> Record {
        self.calibration.record()
    }

    /// Returns true if the outcomes of enough promises are known. Until then, intervals have a
    /// fixed margin that is not based on data.
    pub fn is_calibrated(&self) -> bool {
        self.calibration.is_learned()
    }

    /// Records that a job has arrived. Jobs must be reported in order of arrival.
    pub fn submitted(&mut self, job: &Job, kind: Kind) {
        self.arrivals.add(Arrival { at: job.arrival, request: job.request, kind });
        self.kinds.insert(job.id, kind);
    }

    /// Records a job that is already running and has not been reported before.
    pub fn found(&mut self, job: JobId, kind: Kind) {
        self.kinds.insert(job, kind);
    }

    /// Records that a job has started.
    pub fn started(&mut self, job: JobId, now: Time) {
        self.calibration.started(job, now);
    }

    /// Records that a job has ended normally after running for `length`.
    pub fn ended(&mut self, job: JobId, length: Time) {
        if let Some(kind) = self.kinds.remove(&job) {
            self.past.add(kind, length);
        }
    }

    /// Records that a job left the queue, or was killed before it completed.
    pub fn withdrawn(&mut self, job: JobId) {
        self.kinds.remove(&job);
        self.calibration.withdrawn(job);
    }

    /// Forgets all running and waiting jobs and the promises made to them, but keeps everything
    /// else learned so far.
    pub fn forget_jobs(&mut self) {
        self.kinds.clear();
        self.calibration.forget_open();
    }

    /// Returns a summary of the data learned so far.
    pub fn experience(&self) -> Experience {
        let runs = self.past.len() as u64;
        Experience { runs, promises: self.record(), calibrated: self.is_calibrated() }
    }

    /// Predicts when the given jobs in the queue will start. Any jobs that the scheduler would
    /// start now are first started in `state`; their predicted start is `now`.
    ///
    /// Costs as much as [`Forecaster::forecast_waiting`] for the jobs that do not start now.
    ///
    /// # Errors
    /// Returns an error if the scheduler or the strategy fails.
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

    /// Works like [`Forecaster::forecast`], and also explains why a job has no predicted start.
    ///
    /// Cost: a forecast, plus, for each job without a predicted start, one search by the strategy
    /// and one pass over all positions of the job's box.
    ///
    /// # Errors
    /// Returns an error if the scheduler or the strategy fails.
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
            if start.times() == [None; 4] {
                let job = state.queue().iter().find(|job| job.id == one.job);
                start.obstacle = job.map(|job| obstacle(state.machine(), &mut empty, &job.request));
            }
            (one.job, start)
        };
        let starts = known.iter().map(start).collect();
        QueueForecast { now, starts, experience: self.experience() }
    }

    /// Predicts when waiting jobs will start. The scheduler must already have determined that no
    /// job can start now. A job's first forecast that includes a time is a promise; its error is
    /// used to correct later forecasts.
    ///
    /// Cost: one run per future. Each run ends when the last of the given jobs has started.
    ///
    /// # Errors
    /// Returns an error if the scheduler or the strategy fails.
    pub fn forecast(
        &mut self,
        state: &Dispatcher,
        now: Time,
        jobs: &[JobId],
    ) -> Result<Vec<Forecast>, ForecastError> {
        Ok(self.forecast_with_plans(state, now, jobs, &[Plan::Estimates])?.0)
    }

    /// Works like [`Forecaster::forecast`], but also returns the start times under each of the
    /// given plans. The forecasts are based on the first plan.
    pub(crate) fn forecast_with_plans(
        &mut self,
        state: &Dispatcher,
        now: Time,
        jobs: &[JobId],
        plans: &[Plan],
    ) -> Result<(Vec<Forecast>, Vec<Vec<Time>>), ForecastError> {
        self.calibration.advance(now);
        let futures = plans.iter().map(|&plan| self.planned(state, now, plan));
        let mut futures = futures.collect::<Result<Vec<_>, _>>()?;
        futures.extend(self.drawn(state, now)?);
        let mut planned = self.starts(futures, now, jobs)?;
        let drawn = planned.split_off(plans.len());
        let kinds: Vec<_> = jobs.iter().map(|id| *self.kinds.get(id).unwrap_or(&UNKNOWN)).collect();
        let corrections = self.calibration.corrections(now, &kinds);
        let mut forecasts = Vec::with_capacity(jobs.len());
        for (place, ((&job, &plan), kind)) in jobs.iter().zip(&planned[0]).zip(&kinds).enumerate() {
            let starts = drawn.iter().map(|starts| starts[place]);
            let wait = wait_forecast(&corrections, now, kind, plan, starts);
            if let Some(wait) = &wait {
                self.calibration.promise(job, now, kind, wait);
            }
            forecasts.push(Forecast::of(job, now, plan, wait));
        }
        Ok((forecasts, planned))
    }

    /// Predicts when a job would start if it were submitted now. This forecast is not a promise and
    /// does not affect later forecasts.
    ///
    /// # Errors
    /// Returns an error if the scheduler or the strategy fails.
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
        let planned = self.planned(state, now, Plan::Estimates)?;
        let plan = self.starts(vec![planned], now, &[job])?[0][0];
        if plan == now {
            return Ok(Forecast::at(job, now));
        }
        let futures = self.drawn(state, now)?;
        let drawn = self.starts(futures, now, &[job])?;
        let starts = drawn.iter().map(|starts| starts[0]);
        let wait =
            wait_forecast(&self.calibration.corrections(now, &[*kind]), now, kind, plan, starts);
        Ok(Forecast::of(job, now, plan, wait))
    }

    /// Creates a future with no later arrivals. If a job has neither an estimate nor similar past
    /// runs, it is assumed to run for an hour.
    fn planned(&self, state: &Dispatcher, now: Time, plan: Plan) -> Result<Input, ForecastError> {
        let runs = all(state).map(|(job, start)| {
            let kind = self.kinds.get(&job.id).unwrap_or(&UNKNOWN);
            let estimate = match plan {
                Plan::Estimates => kind.estimate.or_else(|| self.past.usual(kind)),
                Plan::CorrectedEstimates => self.past.corrected(kind),
            };
            let estimate = estimate.unwrap_or(HOUR);
            let run = start.map_or(estimate, |start| {
                let job = Job { estimate, ..job.clone() };
                RunningJob { job, start }.expected_end(now).since(start)
            });
            (job.id, run)
        });
        let runs = runs.collect();
        Ok(Input { dispatcher: self.fork(state, &runs)?, runs, draws: None })
    }

    /// Creates futures with random run times for all running and waiting jobs.
    fn drawn(&mut self, state: &Dispatcher, now: Time) -> Result<Vec<Input>, ForecastError> {
        let first = self.asked;
        self.asked += self.effort.futures.max(1) as u64;
        // Sort by job number; sorting by end time would reveal the run times of jobs without an
        // estimate.
        let mut jobs: Vec<_> = all(state).collect();
        jobs.sort_unstable_by_key(|(job, _)| job.id);
        let future = |number| {
            let mut draws = Draws::new(Stream::new(self.effort.seed, number, "future"));
            let drawn = jobs.iter().map(|(job, start)| {
                let kind = self.kinds.get(&job.id).unwrap_or(&UNKNOWN);
                let age = start.map_or(Time::ZERO, |start| now.since(start));
                (job.id, draws.run(&self.past, kind, age))
            });
            let runs = drawn.collect();
            Ok(Input { dispatcher: self.fork(state, &runs)?, runs, draws: Some(draws) })
        };
        (first..self.asked).map(future).collect()
    }

    /// Returns the start time of each job in each future.
    fn starts(
        &self,
        futures: Vec<Input>,
        now: Time,
        jobs: &[JobId],
    ) -> Result<Vec<Vec<Time>>, ForecastError> {
        let (past, arrivals, stop) = (&self.past, &self.arrivals, &*self.stop);
        let run = |Input { dispatcher, runs, draws }: Input| {
            let later = draws.into_iter().flat_map(|mut draws| {
                let later = arrivals.later(now, &mut draws.stream);
                later.map(move |arrival| {
                    let run = draws.run(past, &arrival.kind, Time::ZERO);
                    (arrival, run)
                })
            });
            starts((dispatcher, now), &runs, later, jobs, stop)
        };
        let started = in_parallel(futures, self.effort.threads, run);
        if stop.load(Ordering::Relaxed) {
            return Err(ForecastError::Stopped);
        }
        Ok(started.into_iter().collect::<Result<_, _>>()?)
    }

    /// Copies the state, replacing run times with the users' estimates so that the run times stay
    /// hidden. If a job has no estimate, its run time in this future is used as its estimate.
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
    /// Creates a forecast in which all four times are the same.
    pub(super) fn at(job: JobId, at: Time) -> Forecast {
        Forecast { job, low: at, median: at, high: at, plan: at }
    }

    /// Creates the forecast for a job. Without a wait, the plan is the end of all futures.
    fn of(job: JobId, now: Time, plan: Time, wait: Option<WaitForecast>) -> Forecast {
        let Some(wait) = wait else { return Forecast::at(job, plan) };
        let [low, median, high] = wait.waits.map(|wait| now.saturating_add(wait));
        Forecast { job, low, median, high, plan }
    }
}

/// Returns a job's forecast, given its start in each future. Returns `None` if the job starts
/// neither in any future nor in the plan, because there is then no time to correct.
fn wait_forecast(
    corrections: &Corrections,
    now: Time,
    kind: &Kind,
    plan: Time,
    starts: impl Iterator<Item = Time>,
) -> Option<WaitForecast> {
    let waits: Vec<Time> = starts.map(|start| start.since(now)).collect();
    let is_known = plan.since(now) < HORIZON || waits.iter().any(|&wait| wait < HORIZON);
    is_known.then(|| corrections.waits(kind, &waits))
}

const HOUR: Time = Time(3600 * pavior_workload::TimeUnit::SECOND.ticks);

/// The properties assumed for a job that has not been reported.
const UNKNOWN: Kind = Kind { user: None, nodes: 1, estimate: None };

/// The source of the run times in a future that has no random draws.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// The estimate or, failing that, the usual run time of similar jobs.
    Estimates,
    /// The corrected estimate ([`Past::corrected`]).
    CorrectedEstimates,
}

/// The input to one future.
struct Input {
    dispatcher: Dispatcher,
    /// Each running or waiting job's run time.
    runs: FxHashMap<JobId, Time>,
    /// The random draws for later arrivals, or `None` if no jobs arrive.
    draws: Option<Draws>,
}

/// Returns all running jobs with their start times, and all waiting jobs.
fn all(state: &Dispatcher) -> impl Iterator<Item = (&Job, Option<Time>)> {
    let running = state.running().by_estimated_end().map(|run| (&run.job, Some(run.start)));
    running.chain(state.queue().iter().map(|job| (job, None)))
}

/// Runs tasks on several threads and returns their results in task order. Each thread takes the
/// next task as soon as it finishes one.
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
