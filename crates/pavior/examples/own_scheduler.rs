//! A scheduler written outside the library, in a simulation beside a built-in one.
//!
//! Youngest First starts the job that arrived last, if it fits; all others wait for it.

use pavior::Time;
use pavior::scheduling::{MachineView, Queue, Registry, Running, Scheduler, Start, entry};
use pavior::simulation::Setup;
use pavior::workload::{Synthetic, SyntheticJobs};

struct YoungestFirst;

impl Scheduler for YoungestFirst {
    fn next(
        &mut self,
        _: Time,
        queue: &Queue,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let last = queue.len().checked_sub(1)?;
        view.can_start(&queue.get(last)?.request).ok().map(|()| Start::at(last))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = Registry::new();
    registry.add(entry("youngest-first", || YoungestFirst))?;
    let grid = "mesh:16x16".parse()?;
    for name in ["fcfs", "youngest-first"] {
        let jobs = SyntheticJobs::new(&Synthetic::at_load(2.0), &grid, 1, 0)?.take(500);
        let setup = Setup::new(grid, "ff", &registry.select(name)?)?;
        let measured = setup.simulation(jobs).measure(&["turnaround", "utilization"])?.run()?;
        for (metric, value) in &measured.metrics {
            println!("{name}: {} {:.3}", metric.name, value.unwrap_or(f64::NAN));
        }
    }
    Ok(())
}
