//! What arrives at the machine.

use pavior_kernel::Time;
use pavior_mesh::{JobId, Request};

/// A job: when it arrives, what it asks for, and how long it will hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its number in the order of arrival, from 0.
    pub id: JobId,
    /// The number that its log gives it, for output; its own number where there is no log.
    pub number: u64,
    /// When it arrives, in ticks of the workload's [`TimeUnit`].
    pub arrival: Time,
    /// What it asks for.
    pub request: Request,
    /// What it does with it.
    pub service: Service,
    /// How long it is said to run, as schedulers may know it: the user's estimate from a log, else
    /// the run time; for messages, the quota or the number of iterations.
    pub estimate: Time,
}

/// What a job does while it holds its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// It runs for this long.
    Run(Time),
    /// It sends this many messages.
    Messages(u64),
    /// It goes through its communication pattern this many times.
    Iterations(u64),
    /// It computes, and goes through its communication pattern in between. Both times together are
    /// its run time in the box that it asks for, alone on the machine.
    Partly {
        /// The time that it computes.
        compute: Time,
        /// The time that its communication takes there.
        communicate: Time,
    },
}

impl Service {
    /// A run of which a share is communication, 0 to 1.
    ///
    /// ```
    /// use pavior_kernel::Time;
    /// use pavior_workload::Service;
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

/// What a tick of a workload stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeUnit {
    /// The word in results: `s`, `time_unit` or `cycle`.
    pub name: &'static str,
    /// Ticks of one unit.
    pub ticks: u64,
}

impl TimeUnit {
    /// Seconds of a log, in microseconds.
    pub const SECOND: TimeUnit = TimeUnit { name: "s", ticks: 1_000_000 };
    /// The papers' time unit, in millionths.
    pub const TIME_UNIT: TimeUnit = TimeUnit { name: "time_unit", ticks: 1_000_000 };
    /// Network cycles.
    pub const CYCLE: TimeUnit = TimeUnit { name: "cycle", ticks: 1 };

    /// A length in ticks, rounded to the nearest.
    ///
    /// ```
    /// use pavior_kernel::Time;
    /// use pavior_workload::TimeUnit;
    /// assert_eq!(TimeUnit::SECOND.time(1.5), Time(1_500_000));
    /// ```
    pub fn time(self, units: f64) -> Time {
        Time((units * self.ticks as f64).round().max(0.0) as u64)
    }

    /// A length in units.
    pub fn units(self, time: Time) -> f64 {
        time.ticks() / self.ticks as f64
    }
}
