//! Network settings.

use pavior_kernel::Stream;
use pavior_mesh::{Grid, JobId};
use pavior_network::{EngineKind, IterationRoutes, Layout, RankOrder, Settings, TrafficPlan};

use super::Histories;

/// The network for jobs' messages.
#[derive(Clone)]
pub struct NetworkSetup {
    /// The engine.
    pub engine: EngineKind,
    /// The network parameters.
    pub settings: Settings,
    /// The messages that jobs send.
    pub plan: TrafficPlan,
    /// The numbering of jobs' ranks.
    pub ranks: RankOrder,
    /// Cached histories of lone jobs, shared by clones of the setup.
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
    /// The messages of running jobs are not simulated. Each job's pace is computed from the time of
    /// an iteration alone and other jobs' use of its links (`traffic/estimate.rs` describes the
    /// model). Message metrics do not apply.
    Estimated,
}

impl NetworkSetup {
    /// Returns the random stream for a job's messages. Streams are separate, so a job's draws do
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
