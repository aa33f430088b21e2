//! The machine as reported by Slurm, and each job's role.

use std::collections::HashSet;

use pavior::workload::Shaper;
use pavior::{NodeId, Request};
use pavior_cluster::Planner;

use crate::SlurmError;
use crate::ledger::site::Site;
use crate::ledger::{JobKey, Phase};
use crate::plan::builder::Builder;
use crate::plan::world::World;

/// A job's role in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The job holds nodes.
    Holds,
    /// The gate is open, and the job can still get the chosen nodes.
    Opened,
    /// The gate is open, and Slurm may free the chosen nodes for the job through preemption.
    Preempting,
    /// The gate is open or missing, and the job is held.
    Held,
    /// The gate is open, but the given reason prevents the job from getting the chosen nodes.
    Obstructed(&'static str),
    /// The job was requeued with its gate open and would restart too soon.
    Requeued,
    /// The gate is neither open nor closed, because the job does not request the license.
    Ungated,
    /// The job is waiting for a box.
    Waits(Request),
    /// The job cannot be placed now, because it is held or not yet eligible, or has an invalid
    /// shape.
    Ineligible,
}

/// The machine in a cycle. It contains the jobs that hold nodes, and its queue is empty. A job's
/// number on the machine is its index in the ledger.
pub(crate) struct MachineState {
    pub(crate) planner: Planner,
    pub(crate) roles: Vec<Role>,
    /// Nodes in use by two jobs. This list should always be empty.
    pub(crate) overlaps: Vec<NodeId>,
    /// Running jobs whose nodes do not form the requested box.
    pub(crate) misplaced: Vec<usize>,
    /// Waiting jobs that could not be placed now even if no other job were running.
    pub(crate) unplaceable: Vec<(usize, Obstacle)>,
}

/// A reason why a job could not be placed now even if no other job were running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// Every box for the job is blocked by reservations, which will eventually end.
    Reserved,
    /// The job can never be placed, for the given reason.
    Never(String),
}

impl MachineState {
    pub(crate) fn of(
        world: World<'_>,
        site: &Site,
        evicting: &HashSet<JobKey>,
        shaper: &mut Shaper,
    ) -> Result<MachineState, SlurmError> {
        let ledger = world.ledger;
        let mut builder = Builder::new(world, site, evicting)?;
        // Slurm may start a job before the job that it preempts has ended completely. In that case,
        // a node held by both belongs to the running job.
        for phase in [Phase::Running, Phase::Completing] {
            for (index, job) in ledger.jobs.iter().enumerate() {
                if job.phase == phase {
                    builder.hold(index, job, shaper);
                }
            }
        }
        builder.hold_for_power_off();
        let mut roles = vec![Role::Holds; ledger.jobs.len()];
        for (index, job) in ledger.jobs.iter().enumerate() {
            if job.phase == Phase::Pending {
                roles[index] = builder.classify(index, job, shaper);
            }
        }
        Ok(builder.finish(roles))
    }
}
