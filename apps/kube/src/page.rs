//! What is served beside the work: the page of a machine, questions, and metrics.

use std::sync::Arc;

use pavior_board::{Board, http, site};
use serde_json::json;

use crate::KubeError;
use crate::foresight::Foresight;
use crate::health::Health;
use crate::metrics::Metrics;
use crate::plan::{Depth, Plan};
use crate::show::Shown;

/// Where the page is served unless something else is said.
pub const ADDRESS: &str = "127.0.0.1:9323";

/// The page of a machine. It is served from the first time on that the machine is shown.
pub(crate) struct Page {
    address: Option<String>,
    /// The machine's name; none is the first that is shown.
    machine: Option<String>,
    board: Option<Arc<Board>>,
    foresight: Foresight,
    pub(crate) health: Arc<Health>,
    pub(crate) metrics: Arc<Metrics>,
}

impl Page {
    pub(crate) fn new(address: Option<String>, machine: Option<String>) -> Page {
        Page {
            address,
            machine,
            board: None,
            foresight: Foresight::default(),
            health: Arc::default(),
            metrics: Arc::new(Metrics::new()),
        }
    }

    /// Whether there is a page.
    pub(crate) fn is_there(&self) -> bool {
        self.address.is_some()
    }

    /// Waits until there is something new to show: forecasts were made, or are due.
    pub(crate) async fn foreseen(&mut self) {
        self.foresight.next().await;
    }

    /// Whether a machine is the page's: the first one is, where none was named.
    fn owns(&mut self, machine: &str) -> bool {
        self.machine.get_or_insert_with(|| machine.to_string()) == machine
    }

    /// How much of a machine is found out, so that it can be shown.
    pub(crate) fn depth(&mut self, machine: &str, depth: Depth) -> Depth {
        let pictured = self.owns(machine) && self.address.is_some();
        Depth { pictured, forecast: pictured && self.foresight.is_due(), ..depth }
    }

    /// Shows a machine as a plan found it, if it is the page's.
    pub(crate) fn show(
        &mut self,
        machine: &str,
        made: &mut Plan,
        now: i64,
    ) -> Result<(), KubeError> {
        let own = self.owns(machine);
        self.metrics.show(machine, &made.status, own);
        let Some(address) = self.address.as_ref().filter(|_| own) else { return Ok(()) };
        self.foresight.see(made);
        let Some(picture) = made.picture.take() else { return Ok(()) };
        let now = now.max(0) as u64;
        let shown = Shown::of(machine, picture, made, now, self.foresight.latest());
        if let Some(board) = &self.board {
            board.publish(shown);
            return Ok(());
        }
        let board = Arc::new(Board::new(shown));
        let metrics = Arc::clone(&self.metrics);
        let site = site(Arc::clone(&board), Arc::new(move || metrics.text()));
        let bound = http::serve(address, site).map_err(|error| KubeError::Address {
            address: address.clone(),
            why: error.to_string(),
        })?;
        pavior::json::log(now, "info", "page", json!({ "url": format!("http://{bound}/") }));
        self.board = Some(board);
        Ok(())
    }
}
