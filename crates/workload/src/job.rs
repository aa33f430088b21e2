//! Jobs that arrive at a machine.

use pavior_kernel::Time;
use pavior_mesh::{JobId, Request};

/// A job: its arrival time, its request and its service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The job's number in order of arrival, starting from 0.
    pub id: JobId,
    /// The job's index in its log or stream, starting from 0. Differs from `id` only if some jobs
    /// depend on others.
    pub index: u64,
    /// The job's number in its log, for output. Arbitrary if the job does not come from a log.
    pub number: u64,
    /// The arrival time, in ticks of the workload's [`TimeUnit`].
    pub arrival: Time,
    /// The requested nodes.
    pub request: Request,
    /// The work that the job does on its nodes.
    pub service: Service,
    /// The run time that schedulers see: the user's estimate if the log has one, and the run time
    /// otherwise. For jobs that send messages, the number of messages or iterations is used
    /// instead.
    pub estimate: Time,
}

impl Job {
    /// Creates a job that does not come from a log and has an exact run-time estimate.
    ///
    /// ```
    /// # mod pavior { pub use pavior_workload as workload;
    /// #     pub use {pavior_kernel::*, pavior_mesh::*}; }
    /// use pavior::workload::{Job, Service};
    /// use pavior::{JobId, Request, Time};
    /// let job = Job::new(JobId(7), Time(0), Request::shape([4, 3]), Time(60));
    /// assert_eq!((job.number, job.estimate), (7, Time(60)));
    /// assert_eq!(job.service, Service::Run(Time(60)));
    /// ```
    pub fn new(id: JobId, arrival: Time, request: Request, length: Time) -> Job {
        let (index, number, service) = (id.0, id.0, Service::Run(length));
        Job { id, index, number, arrival, request, service, estimate: length }
    }
}

/// The work that a job does while it holds its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// A run of the given length.
    Run(Time),
    /// A number of messages.
    Messages(u64),
    /// A number of iterations of the job's communication pattern.
    Iterations(u64),
    /// Computation interleaved with the job's communication pattern. The times for both add up to
    /// the job's run time in its requested box when the job is alone on the machine.
    Partly {
        /// The time spent computing.
        compute: Time,
        /// The communication time in the requested box when the job is alone on the machine.
        communicate: Time,
    },
}

impl Service {
    /// Creates the service for a job that runs for `run` and spends the fraction `share` (0 to 1)
    /// of that time communicating.
    ///
    /// ```
    /// # mod pavior { pub use pavior_workload as workload; pub use pavior_kernel::*; }
    /// use pavior::workload::Service;
    /// use pavior::Time;
    /// let partly = Service::Partly { compute: Time(75), communicate: Time(25) };
    /// assert_eq!(Service::shared(Time(100), 0.25), partly);
    /// assert_eq!(Service::shared(Time(100), 0.0), Service::Run(Time(100)));
    /// ```
    pub fn shared(run: Time, share: f64) -> Service {
        match Time((run.ticks() * share).round() as u64).min(run) {
            Time::ZERO => Service::Run(run),
            communicate => Service::Partly { compute: run.since(communicate), communicate },
        }
    }
}

/// The time unit of a workload, as a number of ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeUnit {
    /// The unit's name in results: `s`, `time_unit` or `cycle`.
    pub name: &'static str,
    /// The number of ticks in one unit.
    pub ticks: u64,
}

impl TimeUnit {
    /// Seconds, as in logs, counted in microseconds.
    pub const SECOND: TimeUnit = TimeUnit { name: "s", ticks: 1_000_000 };
    /// The abstract time unit used in papers, divided into a million ticks.
    pub const TIME_UNIT: TimeUnit = TimeUnit { name: "time_unit", ticks: 1_000_000 };
    /// Network cycles.
    pub const CYCLE: TimeUnit = TimeUnit { name: "cycle", ticks: 1 };

    /// Converts a time from units to ticks, rounding to the nearest tick.
    ///
    /// ```
    /// # mod pavior { pub use pavior_workload as workload; pub use pavior_kernel::*; }
    /// use pavior::workload::TimeUnit;
    /// use pavior::Time;
    /// assert_eq!(TimeUnit::SECOND.time(1.5), Time(1_500_000));
    /// ```
    pub fn time(self, units: f64) -> Time {
        Time((units * self.ticks as f64).round().max(0.0) as u64)
    }

    /// Converts ticks to units.
    pub fn units(self, time: Time) -> f64 {
        time.ticks() / self.ticks as f64
    }
}
