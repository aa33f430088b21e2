//! A cache of refused queries and, for each refusal, the boxes released since.
//!
//! Once a shape is refused, it and every larger shape remain refused until a box is released;
//! taking boxes never helps. After a release, the shape can fit only where it overlaps the released
//! box, so the search is limited to that region.
//!
//! ```text
//!   refused 3x2      taken: no change       released B: only bases where 3x2 overlaps B
//! ```
//!
//! Invariant: a refusal holds for every base whose box does not overlap its `released` box.
//!
//! Cost: one check per query and stored refusal. At most 32 refusals are stored.

use super::region::Region;
use crate::{Cuboid, Grid, Sides};

/// The key under which a query's refusal is stored. A key must always be used with the same shapes,
/// in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKey {
    /// The refusal is not stored.
    Once,
    /// The refusal implies nothing about other queries.
    Alone([u16; 3]),
    /// The refusal also applies to every key that is at least as large on each axis, because each
    /// shape under the larger key contains a shape under the smaller one.
    Ordered([u16; 3]),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Refusals {
    /// The refusals, oldest first until the list is full. After that, new ones overwrite old ones.
    /// No refusal implies an earlier one.
    kept: Vec<Refusal>,
    /// The position that was overwritten most recently after the list became full.
    next: usize,
    /// A box around everything released since the last query. The box is added to the refusals only
    /// at the next query, because a single job may release thousands of boxes.
    pending: Option<Cuboid>,
}

/// The maximum number of stored refusals. This is enough for the smallest shapes in a long queue.
/// These shapes matter most, because refusing a shape implies refusing all larger ones.
const KEPT: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Refusal {
    asked: RefusalKey,
    /// A box around everything released since the refusal. May extend past the end of a ring.
    released: Option<Cuboid>,
}

/// A conclusion about a query, drawn from earlier refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Nothing,
    /// No requested shape fits anywhere.
    Refused,
    /// A requested shape can fit only at bases where it overlaps this box.
    Except(Cuboid),
}

impl Known {
    /// Records that a shape can fit only where it overlaps `released`. If another such box is
    /// already known, keeps the smaller of the two boxes, because less remains to be searched.
    fn narrowed_to(self, released: Cuboid) -> Known {
        match self {
            Known::Except(other) if other.volume() <= released.volume() => self,
            Known::Refused => self,
            _ => Known::Except(released),
        }
    }

    /// Returns the region to search for a shape's first base, or `None` if there is no base.
    #[inline(always)]
    pub(super) fn region(&self, grid: &Grid, shape: Sides) -> Option<Region> {
        match self {
            Known::Nothing => Region::whole(grid, shape),
            Known::Refused => None,
            Known::Except(cuboid) => Region::meeting(grid, shape, cuboid),
        }
    }
}

impl Refusals {
    /// Draws a conclusion about a query from the earlier refusals that apply to the query.
    #[inline(always)]
    pub(super) fn of(&mut self, grid: &Grid, asked: RefusalKey) -> Known {
        if self.kept.is_empty() || asked == RefusalKey::Once {
            Known::Nothing
        } else {
            self.recall(grid, asked)
        }
    }

    fn recall(&mut self, grid: &Grid, asked: RefusalKey) -> Known {
        if let Some(released) = self.pending.take() {
            self.add_released(grid, &released);
        }
        let mut known = Known::Nothing;
        for refusal in &self.kept {
            if refusal.refuses(asked) {
                match refusal.released {
                    None => return Known::Refused,
                    Some(released) => known = known.narrowed_to(released),
                }
            }
        }
        known
    }

    /// Records that the query was refused.
    pub(super) fn note(&mut self, asked: RefusalKey) {
        if asked == RefusalKey::Once {
            return;
        }
        let refusal = Refusal { asked, released: None };
        // Refusals that this one implies are no longer needed.
        self.kept.retain(|other| !refusal.refuses(other.asked));
        if self.kept.len() < KEPT {
            self.kept.push(refusal);
        } else {
            self.next = (self.next + 1) % KEPT;
            self.kept[self.next] = refusal;
        }
    }

    /// Discards all refusals. This is always safe after a release.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.kept.clear();
        self.pending = None;
    }

    /// Records that a box is free again.
    #[inline]
    pub(super) fn released(&mut self, grid: &Grid, cuboid: &Cuboid) {
        if !self.kept.is_empty() {
            self.pending =
                Some(self.pending.map_or(*cuboid, |pending| around(grid, &pending, cuboid)));
        }
    }

    /// Adds a released box to every refusal, and drops refusals whose box has become too large.
    fn add_released(&mut self, grid: &Grid, cuboid: &Cuboid) {
        // Searching half the machine is no faster than searching all of it.
        let is_large =
            |released: &Cuboid| u64::from(released.volume()) * 2 > u64::from(grid.nodes());
        self.kept.retain_mut(|refusal| {
            let released =
                refusal.released.map_or(*cuboid, |released| around(grid, &released, cuboid));
            refusal.released = Some(released);
            !is_large(&released)
        });
    }
}

impl Refusal {
    /// Returns true if this refusal implies that `asked` is refused, too.
    fn refuses(&self, asked: RefusalKey) -> bool {
        match (self.asked, asked) {
            (RefusalKey::Ordered(refused), RefusalKey::Ordered(asked)) => {
                (0..3).all(|axis| asked[axis] >= refused[axis])
            }
            (refused, asked) => refused == asked,
        }
    }
}

/// Returns a box that contains two boxes. On a ring, it extends in the shorter direction.
fn around(grid: &Grid, a: &Cuboid, b: &Cuboid) -> Cuboid {
    let mut both = *a;
    for axis in 0..3 {
        let n = grid.side(axis);
        let [one, other] = [a, b].map(|cuboid| (cuboid.base[axis], cuboid.sides[axis]));
        // The result extends from the base of one box to the farther of the boxes' two ends,
        // wrapping around on a ring.
        let from = |first: (u16, u16), second: (u16, u16)| {
            let ahead =
                if second.0 >= first.0 { second.0 - first.0 } else { second.0 + (n - first.0) };
            (first.0, first.1.max(ahead.saturating_add(second.1)))
        };
        let (base, side) = match (from(one, other), from(other, one)) {
            _ if !grid.wraps(axis) && one.0 <= other.0 => from(one, other),
            _ if !grid.wraps(axis) => from(other, one),
            (one, other) if one.1 <= other.1 => one,
            (_, other) => other,
        };
        (both.base[axis], both.sides[axis]) = if side < n { (base, side) } else { (0, n) };
    }
    both
}
