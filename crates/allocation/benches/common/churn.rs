//! Churn: a recorded sequence of grants and releases near saturation, which is replayed on a
//! strategy. The replay is either timed, or run under callgrind in a separate process that reads
//! the record as text.

// Each bench uses only part of this module.
#![allow(dead_code)]

use std::collections::VecDeque;
use std::fmt;
use std::io::BufRead;
use std::time::{Duration, Instant};

use pavior_allocation::{Machine, Placement, Selection, Strategy};
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, JobId, Occupancy, Request};
use pavior_trials::instructions::{collected, collected_with_memory};

/// Distributions of requested sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sides {
    /// Uniform from 1 to a bound.
    Uniform(u16),
    /// Sides of up to an eighth of the axis with probability 0.4, and sides in the next eighth, in
    /// the next quarter and in the upper half with probability 0.2 each.
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

pub(crate) enum Step {
    /// A measured request, and true if it was granted.
    Ask(Request, bool),
    Take(Placement),
    Give(Placement),
}

/// A recorded churn. Questions are measured only after all jobs that were running at the first
/// departure have departed.
pub(crate) struct Record {
    pub(crate) grid: Grid,
    pub(crate) steps: Vec<Step>,
    pub(crate) questions: usize,
}

impl Record {
    /// Records a strategy's churn until it has answered `questions` questions. Requests come from
    /// one random number stream. After a refusal, the oldest job departs and the request is
    /// retried. Returns `None` if nothing is granted on this grid or if the recording takes over a
    /// minute.
    pub(crate) fn new(
        grid: &Grid,
        selection: &Selection,
        sides: Sides,
        stream: &str,
        questions: usize,
    ) -> Option<Record> {
        let mut machine = Machine::new(*grid, selection.clone()).ok()?;
        let mut dice = Stream::new(1, 0, stream);
        let (mut steps, mut running, mut job) = (Vec::new(), VecDeque::new(), 0);
        let (mut departures, mut there, mut asked) = (0, None, 0);
        let begin = Instant::now();
        while asked < questions {
            if begin.elapsed() > Duration::from_mins(1) {
                return None;
            }
            let request = Request::shape(grid.sides().map(|n| sides.draw(n, &mut dice)));
            if machine.could_ever_fit(&request).is_err() {
                continue;
            }
            loop {
                let counts = there.is_some_and(|there| departures >= there);
                // If too few nodes are free, the machine refuses without querying the strategy.
                let is_asked = u64::from(request.nodes) <= u64::from(machine.free().count());
                let answer = machine.allocate(JobId(job), &request).cloned();
                if counts && is_asked {
                    steps.push(Step::Ask(request, answer.is_ok()));
                    asked += 1;
                }
                if let Ok(placement) = answer {
                    steps.push(Step::Take(placement));
                    running.push_back(job);
                    job += 1;
                    break;
                }
                there = there.or(Some(job));
                steps.push(Step::Give(machine.release(JobId(running.pop_front()?)).ok()?));
                departures += 1;
            }
        }
        Some(Record { grid: *grid, steps, questions: asked })
    }

    /// Counts the instructions per question over the record's first `first` questions. Returns
    /// `None` if callgrind fails.
    pub(crate) fn instructions(&self, search: &Selection, first: usize) -> Option<f64> {
        let arguments = [CHILD, &search.to_string()];
        let count = collected(&arguments, "counted_find", &self.written(first));
        count.map(|count| count / first.min(self.questions) as f64)
    }

    /// Counts instructions and memory accesses per question under callgrind.
    pub(crate) fn with_memory(&self, search: &Selection) -> Option<Vec<(String, f64)>> {
        let arguments = [CHILD, &search.to_string()];
        let text = self.written(usize::MAX);
        let counts = collected_with_memory(&arguments, "counted_find", &text)?;
        let each = |(name, count): (String, f64)| (name, count / self.questions as f64);
        Some(counts.into_iter().map(each).collect())
    }

    /// Formats the record as text, up to the end of question `first`. The first line is the grid;
    /// each line after it is a step.
    fn written(&self, first: usize) -> String {
        let line = |word: &str, numbers: &mut dyn Iterator<Item = u16>| {
            let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
            format!("{word} {}\n", numbers.join(" "))
        };
        let parts = |word, placement: &Placement| {
            let parts = placement.parts().iter().flat_map(|part| [part.base, part.sides]);
            line(word, &mut parts.flatten())
        };
        let (mut text, mut asked) = (format!("{}\n", self.grid), 0);
        for step in &self.steps {
            text += &match step {
                Step::Ask(..) if asked == first => break,
                Step::Ask(request, _) => {
                    asked += 1;
                    line("ask", &mut request.shape.unwrap_or([1; 3]).into_iter())
                }
                Step::Take(placement) => parts("take", placement),
                Step::Give(placement) => parts("give", placement),
            };
        }
        text
    }
}

/// A strategy that replays a record.
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

    /// Answers one question. Callgrind measures this function, which it finds by name.
    #[inline(never)]
    pub(crate) fn counted_find(&mut self, request: &Request) -> Option<Placement> {
        self.strategy.find(&self.free, request, &mut self.draw)
    }

    pub(crate) fn take(&mut self, placement: &Placement) {
        self.free.take_all(placement.parts()).expect("it was granted when recorded");
        self.strategy.granted(placement);
    }

    pub(crate) fn give(&mut self, placement: &Placement) {
        self.free.give_all(placement.parts()).expect("it was granted");
        self.strategy.released(placement);
    }
}

/// The argument that, followed by a strategy, makes a program replay a record from its input.
pub(crate) const CHILD: &str = "--replay-from-input";

/// Reads a record from standard input and replays it on a strategy.
pub(crate) fn replay_from_input(strategy: &str) {
    let selection: Selection = strategy.parse().expect("the parent names a strategy");
    let mut lines =
        std::io::stdin().lock().lines().map(|line| line.expect("the parent writes text"));
    let grid: Grid = lines.next().and_then(|line| line.parse().ok()).expect("the grid comes first");
    let mut world = World::new(grid, &selection);
    for line in lines {
        let mut words = line.split(' ');
        let word = words.next().unwrap_or_default();
        let numbers: Vec<u16> = words.map(|word| word.parse().expect("numbers follow")).collect();
        let three = |numbers: &[u16]| [numbers[0], numbers[1], numbers[2]];
        let part = |part: &[u16]| Cuboid::new(three(part), three(&part[3..]));
        let parts = || match numbers.chunks(6).map(part).collect::<Vec<_>>() {
            one if one.len() == 1 => Placement::Whole(one[0]),
            many => Placement::Parts(many),
        };
        match word {
            "take" => world.take(&parts()),
            "give" => world.give(&parts()),
            _ => drop(std::hint::black_box(world.counted_find(&Request::shape(three(&numbers))))),
        }
    }
}
