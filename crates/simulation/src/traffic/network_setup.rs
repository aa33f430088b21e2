//! The settings of a network.

use pavior_kernel::Stream;
use pavior_mesh::{Grid, JobId};
use pavior_network::{EngineKind, IterationRoutes, Layout, RankOrder, Settings, TrafficPlan};

use super::Histories;

/// The network on which the messages of jobs travel.
#[derive(Clone)]
pub struct NetworkSetup {
    /// The engine that simulates the network.
    pub engine: EngineKind,
    /// The parameters of the network.
    pub settings: Settings,
    /// The messages that jobs send.
    pub plan: TrafficPlan,
    /// The order in which the ranks of jobs are numbered.
    pub ranks: RankOrder,
    /// Known histories of jobs that are alone on the network. Clones of a setup share them.
    pub histories: Histories,
    /// The treatment of jobs that share links.
    pub contention: Contention,
}

/// The treatment of jobs that share links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contention {
    /// The messages are simulated. The results are exact.
    #[default]
    Simulated,
    /// The messages of running jobs are not simulated. The pace of each job is computed from the
    /// time of an iteration alone and from the use of its links by other jobs
    /// (`traffic/estimate.rs` describes the model). Metrics of messages do not apply.
    Estimated,
}

impl NetworkSetup {
    /// Returns the random stream for a job's messages. Each job has its own stream, so its draws do
    /// not depend on when others start.
    pub(super) fn draws(seed: u64, replication: u64, job: JobId) -> Stream {
        Stream::new(seed, replication, &format!("traffic-{}", job.0))
    }

    /// Returns the routes of one iteration of a job's pattern.
    pub(super) fn routes(
        &self,
        grid: &Grid,
        layout: &Layout,
        draw: &Stream,
    ) -> Option<IterationRoutes> {
        IterationRoutes::of(grid, layout, &self.plan.pattern, draw)
    }
}
