//! Prometheus metrics.

use std::sync::atomic::AtomicU64;

use pavior_cluster::metrics::{Label, SlotGauges, register};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::objects::MachineStatus;

/// Counters since startup, and the latest state of each machine.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) reconciliations: Counter,
    pub(crate) duration_seconds: Gauge<f64, AtomicU64>,
    pub(crate) active: Gauge,
    pub(crate) unreadable_kinds: Gauge,
    pub(crate) overlaps: Counter,
    changes: Family<Label, Counter>,
    rejections: Family<Label, Counter>,
    waiting: Family<Label, Gauge>,
    free: Family<Label, Gauge>,
    busy: Family<Label, Gauge>,
    unavailable: Family<Label, Gauge>,
    slots: SlotGauges,
}

impl Metrics {
    pub(crate) fn register(all: &mut Registry) -> Metrics {
        Metrics {
            reconciliations: register(all, "turns", "Number of reconciliations"),
            duration_seconds: register(
                all,
                "turn_seconds",
                "Duration of the latest reconciliation, in seconds",
            ),
            active: register(all, "active", "1 if this replica is active"),
            unreadable_kinds: register(
                all,
                "kinds_unreadable",
                "Number of object kinds that cannot be read",
            ),
            overlaps: register(
                all,
                "overlaps",
                "Number of nodes found in two confirmed placements, summed over all plans",
            ),
            changes: register(all, "changes", "Number of changes made, by kind"),
            rejections: register(
                all,
                "refused",
                "Number of changes rejected by the API server, by kind",
            ),
            waiting: register(all, "jobs_waiting", "Number of waiting Jobs with a shape"),
            free: register(all, "nodes_free", "Number of free nodes"),
            busy: register(all, "nodes_busy", "Number of busy nodes"),
            unavailable: register(
                all,
                "nodes_unavailable",
                "Number of known nodes that are unavailable",
            ),
            slots: SlotGauges::register(all),
        }
    }

    /// Counts a change that was made successfully.
    pub(crate) fn count_change(&self, kind: &str) {
        self.changes.get_or_create(&[("change", kind.to_string())]).inc();
    }

    /// Counts a change that the API server rejected.
    pub(crate) fn count_rejection(&self, kind: &str) {
        self.rejections.get_or_create(&[("change", kind.to_string())]).inc();
    }

    /// Records a machine's status except for its slots.
    pub(crate) fn set_status(&self, machine: &str, status: &MachineStatus) {
        let label = [("machine", machine.to_string())];
        self.waiting.get_or_create(&label).set(status.waiting.into());
        self.free.get_or_create(&label).set(status.free.into());
        self.busy.get_or_create(&label).set(status.busy.into());
        self.unavailable.get_or_create(&label).set(status.unavailable.into());
    }

    /// Removes a machine's status except for its slots.
    pub(crate) fn remove_status(&self, machine: &str) {
        let label = [("machine", machine.to_string())];
        for gauges in [&self.waiting, &self.free, &self.busy, &self.unavailable] {
            gauges.remove(&label);
        }
    }

    /// Records the slots on the page's machine.
    pub(crate) fn set_slots(&self, status: &MachineStatus) {
        let slots = status.slots.iter().map(|slot| (slot.shape.clone(), [slot.free, slot.bound]));
        self.slots.set(&slots.collect::<Vec<_>>());
    }
}
