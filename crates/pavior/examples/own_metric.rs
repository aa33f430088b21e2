//! A metric written outside the library: how long single nodes wait, beside all jobs' waiting.

use pavior::Time;
use pavior::simulation::{Fact, Interest, Observer, Setup};
use pavior::workload::{Synthetic, SyntheticJobs, TimeUnit};

#[derive(Default)]
struct SingleNodesWait {
    jobs: u32,
    total: f64,
}

impl Observer for SingleNodesWait {
    fn interest(&self) -> Interest {
        Interest::STARTS
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        if let Fact::Started { job, .. } = fact
            && job.request.nodes == 1
        {
            self.jobs += 1;
            self.total += TimeUnit::TIME_UNIT.units(now.since(job.arrival));
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let grid = "mesh:16x16".parse()?;
    let jobs = SyntheticJobs::new(&Synthetic::at_load(2.0), &grid, 1, 0)?.take(2000);
    let mut single = SingleNodesWait::default();
    let run = Setup::new(grid, "tff", "easy")?.simulation(jobs).observe(&mut single);
    let measured = run.measure(&["waiting"])?.run()?;
    println!("all jobs: {:.3} time units", measured.value("waiting").unwrap_or(f64::NAN));
    println!("{} of one node: {:.3}", single.jobs, single.total / f64::from(single.jobs));
    Ok(())
}
