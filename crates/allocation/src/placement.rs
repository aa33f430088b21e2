//! What a job is granted.

use pavior_mesh::{Cuboid, Grid};

/// The nodes granted to a job, as disjoint boxes in the order of grant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// One box.
    Whole(Cuboid),
    /// Several boxes, or one of a strategy that grants boxes by the piece.
    Parts(Vec<Cuboid>),
}

impl Placement {
    /// The boxes, in the order of grant.
    ///
    /// ```
    /// use pavior_allocation::Placement;
    /// use pavior_mesh::Cuboid;
    /// let row = Cuboid::new([0, 0, 0], [3, 1, 1]);
    /// assert_eq!(Placement::Whole(row).parts(), [row]);
    /// ```
    pub fn parts(&self) -> &[Cuboid] {
        match self {
            Placement::Whole(cuboid) => std::slice::from_ref(cuboid),
            Placement::Parts(parts) => parts,
        }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> u32 {
        self.parts().iter().map(Cuboid::volume).sum()
    }

    /// The same with every box's base as results carry it.
    pub(crate) fn canonical(self, grid: &Grid) -> Placement {
        match self {
            Placement::Whole(cuboid) => Placement::Whole(cuboid.canonical(grid)),
            Placement::Parts(parts) => {
                Placement::Parts(parts.into_iter().map(|part| part.canonical(grid)).collect())
            }
        }
    }
}
