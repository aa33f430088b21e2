//! NAS's nuclei: boxes smaller than the request, from which growth starts.
//!
//! ```text
//!   S(a, b), a >= b, by k:    a even: a/2 x (b + k)       a odd: ((a+1)/2 + k) x (b + a/2 - k)
//! ```
//!
//! The nuclei are the taller parts of the L-shapes made from a x b
//! ([`l_shapes`](crate::strategies::shared::l_shapes)).
//!
//! Departures from the paper: nuclei with n or more nodes are omitted. The paper's 5x2 example
//! tries 4x3, and would grant 12 nodes instead of 10. The values k = 1, 2, 3 in that example are
//! outside the printed bound. If the bound is negative, we try these values; if it is 0, we try no
//! k. In its 6x3 example, the paper lists 6x2, but no printed formula gives 6x2.
//!
//! Cost: O(1) per nucleus, O(b) nuclei.

use pavior_mesh::{Grid, Sides, volume};

/// Returns the values of k that turn a x b into nuclei, for a >= b >= 2. The highest value is b if
/// a is even, or the printed bound if a is odd. If that bound is negative, the values are 1, 2, 3,
/// as in the paper's example. If it is -1, the values -1 and 0 come first.
fn schedule(a: i32, b: i32) -> impl Iterator<Item = i32> {
    let printed_bound = b - 1 - (a + 1) / 2;
    let (first, last, step) = match (a % 2 == 0, printed_bound) {
        (true, _) => (1, b, b / 4),
        (false, -1) => (-1, 3, 1),
        (false, ..-1) => (1, 3, 1),
        (false, most) => (1, most, b / 4),
    };
    (first..=last).step_by(step.max(1) as usize)
}

/// Returns the nuclei of S(a,b) that have fewer than n nodes and fit the grid. Side a is the longer
/// one.
pub(super) fn nuclei([a, b, _]: Sides, nodes: u32, grid: Grid) -> impl Iterator<Item = Sides> {
    let (a, b) = (i32::from(a.max(b)), i32::from(a.min(b)));
    let ks = schedule(a, b).take_while(move |_| b >= 2);
    let sides = move |k: i32| {
        let (wide, high) = match a % 2 {
            0 => (a / 2, b + k),
            _ => ((a + 1) / 2 + k, b + a / 2 - k),
        };
        Some([u16::try_from(wide).ok()?, u16::try_from(high).ok()?, 1])
    };
    ks.filter_map(sides).filter(move |&sides| grid.fits(sides) && volume(sides) < u64::from(nodes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nuclei_of(shape: [u16; 2]) -> Vec<[u16; 2]> {
        let grid = Grid::mesh(&[16, 16]).unwrap();
        let [a, b] = shape;
        let nodes = u32::from(a) * u32::from(b);
        nuclei([a, b, 1], nodes, grid).map(|[wide, high, _]| [wide, high]).collect()
    }

    #[test]
    fn the_examples() {
        // For 5x3, k = -1 gives 2x6, k = 0 and 2 give 5x3, and k = 1 gives 4x4 (too large).
        assert_eq!(nuclei_of([5, 3]), [[2, 6], [6, 2]]);
        assert_eq!(nuclei_of([3, 5]), [[2, 6], [6, 2]]);
        // For 5x2, the paper lists 4x3 (12 nodes, too many), 5x2 (the request itself) and 6x1.
        assert_eq!(nuclei_of([5, 2]), [[6, 1]]);
        // For 6x3, the paper lists 6x2, but none of its formulas gives 6x2.
        assert_eq!(nuclei_of([6, 3]), [[3, 4], [3, 5]]);
        // For 5x1, there are no nuclei.
        assert_eq!(nuclei_of([5, 1]), Vec::<[u16; 2]>::new());
    }

    #[test]
    fn a_growing_nucleus_stays_below_the_request() {
        for (a, b) in (1..=16).flat_map(|a| (1..=16).map(move |b| (a, b))) {
            for [wide, high] in nuclei_of([a, b]) {
                assert!(wide * high < a * b, "{a}x{b}: {wide}x{high}");
            }
        }
    }
}
