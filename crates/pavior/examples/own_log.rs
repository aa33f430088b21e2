//! Runs your own scheduler on a job log and compares it with built-in ones.
//!
//! `cargo run -p pavior --features simulation --example own_log -- LOG.swf` reads a log in the
//! Standard Workload Format. If no log is given, the Lublin-Feitelson model generates one.

use std::fs::File;
use std::io::BufReader;

use pavior::scheduling::{
    BuildScheduler, Entry, MachineView, Queue, Registry, Running, Scheduler, SchedulerKind, Start,
};
use pavior::simulation::Setup;
use pavior::workload::traces::{ReadOptions, Record, Replay, TraceJobs, swf};
use pavior::workload::{Class, Lublin, LublinJobs, Selection, ShapeRule, Shaper, TimeUnit};
use pavior::{Grid, Time};

/// A scheduler that starts the smallest job that fits.
struct SmallestFit;

impl Scheduler for SmallestFit {
    fn next(
        &mut self,
        _: Time,
        queue: &Queue,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let mut jobs: Vec<_> = queue.iter().enumerate().collect();
        jobs.sort_by_key(|(_, job)| job.request.nodes);
        let fits = jobs.into_iter().find(|(_, job)| view.can_start(job).is_ok());
        fits.map(|(place, _)| Start::at(place))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let grid: Grid = "torus:16x16".parse()?;
    let records: Vec<Record> = match std::env::args().nth(1) {
        Some(path) => {
            swf::read(BufReader::new(File::open(path)?), &ReadOptions::default())?.records
        }
        None => LublinJobs::new(Lublin::new(Class::All, grid.nodes()), 1, 0).take(500).collect(),
    };
    let mut registry = Registry::new();
    let build = BuildScheduler::Function(|_| Box::new(SmallestFit));
    registry.add(Entry::new("smallest-fit", SchedulerKind { build }))?;
    // A log contains only a processor count for each job. This rule converts it to a box.
    let rule: Selection<ShapeRule> = "compact".parse()?;
    for name in ["fcfs", "easy", "smallest-fit"] {
        let jobs = TraceJobs::new(&records, Shaper::new(&rule, &grid, 1, 0), Replay::default());
        let setup = Setup::new(grid, "tff", &registry.select(name)?)?;
        let measured = setup.simulation(jobs).measure(&["waiting", "utilization"])?.run()?;
        for (metric, value) in &measured.metrics {
            let unit = metric.unit.word(TimeUnit::SECOND);
            println!("{name}: {} {:.3} {unit}", metric.name, value.unwrap_or(f64::NAN));
        }
    }
    Ok(())
}
