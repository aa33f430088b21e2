//! Metrics for Prometheus.

use std::sync::atomic::AtomicU64;

use pavior_cluster::metrics::{Label, SlotGauges, named};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::objects::MachineStatus;

/// Counters since startup, and the latest state of each machine.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) turns: Counter,
    pub(crate) turn_seconds: Gauge<f64, AtomicU64>,
    pub(crate) active: Gauge,
    pub(crate) unreadable: Gauge,
    pub(crate) overlaps: Counter,
    changes: Family<Label, Counter>,
    refused: Family<Label, Counter>,
    waiting: Family<Label, Gauge>,
    free: Family<Label, Gauge>,
    busy: Family<Label, Gauge>,
    unavailable: Family<Label, Gauge>,
    slots: SlotGauges,
}

impl Metrics {
    pub(crate) fn register(all: &mut Registry) -> Metrics {
        Metrics {
            turns: named(all, "turns", "Number of reconciliations"),
            turn_seconds: named(all, "turn_seconds", "Duration of the latest reconciliation"),
            active: named(all, "active", "1 if this replica is active"),
            unreadable: named(all, "kinds_unreadable", "Object kinds that cannot be read"),
            overlaps: named(all, "overlaps", "Nodes in two confirmed placements"),
            changes: named(all, "changes", "Changes made, by kind"),
            refused: named(all, "refused", "Changes rejected by the API server, by kind"),
            waiting: named(all, "jobs_waiting", "Waiting Jobs with a shape"),
            free: named(all, "nodes_free", "Free nodes"),
            busy: named(all, "nodes_busy", "Busy nodes"),
            unavailable: named(all, "nodes_unavailable", "Known but unavailable nodes"),
            slots: SlotGauges::register(all),
        }
    }

    pub(crate) fn changed(&self, change: &str) {
        self.changes.get_or_create(&[("change", change.to_string())]).inc();
    }

    pub(crate) fn refused(&self, change: &str) {
        self.refused.get_or_create(&[("change", change.to_string())]).inc();
    }

    /// Records a machine's status, including its slots if `slots` is set.
    pub(crate) fn show(&self, machine: &str, status: &MachineStatus, slots: bool) {
        let label = [("machine", machine.to_string())];
        self.waiting.get_or_create(&label).set(status.waiting.into());
        self.free.get_or_create(&label).set(status.free.into());
        self.busy.get_or_create(&label).set(status.busy.into());
        self.unavailable.get_or_create(&label).set(status.unavailable.into());
        if !slots {
            return;
        }
        let slots = status.slots.iter().map(|slot| (slot.shape.clone(), [slot.free, slot.bound]));
        self.slots.set(&slots.collect::<Vec<_>>());
    }
}
