//! What was refused before, and what has been released since.
//!
//! While nothing is released, what was refused is refused again, and so is all that is larger. After
//! a release it can only fit at bases whose box meets what was released: the search looks there and
//! nowhere else. Grants change nothing, they only make it harder to fit.

use super::region::Region;
use crate::{Cuboid, Grid, Sides};

/// The name of a question, by which its refusal is remembered. The same name always comes with the
/// same shapes, in whatever order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKey {
    /// A question that is not remembered.
    Once,
    /// A question whose refusal tells nothing of others.
    Alone([u16; 3]),
    /// A question whose refusal refuses every name that is as large on each axis: each of the larger
    /// one's shapes holds one of the smaller one's.
    Ordered([u16; 3]),
}

/// The last few refusals.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals {
    kept: [Option<Refusal>; KEPT],
    next: usize,
    /// Whether any may be kept: often none is, and a small machine is searched as soon.
    any: bool,
}

const KEPT: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Refusal {
    asked: RefusalKey,
    /// A box around all that was released since; on a ring it may pass the end.
    released: Option<Cuboid>,
}

/// What is known of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Nothing.
    Nothing,
    /// It fits nowhere.
    Refused,
    /// It fits nowhere but where it meets this box.
    Except(Cuboid),
}

impl Known {
    /// Where a shape's first base is if there is one; none if it has none.
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
    /// What is known of a question.
    #[inline(always)]
    pub(super) fn of(&self, asked: RefusalKey) -> Known {
        if self.any && asked != RefusalKey::Once { self.recall(asked) } else { Known::Nothing }
    }

    fn recall(&self, asked: RefusalKey) -> Known {
        let mut known = Known::Nothing;
        for refusal in self.kept.iter().flatten() {
            if refusal.refuses(asked) {
                match refusal.released {
                    None => return Known::Refused,
                    Some(released) => known = Known::Except(released),
                }
            }
        }
        known
    }

    /// The question was answered with a refusal now.
    pub(super) fn note(&mut self, asked: RefusalKey) {
        if asked == RefusalKey::Once {
            return;
        }
        let same = |kept: &Option<Refusal>| kept.is_some_and(|kept| kept.asked == asked);
        let index = self.kept.iter().position(same).unwrap_or_else(|| {
            self.next = (self.next + 1) % KEPT;
            self.next
        });
        self.kept[index] = Some(Refusal { asked, released: None });
        self.any = true;
    }

    /// Something is free again, and where does not matter.
    #[inline]
    pub(super) fn forget(&mut self) {
        if self.any {
            self.kept = [None; KEPT];
            self.any = false;
        }
    }

    /// A box is free again.
    pub(super) fn released(&mut self, grid: &Grid, cuboid: &Cuboid) {
        for kept in &mut self.kept {
            let Some(refusal) = kept else { continue };
            let released =
                refusal.released.map_or(*cuboid, |released| around(grid, &released, cuboid));
            // A search of half the machine is no better than one of all of it.
            if u64::from(released.volume()) * 2 > u64::from(grid.nodes()) {
                *kept = None;
            } else {
                refusal.released = Some(released);
            }
        }
    }
}

impl Refusal {
    /// Whether it refused this too.
    fn refuses(&self, asked: RefusalKey) -> bool {
        match (self.asked, asked) {
            (RefusalKey::Ordered(refused), RefusalKey::Ordered(asked)) => {
                (0..3).all(|axis| asked[axis] >= refused[axis])
            }
            (refused, asked) => refused == asked,
        }
    }
}

/// A small box around two.
fn around(grid: &Grid, a: &Cuboid, b: &Cuboid) -> Cuboid {
    let mut both = *a;
    for axis in 0..3 {
        let n = grid.side(axis);
        let [one, other] = [a, b].map(|cuboid| (cuboid.base[axis], cuboid.sides[axis]));
        // From the base of one until both have ended, going round if need be.
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
