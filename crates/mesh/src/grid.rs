//! Grids: meshes, tori, and grids that wrap on only some axes.

use thiserror::Error;

/// Coordinates along x, y and z. The coordinate is 0 on any axis that the grid lacks.
pub type Coordinates = [u16; 3];
/// Side lengths along x, y and z. The side is 1 on any axis that the grid lacks.
pub type Sides = [u16; 3];

mod sealed {
    pub trait Sealed {}
}

/// One to three numbers, one per axis, that can be converted to coordinates or sides.
pub trait PerAxis: sealed::Sealed {
    /// Pads the numbers to three, using `missing` for omitted axes.
    fn padded(self, missing: u16) -> [u16; 3];
}

impl sealed::Sealed for [u16; 1] {}
impl sealed::Sealed for [u16; 2] {}
impl sealed::Sealed for [u16; 3] {}

impl PerAxis for [u16; 1] {
    #[inline]
    fn padded(self, missing: u16) -> [u16; 3] {
        [self[0], missing, missing]
    }
}

impl PerAxis for [u16; 2] {
    #[inline]
    fn padded(self, missing: u16) -> [u16; 3] {
        [self[0], self[1], missing]
    }
}

impl PerAxis for [u16; 3] {
    #[inline]
    fn padded(self, _: u16) -> [u16; 3] {
        self
    }
}

/// Returns the number of nodes in a box with these sides.
///
/// ```
/// # mod pavior { pub use pavior_mesh as boxes; }
/// assert_eq!(pavior::boxes::volume([2, 3, 4]), 24);
/// ```
#[inline]
pub fn volume(sides: Sides) -> u64 {
    sides.iter().map(|&side| u64::from(side)).product()
}

/// Parses sides such as `4x4x2`, `4x4` or `4`. Omitted axes have side 1. Returns `None` if the text
/// is malformed or a side is 0.
///
/// ```
/// # mod pavior { pub use pavior_mesh as boxes; }
/// assert_eq!(pavior::boxes::read_sides("4x2"), Some([4, 2, 1]));
/// assert_eq!(pavior::boxes::read_sides("4x0"), None);
/// ```
pub fn read_sides(text: &str) -> Option<Sides> {
    let mut sides = [1; 3];
    for (axis, word) in text.split('x').enumerate() {
        let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let side = word.parse().ok().filter(|&side| digits && side >= 1)?;
        *sides.get_mut(axis)? = side;
    }
    Some(sides)
}

/// A node's row-major number, with x varying fastest: `x + W * (y + D * z)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeId(pub u32);

impl NodeId {
    /// Returns the node number as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A grid of nodes with one to three axes, each of which may wrap.
///
/// ```
/// # use pavior_mesh as pavior;
/// use pavior::Grid;
/// let pod = Grid::torus(&[8, 8, 16])?;
/// assert_eq!(pod.nodes(), 1024);
/// assert_eq!(pod.to_string(), "torus:8x8x16");
/// assert_eq!("grid:8wx4x4w".parse::<Grid>()?.wraps(2), true);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Grid {
    sides: Sides,
    wraps: [bool; 3],
    axes: u8,
}

/// The reason why a grid is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GridError {
    /// The number of wrap flags does not match the number of axes.
    #[error("expected one wrap flag per axis ({axes}), found {wraps}")]
    WrapFlags {
        /// The number of sides given.
        axes: usize,
        /// The number of flags given.
        wraps: usize,
    },
    /// The grid has no axes or more than three.
    #[error("a machine must have 1 to 3 axes, not {0}")]
    Axes(usize),
    /// A side has no nodes.
    #[error("the {axis} axis has no nodes; each axis must have 1 to 65535 nodes")]
    EmptyAxis {
        /// The axis: `x`, `y` or `z`.
        axis: char,
    },
    /// The grid has more nodes than are supported.
    #[error("{0} nodes exceed the supported maximum of {max}", max = Grid::MAX_NODES)]
    TooManyNodes(u64),
}

impl Grid {
    /// The maximum number of nodes, 2^24.
    pub const MAX_NODES: u64 = 1 << 24;

    /// Creates a grid from its sides and one wrap flag per axis.
    ///
    /// # Errors
    /// Returns an error if the number of axes is not 1 to 3 or differs from the number of flags, if
    /// a side is 0, or if there are more than 2^24 nodes.
    pub fn new(sides: &[u16], wraps: &[bool]) -> Result<Grid, GridError> {
        if sides.len() != wraps.len() {
            return Err(GridError::WrapFlags { axes: sides.len(), wraps: wraps.len() });
        }
        if sides.is_empty() || sides.len() > 3 {
            return Err(GridError::Axes(sides.len()));
        }
        if let Some(axis) = sides.iter().position(|&side| side == 0) {
            return Err(GridError::EmptyAxis { axis: ['x', 'y', 'z'][axis] });
        }
        let mut grid = Grid { sides: [1; 3], wraps: [false; 3], axes: sides.len() as u8 };
        grid.sides[..sides.len()].copy_from_slice(sides);
        grid.wraps[..wraps.len()].copy_from_slice(wraps);
        let nodes = volume(grid.sides);
        if nodes > Self::MAX_NODES { Err(GridError::TooManyNodes(nodes)) } else { Ok(grid) }
    }

    /// Creates a grid on which no axis wraps.
    ///
    /// # Errors
    /// Returns the same errors as [`Grid::new`].
    pub fn mesh(sides: &[u16]) -> Result<Grid, GridError> {
        Grid::new(sides, &vec![false; sides.len()])
    }

