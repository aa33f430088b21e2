//! Layouts of jobs that all send in one pattern, with a memory of what depends on the logical grid
//! alone.
//!
//! Invariant: a remembered map is the one that would be made anew. A pattern that draws something
//! for each job is never remembered.

use std::sync::Arc;

use pavior_kernel::Stream;
use pavior_mesh::{Coordinates, Cuboid, Grid, NodeId, Sides, orientations, volume};
use rustc_hash::FxHashMap;

use super::layout::used_sides;
use super::pattern_map::PatternMap;
use super::{Layout, RankOrder};
use crate::patterns::{PatternSelection, RankGrid, iteration};

/// Lays out jobs that send in a pattern, as [`RankOrder::Pattern`] says. The logical grid that was
/// asked for is laid on the job's nodes so that the messages of an iteration cross few links. What
/// depends on the logical grid alone is kept for the next job.
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
    /// By logical grid, where the pattern draws nothing for a job; none if no map helps.
    known: FxHashMap<RankGrid, Option<Arc<PatternMap>>>,
    /// The ranks of all that is known.
    ranks: usize,
    /// The layouts in boxes that jobs asked for, at the first node; only of what is known, too.
    boxes: FxHashMap<AskedBox, Layout>,
    /// The ranks of all these.
    box_ranks: usize,
}

/// A job in a box that it asked for, wherever that lies: all that its layout depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct AskedBox {
    grid: Grid,
    own: Sides,
    nodes: u32,
    sides: Option<Sides>,
}

impl PatternLayouts {
    /// Most ranks of the logical grids that are kept: some 40 MB.
    const MOST_RANKS: usize = 1 << 18;

    /// Most ranks of the layouts that are kept: 16 MB.
    const MOST_BOX_RANKS: usize = 1 << 22;

    /// For jobs that send in a pattern.
    pub fn new(pattern: PatternSelection) -> PatternLayouts {
        let (known, boxes) = (FxHashMap::default(), FxHashMap::default());
        PatternLayouts { pattern, known, ranks: 0, boxes, box_ranks: 0 }
    }

    /// The layout of a job, whose arguments are those of [`Layout::new`]. No map of another order
    /// that `Layout::new` makes on the same grid has fewer hops, but for one that takes long
    /// ([`RankOrder::Greedy`] with more than 1,024 nodes).
    ///
    /// The pattern draws what it draws from a copy of `draw`. Where it has no iteration, sends the
    /// same between all ranks, or has more than 2^20 ranks times rounds, the map is that of
    /// [`RankOrder::Coordinates`].
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
        // Times are measured for the box that a job asks for, wherever it lies. So its map must not
        // depend on the place, as curves through the machine do: it is laid as at the first node.
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

    /// The layout in a box that a job asked for, at the first node.
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

    /// The layout of a job on the nodes of some parts.
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

    /// What is known of the pattern on a logical grid; none if no map helps.
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

/// The node as far from `base` as `node` is from the first, around rings.
fn moved(grid: &Grid, node: NodeId, base: Coordinates) -> NodeId {
    let (at, sides) = (grid.point(node), grid.sides());
    let along =
        |axis: usize| (u32::from(at[axis]) + u32::from(base[axis])) % u32::from(sides[axis]);
    grid.id([0, 1, 2].map(|axis| along(axis) as u16))
}
