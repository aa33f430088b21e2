//! The loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pavior_workload::Shaper;
use serde_json::json;

use crate::ask::capture;
use crate::command::{self, Change};
use crate::cycle::{Decision, Memory, View, decide};
use crate::ledger::Ledger;
use crate::limits::Reader;
use crate::metrics::{self, Metrics, log};
use crate::names::NodeName;
use crate::question::try_gate;
use crate::site::Site;
use crate::troubles::{self, Say, Trouble, Troubles};
use crate::{Config, SlurmError, start};

/// How the daemon is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct DaemonOptions {
    /// Only says what it would do.
    pub dry_run: bool,
    /// Ends after one cycle.
    pub once: bool,
}

/// A reservation that ends sooner than this is renewed, in seconds.
const RENEW: u64 = 30 * 86_400;
/// Between two looks at the reservation, in seconds.
const LOOK: u64 = 3600;
/// Between two looks at the site's configuration, in seconds.
const SITE_LOOK: u64 = 60;

/// Places jobs until it is told to end (SIGTERM or SIGINT).
///
/// # Errors
/// If the configuration is wrong or of another Slurm, the daemon has no rights, or metrics cannot
/// be served. While Slurm does not answer, cycles are skipped; if there is to be only one, that is
/// an error.
pub fn run(config: &Config, options: DaemonOptions) -> Result<(), SlurmError> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| SlurmError::Io { what: "signals".into(), error })?;
    }
    let metrics = Arc::new(Metrics::new());
    if let Some(address) = &config.metrics {
        metrics::serve(address, &metrics)?;
    }
    let mut daemon = Daemon {
        config,
        options,
        shaper: shaper(config)?,
        memory: Memory::default(),
        metrics,
        site: Site::default(),
        site_looked: 0,
        reader: Reader::default(),
        fit: false,
        looked: 0,
        troubles: Troubles::default(),
    };
    log(
        now(),
        "info",
        "started",
        json!({ "machine": config.grid.to_string(), "partition": config.partition }),
    );
    loop {
        let outcome = daemon.cycle();
        if options.once || matches!(outcome, Err(SlurmError::Unfit(_))) {
            return outcome;
        }
        let mut left = config.poll_ms;
        while left > 0 && !stop.load(Ordering::Relaxed) {
            let step = left.min(50);
            std::thread::sleep(Duration::from_millis(step));
            left -= step;
        }
        if stop.load(Ordering::Relaxed) {
            log(now(), "info", "ended", json!({}));
            return Ok(());
        }
    }
}

/// The rule that makes a box of a number of nodes: the same as in `job_submit.lua`.
pub(crate) fn shaper(config: &Config) -> Result<Shaper, SlurmError> {
    let rule = "compact".parse();
    let rule = rule.map_err(|bad: pavior_kernel::BadName| SlurmError::Config(bad.reason))?;
    Ok(Shaper::new(&rule, &config.grid, 1, 0))
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

struct Daemon<'a> {
    config: &'a Config,
    options: DaemonOptions,
    shaper: Shaper,
    memory: Memory,
    metrics: Arc<Metrics>,
    site: Site,
    site_looked: u64,
    reader: Reader,
    /// Whether the first look was taken.
    fit: bool,
    looked: u64,
    troubles: Troubles,
}

impl Daemon<'_> {
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
        outcome
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

    fn look_and_change(&mut self) -> Result<(), SlurmError> {
        let time = now();
        if !self.fit {
            start::look(self.config, !self.options.dry_run)?;
        }
        let ledger = Ledger::read(self.config)?;
        if !self.fit {
            for fault in start::names(self.config, &ledger)? {
                log(
                    time,
                    "warn",
                    "the configuration differs from Slurm",
                    json!({ "error": fault }),
                );
            }
            self.fit = true;
        }
        if time >= self.looked + LOOK {
            self.keep_reservation(time)?;
            self.look_at_gate(time);
            self.looked = time;
        }
        self.look_at_site(time)?;
        let site = &self.site;
        let said = self.reader.read(self.config, site, &ledger, time)?;
        let view = View { now: time, site, said: &said };
        let decision = decide(self.config, &ledger, &mut self.shaper, &mut self.memory, &view)?;
        self.complain(&ledger, &decision, time);
        self.count(&ledger, &decision);
        for change in &decision.changes {
            let level = if matches!(change, Change::Tell { .. }) { "debug" } else { "info" };
            if level == "info" || self.options.dry_run {
                log(time, level, change.word(), told(change, self.options.dry_run));
            }
        }
        let objections = if self.options.dry_run || decision.changes.is_empty() {
            Vec::new()
        } else {
            command::carry_out(&decision.changes, self.config.tell)?
        };
        for objection in &objections {
            log(time, "warn", "slurm objects", json!({ "message": objection }));
        }
        self.metrics.objections.inc_by(objections.len() as u64);
        Ok(())
    }

    /// Reads the site's configuration again, now and then.
    fn look_at_site(&mut self, time: u64) -> Result<(), SlurmError> {
        if time < self.site_looked + SITE_LOOK {
            return Ok(());
        }
        self.site = Site::read(Some(&self.site))?;
        self.site_looked = time;
        if let Some(error) = &self.site.unknown {
            log(time, "warn", "QOS cannot be read", json!({ "error": error }));
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
    }

    /// Says where the gate that is installed is older than this program: it is a file beside
    /// slurm.conf, which nobody need have renewed. Whether it can be tried is no matter here.
    fn look_at_gate(&self, time: u64) {
        for fault in try_gate(self.config).map_or(Vec::new(), |found| found.faults) {
            log(time, "warn", "the gate is old", json!({ "error": fault }));
        }
    }

    /// Sees to it that the licence is reserved for root for a while yet.
    fn keep_reservation(&self, time: u64) -> Result<(), SlurmError> {
        let shown = capture("scontrol", &["show", "reservation", "-o"])?;
        let licence = &self.config.licence;
        let own = format!("ReservationName={licence} ");
        let end = shown.lines().find(|line| line.starts_with(&own)).map(|line| {
            let end = line.split(' ').find_map(|word| word.strip_prefix("EndTime="));
            end.and_then(|end| end.parse::<u64>().ok()).unwrap_or(0)
        });
        let licences = format!("Licenses={licence}:1");
        let name = format!("ReservationName={licence}");
        let arguments: &[&str] = match end {
            Some(end) if end > time + RENEW => return Ok(()),
            Some(_) => &["update", &name, "Duration=UNLIMITED"],
            None => &[
                "create",
                "reservation",
                &name,
                &licences,
                "Users=root",
                "StartTime=now",
                "Duration=UNLIMITED",
                "Flags=LICENSE_ONLY",
            ],
        };
        log(time, "info", "reservation", json!({ "command": arguments.join(" ") }));
        if self.options.dry_run {
            return Ok(());
        }
        capture("scontrol", arguments).map(drop)
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
        Change::Requeue { .. } => {}
    }
    if dry_run {
        told["dry_run"] = json!(true);
    }
    told
}