    /// Creates a grid on which every axis wraps.
    ///
    /// # Errors
    /// Returns the same errors as [`Grid::new`].
    pub fn torus(sides: &[u16]) -> Result<Grid, GridError> {
        Grid::new(sides, &vec![true; sides.len()])
    }

    /// Returns the grid formed by the nodes in a box, which must be on this grid. An axis wraps if
    /// it wraps on this grid and the box spans it.
    pub(crate) fn of_box(&self, cuboid: &crate::Cuboid) -> Grid {
        let closed = |axis| self.wraps[axis] && cuboid.sides[axis] == self.sides[axis];
        Grid { sides: cuboid.sides, wraps: [0, 1, 2].map(closed), axes: self.axes }
    }

    /// Returns the number of axes, from 1 to 3.
    #[inline]
    pub fn axes(&self) -> usize {
        usize::from(self.axes)
    }

    /// Returns the grid's sides. Missing axes have side 1.
    #[inline]
    pub fn sides(&self) -> Sides {
        self.sides
    }

    /// Returns the grid's side along an axis.
    ///
    /// # Panics
    /// Panics if the axis is not 0, 1 or 2.
    #[inline]
    pub fn side(&self, axis: usize) -> u16 {
        self.sides[axis]
    }

    /// Returns true if an axis wraps.
    ///
    /// # Panics
    /// Panics if the axis is not 0, 1 or 2.
    #[inline]
    pub fn wraps(&self, axis: usize) -> bool {
        self.wraps[axis]
    }

    /// Returns true if any axis longer than 1 wraps.
    #[inline]
    pub fn has_wrap(&self) -> bool {
        (0..3).any(|axis| self.wraps[axis] && self.sides[axis] > 1)
    }

    /// Returns the number of nodes.
    #[inline]
    pub fn nodes(&self) -> u32 {
        volume(self.sides) as u32
    }

    /// Returns the number of the node at a point. The result is meaningless for a point outside the
    /// grid (see [`Grid::contains`]).
    #[inline]
    pub fn id(&self, point: Coordinates) -> NodeId {
        let [x, y, z] = point;
        let [w, d, _] = self.sides.map(u32::from);
        let row = u32::from(y).wrapping_add(d.wrapping_mul(u32::from(z)));
        NodeId(u32::from(x).wrapping_add(w.wrapping_mul(row)))
    }

    /// Returns a node's coordinates. For an invalid node number, they are outside the grid.
    #[inline]
    pub fn point(&self, node: NodeId) -> Coordinates {
        let [w, d, _] = self.sides.map(u32::from);
        let row = node.0 / w;
        let plane = row / d;
        [(node.0 - row * w) as u16, (row - plane * d) as u16, plane as u16]
    }

    /// Returns true if a point is on the grid.
    #[inline]
    pub fn contains(&self, point: Coordinates) -> bool {
        (0..3).all(|axis| point[axis] < self.sides[axis])
    }

    /// Returns true if a box with these sides fits on the empty grid without rotation.
    #[inline]
    pub fn fits(&self, sides: Sides) -> bool {
        (0..3).all(|axis| (1..=self.sides[axis]).contains(&sides[axis]))
    }

    /// Returns the number of canonical bases for a side of s nodes on an axis of n nodes: `n - s +
    /// 1` on an axis that does not wrap, 1 if the side spans a ring, `n` on any other ring, and 0
    /// if s > n. The canonical bases are `0..starts`. Each yields a different set of nodes.
    #[inline]
    pub fn starts(&self, axis: usize, side: u16) -> u16 {
        let n = self.sides[axis];
        match side {
            0 => 0,
            _ if side > n => 0,
            _ if side == n => 1,
            _ if self.wraps[axis] => n,
            _ => n - side + 1,
        }
    }

    /// Returns a node's distinct neighbors: the nodes before and after it on every axis, wrapping
    /// around on a ring of more than two nodes. An invalid node number has no neighbors.
    ///
    /// ```
    /// # use pavior_mesh as pavior;
    /// use pavior::{Grid, NodeId};
    /// let ring = Grid::torus(&[4, 2])?;
    /// let neighbours: Vec<NodeId> = ring.neighbours(NodeId(0)).collect();
    /// assert_eq!(neighbours, [NodeId(3), NodeId(1), NodeId(4)]);
    /// # Ok::<(), pavior::GridError>(())
    /// ```
    pub fn neighbours(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        let (grid, at) = (*self, self.point(node));
        let [w, d, _] = grid.sides.map(u32::from);
        let inside = grid.contains(at);
        (0..3).filter(move |_| inside).flat_map(move |axis| {
            let (n, stride, c) = (grid.sides[axis], [1, w, w * d][axis], at[axis]);
            let ring = grid.wraps[axis] && n > 2;
            let around = u32::from(n - 1) * stride;
            let below = if c > 0 { Some(node.0 - stride) } else { ring.then(|| node.0 + around) };
            let above =
                if c + 1 < n { Some(node.0 + stride) } else { ring.then(|| node.0 - around) };
            [below, above].into_iter().flatten().map(NodeId)
        })
    }

    /// Returns the number of hops between two nodes, going the shorter way around any ring.
    #[inline]
    pub fn distance(&self, a: Coordinates, b: Coordinates) -> u32 {
        (0..3)
            .map(|axis| {
                let direct = u32::from(a[axis].abs_diff(b[axis]));
                // On an axis that does not wrap, the way around is treated as infinitely long.
                let ring = if self.wraps[axis] { self.sides[axis].into() } else { u32::MAX };
                direct.min(ring.abs_diff(direct))
            })
            .sum()
    }
}
