//! Forecasts of a log: each of its jobs is told at its submission when it will start.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pavior_allocation::Machine;
use pavior_forecasts::{Effort, ForecastError, Forecaster, Judged, Kind, Score, replay};
use pavior_kernel::Stream;
use pavior_scheduling::Dispatcher;
use pavior_simulation::Histories;
use pavior_workload::traces::Record;
use thiserror::Error;

use crate::settings::{Asked, JobSource};
use crate::{InputError, InputFiles, Progress, RunSettings, Scenario, Specification};

/// No forecasts can be made of a log.
#[derive(Debug, Error)]
pub enum LogForecastError {
    /// The settings are of another kind.
    #[error("forecasts are of the jobs of a log that only run: no network, no failures, no moves")]
    NotALog,
    /// The log cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Strategy or scheduler cannot be made, or have failed.
    #[error(transparent)]
    Forecast(#[from] ForecastError),
    /// The strategy cannot be made.
    #[error("{0}")]
    Strategy(String),
}

/// Replays a log and tells each of its jobs when it will start. `progress` and `each` hear of a job
/// when it starts. Returns the number of jobs that can never fit. The cost is that of [`replay`].
///
/// # Errors
/// If the settings are not those of a log, the log cannot be read, or strategy or scheduler fail.
pub fn forecast_log(
    settings: &RunSettings,
    files: &dyn InputFiles,
    effort: Effort,
    progress: &dyn Progress,
    mut each: impl FnMut(Judged),
) -> Result<u64, LogForecastError> {
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
    let jobs_of_log = scenario.jobs(0).map(|job| {
        let kind = kind_of(&trace.records[job.id.0 as usize]);
        (job, kind)
    });
    // As a simulation of the same settings draws.
    let draw = Stream::new(settings.seed, 0, "allocation");
    let machine = Machine::with_stream(settings.machine, &settings.strategy, draw);
    let machine = machine.map_err(|error| LogForecastError::Strategy(error.to_string()))?;
    let built = jobs.scheduler.build(());
    let scheduler = built.map_err(|error| LogForecastError::Strategy(error.to_string()))?;
    let mut forecaster = Forecaster::new(jobs.scheduler.clone(), effort);
    let dispatcher = Dispatcher::new(machine, scheduler);
    progress.planned(trace.records.len() as u64);
    let each = |job| {
        progress.done();
        each(job);
    };
    Ok(replay(jobs_of_log, dispatcher, &mut forecaster, each)?)
}

/// How good the forecasts of a log were.
#[derive(Clone, Debug)]
pub struct LogScore {
    /// The score of all jobs that started.
    pub score: Score,
    /// The number of jobs that can never fit.
    pub rejected: u64,
    /// Whether users have said of any job how long it runs.
    pub estimates: bool,
}

/// The scores of all points of a specification, in their order. Points run side by side on the
/// threads of the pool, those that stand first begin first, each with its futures on one thread.
///
/// # Errors
/// As [`forecast_log`], of the first point that fails; the others have run.
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
            let score = score_log(settings, files, effort, progress);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, score));
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, score)| score).collect()
}

fn score_log(
    settings: &RunSettings,
    files: &dyn InputFiles,
    effort: Effort,
    progress: &dyn Progress,
) -> Result<LogScore, LogForecastError> {
    let mut judged = Vec::new();
    let rejected = forecast_log(settings, files, effort, progress, |job| judged.push(job))?;
    let estimates = judged.iter().any(|job| job.kind.estimate.is_some());
    Ok(LogScore { score: Score::of(&judged), rejected, estimates })
}

/// What a log knows of a job before it runs.
fn kind_of(record: &Record) -> Kind {
    let user = u64::try_from(record.tags.user).ok();
    Kind { user, nodes: record.nodes, estimate: record.estimate }
}
