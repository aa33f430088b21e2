//! The loop.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use pavior::json::log;
use pavior::workload::Shaper;
use serde_json::json;

use crate::ask::{Operator, Question, capture};
use crate::command::{self, Change};
use crate::conf::{List, Lists};
use crate::cycle::{Decision, Memory, View, decide};
use crate::ledger::Ledger;
use crate::limits::Reader;
use crate::manager::{Manager, Signals};
use crate::metrics::{self, Metrics};
use crate::names::NodeName;
use crate::question::try_gate;
use crate::reservations::Reservation;
use crate::site::Site;
use crate::troubles::{self, Say, Trouble, Troubles};
use crate::turn::Turn;
use crate::{Config, SlurmError, start};

/// How the daemon is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct DaemonOptions {
    /// Only says what one cycle would do, and ends.
    pub dry_run: bool,
    /// Ends after one cycle.
    pub once: bool,
}

/// A reservation that ends sooner than this is renewed, in seconds.
const RENEW: u64 = 30 * 86_400;
/// Between two looks at the gate, in seconds, and between two at one that is not as it should be.
const LOOK: u64 = 3600;
const LOOK_AGAIN: u64 = 60;
/// Between two looks at the site's configuration, in seconds.
const SITE_LOOK: u64 = 60;
/// How much longer if slurmdbd is away.
const SITE_AGAIN: u64 = 240;

/// Places jobs until it is told to end (SIGTERM or SIGINT). SIGHUP has it read its configuration
/// from `path` again.
///
/// # Errors
/// If the configuration is wrong or of another Slurm, the daemon has no rights, or metrics cannot
/// be served. While Slurm does not answer, cycles are skipped; if there is to be only one, that is
/// an error.
pub fn run(path: &Path, config: Config, options: DaemonOptions) -> Result<(), SlurmError> {
    let signals = Signals::listen()?;
    let metrics = Arc::new(Metrics::new());
    if let Some(address) = &config.metrics {
        metrics::serve(address, &metrics)?;
    }
    let mut daemon = Daemon {
        shaper: shaper(&config)?,
        config,
        operator: (!options.dry_run).then(Operator::new),
        turn: Turn::default(),
        memory: Memory::default(),
        metrics,
        site: Site::default(),
        site_looked: 0,
        reader: Reader::default(),
        ungated: Vec::new(),
        fit: false,
        look_at: 0,
        troubles: Troubles::default(),
        manager: Manager::default(),
    };
    daemon.say_what_is_served("started");
    let once = options.once || options.dry_run;
    Manager::ready();
    loop {
        let acts = daemon.is_its_turn();
        let outcome = if acts {
            daemon.cycle()
        } else {
            daemon.manager.alive("stands by: another daemon has the lock".into());
            Ok(())
        };
        if once && !acts {
            let reason = "another daemon has the lock, and acts";
            return Err(SlurmError::Config(reason.into()));
        }
        if once || matches!(outcome, Err(SlurmError::Unfit(_))) {
            return outcome;
        }
        signals.wait(daemon.config.poll_ms);
        if signals.stopped() {
            Manager::stopping();
            log(now(), "info", "ended", json!({}));
            return Ok(());
        }
        if signals.reload() {
            daemon.read_again(path);
        }
    }
}

/// The rule that makes a box of a number of nodes: the same as in `job_submit.lua`.
pub(crate) fn shaper(config: &Config) -> Result<Shaper, SlurmError> {
    let rule = "compact".parse();
    let rule = rule.map_err(|bad: pavior::BadName| SlurmError::Config(bad.reason))?;
    Ok(Shaper::new(&rule, &config.grid, 1, 0))
}

