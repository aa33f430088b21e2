//! Measures the cost of a decision as the queue grows, on a crowded 32x36 mesh with `tff`.
//!
//! `anew` calls a new scheduler; `after_arrival` calls an existing scheduler after another job has
//! arrived. Run with `cargo bench -p pavior-scheduling`. Compare times only within the same run.

use divan::Bencher;
use pavior_allocation::Machine;
use pavior_kernel::{Stream, Time};
use pavior_mesh::{JobId, Request};
use pavior_scheduling::{MachineView, Queue, Running, Scheduler, Selection};
use pavior_workload::{Job, Service};

fn main() {
    divan::main();
}

const LENGTHS: [usize; 4] = [10, 100, 1000, 10_000];
const SCHEDULERS: [&str; 7] = ["fcfs", "ssd", "scan", "window", "scan-all", "easy", "easy:count"];

struct Site {
    machine: Machine,
    running: Running,
    queue: Queue,
    draw: Stream,
    jobs: u64,
}

impl Site {
    /// Fills a machine until ten jobs are refused, and creates a queue of jobs that do not fit.
    fn new(waiting: usize) -> Site {
        let grid = "mesh:32x36".parse().expect("a machine");
        let strategy = "tff".parse().expect("a strategy");
        let machine = Machine::with_seed(grid, &strategy, 1).expect("it works on meshes");
        let draw = Stream::new(1, 0, "bench");
        let mut site =
            Site { machine, running: Running::new(), queue: Queue::new(), draw, jobs: 0 };
        let mut refused = 0;
        while refused < 10 {
            let job = site.draw_job();
            if site.machine.allocate(job.id, &job.request).is_ok() {
                site.running.start(job, Time(0));
            } else {
                refused += 1;
            }
        }
        while site.queue.len() < waiting {
            site.arrive();
        }
        site
    }

    fn arrive(&mut self) {
        loop {
            let job = self.draw_job();
            if self.machine.probe(&job.request).is_err() {
                return self.queue.push(job);
            }
        }
    }

    fn draw_job(&mut self) -> Job {
        self.jobs += 1;
        let [w, d] = [16, 16].map(|most| self.draw.between(1, most) as u16);
        let run = Time(self.draw.between(10, 10_000));
        Job {
            id: JobId(self.jobs),
            index: self.jobs,
            number: self.jobs,
            arrival: Time(0),
            request: Request::shape([w, d, 1]),
            service: Service::Run(run),
            estimate: run,
        }
    }

    fn ask(&mut self, scheduler: &mut dyn Scheduler) -> bool {
        let mut unwatched = ();
        let mut view = MachineView::new(&mut self.machine, &mut unwatched);
        scheduler.next(Time(1), &self.queue, &self.running, &mut view).is_some()
    }
}

fn build(name: &str) -> Box<dyn Scheduler> {
    name.parse::<Selection>().expect("a scheduler").build(()).expect("it is built in")
}

fn anew(bencher: Bencher<'_, '_>, name: &str, waiting: usize) {
    let mut site = Site::new(waiting);
    bencher.with_inputs(|| build(name)).bench_local_refs(|scheduler| site.ask(scheduler.as_mut()));
}

#[divan::bench(args = SCHEDULERS, consts = LENGTHS)]
fn a_anew<const WAITING: usize>(bencher: Bencher<'_, '_>, name: &str) {
    anew(bencher, name, WAITING);
}

#[divan::bench(consts = [10, 100, 1000], sample_count = 10)]
fn b_anew_conservative<const WAITING: usize>(bencher: Bencher<'_, '_>) {
    anew(bencher, "conservative", WAITING);
}

#[divan::bench(args = SCHEDULERS, consts = LENGTHS, sample_count = 50, sample_size = 1)]
fn c_after_arrival<const WAITING: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let mut site = Site::new(WAITING);
    let mut scheduler = build(name);
    site.ask(scheduler.as_mut());
    bencher.bench_local(|| {
        site.arrive();
        site.ask(scheduler.as_mut())
    });
}
