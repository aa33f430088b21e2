//! When a waiting job will probably start: the queue is run forward, with run times of the past.
//!
//! The past is Slurm's own accounting: `sacct` says how long the jobs of the last seven days ran.
//! Nothing is kept beside it. They are replayed on the machine, and the last of them are told when
//! they will start, so that it is known how good that is. Before enough of them had to wait, and
//! where there is no accounting, the plan by the time limits alone is told.
//!
//! Cost: the replay, and a forecast for each of the last 200 jobs that had to wait.

use pavior_allocation::Machine;
use pavior_answers::forecasts::{Effort, Forecast, Forecaster, HORIZON, Kind, range, taught};
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::traces::{ReadOptions, Record, sacct};
use pavior_workload::{Job, Service, Shaper, TimeUnit};

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
        let begin = Time(self.begin.saturating_mul(TICKS));
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
pub(crate) struct Queued<'a> {
    pub(crate) config: &'a Config,
    pub(crate) ledger: &'a Ledger,
    /// The jobs that wait have been submitted.
    pub(crate) state: &'a State,
    pub(crate) now: u64,
}

impl Queued<'_> {
    /// When a job of the queue will probably start, in a sentence or two.
    ///
    /// # Errors
    /// If scheduler or strategy fail.
    pub(crate) fn told(
        &self,
        index: usize,
        past: Option<&Past>,
        shaper: &mut Shaper,
    ) -> Result<String, SlurmError> {
        let unfit = |error: String| SlurmError::Config(error);
        let scheduler = || {
            let built = self.config.scheduler.build(());
            built.map_err(|error| unfit(error.to_string()))
        };
        let failed = |error: pavior_answers::forecasts::ForecastError| unfit(error.to_string());
        let mut forecaster = match past {
            Some(past) => {
                let machine = Machine::with_seed(self.config.grid, &self.config.strategy, 1);
                let machine = machine.map_err(|error| unfit(error.to_string()))?;
                taught(&self.config.scheduler, machine, past.jobs(shaper)).map_err(failed)?
            }
            None => Forecaster::new(self.config.scheduler.clone(), Effort::default()),
        };
        for (place, job) in self.ledger.jobs.iter().enumerate() {
            forecaster.found(JobId(place as u64), kind(job, past.is_some()));
        }
        let (id, now) = (JobId(index as u64), Time(self.now.saturating_mul(TICKS)));
        let mut dispatcher = self.state.dispatcher.fork_in(scheduler()?, TICKS);
        while let Some(started) = dispatcher.start_next(now, &mut ())? {
            if started.job.id == id {
                return Ok("It may start now.".to_string());
            }
        }
        let told = forecaster.forecast(&dispatcher, now, &[id]).map_err(failed)?;
        Ok(sentence(&told[0], now, &forecaster, past.is_some()))
    }
}

/// What is known of a job before it runs. One without a limit never ends, unless there is a past.
fn kind(job: &SlurmJob, has_past: bool) -> Kind {
    let limit = job.limit.or((!has_past).then_some(ENDLESS));
    let estimate = limit.map(|limit| Time(limit.saturating_mul(TICKS)));
    Kind { user: Some(job.user.into()), nodes: job.nodes, estimate }
}

fn sentence(told: &Forecast, now: Time, forecaster: &Forecaster, has_past: bool) -> String {
    let by_limits = if told.plan < now.saturating_add(HORIZON) {
        format!("By the time limits alone it starts at {}.", date(told.plan.0 / TICKS))
    } else {
        "By the time limits alone it does not start within 60 days.".to_string()
    };
    let (record, runs) = (forecaster.record(), forecaster.past().len());
    let promised = record.kept + record.broken;
    if !has_past {
        return format!("{by_limits} Slurm's accounting does not answer, so no range is told.");
    }
    if !forecaster.is_calibrated() {
        return format!(
            "{by_limits} A range is told when 30 jobs of the last 7 days had to wait; of {runs} \
             that ran, {promised} had to."
        );
    }
    format!("{} {by_limits}", range(told, record, now, date))
}
