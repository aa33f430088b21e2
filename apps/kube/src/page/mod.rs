//! A machine's web page, queries and metrics.

mod forecast_task;
mod metrics;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use pavior_cluster::metrics::registry;
use pavior_cluster::{Board, http, site};
use prometheus_client::registry::Registry;
use serde_json::json;

use crate::client::{KubeError, log, unsigned};
use crate::health::Health;
use crate::plan::{Detail, Plan};
use forecast_task::ForecastTask;
use metrics::Metrics;
pub(crate) use view::view;

/// The web page's default address.
pub const ADDRESS: &str = "127.0.0.1:9323";

/// A machine's web page, served from the first plan on.
pub(crate) struct Page {
    address: Option<String>,
    /// The machine's name; `None` until the first one is known.
    machine: Option<String>,
    board: Option<Arc<Board>>,
    forecasts: ForecastTask,
    pub(crate) health: Arc<Health>,
    registry: Arc<Registry>,
    pub(crate) metrics: Metrics,
}

impl Page {
    pub(crate) fn new(address: Option<String>, machine: Option<String>) -> Page {
        let mut registry = registry("pavior_kube");
        let metrics = Metrics::register(&mut registry);
        Page {
            address,
            machine,
            board: None,
            forecasts: ForecastTask::default(),
            health: Arc::default(),
            registry: Arc::new(registry),
            metrics,
        }
    }

    /// Records the object kinds that cannot be read, with the reasons.
    pub(crate) fn note_unreadable(&self, kinds: &BTreeMap<String, String>) {
        self.metrics.unreadable.set(kinds.len() as i64);
        self.health.faults().kinds.clone_from(kinds);
    }

    pub(crate) fn is_configured(&self) -> bool {
        self.address.is_some()
    }

    pub(crate) async fn next_forecast(&mut self) {
        self.forecasts.next().await;
    }

    /// Returns true if the page shows this machine. Adopts the first machine if none was specified.
    fn adopts(&mut self, machine: &str) -> bool {
        self.machine.get_or_insert_with(|| machine.to_string()) == machine
    }

    /// Extends the detail of a plan with the parts that the page needs.
    pub(crate) fn raise_detail(&mut self, machine: &str, detail: Detail) -> Detail {
        let picture = self.adopts(machine) && self.address.is_some();
        Detail { picture, forecast: picture && self.forecasts.is_due(), ..detail }
    }

    /// Records a machine's plan, and publishes it if the page shows that machine. Starts serving
    /// the page with the first plan.
    pub(crate) fn show(
        &mut self,
        machine: &str,
        plan: &mut Plan,
        now: i64,
    ) -> Result<(), KubeError> {
        let is_own = self.adopts(machine);
        self.metrics.show(machine, &plan.status, is_own);
        let Some(address) = self.address.as_ref().filter(|_| is_own) else { return Ok(()) };
        self.forecasts.update(plan);
        let Some(picture) = plan.picture.take() else { return Ok(()) };
        let view = view(machine, picture, plan, unsigned(now), self.forecasts.latest());
        if let Some(board) = &self.board {
            board.publish(view);
            return Ok(());
        }
        let board = Arc::new(Board::new(view));
        let site = site(Arc::clone(&board), Arc::clone(&self.registry));
        let bound = http::serve(address, site).map_err(|error| KubeError::Address {
            address: address.clone(),
            why: error.to_string(),
        })?;
        log("info", "page", json!({ "url": format!("http://{bound}/") }));
        self.board = Some(board);
        Ok(())
    }
}
