//! The daemon's main loop.

use std::path::Path;
use std::time::SystemTime;

use pavior::json::log;
use pavior::workload::Shaper;
use pavior_cluster::metrics::registry;
use serde_json::json;

use crate::calls::{Operator, is_recent, now};
use crate::carry::lock::Lock;
use crate::ledger::site::Site;
use crate::ledger::usage::Reader;
use crate::ledger::{JobKey, Ledger};
use crate::names::NodeName;
use crate::plan::change::Change;
use crate::plan::request::shaper;
use crate::plan::world::{Rules, World};
use crate::plan::{Decision, Memory, decide};
use crate::show::metrics::{self, Metrics};
use crate::{Config, SlurmError, carry};

mod gate_check;
mod manager;
pub(crate) mod observer;
mod problems;
mod reservation;
mod start;

use manager::{Event, Manager, Signals, notify_ready, notify_stopping, reload};
use problems::{LogLine, Problem, Problems};

/// The time between reads of the site's configuration, in seconds.
const SITE_READ_S: u64 = 60;
/// The time between these reads while slurmdbd does not respond, in seconds. Each may take several
/// seconds.
const SITE_RETRY_S: u64 = 300;
/// The maximum number of jobs or nodes listed in a log line.
const MAX_LISTED_JOBS: usize = 8;
const MAX_LISTED_NODES: usize = 64;

/// The status of a daemon that is not active.
const STANDBY: &str = "on standby: another daemon holds the lock";

/// Options for the daemon.
#[derive(Clone, Copy, Debug, Default)]
pub struct DaemonOptions {
    /// True if the daemon reports the changes that one cycle would make, without making them, and
    /// then exits.
    pub dry_run: bool,
    /// True to exit after one cycle.
    pub once: bool,
}

/// Places jobs until SIGTERM or SIGINT arrives. On SIGHUP, reloads the configuration from `path`.
///
/// # Errors
/// Returns an error if the configuration does not match the cluster, if the daemon lacks
/// permissions, or if metrics cannot be served. Skips cycles while Slurm does not respond; this is
/// an error only if a single cycle was requested.
pub fn run(path: &Path, config: Config, options: DaemonOptions) -> Result<(), SlurmError> {
    let signals = Signals::listen()?;
    let mut registry = registry(metrics::PREFIX);
    let metrics = Metrics::register(&mut registry);
    // A dry run may take place while another daemon serves its metrics at this address.
    if let Some(address) = config.metrics.as_ref().filter(|_| !options.dry_run) {
        metrics::serve(address, registry)?;
    }
    let mut daemon = Daemon::new(config, metrics, options.dry_run);
    daemon.log_machine("started");
    let once = options.once || options.dry_run;
    notify_ready();
    loop {
        let outcome = daemon.activate().and_then(|()| daemon.cycle());
        if once || matches!(outcome, Err(SlurmError::Unfit(_))) {
            return outcome;
        }
        match signals.wait(daemon.config.poll_ms) {
            Event::Timeout => {}
            Event::Reload => {
                if let Some(config) = reload(|| daemon.read_config(path)) {
                    daemon.adopt(config);
                }
            }
            Event::Stop => {
                notify_stopping();
                return Ok(());
            }
        }
    }
}

struct Daemon {
    config: Config,
    /// Permission to make changes, or `None` in a dry run.
    operator: Option<Operator>,
    lock: Lock,
    shaper: Shaper,
    memory: Memory,
    metrics: Metrics,
    /// The most recently submitted job that a cycle has seen.
    newest: Option<JobKey>,
    site: Site,
    site_read_at: Option<u64>,
    reader: Reader,
    /// The ungated partitions in the most recent report.
    ungated: Vec<String>,
    /// True once the startup checks have passed.
    checks_passed: bool,
    gate_checked_at: Option<u64>,
    problems: Problems,
    manager: Manager,
}

impl Daemon {
    fn new(config: Config, metrics: Metrics, dry_run: bool) -> Daemon {
        Daemon {
            shaper: shaper(&config.grid),
            config,
            operator: (!dry_run).then(Operator::new),
            lock: Lock::default(),
            memory: Memory::default(),
            metrics,
            newest: None,
            site: Site::default(),
            site_read_at: None,
            reader: Reader::default(),
            ungated: Vec::new(),
            checks_passed: false,
            gate_checked_at: None,
            problems: Problems::default(),
            manager: Manager::default(),
        }
    }

    fn log_machine(&self, event: &str) {
        let (machine, partition) = (self.config.grid.to_string(), &self.config.partition);
        log(now(), "info", event, json!({ "machine": machine, "partition": partition }));
    }

