//! The nodes granted to a job.

use std::fmt;

use pavior_mesh::{Cuboid, Grid, Occupancy, OccupancyError};

use crate::PlacementError;

/// The nodes granted to a job, as disjoint boxes in grant order. Displayed as a list.
///
/// ```
/// # use pavior_allocation as pavior;
/// use pavior::{Cuboid, Placement};
/// let placement = Placement::from(vec![Cuboid::new([0, 0], [2, 2]), Cuboid::new([3, 3], [1, 1])]);
/// assert_eq!(placement.nodes(), 5);
/// assert_eq!(placement.to_string(), "2x2 at 0,0, 1x1 at 3,3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Vec<Cuboid>", into = "Vec<Cuboid>"))]
pub enum Placement {
    /// One box.
    Whole(Cuboid),
    /// Several boxes, or a single one from a strategy that grants nodes in pieces.
    Parts(Vec<Cuboid>),
}

/// Converts a list of boxes. A list with a single box becomes `Whole`.
impl From<Vec<Cuboid>> for Placement {
    fn from(parts: Vec<Cuboid>) -> Placement {
        match parts[..] {
            [whole] => Placement::Whole(whole),
            _ => Placement::Parts(parts),
        }
    }
}

impl From<Placement> for Vec<Cuboid> {
    fn from(placement: Placement) -> Vec<Cuboid> {
        match placement {
            Placement::Whole(whole) => vec![whole],
            Placement::Parts(parts) => parts,
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let boxes: Vec<String> = self.parts().iter().map(Cuboid::to_string).collect();
        f.write_str(&boxes.join(", "))
    }
}

impl Placement {
    /// Returns the boxes in grant order.
    ///
    /// ```
    /// # use pavior_allocation as pavior;
    /// use pavior::{Cuboid, Placement};
    /// let row = Cuboid::new([0, 0, 0], [3, 1, 1]);
    /// assert_eq!(Placement::Whole(row).parts(), [row]);
    /// ```
    #[inline]
    pub fn parts(&self) -> &[Cuboid] {
        match self {
            Placement::Whole(cuboid) => std::slice::from_ref(cuboid),
            Placement::Parts(parts) => parts,
        }
    }

    /// Returns the number of nodes, capped at `u32::MAX`.
    #[inline]
    pub fn nodes(&self) -> u32 {
        match self {
            Placement::Whole(cuboid) => cuboid.volume(),
            Placement::Parts(parts) => {
                parts.iter().map(Cuboid::volume).fold(0, u32::saturating_add)
            }
        }
    }

    /// Removes the placement's boxes from the free nodes. If this fails, no box is removed.
    pub(crate) fn take_from(&self, free: &mut Occupancy) -> Result<(), PlacementError> {
        if self.parts().is_empty() {
            return Err(PlacementError::Empty);
        }
        free.take_all(self.parts()).map_err(|error| match error {
            // The box was free before but overlaps an earlier box in the placement.
            OccupancyError::NotFree(part) if free.is_free(&part) => {
                PlacementError::Overlapping(part)
            }
            error => error.into(),
        })
    }

    /// Returns the placement with every base in the canonical form that results use.
    pub(crate) fn canonical(self, grid: &Grid) -> Placement {
        match self {
            Placement::Whole(cuboid) => Placement::Whole(cuboid.canonical(grid)),
            Placement::Parts(parts) => {
                Placement::Parts(parts.into_iter().map(|part| part.canonical(grid)).collect())
            }
        }
    }
}
