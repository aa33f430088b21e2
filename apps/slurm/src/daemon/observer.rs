//! The `pavior slurm --observe` command, which serves the page for an unmodified Slurm cluster. The
//! types guarantee that the observer changes nothing, because it runs only
//! [queries](crate::calls::Query) and has no [`Operator`](crate::calls::Operator). The observer
//! needs neither the gate nor root access, and jobs need no shapes. The page shows running jobs on
//! their nodes, and waiting jobs in the boxes that they would get.

use std::path::Path;
use std::sync::Arc;

use pavior::json::log;
use pavior_cluster::metrics::registry;
use pavior_cluster::{Board, for_hosts, http, site};
use serde_json::json;

use crate::calls::now;
use crate::daemon::manager::{Event, Manager, Signals, notify_ready, notify_stopping, reload};
use crate::daemon::problems::{LogLine, Problem, Problems};
use crate::ledger::Ledger;
use crate::show::metrics::{self, CycleCounts, Metrics, ObserverMetrics};
use crate::show::page::view;
use crate::{Config, SlurmError};

/// The default address for the page.
pub const ADDRESS: &str = "127.0.0.1:9322";

/// Serves the page, `why` and metrics for a Slurm cluster. Listens at `address` until SIGTERM or
/// SIGINT arrives. On SIGHUP, reloads the configuration from `path`.
///
/// # Errors
/// Returns an error if the address is unavailable. While Slurm does not respond, the page shows the
/// last known state.
pub fn observe(path: &Path, config: Config, address: &str) -> Result<(), SlurmError> {
    let signals = Signals::listen()?;
    let board = Arc::new(Board::new(view(&config, Ledger::default(), now())));
    let mut all = registry(metrics::PREFIX);
    let metrics = Metrics::register(&mut all);
    let observed = ObserverMetrics::register(&mut all);
    let site = site(Arc::clone(&board), Arc::new(all));
    let site = for_hosts(site, host_names(address));
    let failed = |error| SlurmError::Io { subject: format!("--observe {address}"), error };
    let bound = http::serve(address, site).map_err(failed)?;
    let mut observer = Observer {
        config,
        board,
        metrics,
        observed,
        problems: Problems::default(),
        manager: Manager::default(),
    };
    log(now(), "info", "observing", json!({ "page": format!("http://{bound}/") }));
    notify_ready();
    loop {
        observer.refresh();
        match signals.wait(observer.config.poll_ms) {
            Event::Timeout => {}
            Event::Reload => {
                if let Some(config) = reload(|| Config::read(path)) {
                    observer.config = config;
                    log(now(), "info", "configuration reloaded", json!({}));
                }
            }
            Event::Stop => {
                notify_stopping();
                return Ok(());
            }
        }
    }
}

/// Returns the host names under which the page is served: the name in the address, and this host's
/// full and short names.
fn host_names(address: &str) -> Vec<String> {
    let computer = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let computer = computer.trim();
    let of_address = address.rsplit_once(':').map_or("", |(name, _)| name);
    let names = [of_address, computer, computer.split('.').next().unwrap_or("")];
    names.iter().filter(|name| !name.is_empty()).map(ToString::to_string).collect()
}

struct Observer {
    config: Config,
    board: Arc<Board>,
    metrics: Metrics,
    observed: ObserverMetrics,
    problems: Problems,
    manager: Manager,
}

impl Observer {
    /// Reads the state from Slurm and publishes it.
    fn refresh(&mut self) {
        let begun = std::time::SystemTime::now();
        let ledger = Ledger::read(&self.config);
        let line = ledger.as_ref().err().map(|error| {
            LogLine::new("warn", "Slurm is not responding", json!({ "error": error.to_string() }))
        });
        self.problems.log(Problem::Skipped, line);
        let is_ok = ledger.is_ok();
        let status = match ledger {
            Ok(ledger) => self.publish(ledger),
            Err(error) => format!("{error}; the page shows the last known state"),
        };
        self.metrics.cycle(is_ok, begun);
        self.manager.alive(status);
    }

    /// Publishes the state that Slurm reported and returns a one-line summary.
    fn publish(&mut self, ledger: Ledger) -> String {
        self.problems.log_unreadable(&ledger);
        let malformed = ledger.unreadable.len();
        let view = view(&self.config, ledger, now());
        let (running, waiting) = (view.running().count(), view.waiting.len());
        let (free, failed) = (view.free_nodes(), view.failed.len() as u32);
        let counts = CycleCounts { malformed, waiting, running, free: &free, failed };
        self.metrics.counts(&self.config, &counts);
        let boxes = view.running().filter(|held| held.parts.len() == 1).count();
        let largest = free.largest_free().map_or(0, |largest| largest.volume());
        self.observed.set(boxes, largest);
        self.board.publish(view);
        let free = free.count();
        format!(
            "{running} jobs hold nodes, {waiting} are waiting; {free} nodes are free and {failed} \
             are unavailable"
        )
    }
}
