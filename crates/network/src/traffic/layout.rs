//! Job layouts: the assignment of ranks to nodes, and the logical grid that the ranks form.

use pavior_mesh::{Cuboid, Grid, NodeId, Sides, orientations, volume};

use super::RankOrder;
use crate::patterns::RankGrid;

/// The assignment of a job's ranks to nodes, and the logical grid that the ranks form.
///
/// In a single box, nodes are ranked by their offset from its base (wrapping around if necessary),
/// with x varying fastest. With several parts, nodes are ranked by [`RankOrder`]. Only the
/// requested number of nodes are used. If the box is larger than requested, the used nodes form a
/// box with the requested sides at the same base (rotated if necessary). If such a box does not
/// fit, the first nodes are used. The logical grid has the sides of the used box or, with several
/// parts, the requested sides.
///
/// ```
/// # mod pavior { pub use pavior_network as network; pub use pavior_mesh::*; }
/// use pavior::network::{Layout, RankOrder};
/// use pavior::{Cuboid, Grid};
/// let grid = Grid::mesh(&[8, 8])?;
/// let buddy = Cuboid::new([4, 0, 0], [4, 4, 1]);
/// let layout = Layout::new(&grid, &[buddy], 6, Some([3, 2, 1]), RankOrder::Coordinates);
/// let nodes: Vec<u32> = layout.nodes.iter().map(|node| node.0).collect();
/// assert_eq!(nodes, [4, 5, 6, 12, 13, 14]);
/// assert_eq!(layout.shape.sides, [3, 2, 1]);
/// # Ok::<(), pavior::GridError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The nodes, in rank order.
    pub nodes: Vec<NodeId>,
    /// The number of ranks, and the logical grid that they form.
    pub shape: RankGrid,
}

impl Layout {
    /// Computes the layout of a job that requested `nodes` nodes and was granted `parts`. If the
    /// job requested a shape, `sides` are the shape's sides. The parts must be on the grid, be
    /// disjoint, and have at least `nodes` nodes in total. [`RankOrder::Pattern`] is treated as
    /// `Coordinates` here, because it needs a pattern ([`PatternLayouts`](super::PatternLayouts)).
    pub fn new(
        grid: &Grid,
        parts: &[Cuboid],
        nodes: u32,
        sides: Option<Sides>,
        order: RankOrder,
    ) -> Layout {
        let (mut list, sides): (Vec<NodeId>, Sides) = if let [granted] = parts {
            let used = Cuboid::new(granted.base, used_sides(granted.sides, nodes, sides));
            (used.nodes(grid).collect(), used.sides)
        } else {
            let list = order.nodes(grid, parts);
            let line = [nodes.min(u32::from(u16::MAX)) as u16, 1, 1];
            (list, sides.unwrap_or(line))
        };
        debug_assert!(
            list.len() >= nodes as usize,
            "at least the requested number of nodes was granted"
        );
        list.truncate(nodes as usize);
        Layout { shape: RankGrid { ranks: list.len() as u32, sides }, nodes: list }
    }
}

/// Returns the sides of the part of a granted box that the ranks use.
pub(super) fn used_sides(granted: Sides, nodes: u32, requested: Option<Sides>) -> Sides {
    let fits = |sides: &Sides| (0..3).all(|axis| sides[axis] <= granted[axis]);
    if volume(granted) == u64::from(nodes) {
        return granted;
    }
    requested
        .filter(|&sides| volume(sides) >= u64::from(nodes))
        .and_then(|sides| orientations(sides).find(fits))
        .unwrap_or(granted)
}
