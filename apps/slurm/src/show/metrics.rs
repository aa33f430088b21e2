//! Metrics for Prometheus.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

use pavior::answers::{Shape, slots};
use pavior::{Occupancy, Sides};
use pavior_cluster::http;
use pavior_cluster::metrics::{SlotGauges, named, only};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::calls::now;
use crate::plan::notes::size;
use crate::{Config, SlurmError};

/// Counters since startup, and gauges for the last cycle.
#[derive(Debug)]
pub(crate) struct Metrics {
    cycles: Counter,
    failures: Counter,
    unreadable_total: Counter,
    pub(crate) objections: Counter,
    pub(crate) opened_total: Counter,
    pub(crate) closed_total: Counter,
    pub(crate) requeued_total: Counter,
    pub(crate) overlaps_total: Counter,
    cycle_seconds: Gauge<f64, AtomicU64>,
    /// 1 if Slurm answered in the last cycle.
    up: Gauge,
    /// The end of the last cycle in which Slurm answered, in seconds since 1970.
    last_success: Gauge,
    /// 1 if this daemon is active.
    pub(crate) active: Gauge,
    /// 1 if slurmctld has loaded the gate, 0 if it has not or this is unknown.
    pub(crate) gate: Gauge,
    /// The number of malformed records in the last cycle in which Slurm answered.
    unreadable: Gauge,
    waiting: Gauge,
    pub(crate) opened: Gauge,
    running: Gauge,
    free: Gauge,
    failed: Gauge,
    slots: SlotGauges,
}

/// The search budget for counting slots, in bit set words. Using it up takes about a millisecond.
const SLOT_BUDGET: u64 = 400_000;

/// Counts the boxes of each configured shape that fit simultaneously, with an upper bound.
fn slots_of(config: &Config, free: &Occupancy) -> Vec<(String, [u32; 2])> {
    let count = |&sides: &Sides| {
        let found = slots(free, &[Shape::new(sides)], SLOT_BUDGET);
        (size(config, sides), [found.boxes.len() as u32, found.bound])
    };
    config.slots.iter().map(count).collect()
}

/// Additional metrics of an observer.
#[derive(Debug)]
pub(crate) struct ObserverMetrics {
    pub(crate) boxes: Gauge,
    pub(crate) largest_free: Gauge,
}

impl ObserverMetrics {
    pub(crate) fn register(all: &mut Registry) -> ObserverMetrics {
        ObserverMetrics {
            boxes: named(all, "jobs_in_boxes", "Jobs whose nodes form one box"),
            largest_free: named(all, "largest_free_nodes", "Nodes in the largest free box"),
        }
    }
}

impl Metrics {
    pub(crate) fn register(all: &mut Registry) -> Metrics {
        Metrics {
            cycles: named(all, "cycles", "Completed cycles"),
            failures: named(all, "failures", "Cycles skipped because Slurm did not answer"),
            unreadable_total: named(all, "unreadable", "Malformed records"),
            objections: named(all, "objections", "Changes rejected by Slurm"),
            opened_total: named(all, "opened", "Gates opened"),
            closed_total: named(all, "closed", "Gates closed"),
            requeued_total: named(all, "requeued", "Jobs requeued because of wrong nodes"),
            overlaps_total: named(all, "overlaps", "Nodes held by two jobs"),
            cycle_seconds: named(all, "cycle_seconds", "Duration of the last cycle"),
            up: named(all, "up", "1 if Slurm answered in the last cycle"),
            last_success: named(
                all,
                "last_success_timestamp_seconds",
                "Time of the last cycle in which Slurm answered",
            ),
            active: named(all, "active", "1 if this daemon is active"),
            gate: named(
                all,
                "gate_loaded",
                "1 if slurmctld has loaded the gate, 0 if not or unknown",
            ),
            unreadable: named(all, "records_unreadable", "Malformed records in the last cycle"),
            waiting: named(all, "jobs_waiting", "Jobs waiting for a box"),
            opened: named(all, "jobs_opened", "Jobs whose gate is open"),
            running: named(all, "jobs_holding", "Jobs that hold nodes"),
            free: named(all, "nodes_free", "Free nodes"),
            failed: named(all, "nodes_failed", "Unavailable nodes"),
            slots: SlotGauges::register(all),
        }
    }

    /// Counts a cycle and records its result and duration.
    pub(crate) fn cycle(&self, is_ok: bool, begun: SystemTime) {
        self.cycles.inc();
        self.cycle_seconds.set(begun.elapsed().map_or(0.0, |length| length.as_secs_f64()));
        self.up.set(i64::from(is_ok));
        self.failures.inc_by(u64::from(!is_ok));
        if is_ok {
            self.last_success.set(now() as i64);
        }
    }

    /// Records the numbers of jobs and of malformed records.
    pub(crate) fn jobs(&self, unreadable: usize, waiting: usize, running: usize) {
        self.unreadable.set(unreadable as i64);
        self.unreadable_total.inc_by(unreadable as u64);
        self.waiting.set(waiting as i64);
        self.running.set(running as i64);
    }

    /// Records the free and unavailable nodes and the available slots.
    pub(crate) fn nodes(&self, config: &Config, free: &Occupancy, failed: u32) {
        self.free.set(free.count().into());
        self.failed.set(failed.into());
        self.slots.set(&slots_of(config, free));
    }
}

/// The prefix of all metric names.
pub(crate) const PREFIX: &str = "pavior_slurm";

/// Serves the metrics on every path.
pub(crate) fn serve(address: &str, all: Registry) -> Result<(), SlurmError> {
    let site = only(Arc::new(all));
    let failed = |error| SlurmError::Io { what: format!("metrics: {address}"), error };
    http::serve(address, site).map(drop).map_err(failed)
}

#[cfg(test)]
mod tests {
    use pavior_cluster::metrics::{registry, text as text_of};

    use super::*;

    #[test]
    fn records_that_cannot_be_read_and_an_absent_slurm_are_counted_apart() {
        let mut registry = registry(PREFIX);
        let metrics = Metrics::register(&mut registry);
        metrics.failures.inc_by(3);
        metrics.unreadable_total.inc_by(5);
        metrics.unreadable.set(2);
        let text =
            "machine = \"mesh:4x4\"\nnodes = \"n{}\"\npartition = \"p\"\nslots = [\"2x2\"]\n";
        let config = Config::parse(text).unwrap();
        metrics.slots.set(&slots_of(&config, &Occupancy::all_free(config.grid)));
        let text = text_of(&registry);
        for line in [
            "pavior_slurm_failures_total 3",
            "pavior_slurm_unreadable_total 5",
            "pavior_slurm_records_unreadable 2",
            "pavior_slurm_up 0",
            "pavior_slurm_last_success_timestamp_seconds 0",
            "pavior_slurm_slots{shape=\"2x2\"} 4",
            "pavior_slurm_slots_bound{shape=\"2x2\"} 4",
            concat!("pavior_slurm_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        ] {
            assert!(text.lines().any(|one| one == line), "{line}: {text}");
        }
    }
}
