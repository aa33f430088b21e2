//! A run, and the counts that it collects between decisions.

use pavior::Time;
use pavior::simulation::{RunError, Simulation, Stop};

/// A run that is advanced step by step.
pub(super) struct SteppedRun {
    pub(super) simulation: Simulation<'static, 'static, 'static>,
    /// The mean of the jobs' estimates, in ticks.
    scale: f64,
    /// The time integral of the number of waiting jobs since it was last read, in ticks.
    pub(super) waited: f64,
    pub(super) over: bool,
    stop: Stop,
}

impl SteppedRun {
    pub(super) fn new(simulation: Simulation<'static, 'static, 'static>, scale: f64) -> SteppedRun {
        SteppedRun { simulation, scale, waited: 0.0, over: false, stop: Stop::default() }
    }

    /// Advances to the next time at which something changes.
    pub(super) fn advance(&mut self) -> Result<(), RunError> {
        let (since, waiting) = (self.simulation.now(), self.simulation.queue().len());
        self.over = !self.simulation.advance(&self.stop)?;
        self.waited += self.simulation.now().since(since).ticks() * waiting as f64;
        Ok(())
    }

    /// Maps a length of time to length / (length + scale), so that the mean estimate becomes 1/2.
    pub(super) fn normalized(&self, length: Time) -> f32 {
        let length = length.ticks();
        (length / (length + self.scale)) as f32
    }
}
