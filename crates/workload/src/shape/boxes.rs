//! Boxes that fit a machine in some orientation.

use pavior_mesh::{Grid, Sides, volume};

/// A machine's sides in descending order, each with its axis.
///
/// A box fits in some orientation if and only if its sides fit the machine's sides when both are in
/// descending order. Boxes in this module therefore have descending sides until [`Boxes::placed`]
/// rotates them.
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

    /// Assigns a box's sides to axes, with longer sides on longer axes of the machine.
    pub(crate) fn placed(&self, descending: Sides) -> Sides {
        let mut sides = [1; 3];
        for (side, axis) in descending.into_iter().zip(self.axes) {
            sides[axis] = side;
        }
        sides
    }

    /// Returns half the number of node faces on the box's surface, ignoring axes of length 1. This
    /// is half the surface area of a 3D box, or half the perimeter of a 2D box.
    pub(crate) fn surface(&self, descending: Sides) -> u64 {
        let volume = volume(descending);
        (0..3).filter(|&i| self.most[i] > 1).map(|i| volume / u64::from(descending[i])).sum()
    }

    /// Calls `visit` with boxes of at least `nodes` nodes. For each choice of the two smaller
    /// sides, the longest side is as short as possible. Every unvisited box of at least `nodes`
    /// nodes is at least as large as some visited box, both in volume and in surface.
    ///
    /// Cost: at most C·B visits on a machine with sides A >= B >= C, and far fewer for a small
    /// number of nodes.
    pub(crate) fn tight(&self, nodes: u32, mut visit: impl FnMut(Sides)) {
        let [most_a, most_b, most_c] = self.most.map(u64::from);
        let nodes = u64::from(nodes);
        // With a smaller c or b, the longest side would exceed its maximum.
        for c in nodes.div_ceil(most_a * most_b).max(1)..=most_c {
            for b in nodes.div_ceil(most_a * c).max(c)..=most_b {
                let a = nodes.div_ceil(b * c).max(b);
                visit([a as u16, b as u16, c as u16]);
                if b * b * c >= nodes {
                    // Here a equals b, so a larger b would increase both the volume and the
                    // surface.
                    break;
                }
            }
            if c * c * c >= nodes {
                break;
            }
        }
    }

    /// Returns all boxes of exactly `nodes` nodes, ordered by smallest side, then by middle side.
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
