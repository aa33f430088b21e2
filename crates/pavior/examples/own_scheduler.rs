//! A scheduler with an option, defined outside the library and simulated alongside built-in ones.
//!
//! Aged starts the job with the shortest estimated run time among those that fit. Once the oldest
//! job has waited for `age`, however, no other job may start before it.

use pavior::Time;
use pavior::names::{OptionSpec, Values};
use pavior::scheduling::{
    BuildScheduler, Entry, MachineView, Queue, Registry, Running, Scheduler, SchedulerKind, Start,
};
use pavior::simulation::Setup;
use pavior::workload::{Synthetic, SyntheticJobs, TimeUnit};

struct Aged {
    age: Time,
}

impl Scheduler for Aged {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let oldest = queue.get(0)?;
        if now.since(oldest.arrival) >= self.age {
            return view.can_start(oldest).ok().map(|()| Start::at(0));
        }
        let mut jobs: Vec<_> = queue.iter().enumerate().collect();
        jobs.sort_by_key(|(_, job)| job.estimate);
        let fits = jobs.into_iter().find(|(_, job)| view.can_start(job).is_ok());
        fits.map(|(place, _)| Start::at(place))
    }
}

const AGE: OptionSpec = OptionSpec {
    key: "age",
    values: Values::Number(0.0, 1e6),
    default: "20",
    meaning: "waiting time, in time units, after which no job may overtake the oldest one",
    bare: true,
};

fn aged() -> Entry {
    let build = BuildScheduler::Function(|options| {
        // The times in a log are in seconds, so an hour would be `TimeUnit::SECOND.time(3600.0)`.
        Box::new(Aged { age: TimeUnit::TIME_UNIT.time(options.number("age")) })
    });
    Entry { options: &[AGE], ..Entry::new("aged", SchedulerKind { build }) }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = Registry::new();
    // A scheduler without options needs only `registry.add(entry("name", || MyScheduler))`.
    registry.add(aged())?;
    let grid = "mesh:16x16".parse()?;
    for name in ["fcfs", "ssd", "aged", "aged:80"] {
        let jobs = SyntheticJobs::new(&Synthetic::at_load(2.0), &grid, 1, 0)?.take(500);
        let setup = Setup::new(grid, "tff", &registry.select(name)?)?;
        let measured = setup.simulation(jobs).measure(&["waiting", "waiting_max"])?.run()?;
        for (metric, value) in &measured.metrics {
            let unit = metric.unit.word(TimeUnit::TIME_UNIT);
            println!("{name}: {} {:.3} {unit}", metric.name, value.unwrap_or(f64::NAN));
        }
    }
    Ok(())
}
