//! A machine's web page, including queries and metrics.

mod forecast_task;
mod view;

use std::sync::Arc;

use pavior_cluster::{Board, http, site};
use prometheus_client::registry::Registry;
use serde_json::json;

use crate::error::KubeError;
use crate::log::log;
use crate::plan::Plan;
use crate::time::unsigned;
use forecast_task::ForecastTask;
pub(crate) use view::view;

/// The web page's default address.
pub const ADDRESS: &str = "127.0.0.1:9323";

/// A machine's web page, which is served as soon as the first plan exists.
pub(crate) struct Page {
    address: String,
    /// The machine's name, or `None` until a machine has a plan.
    machine: Option<String>,
    pub(crate) board: Option<Arc<Board>>,
    forecasts: ForecastTask,
    registry: Arc<Registry>,
}

impl Page {
    pub(crate) fn new(address: String, machine: Option<String>, registry: Registry) -> Page {
        Page {
            address,
            machine,
            board: None,
            forecasts: ForecastTask::default(),
            registry: Arc::new(registry),
        }
    }

    pub(crate) async fn next_forecast(&mut self) {
        self.forecasts.next().await;
    }

    /// Returns true if the next plan for the page should prepare a forecast.
    pub(crate) fn is_forecast_due(&self) -> bool {
        self.forecasts.is_due()
    }

    /// Returns true if the page shows this machine or does not show any machine yet.
    pub(crate) fn accepts(&self, machine: &str) -> bool {
        self.machine.as_deref().is_none_or(|selected| selected == machine)
    }

    /// Publishes the plan for a machine that the page accepts. The first plan selects the machine
    /// and starts the page's server.
    pub(crate) fn publish(
        &mut self,
        machine: &str,
        plan: &mut Plan,
        now: i64,
    ) -> Result<(), KubeError> {
        self.machine.get_or_insert_with(|| machine.to_string());
        self.forecasts.update(plan);
        let Some(picture) = plan.picture.take() else { return Ok(()) };
        let view = view(machine, picture, plan, unsigned(now), self.forecasts.latest());
        match &self.board {
            Some(board) => board.publish(view),
            None => self.board = Some(self.serve(Board::new(view))?),
        }
        Ok(())
    }

    fn serve(&self, board: Board) -> Result<Arc<Board>, KubeError> {
        let board = Arc::new(board);
        let site = site(Arc::clone(&board), Arc::clone(&self.registry));
        let bound = http::serve(&self.address, site).map_err(|error| KubeError::Address {
            address: self.address.clone(),
            why: error.to_string(),
        })?;
        log("info", "page", json!({ "url": format!("http://{bound}/") }));
        Ok(board)
    }
}
