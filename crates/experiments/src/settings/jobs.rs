//! The settings for a run of jobs.

use std::sync::Arc;

use pavior_kernel::Time;
use pavior_mesh::{Grid, Request};
use pavior_network::Energy;
use pavior_scheduling::weighs_messages;
use pavior_simulation::Bounds;
use pavior_workload::hosts::Hosts;
use pavior_workload::traces::Replay;
use pavior_workload::{Condition, FreedomRule, JobRule, Selection, ShapeRule, Synthetic, TimeUnit};

use super::failures::{FailureSettings, FailureSource, slice};
use super::network::NetworkSettings;
use super::{Fault, needed};
use crate::inputs::{InputRequest, ListRequest, LogRequest};
use crate::keys::Keys;
use crate::{Catalogue, Given};

/// The default slowdown bounds for logs (in seconds) and for synthetic jobs (in time units).
const USUAL_SLOWDOWN_BOUNDS: [f64; 2] = [10.0, 1.0];

/// Jobs, the scheduler that starts them, and the events that affect them.
#[derive(Clone, Debug)]
pub struct JobSettings {
    /// The scheduler.
    pub scheduler: pavior_scheduling::Selection,
    /// The unit of time.
    pub unit: TimeUnit,
    /// The source of jobs.
    pub source: JobSource,
    /// The messages that jobs send, and the network that carries them.
    pub network: Option<NetworkSettings>,
    /// The energy that messages use.
    pub energy: Energy,
    /// The rule for each job's freedom.
    pub freedom: Option<FreedomRule>,
    /// The settings for moving running jobs.
    pub migration: Option<MigrationSettings>,
    /// The failures, if nodes can fail.
    pub failures: Option<FailureSettings>,
    /// The file that lists the advance reservations.
    pub reservations: Option<ListRequest>,
    /// A request whose availability is measured: how often it would fit alongside the running jobs.
    pub slice: Option<Request>,
    /// The number of completions ignored before averaging starts.
    pub warmup: u64,
    /// The minimum run time used for the bounded slowdown, in units of time.
    pub slowdown_bound: f64,
    /// The maximum number of waiting synthetic jobs.
    max_waiting: Option<u64>,
    /// The maximum simulated duration of a run.
    max_time: Option<Time>,
    /// The maximum number of times that failures may interrupt a single job.
    max_interruptions: Option<u64>,
}

/// The source of jobs.
#[derive(Clone, Debug)]
pub enum JobSource {
    /// Synthetic jobs. A run ends after a fixed number of completions.
    Drawn {
        /// The distributions from which jobs are drawn.
        workload: Synthetic,
        /// The number of completions after which a run ends.
        completions: u64,
    },
    /// The jobs in a log. A run ends when the last job departs.
    Log(LogSettings),
}

/// A log and the settings for replaying it.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// The file and the part of it to read.
    pub request: LogRequest,
    /// The rule that turns a node count into a box.
    pub rule: Selection<ShapeRule>,
    /// The rules for arrival times, kills and estimates.
    pub replay: Replay,
    /// The fraction of each job's run time spent on communication.
    pub communication: Option<f64>,
    /// The names of the nodes, if the run uses the placements in the log.
    pub placed: Option<Arc<Hosts>>,
}

/// Settings for moving running jobs to make room for the oldest waiting job.
#[derive(Clone, Debug)]
pub struct MigrationSettings {
    /// The run time added to a moved job, per node.
    pub price: Time,
    /// The jobs that may be moved, or `None` for all jobs.
    pub movable: Option<JobRule>,
}

