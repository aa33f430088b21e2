//! `pavior slurm --observe`: serves the page for an unmodified Slurm cluster. The types guarantee
//! that the observer changes nothing: it only asks [`Question`](crate::calls::Question)s and has no
//! [`Operator`](crate::calls::Operator). It needs neither the gate nor root access, and jobs need
//! no shapes. The page shows running jobs on their nodes, and waiting jobs in the boxes that they
//! would get.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use pavior::json::log;
use pavior_cluster::metrics::registry;
use pavior_cluster::{Board, for_hosts, http, site};
use serde_json::json;

use crate::calls::now;
use crate::daemon::manager::{Manager, Signals};
use crate::daemon::troubles::{Trouble, Troubles};
use crate::ledger::Ledger;
use crate::show::metrics::{self, Metrics, ObserverMetrics};
use crate::show::page::view;
use crate::{Config, SlurmError};

/// The default address for the page.
pub const ADDRESS: &str = "127.0.0.1:9322";

/// Serves the page, `why` and metrics for a Slurm cluster at an address until SIGTERM or SIGINT. On
/// SIGHUP, reloads the configuration from `path`.
///
/// # Errors
/// Returns an error if the address is unavailable. While Slurm does not answer, the page shows the
/// last known state.
pub fn observe(path: &Path, config: Config, address: &str) -> Result<(), SlurmError> {
    let signals = Signals::listen()?;
    let board = Arc::new(Board::new(view(&config, Ledger::default(), now())));
    let mut all = registry(metrics::PREFIX);
    let metrics = Metrics::register(&mut all);
    let observed = ObserverMetrics::register(&mut all);
    let site = site(Arc::clone(&board), Arc::new(all));
    let site = for_hosts(site, names(address));
    let failed = |error| SlurmError::Io { what: format!("--observe {address}"), error };
    let bound = http::serve(address, site).map_err(failed)?;
    let mut observer = Observer {
        config,
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
        match signals.wait(observer.config.poll_ms, || Config::read(path)) {
            ControlFlow::Break(()) => return Ok(()),
            ControlFlow::Continue(None) => {}
            ControlFlow::Continue(Some(config)) => {
                observer.config = config;
                log(now(), "info", "configuration reloaded", json!({}));
            }
        }
    }
}

/// Returns the host names for which the page is served: those of its address and this computer.
fn names(address: &str) -> Vec<String> {
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let own = own.trim();
    let of_address = address.rsplit_once(':').map_or("", |(name, _)| name);
    let names = [of_address, own, own.split('.').next().unwrap_or("")];
    names.iter().filter(|name| !name.is_empty()).map(ToString::to_string).collect()
}

struct Observer {
    config: Config,
    board: Arc<Board>,
    metrics: Metrics,
    observed: ObserverMetrics,
    troubles: Troubles,
    manager: Manager,
}

impl Observer {
    fn look(&mut self) {
        let begun = std::time::SystemTime::now();
        let read = Ledger::read(&self.config);
        let line = |error: &SlurmError| {
            ("warn", "slurm does not answer", json!({ "error": error.to_string() }))
        };
        self.troubles.log(Trouble::Absent, read.as_ref().err().map(line));
        let is_ok = read.is_ok();
        let status = match read {
            Ok(ledger) => self.show(ledger),
            Err(_) => "Slurm does not answer; showing its last known state".to_string(),
        };
        self.metrics.cycle(is_ok, begun);
        self.manager.alive(status);
    }

    /// Publishes the state that Slurm reported, and returns a one-line summary.
    fn show(&mut self, ledger: Ledger) -> String {
        self.troubles.log_unreadable(&ledger);
        let unreadable = ledger.unreadable.len();
        let view = view(&self.config, ledger, now());
        let (holding, waiting) = (view.running().count(), view.waiting.len());
        let (free, failed) = (view.free(), view.failed.len() as u32);
        self.metrics.jobs(unreadable, waiting, holding);
        self.metrics.nodes(&self.config, &view.free_nodes(), failed);
        let boxes = view.running().filter(|held| held.parts.len() == 1).count();
        self.observed.boxes.set(boxes as i64);
        self.observed.largest_free.set(view.largest_free() as i64);
        self.board.publish(view);
        format!(
            "{holding} jobs hold nodes, {waiting} are waiting; {free} nodes are free, {failed} \
             unavailable"
        )
    }
}
