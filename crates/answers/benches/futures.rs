//! Benchmarks 100 simulated futures of a queue of 200 jobs on a full `torus:16x16x16` with `easy`
//! and `tff`. Each future runs until the last queued job has started. The futures have either no
//! later arrivals or a week of arrivals.
//!
//! Run with `cargo bench -p pavior-answers`. The benchmark uses one thread.

use divan::Bencher;
use pavior_allocation::Machine;
use pavior_answers::forecasts::{Effort, Forecaster, Kind};
use pavior_kernel::{Stream, Time};
use pavior_mesh::{JobId, Request};
use pavior_scheduling::{Dispatcher, Selection};
use pavior_workload::{Job, Service, TimeUnit};

fn main() {
    divan::main();
}

const WAITING: usize = 200;
const HOUR: u64 = 3600 * TimeUnit::SECOND.ticks;
const DAY: u64 = 24 * HOUR;

/// A machine with its queue, and a forecaster trained on the previous week.
struct Site {
    dispatcher: Dispatcher,
    forecaster: Forecaster,
    draw: Stream,
    jobs: u64,
}

impl Site {
    fn new(futures: usize, arrivals: bool) -> Site {
        let machine = Machine::new("torus:16x16x16".parse().expect("a machine"), "tff");
        let easy: Selection = "easy".parse().expect("a scheduler");
        let scheduler = easy.build(()).expect("it is built in");
        let effort = Effort { futures, ..Effort::default() };
        let mut site = Site {
            dispatcher: Dispatcher::new(machine.expect("it works on tori"), scheduler),
            forecaster: Forecaster::new(easy, effort),
            draw: Stream::new(1, 0, "bench"),
            jobs: 0,
        };
        site.learn(arrivals);
        while site.dispatcher.queue().len() < WAITING {
            let (job, kind) = site.draw_job(NOW);
            site.forecaster.submitted(&job, kind);
            site.dispatcher.submit(job).expect("its number is new");
            while site.dispatcher.start_next(NOW, &mut ()).expect("it can start").is_some() {}
        }
        site
    }

    /// Trains the forecaster on a week of completed jobs that nearly filled the machine.
    fn learn(&mut self, arrivals: bool) {
        const JOBS: u64 = 1500;
        for number in 0..JOBS {
            let (job, kind) = self.draw_job(Time(number * 7 * DAY / JOBS));
            let Service::Run(run) = job.service else { continue };
            if arrivals {
                self.forecaster.submitted(&job, kind);
            } else {
                self.forecaster.found(job.id, kind);
            }
            self.forecaster.ended(job.id, run);
        }
    }

    /// Draws a job with power-of-two sides from 1 to 8 and a run time of one to ten hours. Its
    /// estimate is two to four times its run time.
    fn draw_job(&mut self, arrival: Time) -> (Job, Kind) {
        self.jobs += 1;
        let request = Request::shape([0; 3].map(|_| 1 << self.draw.below(4)));
        let run = Time(self.draw.between(HOUR, 10 * HOUR));
        let estimate = Time(run.0.div_ceil(HOUR) * HOUR * self.draw.between(2, 4));
        let user = Some(self.draw.below(20));
        let kind = Kind { user, nodes: request.nodes, estimate: Some(estimate) };
        (Job { estimate, ..Job::new(JobId(self.jobs), arrival, request, run) }, kind)
    }
}

const NOW: Time = Time(8 * DAY);

#[divan::bench(args = [false, true], sample_count = 5, sample_size = 1)]
fn hundred_futures(bencher: Bencher<'_, '_>, arrivals: bool) {
    let Site { dispatcher, mut forecaster, .. } = Site::new(100, arrivals);
    let jobs: Vec<JobId> = dispatcher.queue().iter().map(|job| job.id).collect();
    let said = forecaster.forecast(&dispatcher, NOW, &jobs).expect("it can be forecast");
    let hours = said.iter().map(|one| one.median.since(NOW).0 / HOUR).max().unwrap_or(0);
    eprintln!("{} running, the last starts after {hours} h", dispatcher.running().len());
    bencher.bench_local(|| forecaster.forecast(&dispatcher, NOW, &jobs));
}
