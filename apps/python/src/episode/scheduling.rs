//! Episodes in which the caller chooses the next job to start.
//!
//! The caller sees the first jobs in the queue and a mask of the allowed actions. An action either
//! starts one of these jobs or waits for the next change. The caller has to act only when some job
//! could start.

use std::collections::HashSet;

use pavior::Request;
use pavior::scheduling::{Reach, Start};
use pavior::simulation::RunError;

use super::Decisions;
use super::features::{COLUMNS, floats};
use super::run::SteppedRun;
use crate::arrays::free_bytes;

/// A run in which the caller starts the jobs.
pub(super) struct Scheduling {
    run: SteppedRun,
    /// For each of the first jobs in the queue, true if it could start now.
    fits: Vec<bool>,
    /// The number of jobs that the caller sees.
    window: usize,
    /// The requests refused in the current machine state, with the reach of their jobs.
    refused: HashSet<(Request, Reach)>,
    /// The machine state to which `refused` applies.
    state: Option<u64>,
}

impl Scheduling {
    pub(super) fn new(run: SteppedRun, window: usize) -> Scheduling {
        let refused = HashSet::new();
        Scheduling { run, fits: Vec::new(), window: window.max(1), refused, state: None }
    }

    /// Determines which of the first jobs could start now.
    fn find_fits(&mut self) {
        self.fits.clear();
        if self.run.over {
            return;
        }
        let simulation = &mut self.run.simulation;
        let state = simulation.view().state();
        if self.state != Some(state) {
            self.state = Some(state);
            self.refused.clear();
        }
        for index in 0..self.window.min(simulation.queue().len()) {
            let job = simulation.queue().get(index).expect("the index is in the queue").clone();
            let question = (job.request, simulation.view().reach(&job));
            let fits = !self.refused.contains(&question) && simulation.can_start(index);
            if !fits {
                self.refused.insert(question);
            }
            self.fits.push(fits);
        }
    }
}

impl Decisions for Scheduling {
    fn run(&mut self) -> &mut SteppedRun {
        &mut self.run
    }

    /// Runs until a job could start, or to the end.
    fn run_to_decision(&mut self) -> Result<(), RunError> {
        self.find_fits();
        while !self.run.over && !self.fits.contains(&true) {
            self.run.advance()?;
            self.find_fits();
        }
        Ok(())
    }

    /// Starts the job at this queue index, if it fits. Any other action waits for the next change
    /// or, if no more changes will come, starts the oldest job that fits. Returns true if the mask
    /// allows the action.
    fn act(&mut self, action: usize) -> Result<bool, RunError> {
        let starts = self.fits.get(action).copied().unwrap_or(false);
        if self.run.over {
            return Ok(action == self.window);
        }
        let waits = self.run.simulation.goes_on();
        let valid = starts || (action == self.window && waits);
        let first = self.fits.iter().position(|&fits| fits);
        match (starts, first) {
            (true, _) => self.run.simulation.start(Start::at(action))?,
            (false, Some(oldest)) if !waits => self.run.simulation.start(Start::at(oldest))?,
            _ => self.run.advance()?,
        }
        self.run_to_decision()?;
        Ok(valid)
    }

    /// Returns the arrays of an observation: free nodes, remaining times, job features, the length
    /// of the queue (scaled to lie between 0 and 1), and the mask.
    fn observe(&mut self) -> Vec<Vec<u8>> {
        let queue = self.run.simulation.queue();
        let waiting = queue.len() as f32;
        let mut jobs = vec![0.0_f32; self.window * COLUMNS];
        for (row, job) in jobs.chunks_exact_mut(COLUMNS).zip(queue.iter()) {
            row.copy_from_slice(&self.run.features(job));
        }
        let length = waiting / (waiting + self.window as f32);
        let mut mask: Vec<u8> = self.fits.iter().map(|&fits| u8::from(fits)).collect();
        mask.resize(self.window, 0);
        let waits = self.run.simulation.goes_on() || !self.fits.contains(&true);
        mask.push(u8::from(waits));
        vec![
            free_bytes(self.run.simulation.machine().free()),
            self.run.remaining(),
            floats(&jobs),
            floats(&[length]),
            mask,
        ]
    }
}
