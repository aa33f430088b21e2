//! A machine's state in the page's format.

use std::collections::BTreeMap;

use pavior::NodeId;
use pavior::answers::json::Place;
use serde_json::{Value, json};

use crate::date;
use crate::view::{Holding, View, WaitingJob};

/// The data that the page draws: leases by name, named requests in queue order, and coordinates of
/// unavailable nodes.
pub(crate) struct PageState {
    pub(crate) leases: BTreeMap<String, Value>,
    pub(crate) waiting: Vec<(String, Value)>,
    pub(crate) failed: Vec<Vec<u16>>,
}

impl View {
    pub(crate) fn page_state(&self) -> PageState {
        let point = |&node: &NodeId| self.grid.point(node)[..self.grid.axes()].to_vec();
        PageState {
            leases: self.held.iter().map(|held| (held.id.clone(), held.lease(self))).collect(),
            waiting: self.waiting.iter().map(|job| (job.id.clone(), job.request(self))).collect(),
            failed: self.failed.iter().map(point).collect(),
        }
    }

    /// Explains why the first `most` jobs in the queue are waiting. Also returns the length of the
    /// queue.
    pub(crate) fn queue(&self, most: usize) -> (Vec<Value>, usize) {
        let waits = |job: &WaitingJob| {
            let forecast = job.forecast.as_ref().map(|(json, _)| json);
            json!({ "id": job.id, "waits_for": job.waits_for(), "forecast": forecast })
        };
        (self.waiting.iter().take(most).map(waits).collect(), self.waiting.len())
    }
}

impl Holding {
    fn lease(&self, view: &View) -> Value {
        json!({
            "id": self.id,
            "state": "held",
            "machine": view.name,
            "nodes": self.nodes(),
            "requested": self.nodes(),
            "parts": Place::all(&view.grid, &self.parts),
            "start": self.start.map(date),
            "expires": self.end.map(date),
            "tenant": self.user,
            "job": self.job.as_ref().unwrap_or(&self.id),
        })
    }
}

impl WaitingJob {
    fn request(&self, view: &View) -> Value {
        let axes = view.grid.axes();
        json!({
            "id": self.id,
            "state": "waiting",
            "machine": view.name,
            "requested": self.nodes,
            "shape": self.shape.map(|sides| sides[..axes].to_vec()),
            "asked": date(self.submitted),
            "tenant": self.user,
            "job": self.id,
        })
    }

    /// Returns the reason that the job is waiting, as JSON for the page.
    pub(crate) fn waits_for(&self) -> Value {
        json!({ "kind": self.kind, "sentence": self.sentence, "by": self.starts.map(date) })
    }
}
