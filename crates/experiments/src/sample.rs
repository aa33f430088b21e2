//! The results of one replication at one point.

use pavior_kernel::Checksum;
use pavior_simulation::Outcome;

/// The results of one replication.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The metrics, in the experiment's order. A metric that does not apply is `None`.
    pub values: Vec<Option<f64>>,
    /// The number of jobs that arrived.
    pub arrived: u64,
    /// The number of jobs waiting at the end.
    pub waiting: u64,
    /// The number of rejected jobs.
    pub rejected: u64,
    /// A checksum of the set of rejected jobs. Equal sets have equal checksums.
    pub rejected_set: u64,
    /// The measured time of an allocation attempt, in nanoseconds.
    pub allocation_ns: Option<f64>,
}

impl Sample {
    /// Returns true if the samples are equal, ignoring the measured time.
    pub fn same(&self, other: &Sample) -> bool {
        let untimed = |sample: &Sample| Sample { allocation_ns: None, ..sample.clone() };
        untimed(self) == untimed(other)
    }

    pub(crate) fn new(values: Vec<Option<f64>>, outcome: &Outcome) -> Sample {
        let mut set = Checksum::default();
        outcome.rejected.iter().for_each(|job| set.add(&job.0.to_le_bytes()));
        Sample {
            values,
            arrived: outcome.arrived,
            waiting: outcome.waiting,
            rejected: outcome.rejected.len() as u64,
            rejected_set: set.value(),
            allocation_ns: outcome.allocation_ns,
        }
    }
}
