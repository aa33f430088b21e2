//! Episodes in which the scheduler chooses each job and the caller decides where to place it.

use pavior::scheduling::Start;
use pavior::simulation::RunError;
use pavior::strategies::BaseSet;
use pavior::{Cuboid, NodeId, Placement, Sides};

use super::Decisions;
use super::features::floats;
use super::run::SteppedRun;
use crate::arrays::{bytes_at, free_bytes};

/// A run in which the caller places the jobs.
pub(super) struct Allocating {
    run: SteppedRun,
    bases: BaseSet,
    /// The queue index and the shape of the job to place.
    chosen: Option<(usize, Sides)>,
}

impl Allocating {
    pub(super) fn new(run: SteppedRun) -> Allocating {
        let bases = BaseSet::new(*run.simulation.machine().grid());
        Allocating { run, bases, chosen: None }
    }
}

impl Decisions for Allocating {
    fn run(&mut self) -> &mut SteppedRun {
        &mut self.run
    }

    /// Runs until a job has to be placed.
    fn run_to_decision(&mut self) -> Result<(), RunError> {
        self.chosen = None;
        while !self.run.over {
            let simulation = &mut self.run.simulation;
            let Some(start) = simulation.decide()? else {
                self.run.advance()?;
                continue;
            };
            let shape = simulation.queue().get(start.index).and_then(|job| job.request.shape);
            // A scheduler that also plans the nodes places jobs itself.
            let Some(shape) = shape.filter(|_| start.placement.is_none()) else {
                simulation.start(start)?;
                continue;
            };
            if self.bases.compute(simulation.machine().free(), shape) && self.bases.any() {
                self.chosen = Some((start.index, shape));
                return Ok(());
            }
            simulation.start(start)?;
        }
        Ok(())
    }

    /// Places the job with its base at the given node or, if the job does not fit there, at the
    /// first base where it fits. Returns true if the mask allows the action.
    fn act(&mut self, action: usize) -> Result<bool, RunError> {
        let Some((index, shape)) = self.chosen else { return Ok(false) };
        let grid = *self.run.simulation.machine().grid();
        let node = u32::try_from(action).ok().filter(|&node| node < grid.nodes()).map(NodeId);
        let base = node.map(|node| grid.point(node)).filter(|&base| self.bases.contains(base));
        let is_allowed = base.is_some();
        let base = base.or_else(|| self.bases.first()).expect("a chosen job fits at some base");
        let start = Start::on(index, Placement::Whole(Cuboid::new(base, shape)));
        self.run.simulation.start(start)?;
        self.run_to_decision()?;
        Ok(is_allowed)
    }

    /// Returns the arrays of an observation: free nodes, remaining times, job features, and mask.
    fn observe(&mut self) -> Vec<Vec<u8>> {
        let run = &self.run;
        let queue = run.simulation.queue();
        let chosen = self.chosen.and_then(|(index, _)| queue.get(index));
        let job = chosen.map(|job| run.features(job)).unwrap_or_default();
        let grid = run.simulation.machine().grid();
        let bases = chosen.is_some().then(|| self.bases.row_major());
        let mask = bytes_at(grid, bases.into_iter().flatten().map(|base| grid.id(base)));
        vec![free_bytes(run.simulation.machine().free()), run.remaining(), floats(&job), mask]
    }
}
