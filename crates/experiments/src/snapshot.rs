//! Snapshots, each recording a strategy's choice in a single machine state and how long the choice
//! took.
//!
//! In a snapshot, no time passes. The state either consists of given boxes (`busy`) or is drawn for
//! each replication (`submeshes`). In the latter case, boxes of 4x3, 2x2, 2x2 and 3x1 nodes are
//! placed in turn at random free positions. These boxes come from the examples in the MFA paper and
//! have 5.75 nodes on average. A fresh machine in this state receives the request. To measure time,
//! the request is granted and released repeatedly.

use pavior_allocation::explain::{State, index};
use pavior_allocation::{Machine, Selection};
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, JobId, Request};
use pavior_simulation::metrics::{Metric, MetricSpec, Unit};
use pavior_simulation::{Fact, Interest, Observer, Stopwatch};

use crate::Sample;
use crate::settings::{BusyBoxes, RunSettings, SnapshotSettings};

/// Snapshot metrics, which have no values in runs of jobs.
pub static METRICS: &[&MetricSpec] =
    &[&OPTIMALITY_INDEX, &TASK_INDEX, &GRANTED_NODES, &PRINTED_ORDER];

const OPTIMALITY_INDEX: MetricSpec = MetricSpec {
    name: "optimality_index",
    meaning: "number of the chosen nodes' faces that touch busy nodes or the border",
    unit: Unit::Count,
    standard: true,
    build: |_| Box::new(Absent),
};

const TASK_INDEX: MetricSpec = MetricSpec {
    name: "task_index",
    meaning: "number of node faces that touch busy nodes or the border, for the requested box at \
              the chosen base",
    unit: Unit::Count,
    standard: true,
    build: |_| Box::new(Absent),
};

const GRANTED_NODES: MetricSpec = MetricSpec {
    name: "granted_nodes",
    meaning: "number of chosen nodes",
    unit: Unit::Count,
    standard: true,
    build: |_| Box::new(Absent),
};

/// A metric whose value the sweep computes from the `orders` in its specification.
pub(crate) const PRINTED_ORDER: MetricSpec = MetricSpec {
    name: "printed_order",
    meaning: "asymptotic cost of the strategy, as given in `orders`",
    unit: Unit::Count,
    standard: true,
    build: |_| Box::new(Absent),
};

/// A snapshot metric in a run of jobs, where it has no value.
struct Absent;

impl Observer for Absent {
    /// Subscribes to arrivals, because every observer must subscribe to something.
    fn interest(&self) -> Interest {
        Interest::ARRIVALS
    }

    fn see(&mut self, _: Time, _: &Fact<'_>) {}
}

impl Metric for Absent {
    fn value(&self) -> Option<f64> {
        None
    }
}

/// The number of unmeasured warm-up attempts.
const WARM_UP: u64 = 8;
const MEASURED: u64 = 64;

/// A point with a single request in a snapshot.
#[derive(Clone)]
pub(crate) struct Snapshot {
    grid: Grid,
    strategy: Selection,
    busy: BusyBoxes,
    request: Request,
    seed: u64,
    timing: bool,
}

impl Snapshot {
    pub(crate) fn new(settings: &RunSettings, given: &SnapshotSettings, timing: bool) -> Snapshot {
        Snapshot {
            grid: settings.machine,
            strategy: settings.strategy.clone(),
            busy: given.busy.clone(),
            request: Request::shape(given.request),
            seed: settings.seed,
            timing,
        }
    }

    pub(crate) fn replicate(&self, replication: u64, metrics: &[&'static MetricSpec]) -> Sample {
        let state = self.busy.state(self.grid, self.seed, replication);
        let state = state.expect("the point was checked, and is not too full");
        let mut machine = self.machine(&state);
        let answer = machine.probe(&self.request);
        let refused = u64::from(answer.is_err());
        let values = metrics.iter().map(|spec| match (spec.name, &answer) {
            ("optimality_index", Ok(placement)) => {
                let of = |part: &Cuboid| index(state.free(), part);
                Some(placement.parts().iter().map(of).sum::<i64>() as f64)
            }
            ("task_index", Ok(placement)) => {
                let [granted] = placement.parts() else { return None };
                Some(index(state.free(), &self.used(granted)) as f64)
            }
            ("granted_nodes", Ok(placement)) => Some(f64::from(placement.nodes())),
            // These metrics have no value if the request is refused. The sweep sets
            // `printed_order`.
            _ => None,
        });
        Sample {
            values: values.collect(),
            arrived: 1,
            waiting: 0,
            rejected: refused,
            rejected_set: refused,
            allocation_ns: self.timing.then(|| self.measure(&state)).flatten(),
        }
    }

    /// Returns the part of a granted box that the task uses. If the granted box is larger than
    /// requested, this part is a box at the same base with the requested sides.
    fn used(&self, granted: &Cuboid) -> Cuboid {
        let asked = self.request.shape.unwrap_or(granted.sides);
        let larger = (0..3).all(|axis| asked[axis] <= granted.sides[axis]);
        if larger { Cuboid::new(granted.base, asked) } else { *granted }
    }

    fn machine(&self, state: &State) -> Machine {
        state.machine(&self.strategy, self.seed).expect("the point was checked")
    }

    /// Measures the median time of an attempt. The median is robust to interruptions.
    fn measure(&self, state: &State) -> Option<f64> {
        let mut watch = Stopwatch::new();
        let mut machine = self.machine(state);
        let mut times = Vec::new();
        for attempt in 0..WARM_UP + MEASURED {
            let job = JobId(state.held().len() as u64 + attempt);
            watch.reset();
            watch.begin();
            let granted = machine.allocate(job, &self.request).map(drop);
            watch.end();
            times.extend(watch.mean_ns().filter(|_| attempt >= WARM_UP));
            match granted {
                Ok(()) => drop(machine.release(job)),
                // Use a fresh machine, because this one has cached the refusal.
                Err(_) => machine = self.machine(state),
            }
        }
        crate::Median::of(&times).map(|median| median.value)
    }
}
