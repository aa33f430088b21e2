//! Compares a strategy's engine with its plain search.

use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, Occupancy, Request, picture};

use crate::{Placement, Selection, Strategy};

/// Sends the same requests in the same states to two selections, for `steps` random steps. Both
/// must return the same placements, as a strategy's engine and plain search do. Most requested
/// sides are at most `longest`. Returns the number of answers.
///
/// # Errors
/// Returns the first difference, with a drawing of the state.
pub fn lock_step(
    pair: [&Selection; 2],
    grid: &Grid,
    longest: u16,
    seed: u64,
    steps: u64,
) -> Result<u64, String> {
    let mut walk = Walk::new(pair, grid, longest, seed)?;
    for step in 0..steps {
        let answer = walk.ask(pair, step)?;
        walk.go_on(answer, step);
    }
    Ok(steps)
}

/// Two strategies with the same history.
struct Walk {
    strategies: [Box<dyn Strategy>; 2],
    free: Occupancy,
    held: Vec<Placement>,
    dice: Stream,
    longest: u16,
    request: Request,
}

impl Walk {
    fn new(pair: [&Selection; 2], grid: &Grid, longest: u16, seed: u64) -> Result<Walk, String> {
        let build = |selection: &Selection| selection.build(grid).map_err(|e| e.to_string());
        Ok(Walk {
            strategies: [build(pair[0])?, build(pair[1])?],
            free: Occupancy::all_free(*grid),
            held: Vec::new(),
            dice: Stream::new(seed, 0, "lock-step"),
            longest,
            request: Request::shape([1; 3]),
        })
    }

    fn ask(&mut self, pair: [&Selection; 2], step: u64) -> Result<Option<Placement>, String> {
        // Sometimes the previous request is repeated, as for a job at the head of a queue.
        if self.dice.below(3) > 0 {
            self.request = self.next_request(pair[0].entry.does.contiguous);
        }
        let [engine, plain] = self.strategies.each_mut().map(|strategy| {
            strategy.find(&self.free, &self.request, &mut Stream::new(step, 0, "answer"))
        });
        if engine == plain {
            return Ok(engine);
        }
        Err(format!(
            "step {step} on {}: {:?}\n{} answers {engine:?}\n{} answers {plain:?}\n{}",
            self.free.grid(),
            self.request,
            pair[0],
            pair[1],
            picture::draw(&self.free)
        ))
    }

    fn sides(&mut self) -> [u16; 3] {
        std::array::from_fn(|axis| {
            let n = self.free.grid().side(axis);
            let most = if self.dice.below(12) == 0 { n } else { n.min(self.longest) };
            self.dice.between(1, most.into()) as u16
        })
    }

    fn next_request(&mut self, contiguous: bool) -> Request {
        let shape = self.sides();
        let request = Request::shape(shape);
        match self.dice.below(6) {
            0 if !contiguous => Request::nodes(request.nodes),
            1 if !contiguous && request.nodes > 1 => Request::hinted(request.nodes - 1, shape),
            _ => request,
        }
    }

    /// Randomly grants the answer, a box that neither strategy proposed, or nothing. Then releases
    /// a random number of placements and occasionally copies the strategies.
    fn go_on(&mut self, answer: Option<Placement>, step: u64) {
        let chance = if answer.is_some() { 5 } else { 2 };
        if let Some(placement) = answer.filter(|_| self.dice.below(8) > 0) {
            self.grant(placement);
        } else if self.dice.below(4) == 0 {
            let sides = self.sides();
            let starts =
                [0, 1, 2].map(|axis| u64::from(self.free.grid().starts(axis, sides[axis])));
            let cuboid = Cuboid::new(starts.map(|n| self.dice.below(n) as u16), sides);
            if self.free.is_free(&cuboid) {
                self.grant(Placement::Whole(cuboid));
            }
        }
        while !self.held.is_empty() && self.dice.below(chance) == 0 {
            let index = self.dice.below(self.held.len() as u64) as usize;
            self.release(index);
        }
        if step % 128 == 0 {
            self.strategies.iter().for_each(|strategy| strategy.validate(&self.free));
            // A copy must behave like the original.
            self.strategies = self.strategies.each_ref().map(|strategy| strategy.fork());
        }
    }

    fn grant(&mut self, placement: Placement) {
        self.free.take_all(placement.parts()).expect("a proposal is free");
        self.strategies.iter_mut().for_each(|strategy| strategy.granted(&placement));
        self.held.push(placement);
    }

    fn release(&mut self, index: usize) {
        let placement = self.held.swap_remove(index);
        self.free.give_all(placement.parts()).expect("it was granted");
        self.strategies.iter_mut().for_each(|strategy| strategy.released(&placement));
    }
}