impl JobSettings {
    pub(super) fn new(
        given: &Given,
        machine: Grid,
        keys: Keys,
        catalogue: &Catalogue,
    ) -> Result<JobSettings, Fault> {
        let source = JobSource::new(given, machine)?;
        let scheduler = needed(given.scheduler.clone(), "scheduler")?;
        let network = NetworkSettings::new(given, machine, keys, catalogue)?;
        let warmup = needed(given.warmup, "warmup")?;
        if let JobSource::Drawn { completions, .. } = source {
            if network.is_some() && weighs_messages(&scheduler) {
                let reason = "it requires a job log with communication; messages of synthetic jobs \
                              are not predicted";
                return Err(("scheduler", reason.into()));
            }
            without_columns(given, keys)?;
            if warmup >= completions {
                let reason = format!(
                    "the warm-up ({warmup} jobs) must be shorter than the run ({completions} jobs)"
                );
                return Err(("warmup", reason));
            }
        }
        let unit = source.unit(given);
        let migration = MigrationSettings::new(given, unit, keys)?;
        let failures = FailureSettings::new(given, machine, unit, keys)?;
        let [of_logs, of_drawn] = USUAL_SLOWDOWN_BOUNDS;
        let usual = if matches!(source, JobSource::Log(_)) { of_logs } else { of_drawn };
        let energy = Energy::default();
        Ok(JobSettings {
            scheduler,
            unit,
            source,
            network,
            energy: Energy {
                per_link: given.link_energy.unwrap_or(energy.per_link),
                per_router: given.router_energy.unwrap_or(energy.per_router),
            },
            freedom: given.freedom.clone(),
            migration,
            failures,
            reservations: given
                .reservations
                .as_ref()
                .map(|path| ListRequest::new("reservations", path, machine, unit)),
            slice: slice(given, machine)?,
            warmup,
            slowdown_bound: given.slowdown_bound.unwrap_or(usual),
            max_waiting: given.max_waiting,
            max_time: given.max_time.map(|units| unit.time(units)),
            max_interruptions: given.max_interruptions,
        })
    }

    /// Returns bounds that stop a runaway run, given the run's start time.
    pub(crate) fn bounds(&self, begin: Time) -> Bounds {
        let usual = Bounds::default();
        Bounds {
            waiting: self.max_waiting.unwrap_or(usual.waiting),
            until: self.max_time.map_or(usual.until, |time| begin.saturating_add(time)),
            interruptions: self.max_interruptions.unwrap_or(usual.interruptions),
        }
    }

    /// Returns the log, if the jobs come from a log.
    pub fn log(&self) -> Option<&LogSettings> {
        match &self.source {
            JobSource::Drawn { .. } => None,
            JobSource::Log(log) => Some(log),
        }
    }

    pub(crate) fn log_mut(&mut self) -> Option<&mut LogSettings> {
        match &mut self.source {
            JobSource::Drawn { .. } => None,
            JobSource::Log(log) => Some(log),
        }
    }

    /// Returns true if generating the jobs requires random numbers.
    pub(super) fn draws(&self) -> bool {
        let drawn = |failures: &FailureSettings| matches!(failures.source, FailureSource::Drawn(_));
        self.log().is_none_or(|log| log.rule.entry.does.draws)
            || self.failures.as_ref().is_some_and(drawn)
    }

    pub(super) fn inputs(&self) -> Vec<InputRequest> {
        let log = self.log().map(|log| InputRequest::Log(log.request.clone()));
        let list = match self.failures.as_ref().map(|failures| &failures.source) {
            Some(FailureSource::Listed(list)) => Some(InputRequest::Failures(list.clone())),
            _ => None,
        };
        let reserved = self.reservations.clone().map(InputRequest::Reservations);
        log.into_iter().chain(list).chain(reserved).collect()
    }
}

impl JobSource {
    fn new(given: &Given, machine: Grid) -> Result<JobSource, Fault> {
        if let Some(path) = &given.trace {
            let communication = given.communication;
            return LogSettings::new(given, path, machine, communication).map(JobSource::Log);
        }
        let workload = Synthetic {
            load: needed(given.load, "load")?,
            arrivals: needed(given.arrivals.clone(), "arrivals")?,
            sides: needed(given.sides.clone(), "sides")?,
            service: needed(given.service.clone(), "service")?,
        };
        workload.check(&machine).map_err(|error| ("sides", error.to_string()))?;
        Ok(JobSource::Drawn { workload, completions: needed(given.jobs, "jobs")? })
    }