    /// Rereads the configuration and checks it.
    fn read_config(&self, path: &Path) -> Result<Config, SlurmError> {
        let config = Config::read(path)?;
        start::check_cluster(&config, self.operator.is_some())?;
        start::check_names(&config, &Ledger::read(&config)?)?;
        Ok(config)
    }

    /// Switches to a new configuration.
    fn adopt(&mut self, config: Config) {
        if config.metrics != self.config.metrics {
            let details =
                json!({ "error": "metrics: the new address takes effect after a restart" });
            log(now(), "warn", "configuration", details);
        }
        (self.shaper, self.config) = (shaper(&config.grid), config);
        // The gate and the reservation may have new names.
        (self.site_read_at, self.gate_checked_at) = (None, None);
        self.log_machine("configuration reloaded");
    }

    /// Acquires the lock unless this daemon already holds it. A dry run changes nothing, so it
    /// needs no lock.
    ///
    /// # Errors
    /// Returns an error if the daemon is not active, because another daemon holds the lock or
    /// because the lock cannot be acquired.
    fn activate(&mut self) -> Result<(), SlurmError> {
        let path = self.config.lock.as_deref().filter(|_| self.operator.is_some());
        let outcome = match self.lock.acquire(path) {
            Ok(true) => Ok(()),
            Ok(false) => Err(SlurmError::Conflict("another daemon holds the lock".into())),
            Err(error) => Err(error),
        };
        let line = match &outcome {
            Ok(()) => None,
            Err(SlurmError::Conflict(_)) => Some(LogLine::new("info", STANDBY, json!({}))),
            Err(error) => {
                Some(LogLine::new("error", "cannot lock", json!({ "error": error.to_string() })))
            }
        };
        self.problems.log(Problem::Lock, line);
        self.metrics.active.set(i64::from(outcome.is_ok()));
        outcome.inspect_err(|error| self.manager.alive(error.to_string()))
    }

    /// Runs a cycle and reports its outcome.
    fn cycle(&mut self) -> Result<(), SlurmError> {
        let begun = SystemTime::now();
        let outcome = self.run_cycle();
        let line = outcome.as_ref().err().map(|error| {
            LogLine::new("warn", "cycle skipped", json!({ "error": error.to_string() }))
        });
        self.problems.log(Problem::Skipped, line);
        self.metrics.cycle(outcome.is_ok(), begun);
        let status = status(&outcome);
        if self.operator.is_none() && outcome.is_ok() {
            log(now(), "info", "dry run: nothing was changed", json!({ "status": status }));
        }
        self.manager.alive(status);
        outcome.map(drop)
    }

    /// Runs a cycle, and returns a one-line summary of the state.
    fn run_cycle(&mut self) -> Result<String, SlurmError> {
        let time = now();
        if !self.checks_passed {
            start::check_cluster(&self.config, self.operator.is_some())?;
        }
        let newest = self.newest;
        let ledger = Ledger::read_again_if(&self.config, |ledger| ledger.newest() > newest)?;
        if !self.checks_passed {
            start::check_names(&self.config, &ledger)?;
            self.checks_passed = true;
        }
        self.keep_reservation(&ledger, time)?;
        self.check_gate(time);
        self.refresh_site(ledger.newest() > self.newest, time)?;
        self.newest = self.newest.max(ledger.newest());
        let site = &self.site;
        let usage = self.reader.read(&self.config, site, &ledger, time)?;
        let world = World { config: &self.config, ledger: &ledger, now: time };
        let rules = Rules { site, usage: &usage };
        let decision = decide(world, rules, &mut self.shaper, &mut self.memory)?;
        self.log_problems(&ledger, &decision);
        self.metrics.decision(&self.config, ledger.unreadable.len(), &decision);
        self.apply(&decision.changes, time)?;
        let Decision { waiting, opened, running, ref free, failed, .. } = decision;
        let free = free.count();
        Ok(format!(
            "{running} jobs hold nodes, {opened} may start, {waiting} are waiting; {free} nodes \
             are free and {failed} are unavailable"
        ))
    }

    /// Logs changes and, except in a dry run, applies them.
    fn apply(&self, changes: &[Change], time: u64) -> Result<(), SlurmError> {
        let dry_run = self.operator.is_none();
        for change in changes {
            let level = if matches!(change, Change::Comment { .. }) { "debug" } else { "info" };
            if level == "info" || dry_run {
                log(time, level, change.name(), log_fields(change, dry_run));
            }
        }
        let Some(operator) = self.operator.as_ref().filter(|_| !changes.is_empty()) else {
            return Ok(());
        };
        let objections = carry::apply(operator, changes, self.config.note_field)?;
        for objection in &objections {
            log(time, "warn", "change rejected", json!({ "message": objection }));
        }
        self.metrics.objections.inc_by(objections.len() as u64);
        Ok(())
    }

