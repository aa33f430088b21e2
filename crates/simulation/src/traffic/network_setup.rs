//! What a network is made of.

use pavior_kernel::Stream;
use pavior_mesh::{Grid, JobId};
use pavior_network::{EngineKind, IterationRoutes, Layout, RankOrder, Settings, TrafficPlan};

use super::Histories;

/// How the messages of jobs travel.
#[derive(Clone)]
pub struct NetworkSetup {
    /// The engine.
    pub engine: EngineKind,
    /// Its parameters.
    pub settings: Settings,
    /// What jobs send.
    pub plan: TrafficPlan,
    /// How the ranks of jobs are numbered.
    pub ranks: RankOrder,
    /// What is known of jobs that are alone on the network. Clones of a setup share it.
    pub histories: Histories,
    /// How jobs in each other's way are carried through.
    pub contention: Contention,
}

/// What is done about jobs that share links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contention {
    /// Their messages are simulated: exact.
    #[default]
    Simulated,
    /// No message of a job that runs is simulated: each job's pace follows from what an iteration
    /// takes it alone and from how busy others keep its links (`traffic/estimate.rs` has the
    /// model). Metrics of messages then do not apply.
    Estimated,
}

impl NetworkSetup {
    /// What is drawn for a job's messages: a stream for each, so that it does not depend on when
    /// others start.
    pub(super) fn draws(seed: u64, replication: u64, job: JobId) -> Stream {
        Stream::new(seed, replication, &format!("traffic-{}", job.0))
    }

    /// The routes of an iteration of a job's pattern.
    pub(super) fn routes(
        &self,
        grid: &Grid,
        layout: &Layout,
        draw: &Stream,
    ) -> Option<IterationRoutes> {
        IterationRoutes::of(grid, layout, &self.plan.pattern, draw)
    }
}
