//! Replays a log and forecasts each job's start at submission, based only on the past.

use std::collections::VecDeque;
use std::iter::Peekable;

use pavior_allocation::Machine;
use pavior_kernel::{Agenda, Time};
use pavior_mesh::JobId;
use pavior_scheduling::{DispatchError, Dispatcher, Selection};
use pavior_workload::traces::Link;
use pavior_workload::{Arrivals, Job, Service};
use rustc_hash::FxHashMap;

use super::forecaster::Plan;
use super::{Effort, Forecast, ForecastError, Forecaster, Kind};

/// A job in a log, together with its actual start and the forecast made at its submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The job's number in the log.
    pub number: u64,
    /// The properties of the job that are known at submission.
    pub kind: Kind,
    /// The submission time.
    pub submit: Time,
    /// The start time.
    pub start: Time,
    /// The forecast. If the job starts immediately, all times are the submission time.
    pub forecast: Forecast,
    /// The forecasts made by other methods.
    pub rivals: Rivals,
}

impl Judged {
    /// Returns true if the job had to wait.
    pub fn waited(&self) -> bool {
        self.start > self.submit
    }

    /// Returns true if the job started within the predicted interval.
    pub fn held(&self) -> bool {
        (self.forecast.low..=self.forecast.high).contains(&self.start)
    }
}

/// Other methods' forecasts of a job's start, for comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rivals {
    /// The planned start if estimates are corrected by the method of Tsafrir, Etsion & Feitelson
    /// 2007.
    pub corrected: Time,
    /// The submission time plus the 5%, 50% and 95% quantiles of the last 300 waits, after Brevik,
    /// Nurmi & Wolski 2006.
    pub past_waits: [Time; 3],
}

/// Replays jobs the way `pavior simulate` does: at each event time, jobs end, then jobs arrive, and
/// then the scheduler starts jobs. Passes each job to `each` when it starts. Returns the number of
/// jobs skipped because they can never fit. The service of each job must be [`Service::Run`].
///
/// Cost: the replay, plus a forecast and one additional run for each job that has to wait.
///
/// # Errors
/// Returns an error if the scheduler or the strategy fails.
pub fn replay(
    jobs: impl Iterator<Item = (Job, Kind)>,
    dispatcher: Dispatcher,
    forecaster: &mut Forecaster,
    each: impl FnMut(Judged),
) -> Result<u64, ForecastError> {
    replay_from(&mut jobs.peekable(), dispatcher, forecaster, each)
}

/// Jobs with dependencies: some are submitted only after other jobs have started or ended.
pub struct Linked<'l, J> {
    /// The jobs, in the order in which the log submits them.
    pub jobs: J,
    /// The sorted links between jobs. Each job is identified by its index in `jobs`.
    pub links: &'l [Link],
    /// A function that returns true if no more jobs should be submitted.
    pub stops: &'l dyn Fn() -> bool,
}

/// Works like [`replay`], but for linked jobs. A job's data is not used before its submission.
///
/// # Errors
/// Returns an error if the scheduler or the strategy fails.
pub fn replay_linked(
    linked: Linked<'_, impl Iterator<Item = (Job, Kind)>>,
    mut dispatcher: Dispatcher,
    forecaster: &mut Forecaster,
    each: impl FnMut(Judged),
) -> Result<u64, ForecastError> {
    let Linked { jobs, links, stops } = linked;
    let mut kinds = Vec::new();
    let jobs = jobs.map(|(job, kind)| {
        kinds.push(kind);
        job
    });
    let fits = |job: &Job| dispatcher.could_ever_fit(&job.request).is_ok();
    let (arrivals, _) = Arrivals::with_feedback(jobs, links, fits);
    replay_from(&mut LinkedJobs { arrivals, kinds, stops }, dispatcher, forecaster, each)
}

fn replay_from(
    jobs: &mut impl Source,
    dispatcher: Dispatcher,
    forecaster: &mut Forecaster,
    each: impl FnMut(Judged),
) -> Result<u64, ForecastError> {
    let mut replay = Replay::new(dispatcher, forecaster, each);
    let plans = [Plan::Estimates, Plan::CorrectedEstimates];
    while replay.step(jobs, &plans)?.is_some() {}
    Ok(replay.rejected)
}

