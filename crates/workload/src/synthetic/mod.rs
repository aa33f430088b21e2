//! Synthetic workloads: endless streams of jobs, drawn on demand.
//!
//! A workload has three parts, each chosen from its own registry: an [`ArrivalProcess`] for arrival
//! times, a [`SideDistribution`] for requests, and a [`ServiceDistribution`] for the jobs' work.
//! Each part draws from a separate stream ("arrivals", "sides" or "service"). Changing one part
//! therefore does not change the draws of the others, and every strategy gets the same jobs.

mod arrivals;
mod service;
mod sides;

use pavior_kernel::{Family, Selection, Stream, Time};
use pavior_mesh::{Grid, JobId, Request};
use thiserror::Error;

use crate::{Job, Service, TimeUnit};

pub use arrivals::{ArrivalProcess, Gaps};
pub use service::{DrawService, ServiceDistribution};
pub use sides::{DrawSides, SideDistribution};

/// A synthetic workload, defined by its three parts and its load.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; }
/// use pavior::workload::{Synthetic, SyntheticJobs};
/// let mut workload = Synthetic::at_load(0.8);
/// workload.sides = "exponential".parse()?;
/// let jobs = SyntheticJobs::new(&workload, &"mesh:16x16".parse()?, 1, 0)?;
/// assert_eq!(jobs.take(10).count(), 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Synthetic {
    /// Arrivals per time unit: the reciprocal of the mean gap.
    pub load: f64,
    /// The arrival process.
    pub arrivals: Selection<ArrivalProcess>,
    /// The distribution of requested sides.
    pub sides: Selection<SideDistribution>,
    /// The distribution of the jobs' work on their nodes.
    pub service: Selection<ServiceDistribution>,
}

/// The reason why a synthetic workload cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SyntheticError {
    /// The load is not a positive number within range.
    #[error("the load must be from 1e-6 to 1e6 jobs per unit of time, not {0}")]
    Load(String),
    /// The side distribution is not defined on the machine.
    #[error("sides `{sides}` cannot be used on {machine}: {reason}")]
    Sides {
        /// The side distribution.
        sides: String,
        /// The machine.
        machine: Grid,
        /// The reason why the distribution does not apply.
        reason: String,
    },
}

impl Synthetic {
    /// Creates a workload that uses the first entry in each registry. This is the TBL paper's
    /// workload with uniform sides.
    pub fn at_load(load: f64) -> Synthetic {
        Synthetic {
            load,
            arrivals: Selection::defaults(ArrivalProcess::builtin()[0]),
            sides: Selection::defaults(SideDistribution::builtin()[0]),
            service: Selection::defaults(ServiceDistribution::builtin()[0]),
        }
    }

    /// Returns the workload's time unit: cycles if messages are simulated.
    pub fn unit(&self) -> TimeUnit {
        self.service.entry.does.unit
    }

    /// Checks that the workload can be created for a machine.
    ///
    /// # Errors
    /// Returns an error if the load is out of range or the side distribution is not defined on the
    /// machine.
    pub fn check(&self, grid: &Grid) -> Result<(), SyntheticError> {
        // This range ensures that arrival times in ticks fit easily in 64 bits.
        if !(1e-6..=1e6).contains(&self.load) {
            return Err(SyntheticError::Load(self.load.to_string()));
        }
        (self.sides.entry.does.supports)(&self.sides.options, grid).map_err(|reason| {
            SyntheticError::Sides { sides: self.sides.to_string(), machine: *grid, reason }
        })
    }
}

/// An endless stream of jobs from a synthetic workload, in arrival order.
///
/// The same seed and replication produce the same jobs. A different load only scales their arrival
/// times.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; pub use pavior_mesh::*; }
/// use pavior::workload::{Synthetic, SyntheticJobs};
/// use pavior::Grid;
/// let machine = Grid::mesh(&[8, 8, 8])?;
/// let jobs = SyntheticJobs::new(&Synthetic::at_load(4.6), &machine, 1, 0)?;
/// let first: Vec<_> = jobs.take(3).collect();
/// assert!(first[0].arrival < first[1].arrival);
/// assert_eq!(first[2].number, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SyntheticJobs {
    unit: TimeUnit,
    gaps: Box<dyn Gaps>,
    sides: Box<dyn DrawSides>,
    service: Box<dyn DrawService>,
    draws: Draws,
    /// The last arrival time in time units, unrounded so that rounding errors do not accumulate.
    clock: f64,
    next: u64,
}

struct Draws {
    arrivals: Stream,
    sides: Stream,
    service: Stream,
}

impl SyntheticJobs {
    /// Creates the stream of jobs for the given machine and replication.
    ///
    /// # Errors
    /// Returns the same errors as [`Synthetic::check`].
    pub fn new(
        workload: &Synthetic,
        grid: &Grid,
        seed: u64,
        replication: u64,
    ) -> Result<SyntheticJobs, SyntheticError> {
        workload.check(grid)?;
        let Synthetic { load, arrivals, sides, service } = workload;
        let stream = |purpose| Stream::new(seed, replication, purpose);
        Ok(SyntheticJobs {
            unit: workload.unit(),
            gaps: (arrivals.entry.does.build)(&arrivals.options, 1.0 / load),
            sides: (sides.entry.does.build)(&sides.options, grid),
            service: (service.entry.does.build)(&service.options),
            draws: Draws {
                arrivals: stream("arrivals"),
                sides: stream("sides"),
                service: stream("service"),
            },
            clock: 0.0,
            next: 0,
        })
    }
}

impl Iterator for SyntheticJobs {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        self.clock += self.gaps.next(&mut self.draws.arrivals);
        let arrival = if self.unit == TimeUnit::CYCLE {
            Time(self.clock.ceil() as u64)
        } else {
            self.unit.time(self.clock)
        };
        let service = self.service.service(&mut self.draws.service);
        let number = self.next;
        self.next += 1;
        Some(Job {
            id: JobId(number),
            index: number,
            number,
            arrival,
            request: Request::shape(self.sides.sides(&mut self.draws.sides)),
            service,
            estimate: match service {
                Service::Run(time) => time,
                Service::Messages(count) | Service::Iterations(count) => Time(count),
                Service::Partly { compute, communicate } => compute.saturating_add(communicate),
            },
        })
    }
}
