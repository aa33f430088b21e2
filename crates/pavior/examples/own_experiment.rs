//! An experiment that compares a custom strategy and scheduler with built-in ones.
//!
//! Worst Corner places a box where it has the least contact with busy nodes and the border. This
//! may leave corners free for large boxes. Largest First starts the largest job that fits.

use pavior::experiments::{Catalogue, Environment, NoStore, Shard, Specification};
use pavior::scheduling::{self, MachineView, Queue, Running, Scheduler, Start};
use pavior::strategies::Scan;
use pavior::strategies::contiguous::{self, BoxRule, Scored, View};
use pavior::{Sides, Time};

#[derive(Clone)]
struct WorstCorner;

impl BoxRule for WorstCorner {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        view.best(view.placements(shape, Scan::default()), |view, at| -view.contact(at))
    }
}

struct LargestFirst;

impl Scheduler for LargestFirst {
    fn next(
        &mut self,
        _: Time,
        queue: &Queue,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let mut places: Vec<usize> = (0..queue.len()).collect();
        places
            .sort_by_key(|&place| queue.get(place).map(|job| std::cmp::Reverse(job.request.nodes)));
        let fits = |&place: &usize| queue.get(place).is_some_and(|job| view.can_start(job).is_ok());
        places.into_iter().find(fits).map(Start::at)
    }
}

const FILE: &str = "
machine = 'mesh:8x8'
strategy = ['ff', 'worst-corner']
scheduler = ['fcfs', 'largest-first']
load = 1
jobs = 200
replications = 3
metrics = ['turnaround', 'utilization']
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut catalogue = Catalogue::default();
    catalogue.strategies.add(contiguous::entry("worst-corner", WorstCorner))?;
    catalogue.schedulers.add(scheduling::entry("largest-first", || LargestFirst))?;
    let experiment = Specification::parse_with(FILE, "own", &catalogue)?;
    let samples = experiment.run(Vec::new(), Shard::WHOLE, Environment::PLAIN, &mut NoStore)?;
    for (point, samples) in experiment.points.iter().zip(&samples) {
        let of = |metric: usize| {
            let values = samples.iter().filter_map(|sample| sample.values[metric]);
            values.sum::<f64>() / samples.len() as f64
        };
        let [strategy, scheduler] =
            ["strategy", "scheduler"].map(|name| point.get(name).unwrap_or_default());
        println!("{strategy:14}{scheduler:16}{:8.2}{:8.3}", of(0), of(1));
    }
    Ok(())
}
