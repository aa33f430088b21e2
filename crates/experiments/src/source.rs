//! Where the jobs of a replication come from.

use pavior_kernel::Time;
use pavior_simulation::Ending;
use pavior_workload::{Job, Unit};

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
    fn unit(&self) -> Unit;

    /// When averages start.
    fn begin(&self) -> Time;

    /// When a run ends.
    fn ending(&self) -> Ending;
}
