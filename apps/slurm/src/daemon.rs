//! The daemon's main loop.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::SystemTime;

use pavior::json::log;
use pavior::workload::Shaper;
use pavior_cluster::metrics::registry;
use serde_json::json;

use crate::calls::{Operator, Question, capture, now};
use crate::carry::lock::Lock;
use crate::gate::loaded::loaded_gate;
use crate::ledger::reservations::Reservation;
use crate::ledger::site::Site;
use crate::ledger::usage::Reader;
use crate::ledger::{Ledger, Newest};
use crate::names::NodeName;
use crate::plan::change::Change;
use crate::plan::request::shaper;
use crate::plan::world::{Rules, World};
use crate::plan::{Decision, Memory, decide};
use crate::setup::lists::{List, Lists};
use crate::show::metrics::{self, Metrics};
use crate::{Config, SlurmError, carry};

mod manager;
pub(crate) mod observer;
mod start;
mod troubles;

use manager::{Manager, Signals};
use troubles::{Trouble, Troubles};

/// Options for the daemon.
#[derive(Clone, Copy, Debug, Default)]
pub struct DaemonOptions {
    /// True to report the changes of one cycle without making them, and then exit.
    pub dry_run: bool,
    /// True to exit after one cycle.
    pub once: bool,
}

/// The remaining time below which the reservation is renewed, in seconds.
const MIN_REMAINING_S: u64 = 30 * 86_400;
/// The time between gate checks, in seconds.
const GATE_CHECK_S: u64 = 3600;
/// The time between gate checks while the gate has a fault, in seconds.
const GATE_RECHECK_S: u64 = 60;
/// The time between reads of the site's configuration, in seconds.
const SITE_READ_S: u64 = 60;
/// The additional delay before the next read if slurmdbd does not answer, in seconds.
const SITE_DELAY_S: u64 = 240;

/// Places jobs until SIGTERM or SIGINT. On SIGHUP, reloads the configuration from `path`.
///
/// # Errors
/// Returns an error if the configuration does not match the cluster, the daemon lacks rights, or
/// metrics cannot be served. Cycles are skipped while Slurm does not answer; if only one cycle was
/// requested, this is an error.
pub fn run(path: &Path, config: Config, options: DaemonOptions) -> Result<(), SlurmError> {
    let signals = Signals::listen()?;
    let mut registry = registry(metrics::PREFIX);
    let metrics = Metrics::register(&mut registry);
    if let Some(address) = &config.metrics {
        metrics::serve(address, registry)?;
    }
    let mut daemon = Daemon {
        shaper: shaper(&config.grid),
        config,
        operator: (!options.dry_run).then(Operator::new),
        lock: Lock::default(),
        memory: Memory::default(),
        metrics,
        newest: Newest::default(),
        site: Site::default(),
        site_read_at: 0,
        reader: Reader::default(),
        ungated: Vec::new(),
        is_fit: false,
        gate_check_at: 0,
        troubles: Troubles::default(),
        manager: Manager::default(),
    };
    daemon.log_machine("started");
    let once = options.once || options.dry_run;
    Manager::ready();
    loop {
        let is_active = daemon.is_its_turn();
        let outcome = if is_active {
            daemon.cycle()
        } else {
            daemon.manager.alive("on standby: another daemon holds the lock".into());
            Ok(())
        };
        if once && !is_active {
            let reason = "another daemon is active and holds the lock";
            return Err(SlurmError::Config(reason.into()));
        }
        if once || matches!(outcome, Err(SlurmError::Unfit(_))) {
            return outcome;
        }
        let read = || daemon.read_again(path);
        match signals.wait(daemon.config.poll_ms, read) {
            ControlFlow::Break(()) => return Ok(()),
            ControlFlow::Continue(Some(config)) => daemon.change(config),
            ControlFlow::Continue(None) => {}
        }
    }
}

struct Daemon {
    config: Config,
    /// The right to make changes, or `None` in a dry run.
    operator: Option<Operator>,
    lock: Lock,
    shaper: Shaper,
    memory: Memory,
    metrics: Metrics,
    /// The most recently submitted job seen so far.
    newest: Newest,
    site: Site,
    site_read_at: u64,
    reader: Reader,
    /// The ungated partitions that were last reported.
    ungated: Vec<String>,
    /// True after the startup checks have passed.
    is_fit: bool,
    gate_check_at: u64,
    troubles: Troubles,
    manager: Manager,
}

impl Daemon {
    fn log_machine(&self, event: &str) {
        let (machine, partition) = (self.config.grid.to_string(), &self.config.partition);
        log(now(), "info", event, json!({ "machine": machine, "partition": partition }));
    }

