//! MC's engine for machines with one axis, which computes a center's cost in O(log n).
//!
//! Let n be the number of requested nodes, F(k) the number of free nodes in the box grown by k
//! shells, and K the first k with F(k) >= n. The center's cost is the sum of n - F(k) over k = 0 ..
//! K - 1.
//!
//! Let P(x) be the number of free nodes below x. Then F(k) is the difference between two values of
//! P, and the sum of F(k) is the difference between two sums:
//!
//! ```text
//!   . . [low - k ..  low .. box .. end .. end + k) . .      F(k) = P(end + k) - P(low - k)
//!
//!   sum of F(k) = (P(end) + P(end + 1) + ..) - (P(low) + P(low - 1) + ..)        K terms each
//! ```
//!
//! K is found by bisection, and the sums of P are stored. On a line, P(x) is 0 for x below the
//! line. For x above it, P(x) is the total number of free nodes.
//!
//! Invariant: `sums[i]` is the sum of `below[..i]`. On a ring, both lists cover three turns, so no
//! box extends beyond an end.
//!
//! Cost: O(n) per state, O(log n) per center.

use pavior_mesh::{Coordinates, Grid, Occupancy, Sides};

use super::shells::{Core, Offer, least_cost};
use crate::Work;

/// The engine, with its sums of free nodes. On a ring, the sums cover three turns.
#[derive(Clone, Debug)]
pub(super) struct LineShells {
    grid: Grid,
    axis: usize,
    side: usize,
    ring: bool,
    /// P: for each coordinate, the number of free nodes at lower coordinates.
    below: Vec<u32>,
    /// For each index i, the sum of `below[..i]`.
    sums: Vec<u64>,
    /// The number of centers tried.
    tested: u64,
}

impl LineShells {
    /// Creates the engine if only one of the grid's axes has more than one node.
    pub(super) fn of(grid: Grid) -> Option<LineShells> {
        let mut long = (0..3).filter(|&axis| grid.side(axis) > 1);
        let axis = long.next().filter(|_| long.next().is_none())?;
        let (side, ring) = (usize::from(grid.side(axis)), grid.wraps(axis));
        let (below, sums) = (Vec::new(), Vec::new());
        Some(LineShells { grid, axis, side, ring, below, sums, tested: 0 })
    }

    /// Finds the cheapest free center. Ties go to the first one. Enough nodes must be free.
    pub(super) fn cheapest(
        &mut self,
        free: &Occupancy,
        shape: Sides,
        nodes: u32,
    ) -> Option<(Core, Offer)> {
        self.load(free);
        let least = least_cost(&self.grid, shape, nodes);
        let mut best: Option<(Core, Offer)> = None;
        for node in free.iter() {
            self.tested += 1;
            let core = Core::new(self.grid, self.grid.point(node), shape);
            let offer = self.offer(core.low(self.axis), core.sides[self.axis], nodes);
            if best.as_ref().is_none_or(|(_, found)| offer.cost < found.cost) {
                best = Some((core, offer));
                if offer.cost == least {
                    break;
                }
            }
        }
        best
    }

    pub(super) fn work(&self) -> Work {
        Work::of_boxes(self.tested)
    }

    /// Loads the free nodes. Takes O(n) time.
    fn load(&mut self, free: &Occupancy) {
        let length = if self.ring { 3 * self.side } else { self.side };
        self.below.clear();
        self.sums.clear();
        self.sums.push(0);
        let (mut below, mut sum) = (0, 0);
        for at in 0..=length {
            self.below.push(below);
            sum += u64::from(below);
            self.sums.push(sum);
            let mut point: Coordinates = [0; 3];
            point[self.axis] = (at % self.side) as u16;
            below += u32::from(free.is_node_free(free.grid().id(point)));
        }
    }

    /// Counts the free nodes in the box from `low` to `end` after growing it by `shells` shells.
    fn within(&self, low: i64, end: i64, shells: i64) -> u32 {
        let n = self.side as i64;
        let (low, end) = (low - shells, end + shells);
        if !self.ring {
            let place = |at: i64| self.below[at.clamp(0, n) as usize];
            return place(end) - place(low);
        }
        if end - low >= n {
            return self.below[self.side];
        }
        self.below[(end + n) as usize] - self.below[(low + n) as usize]
    }

    /// Returns the offer for the box that begins at coordinate `low`, which may be outside the
    /// line. Enough nodes must be free. Takes O(log n) time.
    fn offer(&self, low: i32, side: u16, nodes: u32) -> Offer {
        let (low, n) = (i64::from(low), self.side as i64);
        let end = low + i64::from(side);
        // `few` shells contain too few free nodes, but `enough` shells contain enough.
        let (mut few, mut enough) = (-1, n);
        while enough - few > 1 {
            let middle = i64::midpoint(few, enough);
            if self.within(low, end, middle) >= nodes { enough = middle } else { few = middle }
        }
        let last = enough;
        // Sums P over the coordinates from `from` up to, but not including, `to`.
        let sum = |from: i64, to: i64| self.sums[to as usize] - self.sums[from as usize];
        let (sum_at_ends, sum_at_lows) = if self.ring {
            let (low, end) = (low + n, end + n);
            (sum(end, end + last), sum(low + 1 - last, low + 1))
        } else {
            // The number of terms on the line, for each sum. Beyond the line, each term of the sum
            // over the ends is the total number of free nodes, and each term of the sum over the
            // lows is 0.
            let (end_terms, low_terms) = ((n - end).clamp(0, last), (low + 1).clamp(0, last));
            let all = u64::from(self.below[self.side]);
            let ends = if end_terms > 0 { sum(end, end + end_terms) } else { 0 };
            let lows = if low_terms > 0 { sum(low + 1 - low_terms, low + 1) } else { 0 };
            (ends + (last - end_terms) as u64 * all, lows)
        };
        let cost = last as u64 * u64::from(nodes) - (sum_at_ends - sum_at_lows);
        let free_inside = if last == 0 { 0 } else { self.within(low, end, last - 1) };
        Offer { cost, last: last as u32, free_inside }
    }
}
