//! A churn near saturation, recorded, and replayed on a strategy.

use std::time::{Duration, Instant};

use pavior_allocation::{Machine, Placement, Selection, Strategy};
use pavior_kernel::Stream;
use pavior_mesh::{Grid, JobId, Occupancy, Request};

/// One thing that happens.
pub(crate) enum Step {
    /// A question, and whether it counts.
    Ask(Request, bool),
    Take(Placement),
    Give(Placement),
}

/// A churn: the questions that count are at its end.
pub(crate) struct Record {
    pub(crate) grid: Grid,
    pub(crate) steps: Vec<Step>,
    pub(crate) questions: usize,
}

impl Record {
    /// None if the strategy grants nothing there, or is too slow to be recorded.
    pub(crate) fn new(
        grid: &Grid,
        selection: &Selection,
        longest: u16,
        questions: usize,
    ) -> Option<Record> {
        let mut machine = Machine::new(*grid, selection).ok()?;
        let mut draw = Stream::new(1, 0, "instructions");
        let (mut steps, mut jobs, mut job) = (Vec::new(), 0u64.., 0);
        let (mut oldest, mut departures, mut there) = (0, 0, None);
        let mut asked = 0;
        let begin = Instant::now();
        while asked < questions {
            if begin.elapsed() > Duration::from_mins(1) {
                return None;
            }
            let sides = grid.sides().map(|n| draw.between(1, n.min(longest).into()) as u16);
            let request = Request::shape(sides);
            if machine.could_ever_fit(&request).is_err() {
                continue;
            }
            if let Some(next) = jobs.next() {
                job = next;
            }
            loop {
                // Jobs that were there when the first departed have departed: the churn is steady.
                let counts = there.is_some_and(|there| departures >= there);
                if u64::from(request.nodes) <= u64::from(machine.free().count()) {
                    steps.push(Step::Ask(request, counts));
                    asked += usize::from(counts);
                }
                if let Ok(placement) = machine.allocate(JobId(job), &request) {
                    steps.push(Step::Take(placement.clone()));
                    break;
                }
                there = there.or(Some(job));
                let placement = machine.release(JobId(oldest)).ok()?;
                steps.push(Step::Give(placement));
                oldest += 1;
                departures += 1;
            }
        }
        Some(Record { grid: *grid, steps, questions: asked })
    }

    /// The mean time of a question that counts.
    pub(crate) fn nanoseconds(&self, selection: &Selection) -> f64 {
        let fastest = (0..3).map(|_| {
            let mut world = World::new(self.grid, selection);
            let mut spent = Duration::ZERO;
            for step in &self.steps {
                let begin = Instant::now();
                world.step(step);
                if let Step::Ask(_, true) = step {
                    spent += begin.elapsed();
                }
            }
            spent.as_nanos() as f64
        });
        fastest.fold(f64::INFINITY, f64::min) / self.questions as f64
    }
}

/// A strategy and what it is told.
pub(crate) struct World {
    free: Occupancy,
    strategy: Box<dyn Strategy>,
    draw: Stream,
}

impl World {
    pub(crate) fn new(grid: Grid, selection: &Selection) -> World {
        let strategy = selection.build(&grid).expect("it was recorded on this grid");
        let draw = Stream::new(1, 0, "answers");
        World { free: Occupancy::all_free(grid), strategy, draw }
    }

    pub(crate) fn step(&mut self, step: &Step) {
        match step {
            // Questions before those that count only warm up, which the first ones do.
            Step::Ask(_, false) => {}
            Step::Ask(request, true) => {
                std::hint::black_box(self.counted_find(request));
            }
            Step::Take(placement) => {
                self.free.take_all(placement.parts()).expect("it was granted when recorded");
                self.strategy.granted(placement);
            }
            Step::Give(placement) => {
                self.free.give_all(placement.parts()).expect("it was granted");
                self.strategy.released(placement);
            }
        }
    }

    /// What callgrind counts.
    #[inline(never)]
    fn counted_find(&mut self, request: &Request) -> Option<Placement> {
        self.strategy.find(&self.free, request, &mut self.draw)
    }
}