    /// Rereads and checks the configuration.
    fn read_again(&self, path: &Path) -> Result<Config, SlurmError> {
        let config = Config::read(path)?;
        start::look(&config, self.operator.is_some())?;
        start::names(&config, &Ledger::read(&config)?)?;
        Ok(config)
    }

    /// Adopts a new configuration.
    fn change(&mut self, config: Config) {
        if config.metrics != self.config.metrics {
            let more = json!({ "error": "metrics: the new address takes effect after a restart" });
            log(now(), "warn", "configuration", more);
        }
        (self.shaper, self.config) = (shaper(&config.grid), config);
        // The gate and the reservation may have a new name.
        (self.site_read_at, self.gate_check_at) = (0, 0);
        self.log_machine("configuration reloaded");
    }

    /// Returns true if this daemon is active. A dry run changes nothing, so it needs no lock.
    fn is_its_turn(&mut self) -> bool {
        let lock = self.config.lock.as_ref().filter(|_| self.operator.is_some());
        let has_lock = self.lock.take(lock);
        let line = match &has_lock {
            Ok(true) => None,
            Ok(false) => Some(("info", "on standby: another daemon holds the lock", json!({}))),
            Err(error) => Some(("error", "cannot lock", json!({ "error": error.to_string() }))),
        };
        self.troubles.log(Trouble::Lock, line);
        let is_active = has_lock.unwrap_or(false);
        self.metrics.active.set(i64::from(is_active));
        is_active
    }

    fn cycle(&mut self) -> Result<(), SlurmError> {
        let begun = SystemTime::now();
        let outcome = self.look_and_change();
        let line =
            |error: &SlurmError| ("warn", "cycle skipped", json!({ "error": error.to_string() }));
        self.troubles.log(Trouble::Absent, outcome.as_ref().err().map(line));
        self.metrics.cycle(outcome.is_ok(), begun);
        let status = match &outcome {
            Ok(status) => status.clone(),
            Err(SlurmError::Missing(line)) => line.clone(),
            Err(_) => "Slurm does not answer; cycles are skipped".to_string(),
        };
        if self.operator.is_none() && outcome.is_ok() {
            log(now(), "info", "dry run: nothing was changed", json!({ "status": status }));
        }
        self.manager.alive(status);
        outcome.map(drop)
    }

    /// Logs malformed records, jobs without a box, and nodes held by two jobs.
    fn log_problems(&mut self, ledger: &Ledger, decision: &Decision) {
        self.troubles.log_unreadable(ledger);
        let line = || {
            let jobs = decision.boxless.iter().take(8);
            let jobs = jobs.map(|(job, why)| format!("{job}: {}", why.as_str()));
            let more =
                json!({ "count": decision.boxless.len(), "first": jobs.collect::<Vec<_>>() });
            ("warn", "jobs without a box", more)
        };
        self.troubles.log(Trouble::Boxless, (!decision.boxless.is_empty()).then(line));
        let line = || {
            let nodes = decision.overlaps.iter().map(|&node| self.config.name(node).as_str());
            let nodes: Vec<&str> = nodes.take(64).collect();
            ("error", "nodes held by two jobs", json!({ "nodes": nodes }))
        };
        self.troubles.log(Trouble::Overlap, (!decision.overlaps.is_empty()).then(line));
    }

    /// Runs a cycle, and returns a one-line summary of the state.
    fn look_and_change(&mut self) -> Result<String, SlurmError> {
        let time = now();
        if !self.is_fit {
            start::look(&self.config, self.operator.is_some())?;
        }
        let ledger = Ledger::read_after(&self.config, self.newest)?;
        if !self.is_fit {
            for fault in start::names(&self.config, &ledger)? {
                let more = json!({ "error": fault });
                log(time, "warn", "the configuration differs from Slurm", more);
            }
            self.is_fit = true;
        }
        self.keep_reservation(&ledger, time)?;
        if time >= self.gate_check_at {
            self.look_at_gate(time);
        }
        self.look_at_site(ledger.newest() > self.newest, time)?;
        self.newest = self.newest.max(ledger.newest());
        let site = &self.site;
        let usage = self.reader.read(&self.config, site, &ledger, time)?;
        let world = World { config: &self.config, ledger: &ledger, now: time };
        let rules = Rules { site, usage: &usage };
        let decision = decide(world, rules, &mut self.shaper, &mut self.memory)?;
        self.log_problems(&ledger, &decision);
        self.count(&ledger, &decision);
        for change in &decision.changes {
            let level = if matches!(change, Change::Comment { .. }) { "debug" } else { "info" };
            let dry_run = self.operator.is_none();
            if level == "info" || dry_run {
                log(time, level, change.word(), log_fields(change, dry_run));
            }
        }
        let objections = match &self.operator {
            Some(operator) if !decision.changes.is_empty() => {
                carry::carry_out(operator, &decision.changes, self.config.tell)?
            }
            _ => Vec::new(),
        };
        for objection in &objections {
            log(time, "warn", "change rejected", json!({ "message": objection }));
        }
        self.metrics.objections.inc_by(objections.len() as u64);
        let Decision { waiting, opened, running, ref free, failed, .. } = decision;
        let free = free.count();
        Ok(format!(
            "{running} jobs hold nodes, {opened} may start, {waiting} are waiting; {free} nodes \
             are free, {failed} unavailable"
        ))
    }

