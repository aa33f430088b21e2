//! Machines made of cubes (pods) of 4x4x4 nodes.

use crate::{Cuboid, Grid, NodeId};

/// The cubes in a three-axis machine whose sides are multiples of 4. A cube is an aligned box of
/// 4x4x4 nodes. Cubes are numbered in row-major order.
///
/// ```
/// use pavior_mesh::{Cubes, Grid, NodeId};
/// let cubes = Cubes::of(&Grid::torus(&[16, 16, 16])?).unwrap();
/// assert_eq!((cubes.grid().nodes(), cubes.nodes(NodeId(1)).base), (64, [4, 0, 0]));
/// # Ok::<(), pavior_mesh::GridError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cubes {
    machine: Grid,
    grid: Grid,
}

impl Cubes {
    /// The number of nodes along an edge of a cube.
    pub const EDGE: u16 = 4;
    /// The number of nodes in a cube.
    pub const VOLUME: u32 = 64;

    /// Returns the cubes in a machine, or `None` if its sides are not multiples of 4.
    #[expect(clippy::missing_panics_doc, reason = "there are fewer cubes than nodes")]
    pub fn of(machine: &Grid) -> Option<Cubes> {
        let sides = machine.sides();
        if sides.iter().any(|side| side % Self::EDGE != 0) {
            return None;
        }
        let wraps = [0, 1, 2].map(|axis| machine.wraps(axis));
        let grid = Grid::new(&sides.map(|side| side / Self::EDGE), &wraps);
        Some(Cubes { machine: *machine, grid: grid.expect("fewer cubes than nodes") })
    }

    /// Returns the grid of cubes, in which each cube is a node.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the box formed by a cube's nodes.
    pub fn nodes(&self, cube: NodeId) -> Cuboid {
        Cubes::scaled(Cuboid::node(self.grid.point(cube)))
    }

    /// Returns the cube that contains a node.
    pub fn holding(&self, node: NodeId) -> NodeId {
        self.grid.id(self.machine.point(node).map(|c| c / Self::EDGE))
    }

    /// Converts a box of cubes to the box of their nodes.
    pub fn scaled(cubes: Cuboid) -> Cuboid {
        let by_edge = |all: [u16; 3]| all.map(|number| number * Self::EDGE);
        Cuboid::new(by_edge(cubes.base), by_edge(cubes.sides))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_lies_in_the_cube_that_has_it() {
        let machine = Grid::torus(&[8, 4, 12]).unwrap();
        let cubes = Cubes::of(&machine).unwrap();
        assert_eq!(cubes.grid().nodes() * Cubes::VOLUME, machine.nodes());
        for cube in (0..cubes.grid().nodes()).map(NodeId) {
            let nodes = cubes.nodes(cube);
            assert_eq!(nodes.volume(), Cubes::VOLUME);
            assert!(nodes.nodes(&machine).all(|node| cubes.holding(node) == cube));
        }
        assert!(Cubes::of(&Grid::mesh(&[8, 8]).unwrap()).is_none());
        assert!(Cubes::of(&Grid::mesh(&[8, 8, 6]).unwrap()).is_none());
    }
}