    /// Rereads the site's configuration if a read is due or there is a new job.
    fn refresh_site(&mut self, has_new_job: bool, time: u64) -> Result<(), SlurmError> {
        let is_urgent = has_new_job && self.site.unknown.is_none();
        let interval_s = if self.site.unknown.is_some() { SITE_RETRY_S } else { SITE_READ_S };
        if !is_urgent && is_recent(self.site_read_at, time, interval_s) {
            return Ok(());
        }
        self.site = Site::read(Some(&self.site))?;
        self.reader.forget();
        self.site_read_at = Some(time);
        if let Some(error) = &self.site.unknown {
            log(time, "warn", "cannot read QOS", json!({ "error": error }));
        }
        let ungated = self.site.ungated(&self.config);
        if !ungated.iter().eq(&self.ungated) {
            let (level, event) = if ungated.is_empty() {
                ("info", "no more ungated partitions contain nodes of the machine")
            } else {
                ("warn", "ungated partitions contain nodes of the machine")
            };
            log(time, level, event, json!({ "partitions": ungated }));
            self.ungated = ungated.into_iter().map(Into::into).collect();
        }
        if self.reader.malformed > 0 {
            let details = json!({ "count": self.reader.malformed });
            log(time, "warn", "some limits cannot be parsed", details);
        }
        Ok(())
    }

    /// Logs malformed records, jobs without a box, and nodes held by two jobs.
    fn log_problems(&mut self, ledger: &Ledger, decision: &Decision) {
        self.problems.log_unreadable(ledger);
        let boxless = (!decision.boxless.is_empty()).then(|| {
            let first = decision.boxless.iter().take(MAX_LISTED_JOBS);
            let first = first.map(|(job, why)| format!("{job}: {}", why.as_str()));
            let details =
                json!({ "count": decision.boxless.len(), "first": first.collect::<Vec<_>>() });
            LogLine::new("warn", "jobs without a box", details)
        });
        self.problems.log(Problem::Boxless, boxless);
        let overlaps = (!decision.overlaps.is_empty()).then(|| {
            let nodes = decision.overlaps.iter().map(|&node| self.config.name(node).as_str());
            let nodes: Vec<&str> = nodes.take(MAX_LISTED_NODES).collect();
            LogLine::new("error", "nodes held by two jobs", json!({ "nodes": nodes }))
        });
        self.problems.log(Problem::Overlap, overlaps);
    }
}

/// Returns the status line for a cycle's outcome.
fn status(outcome: &Result<String, SlurmError>) -> String {
    match outcome {
        Ok(summary) => summary.clone(),
        Err(error @ SlurmError::Call { .. }) => format!("cycles are being skipped: {error}"),
        Err(error) => error.to_string(),
    }
}

/// Returns the log fields that describe a change.
fn log_fields(change: &Change, dry_run: bool) -> serde_json::Value {
    let mut fields = json!({ "job": change.job().to_string() });
    match change {
        Change::Open { nodes, .. } => {
            let nodes: Vec<&str> = nodes.iter().map(NodeName::as_str).collect();
            fields["nodes"] = json!(nodes);
        }
        Change::Close { wait_s, .. } => fields["wait_s"] = json!(wait_s),
        Change::Comment { comment, .. } => fields["comment"] = json!(comment.as_str()),
        Change::Requeue { .. } | Change::Strip { .. } => {}
    }
    if dry_run {
        fields["dry_run"] = json!(true);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CallFault;

    #[test]
    fn a_daemon_without_its_lock_gives_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = |lock: &str| {
            let lock = Some(folder.path().join(lock));
            let config = Config { lock, ..Config::of_machine("mesh:2") };
            Daemon::new(config, Metrics::register(&mut registry(metrics::PREFIX)), false)
        };
        let mut first = daemon("lock");
        first.activate().unwrap();
        let standby = daemon("lock").activate().unwrap_err();
        let SlurmError::Conflict(reason) = standby else { panic!("{standby}") };
        assert_eq!(reason, "another daemon holds the lock");
        let fault = daemon("none/lock").activate().unwrap_err();
        assert!(fault.to_string().contains("none/lock"), "{fault}");
    }

    #[test]
    fn the_status_contains_the_error_of_a_skipped_cycle() {
        let fault = CallFault::Timeout { seconds: 60 };
        let hung = status(&Err(SlurmError::Call { command: "squeue", fault }));
        assert_eq!(
            hung,
            "cycles are being skipped: squeue did not respond within 60 s and was killed"
        );
        assert_eq!(status(&Err(SlurmError::Missing("add this line".into()))), "add this line");
    }
}
