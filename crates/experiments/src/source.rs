//! Where the jobs of a replication come from.

use std::sync::Arc;

use pavior_kernel::Time;
use pavior_mesh::Grid;
use pavior_simulation::{Ending, Restart};
use pavior_workload::{Job, NodeEvent, Synthetic, SyntheticError, SyntheticJobs, TimeUnit};

/// A workload that can be drawn again and again.
pub trait Source: Sync {
    /// The jobs of a replication, in the order of arrival; the same for the same arguments.
    fn jobs(
        &self,
        load: Option<f64>,
        seed: u64,
        replication: u64,
    ) -> Box<dyn Iterator<Item = Job> + '_>;

    /// What a tick stands for.
    fn unit(&self) -> TimeUnit;

    /// When averages start.
    fn begin(&self) -> Time;

    /// When a run ends.
    fn ending(&self) -> Ending;
}

/// Jobs drawn at a load; a run ends at a completion.
pub struct SyntheticSource {
    grid: Grid,
    workload: Synthetic,
    completions: u64,
}

impl SyntheticSource {
    /// Draws `workload` (at the loads that are asked for) for a machine.
    ///
    /// # Errors
    /// If the workload cannot be drawn on the machine at one of the loads.
    pub fn new(
        grid: Grid,
        workload: Synthetic,
        loads: &[f64],
        completions: u64,
    ) -> Result<SyntheticSource, SyntheticError> {
        let source = SyntheticSource { grid, workload, completions };
        loads.iter().try_for_each(|&load| source.at(load).check(&grid))?;
        Ok(source)
    }

    fn at(&self, load: f64) -> Synthetic {
        Synthetic { load, ..self.workload.clone() }
    }
}

impl Source for SyntheticSource {
    fn jobs(
        &self,
        load: Option<f64>,
        seed: u64,
        replication: u64,
    ) -> Box<dyn Iterator<Item = Job> + '_> {
        let workload = load.map_or_else(|| self.workload.clone(), |load| self.at(load));
        let jobs = SyntheticJobs::new(&workload, &self.grid, seed, replication);
        Box::new(jobs.expect("every load was checked"))
    }

    fn unit(&self) -> TimeUnit {
        self.workload.unit()
    }

    fn begin(&self) -> Time {
        Time::ZERO
    }

    fn ending(&self) -> Ending {
        Ending::Completions(self.completions)
    }
}

/// Jobs made anew for each replication: (seed, replication) to jobs.
pub type MakeJobs = dyn Fn(u64, u64) -> Arc<Vec<Job>> + Sync + Send;

/// The jobs of a log; a run ends at the last departure.
pub struct TraceSource {
    make: Box<MakeJobs>,
    begin: Time,
}

impl TraceSource {
    /// A log whose jobs are made by `make`, the first of which arrives at `begin`.
    pub fn new(make: Box<MakeJobs>, begin: Time) -> TraceSource {
        TraceSource { make, begin }
    }
}

impl Source for TraceSource {
    fn jobs(
        &self,
        _: Option<f64>,
        seed: u64,
        replication: u64,
    ) -> Box<dyn Iterator<Item = Job> + '_> {
        let jobs = (self.make)(seed, replication);
        Box::new((0..jobs.len()).map(move |index| jobs[index].clone()))
    }

    fn unit(&self) -> TimeUnit {
        TimeUnit::SECOND
    }

    fn begin(&self) -> Time {
        self.begin
    }

    fn ending(&self) -> Ending {
        Ending::Drained
    }
}

/// Failures and repairs, in the order of time.
pub type NodeEvents = Box<dyn Iterator<Item = NodeEvent> + Send>;

/// Failures of nodes that can be drawn again and again.
pub struct FailureSource {
    make: Box<dyn Fn(u64, u64) -> NodeEvents + Sync + Send>,
    restart: Restart,
}

impl FailureSource {
    /// Events made by `make` for a seed and a replication, and what becomes of jobs.
    pub fn new(
        make: Box<dyn Fn(u64, u64) -> NodeEvents + Sync + Send>,
        restart: Restart,
    ) -> FailureSource {
        FailureSource { make, restart }
    }

    pub(crate) fn events(&self, seed: u64, replication: u64) -> (NodeEvents, Restart) {
        ((self.make)(seed, replication), self.restart)
    }
}
