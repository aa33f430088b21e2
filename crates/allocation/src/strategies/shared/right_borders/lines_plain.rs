//! RBS's plain search, which subtracts every busy box from every right border line. It is also used
//! for short busy lists.
//!
//! Invariant: `low..=high` is a line's highest segment that is clear of all boxes visited so far.
//! Boxes are visited by top row, highest first, so the segment only shrinks.
//!
//! Cost: O(B) per line, and O(B^2) in total for B boxes.

use pavior_mesh::{Cuboid, Sides};

use super::lines::RightBorders;
use super::pieces::right_border;
use crate::strategies::shared::coverage::{AxisRange, covered};

impl RightBorders {
    /// Finds the first free box of a shape that fits the grid. Searches the left border first, and
    /// then the right border line of each busy box, highest box first.
    pub(crate) fn first(&mut self, shape: Sides) -> Option<Cuboid> {
        let whole = AxisRange { low: 0, high: self.grid.starts(1, shape[1]) - 1 };
        self.first_base(0, whole, shape).or_else(|| {
            (0..self.busy.boxes().len()).find_map(|index| {
                let held = self.busy.boxes()[index];
                let x = right_border(&self.grid, &held, shape[0])?;
                let line = covered(&self.grid, 1, &held, shape[1])[0]?;
                self.first_base(x, line, shape)
            })
        })
    }

    /// Returns the lowest base in the highest clear segment of a line.
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
            // The segment is above this box, and therefore above all the boxes after it.
            if low > region.high {
                break;
            }
            // The part above this box is the highest clear segment.
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
