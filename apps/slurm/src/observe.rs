//! `pavior slurm --observe`: an unmodified Slurm as it is, on the project's page.
//!
//! Nothing is changed, by type: the observer asks [`Question`](crate::ask::Question)s and has no
//! [`Operator`](crate::ask::Operator). It needs neither gate nor root. Jobs need no shapes: what
//! runs is shown as the nodes that it holds, and what waits as the box that it would get.

mod explain;
mod view;

use std::path::Path;
use std::sync::Arc;

use pavior::json::log;
use pavior_board::{Board, for_hosts, http, site};
use serde_json::json;

use crate::daemon::now;
use crate::ledger::Ledger;
use crate::manager::{Manager, Signals};
use crate::metrics::{Metrics, Observed, slots_of};
use crate::troubles::{self, Say, Trouble, Troubles};
use crate::{Config, SlurmError};
use view::View;

/// Where the page is served unless something else is said.
pub const ADDRESS: &str = "127.0.0.1:9322";

/// Shows a Slurm at an address until it is told to end (SIGTERM or SIGINT): the page, `why` and
/// metrics. SIGHUP has it read its configuration from `path` again.
///
/// # Errors
/// If the configuration is wrong, or the address cannot be had. While Slurm does not answer, the
/// last that it said is shown.
pub fn observe(path: &Path, config: Config, address: &str) -> Result<(), SlurmError> {
    let signals = Signals::listen()?;
    let board = Arc::new(Board::new(View::of(Arc::new(config.clone()), Ledger::default(), now())));
    let mut metrics = Metrics::new();
    let observed = Observed::new(&mut metrics);
    let metrics = Arc::new(metrics);
    let text = Arc::clone(&metrics);
    let site = site(Arc::clone(&board), Arc::new(move || text.text()));
    let site = for_hosts(site, names(address));
    let failed = |error| SlurmError::Io { what: format!("--observe {address}"), error };
    let bound = http::serve(address, site).map_err(failed)?;
    let mut observer = Observer {
        config: Arc::new(config),
        board,
        metrics,
        observed,
        troubles: Troubles::default(),
        manager: Manager::default(),
    };
    log(now(), "info", "observing", json!({ "page": format!("http://{bound}/") }));
    Manager::ready();
    loop {
        observer.look();
        signals.wait(observer.config.poll_ms);
        if signals.stopped() {
            Manager::stopping();
            log(now(), "info", "ended", json!({}));
            return Ok(());
        }
        if signals.reload() {
            observer.read_again(path);
        }
    }
}

/// The names that the page is served under: the one of its address, and those of this machine.
fn names(address: &str) -> Vec<String> {
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let own = own.trim();
    let of_address = address.rsplit_once(':').map_or("", |(name, _)| name);
    let names = [of_address, own, own.split('.').next().unwrap_or("")];
    names.iter().filter(|name| !name.is_empty()).map(ToString::to_string).collect()
}

struct Observer {
    config: Arc<Config>,
    board: Arc<Board>,
    metrics: Arc<Metrics>,
    observed: Observed,
    troubles: Troubles,
    manager: Manager,
}

impl Observer {
    fn look(&mut self) {
        let begun = std::time::SystemTime::now();
        let read = Ledger::read(&self.config);
        match (&read, self.troubles.note(Trouble::Absent, read.is_err(), now())) {
            (Err(error), Say::Trouble) => {
                log(now(), "warn", "slurm does not answer", json!({ "error": error.to_string() }));
            }
            (_, Say::End) => log(now(), "info", "slurm is back", json!({})),
            _ => {}
        }
        let metrics = &self.metrics;
        metrics.cycles.inc();
        metrics.up.set(i64::from(read.is_ok()));
        metrics.failures.inc_by(u64::from(read.is_err()));
        let status = match read {
            Ok(ledger) => self.show(ledger),
            Err(_) => "Slurm does not answer; its last state is shown".to_string(),
        };
        self.metrics.cycle_seconds.set(begun.elapsed().map_or(0.0, |time| time.as_secs_f64()));
        self.manager.alive(status);
    }

    /// Publishes what Slurm said; returns it in a line.
    fn show(&mut self, ledger: Ledger) -> String {
        let count = ledger.unreadable.len();
        if self.troubles.note(Trouble::Unreadable, count > 0, now()) == Say::Trouble {
            let more = json!({ "count": count, "first": troubles::faults(&ledger) });
            log(now(), "warn", "records cannot be read", more);
        }
        let view = View::of(Arc::clone(&self.config), ledger, now());
        let counts = view.counts();
        let metrics = &self.metrics;
        metrics.last_success.set(now() as i64);
        metrics.unreadable.set(count as i64);
        metrics.unreadable_total.inc_by(count as u64);
        metrics.waiting.set(counts.waiting as i64);
        metrics.running.set(counts.holding as i64);
        metrics.free.set(counts.free.into());
        metrics.failed.set(counts.failed.into());
        metrics.slots.set(&slots_of(&self.config, view.state().free()));
        self.observed.boxes.set(counts.boxes as i64);
        self.observed.largest_free.set(counts.largest_free as i64);
        self.board.publish(view);
        format!(
            "{} jobs hold nodes, {} wait; {} nodes are free, {} unavailable",
            counts.holding, counts.waiting, counts.free, counts.failed
        )
    }

    /// Reads the configuration again. One that is wrong, changes nothing.
    fn read_again(&mut self, path: &Path) {
        Manager::reloading();
        match Config::read(path) {
            Ok(config) => {
                self.config = Arc::new(config);
                log(now(), "info", "configuration read again", json!({}));
            }
            Err(error) => {
                let more = json!({ "error": error.to_string() });
                log(now(), "error", "configuration refused; the old one is kept", more);
            }
        }
        Manager::ready();
    }
}
