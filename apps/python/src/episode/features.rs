//! Builds an agent's observations: arrays of numbers between 0 and 1, stored as bytes.

use pavior::workload::Job;

use super::run::SteppedRun;

/// The number of columns per job. They contain the job's share of the nodes, its share of each
/// side, its estimate, and its wait so far.
pub(super) const COLUMNS: usize = 6;

/// Returns the bytes of an array of 32-bit floats.
pub(super) fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

impl SteppedRun {
    /// Returns the estimated remaining time of the job on each node, or 0 if the node has no job.
    pub(super) fn remaining(&self) -> Vec<u8> {
        let machine = self.simulation.machine();
        let (grid, now) = (*machine.grid(), self.simulation.now());
        let mut shares = vec![0.0_f32; grid.nodes() as usize];
        for running in self.simulation.running().by_estimated_end() {
            let end = running.estimated_end();
            let share = if end > now { self.normalized(end.since(now)) } else { 0.0 };
            let parts = machine.placement(running.job.id).map_or(&[][..], |held| held.parts());
            for node in parts.iter().flat_map(|part| part.nodes(&grid)) {
                shares[node.index()] = share;
            }
        }
        floats(&shares)
    }

    /// Returns a job's columns.
    pub(super) fn features(&self, job: &Job) -> [f32; COLUMNS] {
        let grid = self.simulation.machine().grid();
        let sides = job.request.shape.unwrap_or_default();
        let side = |axis: usize| f32::from(sides[axis]) / f32::from(grid.side(axis));
        [
            job.request.nodes as f32 / grid.nodes() as f32,
            side(0).min(1.0),
            side(1).min(1.0),
            side(2).min(1.0),
            self.normalized(job.estimate),
            self.normalized(self.simulation.now().since(job.arrival)),
        ]
    }
}
