//! Which cells of a torus the anchors of a placement reach.

use super::{gcd, volume};

/// A placement's boxes: one at each anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Boxes {
    /// The sides of each.
    pub(super) sides: [u16; 3],
    /// The first anchor.
    pub(super) seed: [u16; 3],
    /// From anchor to anchor. Slurm steps around the torus until it is back, so that the distance
    /// is the greatest common divisor with the side of the torus.
    pub(super) spacing: [u16; 3],
}

/// What the boxes of a placement are, in a torus of which some cells may have no node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// The number of anchors.
    pub(super) anchors: usize,
    /// Those whose cells all have nodes; Slurm uses no others.
    pub(super) whole: usize,
    /// For each cell, whether a whole anchor reaches it.
    pub(super) covered: Vec<bool>,
}

impl Boxes {
    /// What they reach in a torus; `filled` says which cells have nodes, x fastest. The sides are
    /// no longer than the torus's.
    pub(super) fn reach(&self, torus: [u16; 3], filled: &[bool]) -> Reach {
        let nodes: Vec<u32> = filled.iter().map(|&cell| u32::from(cell)).collect();
        let inside = sums(&nodes, torus, self.sides, false);
        let (mut anchors, mut whole) = (0, 0);
        let mut marks = vec![0; filled.len()];
        for at in self.anchors(torus) {
            anchors += 1;
            if u64::from(inside[at]) == volume(self.sides) {
                whole += 1;
                marks[at] = 1;
            }
        }
        let covered = sums(&marks, torus, self.sides, true).into_iter().map(|boxes| boxes > 0);
        Reach { anchors, whole, covered: covered.collect() }
    }

    /// The cells that are anchors.
    fn anchors(&self, torus: [u16; 3]) -> impl Iterator<Item = usize> + use<> {
        let along = [0, 1, 2].map(|axis| {
            let (side, step) = (torus[axis], gcd(self.spacing[axis], torus[axis]));
            let first = self.seed[axis] % step;
            (first..side).step_by(usize::from(step)).map(usize::from).collect::<Vec<_>>()
        });
        let [x, y, _] = torus.map(usize::from);
        let [xs, ys, zs] = along;
        zs.into_iter().flat_map(move |c| {
            let xs = xs.clone();
            let rows = ys.clone().into_iter();
            rows.flat_map(move |b| xs.clone().into_iter().map(move |a| a + x * (b + y * c)))
        })
    }
}

/// For each cell, the sum over a box that wraps around: the box begins there, or with `back` it
/// ends there.
fn sums(cells: &[u32], torus: [u16; 3], sides: [u16; 3], back: bool) -> Vec<u32> {
    let mut cells = cells.to_vec();
    let torus = torus.map(usize::from);
    let mut stride = 1;
    for axis in 0..3 {
        let (side, length) = (torus[axis], usize::from(sides[axis]));
        let mut line = vec![0; side];
        for start in (0..cells.len()).filter(|start| start / stride % side == 0) {
            for (at, cell) in line.iter_mut().enumerate() {
                *cell = cells[start + at * stride];
            }
            let mut sum: u32 = line[..length].iter().sum();
            for at in 0..side {
                let cell = if back { (at + length - 1) % side } else { at };
                cells[start + cell * stride] = sum;
                sum = sum - line[at] + line[(at + length) % side];
            }
        }
        stride *= side;
    }
    cells
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn boxes(sides: [u16; 3], spacing: [u16; 3]) -> Boxes {
        Boxes { sides, seed: [0; 3], spacing }
    }

    #[test]
    fn anchors_are_as_many_as_slurm_counts() {
        // From `scontrol show topology` of 26.05.5 for a torus of 4x2x1.
        let all = [true; 8];
        let anchors = |sides, spacing| boxes(sides, spacing).reach([4, 2, 1], &all).anchors;
        assert_eq!(anchors([2, 2, 1], [2, 2, 1]), 2);
        assert_eq!(anchors([3, 1, 1], [3, 1, 1]), 8);
        assert_eq!(anchors([2, 2, 1], [1, 2, 1]), 4);
        assert_eq!(anchors([1, 1, 1], [2, 2, 1]), 2);
    }

    #[test]
    fn a_cell_without_a_node_spoils_its_boxes_alone() {
        let mut filled = [true; 8];
        filled[7] = false;
        let reach = boxes([2, 2, 1], [2, 2, 1]).reach([4, 2, 1], &filled);
        assert_eq!((reach.anchors, reach.whole), (2, 1));
        assert_eq!(reach.covered, [true, true, false, false, true, true, false, false]);
    }

    proptest! {
        /// The same as a plain walk over all anchors and cells.
        #[test]
        fn reach_equals_a_plain_walk(
            torus in [1u16..5, 1u16..5, 1u16..4],
            sides in [1u16..5, 1u16..5, 1u16..4],
            spacing in [1u16..5, 1u16..5, 1u16..4],
            seed in [0u16..5, 0u16..5, 0u16..4],
            holes in prop::collection::vec(any::<bool>(), 48..49),
        ) {
            let within = |given: [u16; 3], least: u16| {
                [0, 1, 2].map(|axis| given[axis].clamp(least, torus[axis] - 1 + least))
            };
            let (sides, seed) = (within(sides, 1), within(seed, 0));
            let boxes = Boxes { sides, seed, spacing: within(spacing, 1) };
            let [x, y, z] = torus.map(usize::from);
            let filled = &holes[..x * y * z];
            let reach = boxes.reach(torus, filled);
            let (mut anchors, mut whole) = (0, 0);
            let mut covered = vec![false; filled.len()];
            let at = |point: [usize; 3]| point[0] % x + x * (point[1] % y + y * (point[2] % z));
            for a in positions(&boxes, torus, 0) {
                for b in positions(&boxes, torus, 1) {
                    for c in positions(&boxes, torus, 2) {
                        let [i, j, k] = boxes.sides.map(usize::from);
                        let cells: Vec<usize> = (0..i * j * k)
                            .map(|n| at([a + n % i, b + n / i % j, c + n / i / j]))
                            .collect();
                        anchors += 1;
                        if cells.iter().all(|&cell| filled[cell]) {
                            whole += 1;
                            for cell in cells {
                                covered[cell] = true;
                            }
                        }
                    }
                }
            }
            prop_assert_eq!(reach, Reach { anchors, whole, covered });
        }
    }

    /// As Slurm walks: from the seed by the spacing around the torus, until it is back.
    fn positions(boxes: &Boxes, torus: [u16; 3], axis: usize) -> Vec<usize> {
        let (side, step) = (usize::from(torus[axis]), usize::from(boxes.spacing[axis]));
        let first = usize::from(boxes.seed[axis]);
        let mut all = vec![first];
        let mut at = (first + step) % side;
        while at != first {
            all.push(at);
            at = (at + step) % side;
        }
        all
    }
}
