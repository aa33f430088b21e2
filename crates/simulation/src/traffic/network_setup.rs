//! What a network is made of, and where it puts the ranks of jobs.

use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, JobId, Request, orientations};
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
    /// No message of a job that runs is simulated: each job's pace follows from what an iteration takes it
    /// alone and from how busy others keep its links (`traffic/estimate.rs` has the model). Metrics of
    /// messages then do not apply.
    Estimated,
}

impl NetworkSetup {
    /// The layout of a job that was granted some parts.
    pub(super) fn layout(
        &self,
        grid: &Grid,
        parts: &[Cuboid],
        request: &Request,
        draw: &Stream,
    ) -> Layout {
        let (nodes, shape) = (request.nodes, request.shape);
        match self.ranks {
            RankOrder::Pattern => {
                Layout::for_pattern(grid, parts, nodes, shape, &self.plan.pattern, draw)
            }
            order => Layout::new(grid, parts, nodes, shape, order),
        }
    }

    /// What is drawn for a job's messages: a stream for each, so that it does not depend on when others start.
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

    /// The layout of a job in the box that it asks for, at the origin, turned only if it does not fit
    /// otherwise; none if it asks for no box that fits.
    pub(super) fn as_asked(&self, grid: &Grid, request: &Request, draw: &Stream) -> Option<Layout> {
        let sides = orientations(request.shape?).find(|&sides| grid.fits(sides))?;
        Some(self.layout(grid, &[Cuboid::new([0; 3], sides)], request, draw))
    }
}
