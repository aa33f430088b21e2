//! Metrics for Prometheus.

use std::sync::atomic::AtomicU64;

use pavior_cluster::metrics::{SlotGauges, named};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::objects::MachineStatus;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfMachine {
    machine: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfChange {
    change: &'static str,
}

/// Counters since startup, and the latest state of each machine.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) turns: Counter,
    pub(crate) turn_seconds: Gauge<f64, AtomicU64>,
    /// 1 if this replica is the active one.
    pub(crate) active: Gauge,
    /// The number of object kinds that cannot be read.
    pub(crate) unreadable: Gauge,
    pub(crate) overlaps: Counter,
    changes: Family<OfChange, Counter>,
    refused: Family<OfChange, Counter>,
    waiting: Family<OfMachine, Gauge>,
    free: Family<OfMachine, Gauge>,
    busy: Family<OfMachine, Gauge>,
    unavailable: Family<OfMachine, Gauge>,
    slots: SlotGauges,
}

impl Metrics {
    pub(crate) fn register(all: &mut Registry) -> Metrics {
        Metrics {
            turns: named(all, "turns", "Number of reconciliations"),
            turn_seconds: named(all, "turn_seconds", "Duration of the latest reconciliation"),
            active: named(all, "active", "1 if this replica is the active one"),
            unreadable: named(all, "kinds_unreadable", "Kinds of objects that cannot be read"),
            overlaps: named(all, "overlaps", "Nodes in two confirmed placements"),
            changes: named(all, "changes", "Changes made, by kind"),
            refused: named(all, "refused", "Changes that the API server rejected, by kind"),
            waiting: named(all, "jobs_waiting", "Waiting Jobs with a shape"),
            free: named(all, "nodes_free", "Free nodes"),
            busy: named(all, "nodes_busy", "Busy nodes"),
            unavailable: named(all, "nodes_unavailable", "Known nodes that are unavailable"),
            slots: SlotGauges::register(all),
        }
    }

    pub(crate) fn changed(&self, change: &'static str) {
        self.changes.get_or_create(&OfChange { change }).inc();
    }

    pub(crate) fn refused(&self, change: &'static str) {
        self.refused.get_or_create(&OfChange { change }).inc();
    }

    /// Records the status of a machine, and its slots if `slots` is set.
    pub(crate) fn show(&self, machine: &str, status: &MachineStatus, slots: bool) {
        let of = OfMachine { machine: machine.to_string() };
        self.waiting.get_or_create(&of).set(status.waiting.into());
        self.free.get_or_create(&of).set(status.free.into());
        self.busy.get_or_create(&of).set(status.busy.into());
        self.unavailable.get_or_create(&of).set(status.unavailable.into());
        if !slots {
            return;
        }
        let slots = status.slots.iter().map(|slot| (slot.shape.clone(), [slot.free, slot.bound]));
        self.slots.set(&slots.collect::<Vec<_>>());
    }
}
