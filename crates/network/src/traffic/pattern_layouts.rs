//! Computes layouts for jobs that use the same pattern, and caches data that depends only on the
//! logical grid.
//!
//! Invariant: a cached map equals a newly computed one. Maps are never cached for patterns that
//! draw random values for each job.

use std::sync::Arc;

use pavior_kernel::Stream;
use pavior_mesh::{Coordinates, Cuboid, Grid, NodeId, Sides, orientations, volume};
use rustc_hash::FxHashMap;

use super::layout::used_sides;
use super::pattern_map::PatternMap;
use super::{Layout, RankOrder};
use crate::patterns::{PatternSelection, RankGrid, iteration};

/// A cache that computes layouts with [`RankOrder::Pattern`] for jobs that use a given pattern.
/// Each layout maps the requested logical grid to a job's nodes so that the messages in an
/// iteration cross few links. Data that depends only on the logical grid is kept for later jobs.
///
/// ```
/// use pavior_kernel::Stream;
/// use pavior_mesh::{Cuboid, Grid};
/// use pavior_network::{IterationRoutes, PatternLayouts, PatternSelection};
/// // Four ranks in a square, on an L of four nodes.
/// let grid = Grid::mesh(&[4, 4])?;
/// let parts = [Cuboid::new([0, 0, 0], [1, 3, 1]), Cuboid::new([1, 0, 0], [1, 1, 1])];
/// let pattern: PatternSelection = "near-neighbour".parse()?;
/// let draw = Stream::new(1, 0, "roots");
/// let layout =
///     PatternLayouts::new(pattern.clone()).layout(&grid, &parts, 4, Some([2, 2, 1]), &draw);
/// let routes = IterationRoutes::of(&grid, &layout, &pattern, &draw).unwrap();
/// assert_eq!((routes.messages, routes.hops), (8, 12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PatternLayouts {
    pattern: PatternSelection,
    /// Cached maps, by logical grid (`None` if no map helps). Unused if the pattern draws random
    /// values.
    known: FxHashMap<RankGrid, Option<Arc<PatternMap>>>,
    /// The total number of ranks in all cached logical grids.
    ranks: usize,
    /// The cached layouts of jobs in their requested boxes, computed for a box at node 0.
    boxes: FxHashMap<AskedBox, Layout>,
    /// The total number of ranks in the cached layouts.
    box_ranks: usize,
}

/// A requested box, with everything except its position that affects the job's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct AskedBox {
    grid: Grid,
    own: Sides,
    nodes: u32,
    sides: Option<Sides>,
}

impl PatternLayouts {
    /// The maximum total number of ranks in cached logical grids. A full cache takes about 40 MB.
    const MOST_RANKS: usize = 1 << 18;

    /// The maximum total number of ranks in cached layouts. A full cache takes 16 MB.
    const MOST_BOX_RANKS: usize = 1 << 22;

    /// Creates an empty cache for jobs that use a pattern.
    pub fn new(pattern: PatternSelection) -> PatternLayouts {
        let (known, boxes) = (FxHashMap::default(), FxHashMap::default());
        PatternLayouts { pattern, known, ranks: 0, boxes, box_ranks: 0 }
    }

    /// Computes a job's layout from the same arguments as [`Layout::new`]. No other order yields
    /// fewer hops on the same grid, except possibly [`RankOrder::Greedy`]. That order is too slow
    /// to try with more than 1,024 nodes.
    ///
    /// Random values are drawn from a copy of `draw`. Falls back to [`RankOrder::Coordinates`] if
    /// the pattern has no iterations, if all pairs of ranks exchange the same amount, or if ranks
    /// times rounds exceed 2^20.
    pub fn layout(
        &mut self,
        grid: &Grid,
        parts: &[Cuboid],
        nodes: u32,
        sides: Option<Sides>,
        draw: &Stream,
    ) -> Layout {
        let [granted] = parts else { return self.lay(grid, parts, nodes, sides, draw) };
        let own = used_sides(granted.sides, nodes, sides);
        // Run times are measured in the requested box at an arbitrary position, so the map must not
        // depend on the box's position. Some orders, such as the Hilbert curve, do depend on it.
        // The map for a box at node 0 is therefore used everywhere.
        if !sides.is_some_and(|sides| orientations(sides).any(|one| one == own)) {
            return self.lay(grid, &[Cuboid::new(granted.base, own)], nodes, sides, draw);
        }
        let mut layout = self.in_asked_box(AskedBox { grid: *grid, own, nodes, sides }, draw);
        if granted.base != [0; 3] {
            for node in &mut layout.nodes {
                *node = moved(grid, *node, granted.base);
            }
        }
        layout
    }

    /// Returns the layout for a requested box that starts at node 0.
    fn in_asked_box(&mut self, asked: AskedBox, draw: &Stream) -> Layout {
        if let Some(layout) = self.boxes.get(&asked) {
            return layout.clone();
        }
        let AskedBox { grid, own, nodes, sides } = asked;
        let layout = self.lay(&grid, &[Cuboid::new([0; 3], own)], nodes, sides, draw);
        if self.known.contains_key(&layout.shape) {
            self.box_ranks += layout.nodes.len();
            if self.box_ranks > Self::MOST_BOX_RANKS {
                self.boxes.clear();
                self.box_ranks = layout.nodes.len();
            }
            self.boxes.insert(asked, layout.clone());
        }
        layout
    }

    fn lay(
        &mut self,
        grid: &Grid,
        parts: &[Cuboid],
        nodes: u32,
        sides: Option<Sides>,
        draw: &Stream,
    ) -> Layout {
        let mut layout = Layout::new(grid, parts, nodes, sides, RankOrder::Coordinates);
        if let Some(sides) = sides.filter(|&sides| volume(sides) >= u64::from(nodes)) {
            layout.shape.sides = sides;
        }
        if let Some(map) = self.map(&layout.shape, draw) {
            let others = RankOrder::quick(nodes).map(|order| {
                let mut list: Vec<NodeId> = order.nodes(grid, parts);
                list.truncate(nodes as usize);
                list
            });
            layout.nodes = map.lay(grid, std::iter::once(layout.nodes).chain(others));
        }
        layout
    }

    /// Returns the pattern's map on a logical grid, or `None` if no map helps.
    fn map(&mut self, shape: &RankGrid, draw: &Stream) -> Option<Arc<PatternMap>> {
        if let Some(known) = self.known.get(shape) {
            return known.clone();
        }
        let mut drawn = draw.clone();
        let pattern = iteration(&self.pattern, shape, &mut drawn);
        let map = pattern.and_then(|pattern| PatternMap::of(&*pattern, shape)).map(Arc::new);
        if drawn == *draw {
            self.ranks += shape.ranks as usize;
            if self.ranks > Self::MOST_RANKS {
                self.known.clear();
                self.ranks = shape.ranks as usize;
            }
            self.known.insert(*shape, map.clone());
        }
        map
    }
}

/// Returns `node` shifted by the coordinates of `base`, wrapping around on rings.
fn moved(grid: &Grid, node: NodeId, base: Coordinates) -> NodeId {
    let (at, sides) = (grid.point(node), grid.sides());
    let along =
        |axis: usize| (u32::from(at[axis]) + u32::from(base[axis])) % u32::from(sides[axis]);
    grid.id([0, 1, 2].map(|axis| along(axis) as u16))
}
