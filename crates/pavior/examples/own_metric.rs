//! A metric written outside the library: how long jobs of 64 nodes or more wait, beside all jobs.

use pavior::Time;
use pavior::simulation::{Fact, Interest, Observer, Setup};
use pavior::workload::{Synthetic, SyntheticJobs, TimeUnit};

#[derive(Default)]
struct LargeJobsWait {
    jobs: u32,
    total: f64,
}

impl Observer for LargeJobsWait {
    fn interest(&self) -> Interest {
        Interest::STARTS
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        if let Fact::Started { job, .. } = fact
            && job.request.nodes >= 64
        {
            self.jobs += 1;
            self.total += TimeUnit::TIME_UNIT.units(now.since(job.arrival));
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let grid = "mesh:16x16".parse()?;
    let jobs = SyntheticJobs::new(&Synthetic::at_load(2.0), &grid, 1, 0)?.take(2000);
    let mut large = LargeJobsWait::default();
    let run = Setup::new(grid, "tff", "easy")?.simulation(jobs).observe(&mut large);
    let measured = run.measure(&["waiting"])?.run()?;
    println!("all jobs: {:.3} time units", measured.value("waiting").unwrap_or(f64::NAN));
    println!("{} of 64 nodes or more: {:.3}", large.jobs, large.total / f64::from(large.jobs));
    Ok(())
}
