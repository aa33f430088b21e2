//! A scheduler written outside the library: registered, and run in a simulation beside a built-in
//! one.
//!
//! Youngest First starts the job that arrived last, if it fits; all others wait for it.

use pavior::scheduling::{
    BuildScheduler, Entry, MachineView, Queue, Registry, Running, Scheduler, SchedulerKind,
    Selection, Start,
};
use pavior::simulation::{Ending, Inputs, Recorder, Setup, run};
use pavior::workload::{Synthetic, SyntheticJobs};
use pavior::{Grid, Time};

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

fn simulate(scheduler: Selection) -> Result<Time, Box<dyn std::error::Error>> {
    let grid: Grid = "mesh:16x16".parse()?;
    let jobs = SyntheticJobs::new(&Synthetic::at_load(2.0), &grid, 1, 0)?;
    let setup = Setup {
        grid,
        strategy: "ff".parse()?,
        scheduler,
        network: None,
        migration: None,
        seed: 1,
        replication: 0,
        begin: Time::ZERO,
        warmup: 0,
        ending: Ending::Drained,
        timing: false,
        slice: None,
    };
    let mut recorder = Recorder::default();
    let inputs = Inputs::from(jobs.take(500));
    let outcome = run(&setup, inputs, &mut [&mut recorder])?;
    assert_eq!(outcome.arrived, 500);
    Ok(outcome.end)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = Registry::new();
    registry.add(Entry {
        name: "youngest-first",
        title: "Youngest job first",
        source: "an example",
        options: &[],
        variants: &[""],
        does: SchedulerKind { build: BuildScheduler::Function(|_| Box::new(YoungestFirst)) },
    })?;
    for name in ["fcfs", "youngest-first"] {
        let end = simulate(registry.select(name)?)?;
        println!("{name}: 500 jobs have departed at tick {}", end.0);
    }
    Ok(())
}
