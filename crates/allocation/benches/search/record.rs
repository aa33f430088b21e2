//! A churn as it happened, to be imposed on any strategy.

use std::collections::VecDeque;
use std::fmt;

use pavior_allocation::{Machine, Placement, Refusal, Selection, Strategy};
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, JobId, Occupancy, Request};

/// How sides are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sides {
    /// Uniform on 1 to a bound.
    Uniform(u16),
    /// Up to an eighth of the axis with probability 0.4, then to a quarter, a half and the whole
    /// with 0.2 each.
    Decreasing,
}

impl fmt::Display for Sides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sides::Uniform(longest) => write!(f, "to {longest}"),
            Sides::Decreasing => f.write_str("decreasing"),
        }
    }
}

impl Sides {
    fn draw(self, length: u16, dice: &mut Stream) -> u16 {
        let length = u64::from(length);
        let (low, high) = match self {
            Sides::Uniform(longest) => (1, length.min(u64::from(longest))),
            Sides::Decreasing if length < 8 => (1, length),
            Sides::Decreasing => match dice.below(5) {
                0 | 1 => (1, length / 8),
                2 => (length / 8 + 1, length / 4),
                3 => (length / 4 + 1, length / 2),
                _ => (length / 2 + 1, length),
            },
        };
        dice.between(low, high) as u16
    }
}

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A search for a shape, and whether it finds a place.
    Search([u16; 3], bool),
    Take(Cuboid),
    Give(Cuboid),
}

/// A churn: what is busy at first, in the order of the grants, and what happens then.
pub(crate) struct Record {
    pub(crate) grid: Grid,
    pub(crate) start: Vec<Cuboid>,
    pub(crate) steps: Vec<Step>,
    /// The searches among the steps.
    pub(crate) searches: usize,
}

impl Record {
    /// Plays a churn near saturation, after one in which all jobs of a full machine have departed,
    /// to the last of so many searches.
    pub(crate) fn new(grid: Grid, sides: Sides, player: &Selection, most: usize) -> Record {
        let mut dice = Stream::new(1, 0, "search");
        let mut machine = Machine::with_seed(grid, player, 1).expect("works everywhere");
        let mut draw =
            || Request::shape([0, 1, 2].map(|axis| sides.draw(grid.side(axis), &mut dice)));
        let (mut running, mut next) = (VecDeque::new(), 0);
        let (mut start, mut steps, mut full) = (None, Vec::new(), None);
        let mut searches = 0;
        let mut request = draw();
        while searches < most {
            let answer =
                machine.allocate(JobId(next), &request).map(|placement| placement.parts()[0]);
            if answer != Err(Refusal::TooFewFreeNodes.into()) {
                let shape = request.shape.expect("it was made of one");
                steps.push(Step::Search(shape, answer.is_ok()));
                searches += 1;
            }
            if let Ok(part) = answer {
                steps.push(Step::Take(part));
                running.push_back((next, part));
                next += 1;
                request = draw();
            } else {
                full = full.or(Some(next));
                let (job, part) = running.pop_front().expect("an empty machine has room");
                machine.release(JobId(job)).expect("it was granted");
                steps.push(Step::Give(part));
            }
            let turned_over =
                full.is_some_and(|full| running.front().is_none_or(|job| job.0 >= full));
            if start.is_none() {
                searches = 0;
                if turned_over {
                    start = Some(running.iter().map(|(_, part)| *part).collect());
                    steps.clear();
                }
            }
        }
        let start = start.expect("searches are counted from then on");
        Record { grid, start, steps, searches }
    }

    /// The share of searches that find nothing.
    pub(crate) fn refused_percent(&self) -> usize {
        let refused = self.steps.iter().filter(|step| matches!(step, Step::Search(_, false)));
        refused.count() * 100 / self.searches
    }

    /// Busy boxes at a search, on average.
    pub(crate) fn mean_jobs(&self) -> f64 {
        let (mut jobs, mut sum) = (self.start.len(), 0);
        for step in &self.steps {
            match step {
                Step::Search(..) => sum += jobs,
                Step::Take(_) => jobs += 1,
                Step::Give(_) => jobs -= 1,
            }
        }
        sum as f64 / self.searches as f64
    }
}

/// A strategy in the states of a record.
pub(crate) struct World {
    strategy: Box<dyn Strategy>,
    free: Occupancy,
    draw: Stream,
}

impl World {
    pub(crate) fn new(grid: Grid, selection: &Selection, start: &[Cuboid]) -> World {
        let strategy = selection.build(&grid).expect("works everywhere");
        let (free, draw) = (Occupancy::all_free(grid), Stream::new(1, 0, "allocation"));
        let mut world = World { strategy, free, draw };
        for part in start {
            world.change(&Step::Take(*part));
        }
        world
    }

    /// What is measured.
    pub(crate) fn search(&mut self, shape: [u16; 3]) -> bool {
        counted_search(&mut *self.strategy, &self.free, &Request::shape(shape), &mut self.draw)
    }

    /// What is not.
    pub(crate) fn change(&mut self, step: &Step) {
        match step {
            Step::Search(..) => {}
            Step::Take(part) => {
                self.free.take(part).unwrap();
                self.strategy.granted(&Placement::Whole(*part));
            }
            Step::Give(part) => {
                self.free.give(part).unwrap();
                self.strategy.released(&Placement::Whole(*part));
            }
        }
    }
}

/// Callgrind counts what happens below this function, which it knows by its name.
#[inline(never)]
fn counted_search(
    strategy: &mut dyn Strategy,
    free: &Occupancy,
    request: &Request,
    draw: &mut Stream,
) -> bool {
    strategy.find(free, request, draw).is_some()
}
