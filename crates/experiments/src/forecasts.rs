//! Forecasts of each logged job's start time, made when the job is submitted.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pavior_allocation::Machine;
use pavior_answers::forecasts::{
    Effort, ForecastError, Forecaster, Judged, Kind, Linked, Score, learn, replay, replay_linked,
};
use pavior_kernel::{Stream, Time};
use pavior_scheduling::Dispatcher;
use pavior_simulation::{Histories, Stop};
use pavior_workload::traces::{Record, Trace};
use pavior_workload::{Job, TimeUnit};
use thiserror::Error;

use crate::settings::{Asked, JobSettings, JobSource};
use crate::{Environment, InputError, InputFiles, Progress, RunSettings, Scenario, Specification};

/// An error that prevents forecasting for a log.
#[derive(Debug, Error)]
pub enum LogForecastError {
    /// The settings do not describe a log, or they include a network, failures, or migration.
    #[error(
        "forecasts require a job log and cannot be combined with a network, failures or migration"
    )]
    NotALog,
    /// The log cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The strategy or the scheduler could not be built, or failed.
    #[error(transparent)]
    Forecast(#[from] ForecastError),
    /// The strategy or the scheduler cannot be built.
    #[error("{0}")]
    Strategy(String),
    /// The caller stopped the replay.
    #[error("the replay was stopped before it finished")]
    Stopped,
}

/// Replays a log and forecasts when each job starts. Reports each start to `each` and to the
/// environment's progress. Returns the number of jobs that can never fit. Runs one [`replay`].
///
/// # Errors
/// Returns an error if the settings do not describe a log, the log cannot be read, the strategy or
/// the scheduler fails, or the environment stops the replay.
pub fn forecast_log(
    settings: &RunSettings,
    effort: Effort,
    environment: Environment<'_>,
    mut each: impl FnMut(Judged),
) -> Result<u64, LogForecastError> {
    let Environment { files, progress, stop, .. } = environment;
    let log = OpenLog::new(settings, files)?;
    let (dispatcher, mut forecaster) = log.site(effort)?;
    progress.planned(log.trace.records.len() as u64);
    let each = |job| {
        progress.done();
        each(job);
    };
    let rejected = match log.scenario.links() {
        None => replay(log.jobs(stop), dispatcher, &mut forecaster, each)?,
        Some(links) => {
            let linked = Linked { jobs: log.jobs(stop), links, stops: &|| is_set(stop) };
            replay_linked(linked, dispatcher, &mut forecaster, each)?
        }
    };
    if is_set(stop) { Err(LogForecastError::Stopped) } else { Ok(rejected) }
}

/// The number of jobs at the end of a past log that are used to measure forecast accuracy. This is
/// twice the number of outcomes stored per size class, because some jobs start immediately.
const TOLD: usize = 1_600;

/// The time at which a past log begins. It is about 300 years after time 0, so that jobs that
/// started before the log have valid start times.
pub const FIRST_INSTANT: Time = Time(10_000_000_000 * TimeUnit::SECOND.ticks);

/// Trains a forecaster on a past log. Returns the forecaster and the time of the log's last
/// arrival. The forecaster can answer queries from that time on. The log begins at
/// [`FIRST_INSTANT`]. Reports each arrival to the environment's progress.
///
/// The cost is one replay of the log, with forecasts for its last 1,600 jobs.
///
/// # Errors
/// Returns the same errors as [`forecast_log`].
pub fn learn_log(
    settings: &RunSettings,
    effort: Effort,
    environment: Environment<'_>,
) -> Result<(Forecaster, Time), LogForecastError> {
    let Environment { files, progress, stop, .. } = environment;
    let log = OpenLog::new(settings, files)?;
    let (dispatcher, mut forecaster) = log.site(effort)?;
    let jobs = log.trace.records.len();
    progress.planned(jobs as u64);
    let heard = log.jobs(stop).map(|(job, kind)| {
        progress.done();
        (Job { arrival: job.arrival.saturating_add(FIRST_INSTANT), ..job }, kind)
    });
    let now = learn(heard, dispatcher, &mut forecaster, jobs.saturating_sub(TOLD))?;
    if is_set(stop) { Err(LogForecastError::Stopped) } else { Ok((forecaster, now)) }
}

