//! A run, and what is counted between decisions.

use pavior::Time;
use pavior::simulation::{RunError, Simulation, Stop};

/// A run that is stepped.
pub(super) struct Steps {
    pub(super) simulation: Simulation<'static, 'static, 'static>,
    /// What a long time is, in ticks.
    pub(super) scale: f64,
    /// The time integral of the number of waiting jobs since it was last looked at, in ticks.
    waited: f64,
    pub(super) over: bool,
    stop: Stop,
}

/// How a run stands.
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

    /// Goes to the next instant at which something changes.
    pub(super) fn advance(&mut self) -> Result<(), RunError> {
        let (since, waiting) = (self.simulation.now(), self.simulation.queue().len());
        self.over = !self.simulation.advance(&self.stop)?;
        self.waited += self.simulation.now().since(since).ticks() * waiting as f64;
        Ok(())
    }

    /// How the run stands; what was waited is counted from here anew.
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

    /// A length of time between 0 and 1: as long as the mean estimate is a half.
    pub(super) fn share(&self, length: Time) -> f32 {
        let length = length.ticks();
        (length / (length + self.scale)) as f32
    }
}