    /// Returns the unit of time, which is a cycle for logged jobs that send messages.
    fn unit(&self, given: &Given) -> TimeUnit {
        match self {
            JobSource::Drawn { workload, .. } => workload.service.entry.does.unit,
            JobSource::Log(_) => given
                .cycles_per_second
                .map_or(TimeUnit::SECOND, |ticks| TimeUnit { ticks, ..TimeUnit::SECOND }),
        }
    }
}

impl LogSettings {
    fn new(
        given: &Given,
        path: &str,
        machine: Grid,
        communication: Option<f64>,
    ) -> Result<LogSettings, Fault> {
        needed(given.lenient, "lenient")?;
        Ok(LogSettings {
            request: LogRequest::new(path, given.reading(), machine.nodes().into()),
            rule: needed(given.shape_rule.clone(), "shape-rule")?,
            replay: Replay {
                arrival_scale: needed(given.arrival_scale, "arrival-scale")?,
                kill: needed(given.kill, "kill")?,
                estimates: needed(given.estimates.clone(), "estimates")?,
            },
            communication,
            placed: given.placed.as_ref().map(|names| hosts(given, machine, names)).transpose()?,
        })
    }
}

/// Parses the names of the nodes. Rejects settings that change when or where jobs run.
fn hosts(given: &Given, machine: Grid, names: &str) -> Result<Arc<Hosts>, Fault> {
    let others = [
        ("communication", given.communication.is_some()),
        ("dependencies", given.dependencies == Some(true)),
        ("arrival-scale", given.arrival_scale.is_some_and(|scale| (scale - 1.0).abs() > 0.0)),
        ("warmup", given.warmup.is_some_and(|jobs| jobs > 0)),
    ];
    if let Some((name, _)) = others.iter().find(|(_, is_given)| *is_given) {
        return Err((
            "placed",
            format!("{name} cannot be combined with the log's recorded placements"),
        ));
    }
    let hosts = Hosts::new(&machine, names);
    hosts.map(Arc::new).map_err(|reason| ("placed", format!("`{names}`: {reason}")))
}

impl MigrationSettings {
    fn new(given: &Given, unit: TimeUnit, keys: Keys) -> Result<Option<MigrationSettings>, Fault> {
        let Some(price) = given.migration else {
            if given.movable.is_some() {
                let [name, movable] = ["migration", "movable"].map(|name| keys.spell(name));
                let reason = format!("{movable} applies only to job migration; specify {name}");
                return Err(("movable", reason));
            }
            return Ok(None);
        };
        let other = |what: &str| {
            Err(("migration", format!("{what} cannot be combined with job migration")))
        };
        if given.pattern.is_some() {
            return other("messages");
        }
        if given.mttf.is_some() || given.fail_classes.is_some() || given.failures.is_some() {
            return other("node failures");
        }
        if given.reservations.is_some() {
            return other("advance reservations");
        }
        Ok(Some(MigrationSettings { price: unit.time(price), movable: given.movable.clone() }))
    }
}

/// Rejects rules that refer to log columns, which synthetic jobs do not have.
fn without_columns(given: &Given, keys: Keys) -> Result<(), Fault> {
    let fault = |name: &'static str, condition: &Condition| {
        let trace = keys.spell("trace");
        Err((name, format!("{condition} applies only to job logs; specify one with {trace}")))
    };
    if let Some(condition) = given.freedom.as_ref().and_then(FreedomRule::needs_log) {
        return fault("freedom", condition);
    }
    given.movable.as_ref().and_then(JobRule::needs_log).map_or(Ok(()), |one| fault("movable", one))
}
