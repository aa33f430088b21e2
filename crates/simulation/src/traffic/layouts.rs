//! Layouts of a job's ranks.

use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, Request, orientations};
use pavior_network::{Layout, PatternLayouts, RankOrder};

use super::NetworkSetup;

pub(super) struct Layouts {
    grid: Grid,
    order: RankOrder,
    by_pattern: PatternLayouts,
}

impl Layouts {
    pub(super) fn new(setup: &NetworkSetup, grid: Grid) -> Layouts {
        let by_pattern = PatternLayouts::new(setup.plan.pattern.clone());
        Layouts { grid, order: setup.ranks, by_pattern }
    }

    /// Returns a job's layout on the parts granted to it.
    pub(super) fn granted(&mut self, parts: &[Cuboid], request: &Request, draw: &Stream) -> Layout {
        let (nodes, shape) = (request.nodes, request.shape);
        match self.order {
            RankOrder::Pattern => self.by_pattern.layout(&self.grid, parts, nodes, shape, draw),
            order => Layout::new(&self.grid, parts, nodes, shape, order),
        }
    }

    /// Returns a job's layout in its requested box at the origin, rotated only if necessary.
    /// Returns `None` if the job requests no box or if the box does not fit.
    pub(super) fn asked(&mut self, request: &Request, draw: &Stream) -> Option<Layout> {
        let sides = orientations(request.shape?).find(|&sides| self.grid.fits(sides))?;
        Some(self.granted(&[Cuboid::new([0; 3], sides)], request, draw))
    }
}
