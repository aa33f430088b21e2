//! The daemon: watches the cluster, plans after each change, and carries out the plan's actions.
#![allow(clippy::disallowed_methods, reason = "the clock limits how often the daemon acts")]

mod election;
mod reconciler;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kube::Client;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::client::{KubeError, connect, log, runtime};
use crate::objects::Machine;
use crate::page::Page;
use crate::read::ClusterWatch;
use crate::write::Writer;
use reconciler::Reconciler;

/// Options of the daemon.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// True to act even if another replica is active, which is safe.
    pub always: bool,
    /// This replica's name in the Lease.
    pub name: String,
    /// The address of the web page, if served.
    pub page: Option<String>,
    /// The address of the probes, if served.
    pub probes: Option<String>,
    /// The machine to show on the page, if the cluster has several.
    pub machine: Option<String>,
    /// True to observe without changing anything.
    pub observe: bool,
    /// A file with the Machine to observe, for clusters without one.
    pub spec: Option<PathBuf>,
}

/// Places Jobs until SIGTERM or SIGINT.
///
/// # Errors
/// Returns an error if the API server cannot be reached with the configuration found.
pub fn run(options: &Options) -> Result<(), KubeError> {
    runtime()?.block_on(async {
        let client = connect().await?;
        let signals =
            |kind| signal(kind).map_err(|error| KubeError::Unreachable(error.to_string()));
        let (mut term, mut int) =
            (signals(SignalKind::terminate())?, signals(SignalKind::interrupt())?);
        let page = Page::new(options.page.clone(), options.machine.clone());
        if let Some(address) = &options.probes {
            page.health.serve(address)?;
        }
        let event = if options.observe { "observing" } else { "started" };
        log("info", event, json!({ "name": options.name }));
        let work = reconcile(client, page, options);
        tokio::select! {
            result = work => result,
            _ = term.recv() => Ok(()),
            _ = int.recv() => Ok(()),
        }?;
        log("info", "ended", json!({}));
        Ok(())
    })
}

/// Plans after each change. An observer has no [`Writer`](crate::write::Writer) and takes no part
/// in the election: its account needs only get, list and watch.
async fn reconcile(client: Client, page: Page, options: &Options) -> Result<(), KubeError> {
    let (mut cluster, mut updates) = match &options.spec {
        Some(path) if options.observe => ClusterWatch::start_for_machine(&client, machine(path)?),
        _ => ClusterWatch::start(&client, page.is_configured() || options.observe),
    };
    let mut leadership = if options.observe {
        watch::channel(false).1
    } else {
        election::run(client.clone(), options.name.clone(), Arc::clone(&page.health))
    };
    let always = options.always && !options.observe;
    let writer = (!options.observe).then(|| Writer::new(client));
    let mut reconciler = Reconciler::new(writer, page);
    let ended = || KubeError::Unreachable("all watches have ended".to_string());
    loop {
        tokio::select! {
            one = updates.recv() => cluster.apply(one.ok_or_else(ended)?),
            changed = leadership.changed(), if !always && !options.observe => {
                changed.map_err(|_| ended())?;
            }
            () = tokio::time::sleep(reconciler.pause()) => {}
            () = reconciler.page.next_forecast() => {}
        }
        let is_complete = cluster.gather(&mut updates).await;
        reconciler.page.note_unreadable(cluster.faults());
        reconciler.set_leader(always || *leadership.borrow_and_update());
        if is_complete {
            cluster.world.join_quota();
            reconciler.reconcile(&cluster).await?;
        }
    }
}

/// Reads a Machine from a file, for clusters without one.
fn machine(path: &Path) -> Result<Machine, KubeError> {
    let fault = |why: String| KubeError::File { path: path.to_path_buf(), why };
    let text = pavior::files::read_text(path, pavior::files::Limits::DOCUMENT);
    let text = text.map_err(|error| fault(error.to_string()))?;
    let machine: Result<Machine, _> = serde_saphyr::from_str(&text);
    machine.map_err(|error| fault(pavior::text::shown(&error.to_string()).to_string()))
}
