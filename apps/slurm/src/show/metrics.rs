//! Prometheus metrics.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

use pavior::answers::{Shape, slots};
use pavior::{Occupancy, Sides};
use pavior_cluster::http;
use pavior_cluster::metrics::{SlotGauges, metrics_only_site, register};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::calls::now;
use crate::plan::Decision;
use crate::plan::change::Change;
use crate::{Config, SlurmError};

/// The prefix of all metric names.
pub(crate) const PREFIX: &str = "pavior_slurm";

/// The search budget for counting slots, in bitset words. Exhausting it takes about a millisecond.
const SLOT_BUDGET: u64 = 400_000;

/// Counters since startup, and gauges for the last cycle.
#[derive(Debug)]
pub(crate) struct Metrics {
    cycles: Counter,
    failures: Counter,
    malformed_total: Counter,
    /// The number of changes that Slurm rejected.
    pub(crate) objections: Counter,
    opened_total: Counter,
    closed_total: Counter,
    requeued_total: Counter,
    overlaps_total: Counter,
    cycle_seconds: Gauge<f64, AtomicU64>,
    /// 1 if the last cycle succeeded.
    up: Gauge,
    /// The end of the last successful cycle, in seconds since 1970.
    last_success: Gauge,
    /// 1 if this daemon is active.
    pub(crate) active: Gauge,
    /// 1 if slurmctld is known to have loaded the gate, otherwise 0.
    pub(crate) gate: Gauge,
    /// The number of malformed records in the last successful cycle.
    malformed: Gauge,
    waiting: Gauge,
    opened: Gauge,
    running: Gauge,
    free: Gauge,
    failed: Gauge,
    slots: SlotGauges,
}

/// The counts that the daemon and the observer both report after each cycle.
pub(crate) struct CycleCounts<'a> {
    /// The number of malformed records.
    pub(crate) malformed: usize,
    /// The number of waiting jobs.
    pub(crate) waiting: usize,
    pub(crate) running: usize,
    pub(crate) free: &'a Occupancy,
    /// The number of unavailable nodes.
    pub(crate) failed: u32,
}

impl Metrics {
    pub(crate) fn register(all: &mut Registry) -> Metrics {
        Metrics {
            cycles: register(all, "cycles", "Number of completed cycles"),
            failures: register(all, "failures", "Number of skipped cycles"),
            malformed_total: register(all, "unreadable", "Number of malformed records"),
            objections: register(all, "objections", "Number of changes rejected by Slurm"),
            opened_total: register(all, "opened", "Number of gates opened"),
            closed_total: register(all, "closed", "Number of gates closed"),
            requeued_total: register(
                all,
                "requeued",
                "Number of jobs requeued because they started on the wrong nodes",
            ),
            overlaps_total: register(all, "overlaps", "Number of nodes held by two jobs"),
            cycle_seconds: register(all, "cycle_seconds", "Duration of the last cycle, in seconds"),
            up: register(all, "up", "1 if the last cycle succeeded"),
            last_success: register(
                all,
                "last_success_timestamp_seconds",
                "End of the last successful cycle, as Unix time in seconds",
            ),
            active: register(all, "active", "1 if this daemon is active"),
            gate: register(
                all,
                "gate_loaded",
                "1 if slurmctld is known to have loaded the gate, otherwise 0",
            ),
            malformed: register(
                all,
                "records_unreadable",
                "Number of malformed records in the last cycle",
            ),
            waiting: register(all, "jobs_waiting", "Number of jobs waiting for a box"),
            opened: register(all, "jobs_opened", "Number of jobs whose gate is open"),
            running: register(all, "jobs_holding", "Number of jobs that hold nodes"),
            free: register(all, "nodes_free", "Number of free nodes"),
            failed: register(all, "nodes_failed", "Number of unavailable nodes"),
            slots: SlotGauges::register(all),
        }
    }

    /// Counts a cycle and records its outcome and duration.
    pub(crate) fn cycle(&self, is_ok: bool, begun: SystemTime) {
        self.cycles.inc();
        self.cycle_seconds.set(begun.elapsed().map_or(0.0, |length| length.as_secs_f64()));
        self.up.set(i64::from(is_ok));
        self.failures.inc_by(u64::from(!is_ok));
        if is_ok {
            self.last_success.set(now() as i64);
        }
    }

    /// Records the numbers of jobs, malformed records, nodes and slots.
    pub(crate) fn counts(&self, config: &Config, counts: &CycleCounts<'_>) {
        self.malformed.set(counts.malformed as i64);
        self.malformed_total.inc_by(counts.malformed as u64);
        self.waiting.set(counts.waiting as i64);
        self.running.set(counts.running as i64);
        self.free.set(counts.free.count().into());
        self.failed.set(counts.failed.into());
        self.slots.set(&slots_of(config, counts.free));
    }

    /// Records a cycle's decision.
    pub(crate) fn decision(&self, config: &Config, malformed: usize, decision: &Decision) {
        for change in &decision.changes {
            let counter = match change {
                Change::Open { .. } => &self.opened_total,
                Change::Close { .. } => &self.closed_total,
                Change::Requeue { .. } => &self.requeued_total,
                Change::Strip { .. } | Change::Comment { .. } => continue,
            };
            counter.inc();
        }
        self.overlaps_total.inc_by(decision.overlaps.len() as u64);
        self.opened.set(decision.opened as i64);
        let &Decision { waiting, running, ref free, failed, .. } = decision;
        self.counts(config, &CycleCounts { malformed, waiting, running, free, failed });
    }
}

/// Additional metrics that an observer reports.
#[derive(Debug)]
pub(crate) struct ObserverMetrics {
    boxes: Gauge,
    largest_free: Gauge,
}

impl ObserverMetrics {
    pub(crate) fn register(all: &mut Registry) -> ObserverMetrics {
        ObserverMetrics {
            boxes: register(all, "jobs_in_boxes", "Number of jobs whose nodes form one box"),
            largest_free: register(
                all,
                "largest_free_nodes",
                "Number of nodes in the largest free box",
            ),
        }
    }

    /// Records the number of jobs in boxes and the number of nodes in the largest free box.
    pub(crate) fn set(&self, boxes: usize, largest_free: u32) {
        self.boxes.set(boxes as i64);
        self.largest_free.set(largest_free.into());
    }
}

/// Serves the metrics over HTTP at any path.
pub(crate) fn serve(address: &str, all: Registry) -> Result<(), SlurmError> {
    let site = metrics_only_site(Arc::new(all));
    let failed = |error| SlurmError::Io { subject: format!("metrics: {address}"), error };
    http::serve(address, site).map(drop).map_err(failed)
}

/// Counts how many boxes of each configured shape fit at once. Also returns an upper bound on each
/// count.
fn slots_of(config: &Config, free: &Occupancy) -> Vec<(String, [u32; 2])> {
    let count = |&sides: &Sides| {
        let found = slots(free, &[Shape::new(sides)], SLOT_BUDGET);
        (config.size(sides), [found.boxes.len() as u32, found.bound])
    };
    config.slots.iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use pavior_cluster::metrics::{registry, text as text_of};

    use super::*;

    #[test]
    fn malformed_records_and_skipped_cycles_are_counted_separately() {
        let mut registry = registry(PREFIX);
        let metrics = Metrics::register(&mut registry);
        metrics.failures.inc_by(3);
        metrics.malformed_total.inc_by(5);
        metrics.malformed.set(2);
        let config = Config::with_lines("mesh:4x4", "slots = [\"2x2\"]\n");
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
