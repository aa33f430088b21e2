//! Stack-Based Allocation's plain search, which keeps pieces of the base area on a stack.

use pavior_mesh::{Cuboid, Sides};

use crate::Work;
use crate::contiguous::{BoxRule, Scored, View};
use crate::strategies::shared::coverage::{AxisRange, CoverageList};

/// A box of bases.
pub(super) type Area = [AxisRange; 3];

#[derive(Clone, Default)]
pub(super) struct StackBased {
    /// Scratch space for the busy boxes' coverages for the current shape.
    coverages: CoverageList,
    /// Scratch space for areas, each with the number of coverages known not to overlap it.
    stack: Vec<(Area, usize)>,
    /// The number of areas popped from the stack, plus the number of coverages compared with them.
    tested: u64,
}

impl StackBased {
    /// Finds the first area that no busy box covers, and returns its lowest base. Skips any area
    /// for which `has_base` returns false.
    pub(super) fn first(
        &mut self,
        view: &View<'_>,
        shape: Sides,
        has_base: impl Fn(&Area) -> bool,
    ) -> Option<Cuboid> {
        self.coverages.load(view.grid(), view.busy(), shape);
        let coverages = self.coverages.pieces();
        let starts =
            |axis: usize| AxisRange { low: 0, high: view.grid().starts(axis, shape[axis]) - 1 };
        self.stack.clear();
        self.stack.push((std::array::from_fn(starts), 0));
        while let Some((area, checked)) = self.stack.pop() {
            self.tested += 1;
            if !has_base(&area) {
                continue;
            }
            let rest = &coverages[checked..];
            let hit = rest.iter().position(|covered| meets(&area, covered));
            self.tested += hit.map_or(rest.len(), |index| index + 1) as u64;
            let Some(hit) = hit else {
                return Some(Cuboid::new(area.map(|span| span.low), shape));
            };
            push_pieces(area, &coverages[checked + hit], checked + hit + 1, &mut self.stack);
        }
        None
    }
}

fn meets(area: &Area, other: &Area) -> bool {
    (0..3).all(|axis| area[axis].low <= other[axis].high && other[axis].low <= area[axis].high)
}

/// Subtracts a coverage from an area and pushes the remaining disjoint pieces onto the stack, last
/// piece first. The pieces at the ends along x have the area's full depth and height, those at the
/// ends along y have its full height, and those along z are in the middle.
fn push_pieces(area: Area, hole: &Area, checked: usize, stack: &mut Vec<(Area, usize)>) {
    let (mut below, mut above) = ([None; 3], [None; 3]);
    let mut middle = area;
    for axis in 0..3 {
        let (span, cut) = (area[axis], hole[axis]);
        if span.low < cut.low {
            let mut piece = middle;
            piece[axis].high = cut.low - 1;
            below[axis] = Some(piece);
        }
        if cut.high < span.high {
            let mut piece = middle;
            piece[axis].low = cut.high + 1;
            above[axis] = Some(piece);
        }
        middle[axis] = AxisRange { low: span.low.max(cut.low), high: span.high.min(cut.high) };
    }
    // The pieces are popped in this order: left, below in y, below in z, above in z, above in y,
    // right.
    let pieces = above.into_iter().chain(below.into_iter().rev()).flatten();
    stack.extend(pieces.map(|piece| (piece, checked)));
}

impl BoxRule for StackBased {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        self.first(view, shape, |_| true).map(Scored::from)
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested) + self.coverages.work()
    }
}
