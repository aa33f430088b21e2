//! Settings for the network.

use pavior_kernel::Stream;
use pavior_mesh::{Grid, JobId};
use pavior_network::{EngineKind, IterationRoutes, Layout, RankOrder, Settings, TrafficPlan};

use super::Histories;

/// The network over which jobs send messages.
#[derive(Clone)]
pub struct NetworkSetup {
    /// The engine.
    pub engine: EngineKind,
    /// The network parameters.
    pub settings: Settings,
    /// The messages that jobs send.
    pub plan: TrafficPlan,
    /// The order in which a job's ranks are numbered.
    pub ranks: RankOrder,
    /// Cached histories of jobs that were alone. Clones of these settings share the cache.
    pub histories: Histories,
    /// The method for modeling contention on shared links.
    pub contention: Contention,
}

/// A method for modeling contention on shared links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contention {
    /// Messages are simulated, and results are exact.
    #[default]
    Simulated,
    /// Running jobs' messages are not simulated. Instead, each job's pace is computed from its
    /// iteration time without other jobs and from other jobs' use of its links.
    /// `traffic/estimate.rs` describes the model. Message metrics do not apply.
    Estimated,
}

impl NetworkSetup {
    /// Returns the random number stream for a job's messages. Each job has its own stream, so its
    /// draws do not depend on when other jobs start.
    pub(super) fn draws(seed: u64, replication: u64, job: JobId) -> Stream {
        Stream::new(seed, replication, &format!("traffic-{}", job.0))
    }

    /// Returns the routes in one iteration of a job's pattern.
    pub(super) fn routes(
        &self,
        grid: &Grid,
        layout: &Layout,
        draw: &Stream,
    ) -> Option<IterationRoutes> {
        IterationRoutes::of(grid, layout, &self.plan.pattern, draw)
    }
}
