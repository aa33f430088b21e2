//! When a waiting job will probably start: the queue is run forward, with run times of the past.
//!
//! The past is Slurm's own accounting: `sacct` says how long the jobs of the last seven days ran.
//! Nothing is kept beside it. They are replayed on the machine, and the last of them are told when
//! they will start, so that it is known how good that is. Before enough of them had to wait, and
//! where there is no accounting, the plan by the time limits alone is told.
//!
//! Cost: the replay, and a forecast for each of the last 200 jobs that had to wait.

use std::fmt::Display;

use pavior::answers::forecasts::{Kind, Obstacle, Start, StartQuestion, StartWords};
use pavior::workload::traces::{ReadOptions, Record, sacct};
use pavior::workload::{Job, Service, Shaper, TimeUnit};
use pavior::{JobId, Time};

use crate::ask::{Call, Limits, Question};
use crate::ledger::{Ledger, SlurmJob};
use crate::reason::date;
use crate::state::{ENDLESS, State};
use crate::{Config, SlurmError};

/// How far back the past goes, in seconds.
const PAST_S: u64 = 7 * 86_400;
/// The latest jobs of the past that are replayed.
const REPLAYED: usize = 5_000;
/// What asking for the past may cost: some 600,000 jobs.
const LIMITS: Limits = Limits { time: std::time::Duration::from_secs(20), output: 64 << 20 };
const TICKS: u64 = TimeUnit::SECOND.ticks;

/// Jobs that have run, from the one submitted first on.
pub(crate) struct Past {
    /// The submission of the first, in seconds since 1970: records are counted from there.
    begin: u64,
    records: Vec<Record>,
}

impl Past {
    /// Asks Slurm's accounting; none where it does not answer.
    pub(crate) fn ask(config: &Config, now: u64) -> Option<Past> {
        let (from, to) = (now.saturating_sub(PAST_S).to_string(), now.to_string());
        let partitions = format!("--partition={}", config.partitions.join(","));
        let (from, to) = (format!("--starttime=uts{from}"), format!("--endtime=uts{to}"));
        let format =
            "--format=JobIDRaw,UID,Submit,Start,End,ElapsedRaw,TimelimitRaw,AllocNodes,State";
        let fixed = ["--allusers", "--allocations", "--parsable2", "--noconvert", format];
        let arguments = [&fixed[..], &[&partitions, &from, &to]].concat();
        let call = Call { question: Question::Past, arguments: &arguments, environment: &[] };
        Past::read(&call.answer(LIMITS).ok()?)
    }

    /// Reads what `sacct` printed; none if it is no log.
    pub(crate) fn read(text: &str) -> Option<Past> {
        let options = ReadOptions { lenient: true, ..ReadOptions::default() };
        let trace = sacct::read(text.as_bytes(), &options).ok()?;
        let begin = trace.header.start().and_then(|begin| u64::try_from(begin).ok())?;
        let mut records = trace.records;
        records.drain(..records.len().saturating_sub(REPLAYED));
        Some(Past { begin, records })
    }

    /// The jobs as the machine is asked for them: `sacct` knows no shapes.
    fn jobs(&self, shaper: &mut Shaper) -> Vec<(Job, Kind)> {
        let begin = seconds(self.begin);
        let jobs = self.records.iter().enumerate().map(|(index, record)| {
            let user = u64::try_from(record.tags.user).ok();
            let kind = Kind { user, nodes: record.nodes, estimate: record.estimate };
            let job = Job {
                id: JobId(index as u64),
                index: index as u64,
                number: record.number,
                arrival: begin.saturating_add(record.submit),
                request: shaper.request(record.nodes),
                service: Service::Run(record.run),
                estimate: record.estimate.unwrap_or(record.run),
            };
            (job, kind)
        });
        jobs.collect()
    }
}

/// A machine with all that waits for it, in seconds since 1970, and what Slurm says of its jobs.
pub(crate) struct QueueState<'a> {
    pub(crate) config: &'a Config,
    pub(crate) ledger: &'a Ledger,
    /// The jobs that wait have been submitted.
    pub(crate) state: &'a State,
    pub(crate) now: u64,
}

impl QueueState<'_> {
    /// When a job of the queue will probably start, in a sentence or two.
    ///
    /// # Errors
    /// If scheduler or strategy fail.
    pub(crate) fn forecast(
        &self,
        index: usize,
        past: Option<&Past>,
        shaper: &mut Shaper,
    ) -> Result<String, SlurmError> {
        let unfit = |error: &dyn Display| SlurmError::Config(error.to_string());
        let Config { scheduler, strategy, grid, .. } = self.config;
        let built = scheduler.build(()).map_err(|error| unfit(&error))?;
        let jobs = self.ledger.jobs.iter().enumerate();
        let (id, now) = (JobId(index as u64), seconds(self.now));
        let question = StartQuestion {
            scheduler: scheduler.clone(),
            strategy: strategy.clone(),
            dispatcher: self.state.dispatcher.fork_in(built, TICKS),
            now,
            past: past.map(|past| past.jobs(shaper)),
            kinds: jobs.map(|(place, job)| (JobId(place as u64), kind(job))).collect(),
            endless: seconds(ENDLESS),
            jobs: vec![id],
        };
        let forecast = question.answer().map_err(|error| unfit(&error))?;
        let words = StartWords { grid, date: &date, jobs: "jobs of the last 7 days", known: "ran" };
        Ok(match forecast.starts.get(&id) {
            Some(start) if start.plan == Some(now) => "It may start now.".to_string(),
            Some(start) => {
                let words = forecast.words(id, &words).unwrap_or_default();
                let calibrated = forecast.experience.calibrated;
                sentence(start, words, past.is_some().then_some(calibrated))
            }
            None => String::new(),
        })
    }
}

/// What is known of a job before it runs.
fn kind(job: &SlurmJob) -> Kind {
    Kind { user: Some(job.user.into()), nodes: job.nodes, estimate: job.limit.map(seconds) }
}

/// Seconds in the unit of forecasts.
fn seconds(seconds: u64) -> Time {
    Time(seconds.saturating_mul(TICKS))
}

/// The forecast in words, with the plan. `calibrated` is none where there is no past.
fn sentence(start: &Start, words: String, calibrated: Option<bool>) -> String {
    let by_limits = match start.plan {
        Some(plan) => {
            format!("By the time limits alone it starts at {}.", date(plan.0 / TICKS))
        }
        None => "By the time limits alone it does not start within 60 days.".to_string(),
    };
    match (start.obstacle, calibrated) {
        (Some(Obstacle::Unavailable(_)), _) | (Some(Obstacle::Horizon), Some(_)) => words,
        (_, None) => {
            format!("{by_limits} Slurm's accounting does not answer, so no range is told.")
        }
        (None, Some(true)) => format!("{words} {by_limits}"),
        (None, Some(false)) => format!("{by_limits} {words}"),
    }
}
