//! The daemon, which watches the cluster, plans after each change, and applies each plan.
#![allow(clippy::disallowed_methods, reason = "the clock limits how often the daemon acts")]

mod election;
mod event_publisher;
mod reconciler;
mod status_writer;
#[cfg(test)]
pub(crate) mod stub_server;
#[cfg(test)]
mod tests;
mod write_reporter;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use pavior_cluster::metrics::registry;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::client::{connect, runtime};
use crate::error::KubeError;
use crate::health::Health;
use crate::log::log;
use crate::metrics::Metrics;
use crate::page::Page;
use crate::read::{ClusterWatch, read_machine};
use crate::write::Writer;
use election::Election;
use reconciler::Reconciler;

/// The maximum delay before the next plan if nothing changes. Plans depend on the time, for example
/// because a maintenance period ends.
const IDLE_PAUSE: Duration = Duration::from_mins(1);
/// The delay before the next plan if a write must be retried or the plan depends on the time.
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// The delay before repeating a rejected write or an action on an unchanged object.
const REPEAT_DELAY: Duration = Duration::from_secs(10);

/// Options for the daemon.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The conditions under which the daemon changes the cluster.
    pub mode: Mode,
    /// This replica's name in the Lease.
    pub name: String,
    /// The address at which the web page is served, if any.
    pub page: Option<String>,
    /// The address at which the probes are served, if any.
    pub probes: Option<String>,
    /// The machine that the page shows if the cluster has several.
    pub machine: Option<String>,
}

/// The conditions under which a daemon changes the cluster.
#[derive(Clone, Debug, Default)]
pub enum Mode {
    /// The daemon changes the cluster only while this replica holds the Lease.
    #[default]
    Elected,
    /// The daemon changes the cluster even if another replica is active. This is safe.
    Always,
    /// The daemon never changes the cluster.
    Observe {
        /// A file that contains the Machine to observe, for clusters that have none.
        machine: Option<PathBuf>,
    },
}

/// Places Jobs until SIGTERM or SIGINT arrives.
///
/// # Errors
/// Returns an error if the API server cannot be reached with the configuration that was found.
pub fn run(options: &Options) -> Result<(), KubeError> {
    runtime()?.block_on(async {
        let client = connect().await?;
        let signals = |kind| signal(kind).map_err(|error| KubeError::Runtime(error.to_string()));
        let (mut term, mut int) =
            (signals(SignalKind::terminate())?, signals(SignalKind::interrupt())?);
        let health = Arc::new(Health::default());
        if let Some(address) = &options.probes {
            health.serve(address)?;
        }
        let is_observer = matches!(options.mode, Mode::Observe { .. });
        let event = if is_observer { "observing" } else { "started" };
        log("info", event, json!({ "name": options.name }));
        let election = matches!(options.mode, Mode::Elected)
            .then(|| Election::start(client.clone(), options.name.clone(), Arc::clone(&health)));
        let result = tokio::select! {
            result = reconcile(client, health, election.as_ref(), options) => result,
            _ = term.recv() => Ok(()),
            _ = int.recv() => Ok(()),
        };
        if let Some(election) = election {
            election.end().await;
        }
        result?;
        log("info", "ended", json!({}));
        Ok(())
    })
}

/// Plans after each change. An observer has no [`Writer`](crate::write::Writer) and does not take
/// part in the election, so its account needs only the get, list and watch permissions.
async fn reconcile(
    client: Client,
    health: Arc<Health>,
    election: Option<&Election>,
    options: &Options,
) -> Result<(), KubeError> {
    let (mut cluster, mut updates) = match &options.mode {
        Mode::Observe { machine: Some(path) } => {
            ClusterWatch::start_for_machine(&client, read_machine(path)?)
        }
        _ => ClusterWatch::start(&client, options.page.is_some()),
    };
    // Keep the sender alive, because a closed channel would count as a change.
    let (_sender, constant) = watch::channel(matches!(options.mode, Mode::Always));
    let mut leadership = election.map_or(constant, |election| election.is_leader.clone());
    let is_observer = matches!(options.mode, Mode::Observe { .. });
    let writer = (!is_observer).then(|| Writer::new(client));
    let mut registry = registry("pavior_kube");
    let metrics = Metrics::register(&mut registry);
    let page = options.page.clone();
    let page = page.map(|address| Page::new(address, options.machine.clone(), registry));
    let mut reconciler = Reconciler::new(writer, health, metrics, page);
    let ended = |what: &str| KubeError::Runtime(format!("{what} ended"));
    loop {
        tokio::select! {
            update = updates.recv() => {
                cluster.apply(update.ok_or_else(|| ended("all watches have"))?);
            }
            changed = leadership.changed() => changed.map_err(|_| ended("the election has"))?,
            () = tokio::time::sleep(reconciler.pause()) => {}
            () = reconciler.next_forecast() => {}
        }
        let is_complete = cluster.gather(&mut updates).await;
        reconciler.note_unreadable(cluster.faults());
        reconciler.set_leader(*leadership.borrow_and_update());
        if is_complete {
            cluster.world.join_quota();
            reconciler.reconcile(&cluster).await?;
        }
    }
}
