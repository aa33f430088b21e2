//! The plain search of RBS: it subtracts every busy box from every right border line. Short busy
//! lists are searched by it, too.
//!
//! Invariant: `low..=high` is the highest clear segment of a line between the boxes seen so far.
//! Boxes come from the highest top row down, so that it only shrinks.
//!
//! Cost: O(B) a line, O(B^2) in all for B boxes.

use pavior_mesh::{Cuboid, Sides};

use super::lines::RightBorders;
use crate::strategies::shared::coverage::{AxisRange, covered};

impl RightBorders {
    /// The first free box of a shape that fits the grid: on the left border, then on the right
    /// border line of each busy box, the highest first.
    pub(crate) fn first(&mut self, shape: Sides) -> Option<Cuboid> {
        let whole = AxisRange { low: 0, high: self.grid.starts(1, shape[1]) - 1 };
        self.first_base(0, whole, shape).or_else(|| {
            (0..self.busy.boxes().len()).find_map(|index| {
                let held = self.busy.boxes()[index];
                let x = self.right_of(&held, shape[0])?;
                let line = covered(&self.grid, 1, &held, shape[1])[0]?;
                self.first_base(x, line, shape)
            })
        })
    }

    /// The x of a box's right border line, if it is a base of the side at all.
    fn right_of(&self, held: &Cuboid, side: u16) -> Option<u16> {
        let (n, starts) = (self.grid.side(0), self.grid.starts(0, side));
        let right = u32::from(held.base[0]) + u32::from(held.sides[0]);
        if !self.grid.wraps(0) {
            return (right < u32::from(starts)).then_some(right as u16);
        }
        // A side that closes the ring has the one base 0, which the left border is.
        (side < n).then_some((right % u32::from(n)) as u16)
    }

    /// The lowest base of the highest clear segment of a line.
    fn first_base(&mut self, x: u16, line: AxisRange, shape: Sides) -> Option<Cuboid> {
        self.work.boxes += 1;
        let AxisRange { mut low, mut high } = line;
        for held in self.busy.boxes() {
            self.work.boxes += 1;
            let Some(region) = covered(&self.grid, 1, held, shape[1])[0] else { continue };
            let xs = covered(&self.grid, 0, held, shape[0]);
            if !xs.into_iter().flatten().any(|span| span.contains(x)) {
                continue;
            }
            if low > region.high {
                break;
            }
            if region.high < high {
                low = region.high + 1;
                break;
            }
            if region.low <= low {
                return None;
            }
            high = high.min(region.low - 1);
        }
        Some(Cuboid::new([x, low, 0], shape))
    }
}
