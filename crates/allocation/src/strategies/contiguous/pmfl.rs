//! Maximal Free List with a faster release: the list is the same as in [`kymfl`](super::kymfl), but
//! a release extends the released box along its faces instead of joining all pairs of entries.
//!
//! The strategy finds a free placement whenever one exists, because the list is KYMFL's.
//!
//! Every maximal box that a release creates contains nodes of the released box A. Along each axis,
//! the new box extends from A in both directions, beyond each face of A as far as one old entry at
//! that face allows:
//!
//! ```text
//!     . T T .        start with A; join it with each entry at its left
//!   L L A A R R      face, then all of these with each at its right face,
//!     B B B .        then do the same at its lower and upper faces
//! ```
//!
//! Each face is processed only once, so an entry is joined with each grown box only once. With F
//! entries, this takes O(F^2) joins, whereas KYMFL's consensus processes all pairs repeatedly until
//! it finds nothing new. (A join that is contained in one of the grown boxes is dropped.)
//!
//! The request is placed at the lowest corner of the first entry in which it fits. KYMFL's policies
//! are available as options, so the two strategies differ only in how they release nodes.
//!
//! Source: Ababneh & Bani-Mohammad, "PMFL: an efficient contiguous allocation strategy for mesh
//! multicomputers", International Journal of Computers and their Applications 29(4), 2022. Only the
//! names and the claims are known: a faster detection scheme (quadratic in F, whereas KYMFL's is
//! cubic) that works with several placement policies. The scheme here is our own and achieves the
//! claimed cost. Support for 3D is also our addition. Like KYMFL, this strategy rejects tori.

use pavior_kernel::OptionSpec;
use pavior_mesh::Cuboid;

use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::free_list::placing::{PLACE, Placing};
use crate::strategies::shared::free_list::strategy::{MaximalFreeList, ReleaseRule};
use crate::strategies::shared::free_list::{FreeBoxes, end, holds, join};
use crate::strategies::shared::turning::TURN_ON;

pub(crate) static ENTRY: Entry = Entry {
    name: "pmfl",
    title: "Maximal Free List, grown along faces",
    source: "Ababneh & Bani-Mohammad 2022",
    options: &[TURN_ON, OptionSpec { default: "first", ..PLACE }],
    variants: &["", "place=fragmentation"],
    does: StrategyKind::contiguous(|grid, options| {
        MaximalFreeList::boxed(grid, options, Placing::of(options), GrowthAlongFaces::default())
    })
    .with_supports(|grid, _| FreeBoxes::supports(grid)),
};

#[derive(Clone, Default)]
struct GrowthAlongFaces {
    /// Scratch space for the entries at the current face, the grown boxes so far, and their joins.
    face: Vec<Cuboid>,
    grown: Vec<Cuboid>,
    joined: Vec<Cuboid>,
    /// The number of comparisons between entries.
    upkeep: u64,
}

impl ReleaseRule for GrowthAlongFaces {
    fn give(&mut self, list: &mut FreeBoxes, given: &Cuboid) {
        self.grown.clear();
        self.grown.push(*given);
        for axis in 0..3 {
            for low in [true, false] {
                let at_face = |entry: &&Cuboid| stands_at(entry, given, axis, low);
                self.face.clear();
                self.upkeep += list.boxes().len() as u64;
                self.face.extend(list.boxes().iter().filter(at_face));
                self.grow(axis);
            }
        }
        let (grown, upkeep) = (&self.grown, &mut self.upkeep);
        let list = list.boxes_mut();
        list.retain(|entry| {
            let mut tested = grown.iter().inspect(|_| *upkeep += 1);
            !tested.any(|new| holds(new, entry))
        });
        list.extend_from_slice(grown);
    }

    fn upkeep(&self) -> u64 {
        self.upkeep
    }
}

impl GrowthAlongFaces {
    /// Joins every grown box with every entry at a face, and drops any join within another box.
    fn grow(&mut self, axis: usize) {
        self.joined.clear();
        let mut tested = (self.grown.len() * self.face.len()) as u64;
        for part in &self.grown {
            self.joined.extend(self.face.iter().filter_map(|entry| join(part, entry, axis)));
        }
        for joined in &self.joined {
            let mut others = self.grown.iter().inspect(|_| tested += 1);
            if !others.any(|other| holds(other, joined)) {
                tested += self.grown.len() as u64;
                self.grown.retain(|other| !holds(joined, other));
                self.grown.push(*joined);
            }
        }
        self.upkeep += tested;
    }
}

/// Returns true if an entry touches the lower or upper face of a box along an axis.
fn stands_at(entry: &Cuboid, of: &Cuboid, axis: usize, low: bool) -> bool {
    let touches =
        if low { end(entry, axis) == of.base[axis] } else { entry.base[axis] == end(of, axis) };
    let beside =
        |other: usize| entry.base[other] < end(of, other) && of.base[other] < end(entry, other);
    touches && (0..3).all(|other| other == axis || beside(other))
}
