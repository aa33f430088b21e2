//! Machine states to test: all occupancies, and states with random boxes.

use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy, Request};

use super::judge::failed;
use super::{Flaw, judge, requests};
use crate::{Placement, Selection, Strategy};

/// A strategy and the actual state, which are always updated together.
struct Subject<'a> {
    selection: &'a Selection,
    free: Occupancy,
    held: Vec<Placement>,
    strategy: Box<dyn Strategy>,
    draw: Stream,
}

impl<'a> Subject<'a> {
    fn new(selection: &'a Selection, grid: &Grid) -> Result<Self, Flaw> {
        let strategy = selection.build(grid).map_err(|error| error.to_string())?;
        let draw = Stream::new(1, 0, "conformance");
        let free = Occupancy::all_free(*grid);
        Ok(Subject { selection, free, held: Vec::new(), strategy, draw })
    }

    fn take(&mut self, cuboid: Cuboid) {
        self.free.take(&cuboid).expect("the box is free");
        self.held.push(Placement::Whole(cuboid));
        self.strategy.granted(&Placement::Whole(cuboid));
        self.strategy.validate(&self.free);
    }

    fn give(&mut self, cuboid: Cuboid) {
        self.free.give(&cuboid).expect("the box was taken");
        self.held.retain(|placement| *placement != Placement::Whole(cuboid));
        self.strategy.released(&Placement::Whole(cuboid));
        self.strategy.validate(&self.free);
    }

    fn ask(&mut self, request: &Request) -> Result<(), Flaw> {
        let answer = self.strategy.find(&self.free, request, &mut self.draw);
        if let Some(error) = self.strategy.error() {
            return Err(failed(self.selection, &self.free, request, &error));
        }
        judge(self.selection, &self.free, &self.held, request, answer.as_ref())
    }
}

/// Checks every request in every occupancy of a grid. Occupancies are visited in Gray-code order,
/// one node at a time, so the strategy handles 2^nodes single-node grants and releases. Returns the
/// number of answers.
///
/// # Errors
/// Returns the first broken claim, or any other failure.
pub fn every_occupancy(selection: &Selection, grid: &Grid) -> Result<u64, Flaw> {
    let mut subject = Subject::new(selection, grid)?;
    let requests = requests(selection, grid);
    let mut answers = 0;
    for code in 0u64..1 << grid.nodes() {
        if code > 0 {
            let node = Cuboid::node(grid.point(NodeId(code.trailing_zeros())));
            if subject.free.is_free(&node) { subject.take(node) } else { subject.give(node) }
        }
        for request in &requests {
            subject.ask(request).map_err(|flaw| flaw.after(answers))?;
            answers += 1;
        }
    }
    Ok(answers)
}

/// Fills the machine with disjoint random boxes and checks every request, then empties the machine
/// in random order and checks one request after each release. Does this `rounds` times. Returns the
/// number of answers.
///
/// # Errors
/// Returns the first broken claim, or any other failure.
pub fn random_boxes(
    selection: &Selection,
    grid: &Grid,
    seed: u64,
    rounds: u64,
) -> Result<u64, Flaw> {
    let mut dice = Stream::new(seed, 0, "random-boxes");
    let requests = requests(selection, grid);
    let mut answers = 0;
    for _ in 0..rounds {
        let mut subject = Subject::new(selection, grid)?;
        let mut held = Vec::new();
        for _ in 0..dice.between(1, 12) {
            let cuboid = random_box(grid, &mut dice);
            if subject.free.is_free(&cuboid) {
                subject.take(cuboid);
                held.push(cuboid);
            }
        }
        for request in &requests {
            subject.ask(request).map_err(|flaw| flaw.after(answers))?;
            answers += 1;
        }
        while !held.is_empty() {
            let cuboid = held.swap_remove(dice.below(held.len() as u64) as usize);
            subject.give(cuboid);
            let request = &requests[dice.below(requests.len() as u64) as usize];
            subject.ask(request).map_err(|flaw| flaw.after(answers))?;
            answers += 1;
        }
    }
    Ok(answers)
}

/// Draws a box on the grid. Small boxes are more likely than large ones.
pub(super) fn random_box(grid: &Grid, dice: &mut Stream) -> Cuboid {
    let mut cuboid = Cuboid::node([0; 3]);
    for axis in 0..3 {
        let n = u64::from(grid.side(axis));
        let longest = if dice.below(4) == 0 { n } else { n.min(1 + n / 2) };
        let side = dice.between(1, longest) as u16;
        cuboid.sides[axis] = side;
        cuboid.base[axis] = dice.below(u64::from(grid.starts(axis, side))) as u16;
    }
    cuboid
}