fn is_set(stop: Option<&Stop>) -> bool {
    stop.is_some_and(Stop::is_set)
}

/// A log that can be forecast, with the settings and the scenario for replaying it.
struct OpenLog<'s> {
    settings: &'s RunSettings,
    jobs: &'s JobSettings,
    trace: Arc<Trace>,
    scenario: Scenario,
}

impl<'s> OpenLog<'s> {
    fn new(
        settings: &'s RunSettings,
        files: &dyn InputFiles,
    ) -> Result<OpenLog<'s>, LogForecastError> {
        let Asked::Jobs(jobs) = &settings.asked else { return Err(LogForecastError::NotALog) };
        let JobSource::Log(log) = &jobs.source else { return Err(LogForecastError::NotALog) };
        if jobs.network.is_some() || jobs.failures.is_some() || jobs.migration.is_some() {
            return Err(LogForecastError::NotALog);
        }
        if jobs.log().is_some_and(|log| log.communication.is_some()) {
            return Err(LogForecastError::NotALog);
        }
        let trace = log.request.trace(files, jobs.warmup)?;
        let scenario = Scenario::new(settings, false, files, &Histories::default())?;
        Ok(OpenLog { settings, jobs, trace, scenario })
    }

    /// Creates an empty machine with its scheduler, and an untrained forecaster.
    fn site(&self, effort: Effort) -> Result<(Dispatcher, Forecaster), LogForecastError> {
        let OpenLog { settings, jobs, .. } = self;
        // A simulation with the same settings uses the same random number stream.
        let draw = Stream::new(settings.seed, 0, "allocation");
        let machine = Machine::with_stream(settings.machine, &settings.strategy, draw);
        let machine = machine.map_err(|error| LogForecastError::Strategy(error.to_string()))?;
        let built = jobs.scheduler.build(());
        let scheduler = built.map_err(|error| LogForecastError::Strategy(error.to_string()))?;
        let forecaster = Forecaster::new(jobs.scheduler.clone(), effort);
        Ok((Dispatcher::new(machine, scheduler), forecaster))
    }

    /// Returns the jobs, each with the properties that are known before it runs. The iterator ends
    /// early if `stop` is set.
    fn jobs(&self, stop: Option<&Stop>) -> impl Iterator<Item = (Job, Kind)> {
        self.scenario.jobs(0).take_while(move |_| !is_set(stop)).map(|job| {
            let kind = kind_of(&self.trace.records[job.index as usize]);
            (job, kind)
        })
    }
}

/// The quality of the forecasts for a log.
#[derive(Clone, Debug)]
pub struct LogScore {
    /// The score over all jobs that started.
    pub score: Score,
    /// The number of jobs that can never fit.
    pub rejected: u64,
    /// True if any job has an estimated run time.
    pub estimates: bool,
}

/// Returns scores for a specification's points, in order. The points run in parallel on the thread
/// pool, but all simulated futures of a point run on a single thread.
///
/// # Errors
/// Returns the error of the first point that fails, as described for [`forecast_log`]. All points
/// are run even if one of them fails.
pub fn forecast_points(
    specification: &Specification,
    files: &dyn InputFiles,
    futures: usize,
    progress: &dyn Progress,
) -> Result<Vec<LogScore>, LogForecastError> {
    let points = &specification.points;
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    rayon::broadcast(|_| {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(point) = points.get(index) else { return };
            let settings = point.settings();
            let effort = Effort { futures, threads: 1, seed: settings.seed };
            let environment = Environment { files, progress, ..Environment::PLAIN };
            let score = score_log(settings, effort, environment);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, score));
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, score)| score).collect()
}

fn score_log(
    settings: &RunSettings,
    effort: Effort,
    environment: Environment<'_>,
) -> Result<LogScore, LogForecastError> {
    let mut judged = Vec::new();
    let rejected = forecast_log(settings, effort, environment, |job| judged.push(job))?;
    let estimates = judged.iter().any(|job| job.kind.estimate.is_some());
    Ok(LogScore { score: Score::of(&judged), rejected, estimates })
}

/// Returns the properties of a logged job that are known before it runs.
fn kind_of(record: &Record) -> Kind {
    let user = u64::try_from(record.tags.user).ok();
    Kind { user, nodes: record.nodes, estimate: record.estimate }
}
