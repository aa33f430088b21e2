//! The boxes that fit a machine in any orientation.

use pavior_mesh::{Grid, Sides, volume};

/// A machine's sides in descending order, and their axes.
///
/// A box fits in some orientation exactly when its sides in descending order fit the machine's.
/// Boxes here therefore have descending sides, and are turned only at the end, by
/// [`Boxes::placed`].
#[derive(Clone, Debug)]
pub(crate) struct Boxes {
    most: Sides,
    axes: [usize; 3],
}

impl Boxes {
    pub(crate) fn new(grid: &Grid) -> Boxes {
        let mut axes = [0, 1, 2];
        // The sort is stable, so axes of equal length stay in the order x, y, z.
        axes.sort_by_key(|&axis| std::cmp::Reverse(grid.side(axis)));
        Boxes { most: axes.map(|axis| grid.side(axis)), axes }
    }

    /// Returns the machine's sides in descending order.
    pub(crate) fn most(&self) -> Sides {
        self.most
    }

    /// Assigns descending sides to the axes, in descending order of the machine's sides.
    pub(crate) fn placed(&self, descending: Sides) -> Sides {
        let mut sides = [1; 3];
        for (side, axis) in descending.into_iter().zip(self.axes) {
            sides[axis] = side;
        }
        sides
    }

    /// Returns half the number of faces perpendicular to axes longer than 1. On a machine with
    /// three axes, this is half the box's surface; on a machine with two, it is half the perimeter.
    pub(crate) fn surface(&self, descending: Sides) -> u64 {
        let volume = volume(descending);
        (0..3).filter(|&i| self.most[i] > 1).map(|i| volume / u64::from(descending[i])).sum()
    }

    /// Calls `visit` with boxes of at least `nodes` nodes. For each choice of the two smaller
    /// sides, the box is the one with the shortest longest side. No other box has both less volume
    /// and less surface than all of these.
    ///
    /// Cost: at most C·B visits for a machine of sides A >= B >= C, and far fewer for small numbers
    /// of nodes.
    pub(crate) fn tight(&self, nodes: u32, mut visit: impl FnMut(Sides)) {
        let [most_a, most_b, most_c] = self.most.map(u64::from);
        let nodes = u64::from(nodes);
        // Smaller values would require a longest side beyond the maximum.
        for c in nodes.div_ceil(most_a * most_b).max(1)..=most_c {
            for b in nodes.div_ceil(most_a * c).max(c)..=most_b {
                let a = nodes.div_ceil(b * c).max(b);
                visit([a as u16, b as u16, c as u16]);
                if b * b * c >= nodes {
                    // A larger b requires an equally large a, and thus has more volume and more
                    // surface.
                    break;
                }
            }
            if c * c * c >= nodes {
                break;
            }
        }
    }

    /// Returns every box of exactly `nodes` nodes, ordered by smallest side, then middle side.
    pub(crate) fn exact(&self, nodes: u32) -> Vec<Sides> {
        let [most_a, most_b, most_c] = self.most.map(u32::from);
        let mut boxes = Vec::new();
        for c in (1..=most_c).take_while(|c| c * c <= nodes / c).filter(|c| nodes % c == 0) {
            let rest = nodes / c;
            for b in (c..=most_b).take_while(|&b| b <= rest / b).filter(|b| rest % b == 0) {
                if rest / b <= most_a {
                    boxes.push([(rest / b) as u16, b as u16, c as u16]);
                }
            }
        }
        boxes
    }
}