/// A source of jobs in order of submission.
trait Source {
    /// Returns the time of the next submission, if one is known.
    fn peek(&mut self) -> Option<Time>;
    /// Removes and returns the next job if it is submitted at time `now`.
    fn next_at(&mut self, now: Time) -> Option<(Job, Kind)>;
    fn started(&mut self, _: &Job, _: Time) {}
    fn ended(&mut self, _: &Job, _: Time) {}
}

impl<I: Iterator<Item = (Job, Kind)>> Source for Peekable<I> {
    fn peek(&mut self) -> Option<Time> {
        Peekable::peek(self).map(|(job, _)| job.arrival)
    }

    fn next_at(&mut self, now: Time) -> Option<(Job, Kind)> {
        self.next_if(|(job, _)| job.arrival == now)
    }
}

/// The submissions of linked jobs, and the kinds of all jobs.
struct LinkedJobs<'l> {
    arrivals: Arrivals<'static>,
    kinds: Vec<Kind>,
    stops: &'l dyn Fn() -> bool,
}

impl Source for LinkedJobs<'_> {
    fn peek(&mut self) -> Option<Time> {
        self.arrivals.peek().map(|job| job.arrival).filter(|_| !(self.stops)())
    }

    fn next_at(&mut self, now: Time) -> Option<(Job, Kind)> {
        let job = self.arrivals.next_at(now)?;
        let kind = self.kinds[job.index as usize];
        Some((job, kind))
    }

    fn started(&mut self, job: &Job, now: Time) {
        self.arrivals.started(job.index, now);
    }

    fn ended(&mut self, job: &Job, now: Time) {
        self.arrivals.ended(job.index, now);
    }
}

/// Trains a forecaster on past jobs, which arrive and run as in [`replay`]. The first `quiet` jobs
/// contribute only run times and arrivals; later jobs also get forecasts. All jobs must have ended,
/// so everything about them may be used. Returns the time of the last arrival; forecasts can be
/// requested from then on.
///
/// Cost: the replay, plus a forecast for each later job that has to wait.
///
/// # Errors
/// Returns an error if the scheduler or the strategy fails.
pub fn learn(
    jobs: impl Iterator<Item = (Job, Kind)>,
    dispatcher: Dispatcher,
    forecaster: &mut Forecaster,
    quiet: usize,
) -> Result<Time, ForecastError> {
    let mut replay = Replay::new(dispatcher, forecaster, drop);
    let (mut jobs, mut last) = (jobs.peekable(), Time::ZERO);
    loop {
        last = Source::peek(&mut jobs).unwrap_or(last);
        // Rivals are not needed, so the corrected plan is omitted.
        let plans: &[Plan] = if replay.arrived >= quiet { &[Plan::Estimates] } else { &[] };
        if replay.step(&mut jobs, plans)?.is_none() {
            break;
        }
    }
    forecaster.forget_jobs();
    Ok(last)
}

/// The number of recent past jobs to make forecasts for, in order to measure errors.
const FORECASTS: usize = 200;

/// Creates a forecaster and trains it with [`learn`], making forecasts for the last 200 past jobs.
/// No jobs may be running on the machine.
///
/// # Errors
/// Returns an error if the scheduler or the strategy fails.
pub(super) fn taught(
    scheduler: &Selection,
    machine: Machine,
    jobs: Vec<(Job, Kind)>,
) -> Result<Forecaster, ForecastError> {
    let built = scheduler.build(());
    let built = built.map_err(|error| ForecastError::Scheduler(error.to_string()))?;
    let mut forecaster = Forecaster::new(scheduler.clone(), Effort::default());
    let quiet = jobs.len().saturating_sub(FORECASTS);
    learn(jobs.into_iter(), Dispatcher::new(machine, built), &mut forecaster, quiet)?;
    Ok(forecaster)
}

struct Replay<'f, E> {
    dispatcher: Dispatcher,
    forecaster: &'f mut Forecaster,
    agenda: Agenda<JobId>,
    /// Jobs that have not started yet.
    unstarted: FxHashMap<JobId, Unstarted>,
    waits: PastWaits,
    arrived: usize,
    rejected: u64,
    each: E,
}

#[derive(Clone, Copy)]
struct Unstarted {
    kind: Kind,
    forecast: Option<(Forecast, Rivals)>,
}