/// Whether Slurm's priorities are first come, first served.
pub(crate) fn is_basic() -> Result<bool, SlurmError> {
    let shown = capture(Question::Show, &["config"])?;
    let is = |line: &str| line.starts_with("PriorityType") && line.ends_with("priority/basic");
    Ok(shown.lines().any(is))
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

struct Daemon {
    config: Config,
    /// None in a dry run, which changes nothing.
    operator: Option<Operator>,
    turn: Turn,
    shaper: Shaper,
    memory: Memory,
    metrics: Arc<Metrics>,
    site: Site,
    site_looked: u64,
    reader: Reader,
    /// The partitions that were said to have nodes of the machine, and no gate.
    ungated: Vec<String>,
    /// Whether the first look was taken.
    fit: bool,
    /// When the gate is looked at next.
    look_at: u64,
    troubles: Troubles,
    manager: Manager,
}

impl Daemon {
    fn say_what_is_served(&self, event: &str) {
        let (machine, partition) = (self.config.grid.to_string(), &self.config.partition);
        log(now(), "info", event, json!({ "machine": machine, "partition": partition }));
    }

    /// Reads the configuration again. One that is wrong changes nothing.
    fn read_again(&mut self, path: &Path) {
        Manager::reloading();
        let read = Config::read(path).and_then(|config| {
            start::look(&config, self.operator.is_some())?;
            start::names(&config, &Ledger::read(&config)?)?;
            Ok((shaper(&config)?, config))
        });
        match read {
            Ok((shaper, config)) => {
                if config.metrics != self.config.metrics {
                    let more = json!({ "error": "metrics: the address changes at the next start" });
                    log(now(), "warn", "configuration", more);
                }
                (self.shaper, self.config) = (shaper, config);
                // The gate and the reservation may have other names.
                (self.site_looked, self.look_at) = (0, 0);
                self.say_what_is_served("configuration read again");
            }
            Err(error) => {
                let more = json!({ "error": error.to_string() });
                log(now(), "error", "configuration refused; the old one is kept", more);
            }
        }
        Manager::ready();
    }

    /// Whether this daemon acts, of several. A dry run takes no turn: it changes nothing.
    fn is_its_turn(&mut self) -> bool {
        let lock = self.config.lock.as_ref().filter(|_| self.operator.is_some());
        let taken = self.turn.take(lock);
        let said = self.troubles.note(Trouble::Lock, !matches!(taken, Ok(true)), now());
        match (&taken, said) {
            (Ok(false), Say::Trouble) => {
                log(now(), "info", "stands by: another daemon has the lock", json!({}));
            }
            (Err(error), Say::Trouble) => {
                log(now(), "error", "the lock", json!({ "error": error.to_string() }));
            }
            (_, Say::End) => log(now(), "info", "has the lock, and acts", json!({})),
            _ => {}
        }
        let acts = taken.unwrap_or(false);
        self.metrics.active.set(i64::from(acts));
        acts
    }

    fn cycle(&mut self) -> Result<(), SlurmError> {
        let begun = SystemTime::now();
        let outcome = self.look_and_change();
        let seconds = begun.elapsed().map_or(0.0, |length| length.as_secs_f64());
        let said = self.troubles.note(Trouble::Absent, outcome.is_err(), now());
        match (&outcome, said) {
            (Err(error), Say::Trouble) => {
                log(now(), "warn", "cycle skipped", json!({ "error": error.to_string() }));
            }
            (_, Say::End) => log(now(), "info", "slurm is back", json!({})),
            _ => {}
        }
        self.metrics.cycles.inc();
        self.metrics.cycle_seconds.set(seconds);
        self.metrics.up.set(i64::from(outcome.is_ok()));
        self.metrics.failures.inc_by(u64::from(outcome.is_err()));
        if outcome.is_ok() {
            self.metrics.last_success.set(now() as i64);
        }
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

    /// Says which records cannot be read, and which nodes are held twice.
    fn complain(&mut self, ledger: &Ledger, decision: &Decision, time: u64) {
        let count = ledger.unreadable.len();
        match self.troubles.note(Trouble::Unreadable, count > 0, time) {
            Say::Trouble => {
                let faults = troubles::faults(ledger);
                let more = json!({ "count": count, "first": faults });
                log(time, "warn", "records cannot be read", more);
            }
            Say::End => log(time, "info", "all records can be read", json!({})),
            Say::Nothing => {}
        }
        let count = decision.boxless.len();
        if self.troubles.note(Trouble::Boxless, count > 0, time) == Say::Trouble {
            let jobs = decision.boxless.iter().take(8);
            let jobs: Vec<String> =
                jobs.map(|(job, why)| format!("{job}: {}", why.as_str())).collect();
            let more = json!({ "count": count, "first": jobs });
            log(time, "warn", "jobs without a box", more);
        }
        let twice = !decision.overlaps.is_empty();
        if self.troubles.note(Trouble::Overlap, twice, time) == Say::Trouble {
            let nodes = decision.overlaps.iter().map(|&node| self.config.name(node).as_str());
            let nodes: Vec<&str> = nodes.take(64).collect();
            log(time, "error", "nodes are held twice", json!({ "nodes": nodes }));
        }
    }

    /// A cycle; returns how things are, in a line.
    fn look_and_change(&mut self) -> Result<String, SlurmError> {
        let time = now();
        if !self.fit {
            start::look(&self.config, self.operator.is_some())?;
        }
        let ledger = Ledger::read(&self.config)?;
        if !self.fit {
            for fault in start::names(&self.config, &ledger)? {
                log(
                    time,
                    "warn",
                    "the configuration differs from Slurm",
                    json!({ "error": fault }),
                );
            }
            self.fit = true;
        }
        self.keep_reservation(&ledger, time)?;
        if time >= self.look_at {
            self.look_at_gate(time);
        }
        self.look_at_site(time)?;
        let site = &self.site;
        let said = self.reader.read(&self.config, site, &ledger, time)?;
        let view = View { now: time, site, said: &said };
        let decision = decide(&self.config, &ledger, &mut self.shaper, &mut self.memory, &view)?;
        self.complain(&ledger, &decision, time);
        self.count(&ledger, &decision);
        for change in &decision.changes {
            let level = if matches!(change, Change::Tell { .. }) { "debug" } else { "info" };
            let dry_run = self.operator.is_none();
            if level == "info" || dry_run {
                log(time, level, change.word(), told(change, dry_run));
            }
        }
        let objections = match &self.operator {
            Some(operator) if !decision.changes.is_empty() => {
                command::carry_out(operator, &decision.changes, self.config.tell)?
            }
            _ => Vec::new(),
        };
        for objection in &objections {
            log(time, "warn", "slurm objects", json!({ "message": objection }));
        }
        self.metrics.objections.inc_by(objections.len() as u64);
        let Decision { waiting, opened, running, free, failed, .. } = decision;
        Ok(format!(
            "{running} jobs hold nodes, {opened} may start, {waiting} wait; {free} nodes are free, \
             {failed} unavailable"
        ))
    }

    /// Reads the site's configuration again, now and then.
    fn look_at_site(&mut self, time: u64) -> Result<(), SlurmError> {
        if time < self.site_looked + SITE_LOOK {
            return Ok(());
        }
        self.site = Site::read(Some(&self.site))?;
        self.site_looked = time;
        if let Some(error) = &self.site.unknown {
            // To ask slurmdbd that is away may take seconds.
            self.site_looked = time + SITE_AGAIN;
            log(time, "warn", "QOS cannot be read", json!({ "error": error }));
        }
        let ungated = self.site.ungated(&self.config);
        if !ungated.iter().eq(&self.ungated) {
            self.ungated = ungated.into_iter().map(Into::into).collect();
            let more = json!({ "partitions": self.ungated });
            log(time, "warn", "partitions without the gate have nodes of the machine", more);
        }
        if self.reader.unreadable > 0 {
            let more = json!({ "count": self.reader.unreadable });
            log(time, "warn", "limits cannot be read", more);
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
        metrics.unreadable_total.inc_by(ledger.unreadable.len() as u64);
        metrics.unreadable.set(ledger.unreadable.len() as i64);
        metrics.overlaps_total.inc_by(decision.overlaps.len() as u64);
        metrics.waiting.set(decision.waiting as i64);
        metrics.opened.set(decision.opened as i64);
        metrics.running.set(decision.running as i64);
        metrics.free.set(decision.free.into());
        metrics.failed.set(decision.failed.into());
        metrics.slots.set(&decision.slots);
    }

    /// Says where slurmctld has not loaded the gate of this program and configuration, or where
    /// that is not known: it is a file beside slurm.conf, which administrators change.
    fn look_at_gate(&mut self, time: u64) {
        let fault = match try_gate(&self.config) {
            Ok(found) => found.faults.into_iter().next(),
            Err(error) => Some(error.to_string()),
        };
        self.metrics.gate.set(i64::from(fault.is_none()));
        self.look_at = time + if fault.is_none() { LOOK } else { LOOK_AGAIN };
        match (&fault, self.troubles.note(Trouble::Gate, fault.is_some(), time)) {
            (Some(error), Say::Trouble) => {
                log(time, "warn", "the gate is not as it should be", json!({ "error": error }));
            }
            (_, Say::End) => log(time, "info", "the gate is as it should be", json!({})),
            _ => {}
        }
    }

    /// Sees to it that the licence is reserved for root for a while yet. Without that every job
    /// would start by itself.
    fn keep_reservation(&self, ledger: &Ledger, time: u64) -> Result<(), SlurmError> {
        let licence = &self.config.licence;
        let mut kept = ledger.reservations.iter().filter(|other| other.keeps(licence));
        if kept.any(|reservation| reservation.end > time + RENEW) {
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

/// A change for the log.
fn told(change: &Change, dry_run: bool) -> serde_json::Value {
    let mut told = json!({ "job": change.job().to_string() });
    match change {
        Change::Open { nodes, .. } => {
            let nodes: Vec<&str> = nodes.iter().map(NodeName::as_str).collect();
            told["nodes"] = json!(nodes);
        }
        Change::Close { wait_s, .. } => told["wait_s"] = json!(wait_s),
        Change::Tell { comment, .. } => told["comment"] = json!(comment.as_str()),
        Change::Requeue { .. } | Change::Strip { .. } => {}
    }
    if dry_run {
        told["dry_run"] = json!(true);
    }
    told
}