    /// Rereads the site's configuration if this is due or there is a new job.
    fn look_at_site(&mut self, is_newer: bool, time: u64) -> Result<(), SlurmError> {
        let is_newer = is_newer && self.site.unknown.is_none();
        if !is_newer && time < self.site_read_at + SITE_READ_S {
            return Ok(());
        }
        self.site = Site::read(Some(&self.site))?;
        self.reader.forget();
        self.site_read_at = time;
        if let Some(error) = &self.site.unknown {
            // While slurmdbd is unavailable, each read may take seconds.
            self.site_read_at = time + SITE_DELAY_S;
            log(time, "warn", "cannot read QOS", json!({ "error": error }));
        }
        let ungated = self.site.ungated(&self.config);
        if !ungated.iter().eq(&self.ungated) {
            self.ungated = ungated.into_iter().map(Into::into).collect();
            let more = json!({ "partitions": self.ungated });
            log(time, "warn", "ungated partitions contain nodes of the machine", more);
        }
        if self.reader.unreadable > 0 {
            let more = json!({ "count": self.reader.unreadable });
            log(time, "warn", "cannot read some limits", more);
        }
        Ok(())
    }

    fn count(&self, ledger: &Ledger, decision: &Decision) {
        let metrics = &self.metrics;
        let count = |word: &str| {
            decision.changes.iter().filter(|change| change.word() == word).count() as u64
        };
        metrics.opened_total.inc_by(count("open"));
        metrics.closed_total.inc_by(count("close"));
        metrics.requeued_total.inc_by(count("requeue"));
        metrics.overlaps_total.inc_by(decision.overlaps.len() as u64);
        metrics.opened.set(decision.opened as i64);
        metrics.jobs(ledger.unreadable.len(), decision.waiting, decision.running);
        metrics.nodes(&self.config, &decision.free, decision.failed);
    }

    /// Reports a problem unless slurmctld has loaded the gate of this program and configuration.
    /// Administrators can change the gate's file, which is next to slurm.conf.
    fn look_at_gate(&mut self, time: u64) {
        let fault = match loaded_gate(&self.config) {
            Ok(gate) => gate.fault(&self.config),
            Err(error) => Some(error.to_string()),
        };
        self.metrics.gate.set(i64::from(fault.is_none()));
        self.gate_check_at = time + if fault.is_none() { GATE_CHECK_S } else { GATE_RECHECK_S };
        let line = fault.map(|error| ("warn", "the gate has a fault", json!({ "error": error })));
        self.troubles.log(Trouble::Gate, line);
    }

    /// Keeps the license reserved for root. Otherwise, every job would start without a box.
    fn keep_reservation(&self, ledger: &Ledger, time: u64) -> Result<(), SlurmError> {
        let licence = &self.config.licence;
        let mut kept = ledger.reservations.iter().filter(|other| other.keeps(licence));
        if kept.any(|reservation| reservation.end > time + MIN_REMAINING_S) {
            return Ok(());
        }
        let licences = format!("Licenses={licence}:1");
        let name = format!("ReservationName={licence}");
        let is_own = |other: &Reservation| other.name == *licence;
        let arguments: &[&str] = if ledger.reservations.iter().any(is_own) {
            &["update", &name, "Duration=UNLIMITED"]
        } else {
            let shown = capture(Question::Show, &["config"])?;
            if let Some(line) = Lists::shown(&shown).fault(List::Licences, None, &self.config) {
                return Err(SlurmError::Missing(line + ", and restart slurmctld"));
            }
            &[
                "create",
                "reservation",
                &name,
                &licences,
                "Users=root",
                "StartTime=now",
                "Duration=UNLIMITED",
                "Flags=LICENSE_ONLY",
            ]
        };
        let dry_run = self.operator.is_none();
        let more = json!({ "command": arguments.join(" "), "dry_run": dry_run });
        log(time, "info", "reservation", more);
        self.operator.as_ref().map_or(Ok(()), |operator| operator.scontrol(arguments))
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
