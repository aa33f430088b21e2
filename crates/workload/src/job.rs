//! Jobs that arrive at the machine.

use pavior_kernel::Time;
use pavior_mesh::{JobId, Request};

/// A job: its arrival, its request, and its service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The number in the order of arrival, from 0.
    pub id: JobId,
    /// The index in its log or stream, from 0: the same as `id`, unless jobs follow others.
    pub index: u64,
    /// The number in its log, for output, or its own number if there is no log.
    pub number: u64,
    /// The time of arrival, in ticks of the workload's [`TimeUnit`].
    pub arrival: Time,
    /// The nodes that it requests.
    pub request: Request,
    /// The work that it does with them.
    pub service: Service,
    /// The run time that schedulers may know: the user's estimate from a log, otherwise the run
    /// time. For messages, it is their number or the number of iterations.
    pub estimate: Time,
}

impl Job {
    /// Creates a job that is not from a log and runs as long as estimated.
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

/// The work of a job while it holds its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// A run of this length.
    Run(Time),
    /// A number of messages.
    Messages(u64),
    /// A number of iterations of its communication pattern.
    Iterations(u64),
    /// Computation, interleaved with the job's communication pattern. The sum of both times is the
    /// run time in the requested box, alone on the machine.
    Partly {
        /// The time of its computation.
        compute: Time,
        /// The time of its communication there.
        communicate: Time,
    },
}

impl Service {
    /// Creates the service of a run in which a fraction, from 0 to 1, is communication.
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

/// The meaning of a tick in a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeUnit {
    /// The word in results: `s`, `time_unit` or `cycle`.
    pub name: &'static str,
    /// The number of ticks in one unit.
    pub ticks: u64,
}

impl TimeUnit {
    /// Seconds of a log, in microseconds.
    pub const SECOND: TimeUnit = TimeUnit { name: "s", ticks: 1_000_000 };
    /// The papers' time unit, in millionths.
    pub const TIME_UNIT: TimeUnit = TimeUnit { name: "time_unit", ticks: 1_000_000 };
    /// Network cycles.
    pub const CYCLE: TimeUnit = TimeUnit { name: "cycle", ticks: 1 };

    /// Converts units to ticks, rounded to the nearest tick.
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