impl<'f, E: FnMut(Judged)> Replay<'f, E> {
    fn new(dispatcher: Dispatcher, forecaster: &'f mut Forecaster, each: E) -> Replay<'f, E> {
        Replay {
            dispatcher,
            forecaster,
            agenda: Agenda::new(),
            unstarted: FxHashMap::default(),
            waits: PastWaits::default(),
            arrived: 0,
            rejected: 0,
            each,
        }
    }

    /// Processes all events at the next event time and returns that time. Unless `plans` is empty,
    /// makes a forecast for each arriving job that does not start at once.
    fn step(
        &mut self,
        jobs: &mut impl Source,
        plans: &[Plan],
    ) -> Result<Option<Time>, ForecastError> {
        let arrival = jobs.peek();
        let next = [self.agenda.next_time(), arrival].into_iter().flatten().min();
        let Some(now) = next else { return Ok(None) };
        self.end(jobs, now);
        let mut arrived = Vec::new();
        while let Some((job, kind)) = jobs.next_at(now) {
            arrived.extend(self.submit(job, kind)?);
        }
        self.start(jobs, now)?;
        if !plans.is_empty() {
            self.forecast_arrivals(now, arrived, plans)?;
        }
        Ok(Some(now))
    }

    fn end(&mut self, jobs: &mut impl Source, now: Time) {
        while self.agenda.next_time() == Some(now) {
            let gone = self.agenda.pop().and_then(|(_, id)| self.dispatcher.end(id));
            if let Some((gone, _)) = gone {
                self.forecaster.ended(gone.job.id, now.since(gone.start));
                jobs.ended(&gone.job, now);
            }
        }
    }

    fn submit(&mut self, job: Job, kind: Kind) -> Result<Option<JobId>, DispatchError> {
        self.arrived += 1;
        if self.dispatcher.could_ever_fit(&job.request).is_err() {
            self.rejected += 1;
            return Ok(None);
        }
        let id = job.id;
        self.unstarted.insert(id, Unstarted { kind, forecast: None });
        self.forecaster.submitted(&job, kind);
        self.dispatcher.submit(job)?;
        Ok(Some(id))
    }

    fn start(&mut self, jobs: &mut impl Source, now: Time) -> Result<(), ForecastError> {
        while let Some(started) = self.dispatcher.start_next(now, &mut ())? {
            let job = started.job;
            jobs.started(job, now);
            let Service::Run(run) = job.service else { continue };
            self.agenda.schedule(now.saturating_add(run), 0, job.id);
            let (id, submit) = (job.id, job.arrival);
            let Some(Unstarted { kind, forecast }) = self.unstarted.remove(&id) else { continue };
            // Without a forecast, the job starts at once.
            let (forecast, rivals) = forecast.unwrap_or_else(|| {
                (Forecast::at(id, now), Rivals { corrected: now, past_waits: [now; 3] })
            });
            if now > submit {
                self.waits.add(now.since(submit));
            }
            (self.each)(Judged { number: job.number, kind, submit, start: now, forecast, rivals });
            self.forecaster.started(id, now);
        }
        Ok(())
    }

    /// Makes a forecast for each of the given jobs that has not started yet. The forecasts are
    /// based on the first plan; the last plan is their rival.
    fn forecast_arrivals(
        &mut self,
        now: Time,
        mut jobs: Vec<JobId>,
        plans: &[Plan],
    ) -> Result<(), ForecastError> {
        jobs.retain(|job| self.unstarted.contains_key(job));
        if jobs.is_empty() {
            return Ok(());
        }
        let (forecasts, mut planned) =
            self.forecaster.forecast_with_plans(&self.dispatcher, now, &jobs, plans)?;
        let corrected = planned.pop().unwrap_or_default();
        let past_waits = self.waits.quantiles().map(|wait| now.saturating_add(wait));
        for (forecast, corrected) in forecasts.into_iter().zip(corrected) {
            if let Some(unstarted) = self.unstarted.get_mut(&forecast.job) {
                unstarted.forecast = Some((forecast, Rivals { corrected, past_waits }));
            }
        }
        Ok(())
    }
}

/// The most recent waits of jobs that had to wait.
#[derive(Default)]
struct PastWaits(VecDeque<Time>);

impl PastWaits {
    const LATEST: usize = 300;

    fn add(&mut self, wait: Time) {
        if self.0.len() == PastWaits::LATEST {
            self.0.pop_front();
        }
        self.0.push_back(wait);
    }

    fn quantiles(&self) -> [Time; 3] {
        let mut waits: Vec<Time> = self.0.iter().copied().collect();
        waits.sort_unstable();
        let last = waits.len().saturating_sub(1) as f64;
        [0.05, 0.5, 0.95]
            .map(|level| waits.get((level * last).round() as usize).copied().unwrap_or(Time::ZERO))
    }
}
