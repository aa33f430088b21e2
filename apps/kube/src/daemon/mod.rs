//! The daemon: watches the cluster, plans after a change, and writes the actions of the plan.

mod election;
mod observer;
mod reconciler;

use std::path::PathBuf;
use std::sync::Arc;

use kube::Client;
use pavior::json::log as write_log;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::client::{KubeError, connect, now, runtime};
use crate::page::Page;
use crate::read::ClusterWatch;
use reconciler::Reconciler;

/// Options of the daemon.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// True to act even if another replica is active; placements stay correct.
    pub always: bool,
    /// The name of this replica in the Lease.
    pub name: String,
    /// The address of the page, if the daemon serves it.
    pub page: Option<String>,
    /// The address of the probes, if the daemon serves them.
    pub probes: Option<String>,
    /// The machine to show on the page, if the cluster has several.
    pub machine: Option<String>,
    /// True to only observe.
    pub observe: bool,
    /// A file with the Machine to observe, for a cluster without one.
    pub spec: Option<PathBuf>,
}

/// Places Jobs until SIGTERM or SIGINT.
///
/// # Errors
/// Returns an error if the API server cannot be reached with the configuration that was found.
pub fn run(options: &Options) -> Result<(), KubeError> {
    runtime()?.block_on(async {
        let client = connect().await?;
        let on = |kind| signal(kind).map_err(|error| KubeError::Unreachable(error.to_string()));
        let (mut term, mut int) = (on(SignalKind::terminate())?, on(SignalKind::interrupt())?);
        let page = Page::new(options.page.clone(), options.machine.clone());
        if let Some(address) = &options.probes {
            page.health.serve(address)?;
        }
        let work = async {
            if !options.observe {
                log("info", "started", json!({ "name": options.name }));
                return reconcile(client, page, options).await;
            }
            log("info", "observing", json!({}));
            let machine = options.spec.as_deref().map(observer::machine).transpose()?;
            observer::observe(client, page, machine).await
        };
        tokio::select! {
            result = work => result,
            _ = term.recv() => Ok(()),
            _ = int.recv() => Ok(()),
        }?;
        log("info", "ended", json!({}));
        Ok(())
    })
}

async fn reconcile(client: Client, page: Page, options: &Options) -> Result<(), KubeError> {
    let (mut cluster, mut updates) = ClusterWatch::begin(&client, page.is_there());
    let mut elected =
        election::take_part(client.clone(), options.name.clone(), Arc::clone(&page.health));
    let mut reconciler = Reconciler::new(client, page);
    let none = || KubeError::Unreachable("all watches have ended".to_string());
    loop {
        tokio::select! {
            one = updates.recv() => cluster.apply(one.ok_or_else(none)?),
            changed = elected.changed(), if !options.always => changed.map_err(|_| none())?,
            () = tokio::time::sleep(reconciler.pause()) => {}
            () = reconciler.page.foreseen() => {}
        }
        let whole = cluster.gather(&mut updates).await;
        reconciler.page.note_unreadable(cluster.faults());
        let leads = options.always || *elected.borrow_and_update();
        reconciler.leads(leads);
        if whole {
            cluster.world.join_quota();
            reconciler.reconcile(&cluster).await?;
        }
    }
}

fn log(level: &str, event: &str, more: Value) {
    write_log(now().max(0) as u64, level, event, more);
}
