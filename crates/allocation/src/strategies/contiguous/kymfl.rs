//! Kim & Yoon's Maximal Free List: keep a list of all maximal free boxes, and place each request at
//! the best corner of one of them.
//!
//! The strategy finds a free placement whenever one exists, because every free box is contained in
//! a maximal free box, and the list contains all of these.
//!
//! ```text
//!   . . . #      a 4x3 mesh with two busy nodes has four maximal free boxes:
//!   . . . .      3x2 at the upper left, 3x2 at the lower right, the middle row
//!   # . . .      4x1, and the middle columns 2x3
//! ```
//!
//! By default, the best corner is the one at which the request shrinks the free boxes least
//! (`place=fragmentation`). Other placement policies are available as options.
//!
//! Cost with F entries: O(F) to find the entries that fit, O(F^2) to score their corners, and
//! O(F^2) for a grant. A release runs an iterated consensus on nearby entries, which takes O(F^3).
//!
//! Source: Kim & Yoon, "On submesh allocation for mesh multicomputers: a best-fit allocation and a
//! virtual submesh allocation for faulty meshes", IEEE TPDS 9(2), 1998. Only the abstract was
//! available. It says that the list contains all maximal free submeshes, and that the submesh with
//! the least potential fragmentation is taken.
//!
//! Departures: the original formula is not known, so we use our own. The list maintenance and the
//! support for 3D are also our own. Tori are rejected, because two boxes on a ring can overlap in
//! two pieces, a case that the rules do not cover. Virtual submeshes around faulty rows are
//! omitted.

use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::free_list::FreeBoxes;
use crate::strategies::shared::free_list::placing::{PLACE, Placing};
use crate::strategies::shared::free_list::strategy::{IteratedConsensus, MaximalFreeList};
use crate::strategies::shared::turning::TURN_ON;

pub(crate) static ENTRY: Entry = Entry {
    name: "kymfl",
    title: "Kim & Yoon's Maximal Free List",
    source: "Kim & Yoon 1998",
    options: &[TURN_ON, PLACE],
    variants: &["", "place=contact", "place=first", "place=smallest"],
    does: StrategyKind::contiguous(|grid, options| {
        MaximalFreeList::boxed(grid, options, Placing::of(options), IteratedConsensus)
    })
    .with_supports(|grid, _| FreeBoxes::supports(grid)),
};
