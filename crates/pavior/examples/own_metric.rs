//! Two metrics defined outside the library: the 95th-percentile waiting times of small and large
//! jobs. They are reported together with the mean waiting time of all jobs.

use pavior::Time;
use pavior::simulation::metrics::{Context, Metric, MetricSpec, Unit};
use pavior::simulation::{Fact, Interest, Observer, Setup};
use pavior::workload::{Synthetic, SyntheticJobs, TimeUnit};

/// The waiting times of jobs whose sizes are within a given range.
struct Waits {
    above: f64,
    most: f64,
    unit: TimeUnit,
    seen: Vec<f64>,
}

impl Waits {
    fn boxed(context: &Context, above: f64, most: f64) -> Box<dyn Metric> {
        let [above, most] = [above, most].map(|share| share * context.nodes());
        Box::new(Waits { above, most, unit: context.time, seen: Vec::new() })
    }
}

impl Observer for Waits {
    fn interest(&self) -> Interest {
        Interest::DEPARTURES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.seen.clear(),
            Fact::Departed { job, start, .. } => {
                let nodes = f64::from(job.request.nodes);
                if self.above < nodes && nodes <= self.most {
                    self.seen.push(self.unit.units(start.since(job.arrival)));
                }
            }
            _ => {}
        }
    }
}

impl Metric for Waits {
    /// Returns the nearest-rank percentile, or `None` if no job in the size range has departed.
    fn value(&self) -> Option<f64> {
        let mut sorted = self.seen.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (0.95 * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.checked_sub(1)?).copied()
    }
}

const fn percentile(name: &'static str, build: fn(&Context) -> Box<dyn Metric>) -> MetricSpec {
    let meaning = "95th percentile of waiting time for jobs of this size";
    MetricSpec { name, meaning, unit: Unit::Time, standard: false, build }
}

static SMALL: MetricSpec = percentile("waiting_p95_small", |run| Waits::boxed(run, 0.0, 0.125));
static LARGE: MetricSpec = percentile("waiting_p95_large", |run| Waits::boxed(run, 0.125, 1.0));

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let grid = "mesh:16x16".parse()?;
    for scheduler in ["fcfs", "easy"] {
        let jobs = SyntheticJobs::new(&Synthetic::at_load(2.0), &grid, 1, 0)?.take(2000);
        let run = Setup::new(grid, "tff", scheduler)?.simulation(jobs);
        let measured = run.measure(&["waiting"])?.with_metrics([&SMALL, &LARGE]).run()?;
        for (metric, value) in &measured.metrics {
            let unit = metric.unit.word(TimeUnit::TIME_UNIT);
            println!("{scheduler}: {} {:.3} {unit}", metric.name, value.unwrap_or(f64::NAN));
        }
    }
    Ok(())
}
