//! A run and its counts between decisions.

use pavior::Time;
use pavior::simulation::{RunError, Simulation, Stop};

/// A run that is advanced step by step.
pub(super) struct Steps {
    pub(super) simulation: Simulation<'static, 'static, 'static>,
    /// The scale for times, in ticks.
    pub(super) scale: f64,
    /// The time integral of the number of waiting jobs since it was last read, in ticks.
    waited: f64,
    pub(super) over: bool,
    stop: Stop,
}

/// The state of a run.
pub(super) struct Tally {
    pub(super) waited: f64,
    pub(super) over: bool,
    pub(super) now: Time,
    pub(super) waiting: usize,
    pub(super) running: usize,
    pub(super) completed: u64,
}

impl Steps {
    pub(super) fn new(simulation: Simulation<'static, 'static, 'static>, scale: f64) -> Steps {
        Steps { simulation, scale, waited: 0.0, over: false, stop: Stop::default() }
    }

    /// Advances to the next instant with a change.
    pub(super) fn advance(&mut self) -> Result<(), RunError> {
        let (since, waiting) = (self.simulation.now(), self.simulation.queue().len());
        self.over = !self.simulation.advance(&self.stop)?;
        self.waited += self.simulation.now().since(since).ticks() * waiting as f64;
        Ok(())
    }

    /// Returns the state of the run and resets the integral of waiting jobs.
    pub(super) fn tally(&mut self) -> Tally {
        Tally {
            waited: std::mem::take(&mut self.waited),
            over: self.over,
            now: self.simulation.now(),
            waiting: self.simulation.queue().len(),
            running: self.simulation.running().len(),
            completed: self.simulation.completed(),
        }
    }

    /// Scales a duration to a number between 0 and 1. The mean estimate maps to one half.
    pub(super) fn share(&self, length: Time) -> f32 {
        let length = length.ticks();
        (length / (length + self.scale)) as f32
    }
}
