//! An exhaustive search for the best schedule of a few jobs on a small machine. At each event, it
//! tries every set of jobs to start.

use std::collections::HashMap;

use pavior::Grid;
use pavior_studies::yardstick::bounds::Task;

/// The quantity to minimize.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// The sum of weighted completion times.
    Completions,
    /// The end of the last job.
    Makespan,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    /// Any set of nodes, so that only the number of free nodes matters.
    Nodes,
    /// Boxes, in any orientation.
    Boxes,
}

/// A search that represents each set of nodes as a bit mask.
pub(crate) struct Exact<'t> {
    tasks: &'t [Task],
    /// For each job, all boxes in which it can run.
    boxes: Vec<Vec<u32>>,
    all: u32,
    goal: Goal,
    places: Places,
    best: i64,
    /// The lowest cost at which each state was reached so far.
    seen: HashMap<State, i64>,
}

/// The time, the jobs that have not started, and the end time and node mask of each running job.
type State = (i64, u32, Vec<(i64, u32)>);

impl Exact<'_> {
    /// Returns the minimum cost of any schedule. `sides` contains the sides of each job's box.
    pub(crate) fn best(
        grid: &Grid,
        tasks: &[Task],
        sides: &[[u16; 3]],
        (goal, places): (Goal, Places),
    ) -> i64 {
        let mut search = Exact {
            tasks,
            boxes: sides.iter().map(|sides| boxes(grid, *sides)).collect(),
            all: (1 << grid.nodes()) - 1,
            goal,
            places,
            best: i64::MAX,
            seen: HashMap::new(),
        };
        let open = (1 << tasks.len()) - 1;
        search.next(0, open, &mut Vec::new(), 0);
        search.best
    }

    /// Continues the search from an event, unless its state was already reached at equal or lower
    /// cost.
    fn next(&mut self, now: i64, open: u32, running: &mut [(i64, u32)], spent: i64) {
        running.sort_unstable();
        let key = (now, open, running.to_vec());
        if self.seen.get(&key).is_some_and(|&before| before <= spent) {
            return;
        }
        self.seen.insert(key, spent);
        self.start(now, open, &mut running.to_vec(), spent, 0);
    }

    /// Tries to start every subset of the jobs from index `from` on, then moves to the next event.
    fn start(
        &mut self,
        now: i64,
        open: u32,
        running: &mut Vec<(i64, u32)>,
        spent: i64,
        from: usize,
    ) {
        let least = self.least(now, open, spent);
        if least >= self.best {
            return;
        }
        if open == 0 {
            self.best = least;
            return;
        }
        let busy = running.iter().fold(0, |busy, (_, mask)| busy | mask);
        for at in from..self.tasks.len() {
            let task = self.tasks[at];
            if open & 1 << at == 0 || task.release > now {
                continue;
            }
            let end = now + task.run;
            for mask in self.free(at, busy) {
                running.push((end, mask));
                let spent = self.with(spent, &task, end);
                self.start(now, open & !(1 << at), running, spent, at + 1);
                running.pop();
            }
        }
        let ends = running.iter().map(|&(end, _)| end);
        let releases = self.tasks.iter().map(|task| task.release);
        if let Some(then) = ends.chain(releases).filter(|&time| time > now).min() {
            let mut left = running.clone();
            left.retain(|&(end, _)| end > then);
            self.next(then, open, &mut left, spent);
        }
    }

    /// Returns the sets of free nodes to try for a job.
    fn free(&self, at: usize, busy: u32) -> Vec<u32> {
        if self.places == Places::Boxes {
            return self.boxes[at].iter().copied().filter(|mask| mask & busy == 0).collect();
        }
        let (mut left, mut mask) = (self.all & !busy, 0);
        for _ in 0..self.tasks[at].nodes {
            if left == 0 {
                return Vec::new();
            }
            mask |= left & left.wrapping_neg();
            left &= left - 1;
        }
        vec![mask]
    }

    fn with(&self, spent: i64, task: &Task, end: i64) -> i64 {
        match self.goal {
            Goal::Completions => spent + task.weight * end,
            Goal::Makespan => spent.max(end),
        }
    }

    /// Returns a lower bound on the final cost, assuming that each open job starts as soon as it is
    /// released.
    fn least(&self, now: i64, open: u32, spent: i64) -> i64 {
        let open = self.tasks.iter().enumerate().filter(|(at, _)| open & 1 << at != 0);
        open.fold(spent, |spent, (_, task)| {
            self.with(spent, task, now.max(task.release) + task.run)
        })
    }
}

/// Returns all boxes with these sides in any order, as masks.
fn boxes(grid: &Grid, sides: [u16; 3]) -> Vec<u32> {
    let machine = grid.sides().map(u32::from);
    let [a, b, c] = sides.map(u32::from);
    let mut found = Vec::new();
    for [w, d, h] in [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
        if w > machine[0] || d > machine[1] || h > machine[2] {
            continue;
        }
        for x in 0..=machine[0] - w {
            for y in 0..=machine[1] - d {
                for z in 0..=machine[2] - h {
                    found.push(mask(machine, [x, y, z], [w, d, h]));
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn mask(machine: [u32; 3], base: [u32; 3], sides: [u32; 3]) -> u32 {
    let mut mask = 0;
    for x in base[0]..base[0] + sides[0] {
        for y in base[1]..base[1] + sides[1] {
            for z in base[2]..base[2] + sides[2] {
                mask |= 1 << (x + machine[0] * (y + machine[1] * z));
            }
        }
    }
    mask
}
