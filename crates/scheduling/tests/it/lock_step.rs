//! Lock-step tests of the plain and fast forms of EASY on machines with an index of busy boxes.
//! Estimates are exact, too long or too short.

use std::collections::BTreeSet;

use pavior_allocation::Machine;
use pavior_kernel::{Stream, Time};
use pavior_mesh::{Cuboid, Grid, JobId};
use pavior_scheduling::Dispatcher;
use pavior_workload::{Job, Service, Synthetic, SyntheticJobs};

use crate::world::named;

/// A dispatcher under test, and the end times of its running jobs.
struct Side {
    dispatcher: Dispatcher,
    ends: BTreeSet<(Time, JobId)>,
    decisions: usize,
}

impl Side {
    fn new(grid: Grid, strategy: &str, scheduler: &str) -> Side {
        let dispatcher = Dispatcher::new(Machine::new(grid, strategy).unwrap(), named(scheduler));
        Side { dispatcher, ends: BTreeSet::new(), decisions: 0 }
    }

    /// Lets the scheduler start jobs, and returns them with their boxes.
    fn starts(&mut self, now: Time) -> Vec<(JobId, Vec<Cuboid>)> {
        let mut starts = Vec::new();
        while let Some(start) = self.dispatcher.start_next(now, &mut ()).unwrap() {
            self.decisions += 1;
            let Service::Run(run) = start.job.service else { unreachable!("these jobs run") };
            self.ends.insert((now.saturating_add(run), start.job.id));
            starts.push((start.job.id, start.placement.parts().to_vec()));
        }
        self.decisions += 1;
        starts
    }

    fn end_all(&mut self, now: Time) {
        while self.ends.first().is_some_and(|end| end.0 == now) {
            let (_, job) = self.ends.pop_first().unwrap();
            self.dispatcher.end(job).unwrap();
        }
    }
}

/// Generates jobs with estimates that are exact, too long or too short.
fn drawn(grid: &Grid, load: f64, most: u16, seed: u64) -> impl Iterator<Item = Job> + use<> {
    let mut workload = Synthetic::at_load(load);
    workload.sides = format!("uniform:{most}").parse().unwrap();
    let mut draw = Stream::new(seed, 0, "estimates");
    SyntheticJobs::new(&workload, grid, seed, 0).unwrap().map(move |job| {
        let estimate = match draw.below(4) {
            0 => job.estimate,
            1 => Time(1 + job.estimate.0 / 2),
            times => Time(job.estimate.0.saturating_mul(times * times)),
        };
        Job { estimate, ..job }
    })
}

/// Runs both forms for at least `decisions` decisions. Returns the number of decisions made.
fn decide_alike(grid: &str, strategy: &str, (load, most): (f64, u16), decisions: usize) -> usize {
    let grid: Grid = grid.parse().unwrap();
    let mut sides = ["easy", "easy:plain"].map(|name| Side::new(grid, strategy, name));
    let mut jobs = drawn(&grid, load, most, decisions as u64).peekable();
    while sides[0].decisions < decisions {
        let arrival = jobs.peek().map(|job| job.arrival);
        let end = sides[0].ends.first().map(|end| end.0);
        let now = [arrival, end].into_iter().flatten().min().unwrap();
        for side in &mut sides {
            side.end_all(now);
        }
        // Skip arrivals while the queue is long, because an overloaded machine never catches up.
        let is_full = sides[0].dispatcher.queue().len() > 60;
        while let Some(job) = jobs.next_if(|job| job.arrival == now) {
            if !is_full {
                for side in &mut sides {
                    side.dispatcher.submit(job.clone()).unwrap();
                }
            }
        }
        let [fast, plain] = sides.each_mut().map(|side| side.starts(now));
        assert_eq!(fast, plain, "{strategy} on {grid} at {now:?}");
    }
    for side in &sides {
        side.dispatcher.machine().validate();
    }
    sides[0].decisions
}

const CASES: [(&str, &str, (f64, u16)); 8] = [
    ("mesh:18x20", "tff", (20.0, 9)),
    ("torus:18x12", "tff", (12.0, 8)),
    ("mesh:12x10x11", "tff", (24.0, 6)),
    ("torus:10x12x9", "tff", (16.0, 5)),
    ("mesh:40x9", "ff", (10.0, 9)),
    ("torus:16x16", "bf", (12.0, 8)),
    ("mesh:16x16", "mbs", (12.0, 8)),
    ("mesh:66x5", "tff", (10.0, 5)),
];

#[test]
fn easy_decides_as_its_plain_form_on_larger_machines() {
    let each = pavior_trials::size(600, 600, 125_000);
    let mut decided = 0;
    for (grid, strategy, load) in CASES {
        decided += decide_alike(grid, strategy, load, each);
    }
    println!("{decided} decisions, each the same");
    assert!(decided >= each * CASES.len());
}
