//! The order in which bases are tried.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::{Coordinates, Grid, Sides};

/// A scan order: the axes from fastest to slowest, and the direction along each.
///
/// The default is row-major, `xyz`: x varies fastest and each axis ascends, so the first base is
/// the lowest leftmost one. The notation lists the axes from fastest to slowest, with a minus sign
/// before each descending axis: `x-yz` goes left to right and top to bottom. Omitted axes follow in
/// alphabetical order.
///
/// ```
/// # mod pavior { pub use pavior_mesh as strategies; pub use pavior_mesh::*; }
/// use pavior::strategies::Scan;
/// use pavior::Grid;
/// let grid = Grid::mesh(&[2, 2])?;
/// let bases = |scan: &str| scan.parse::<Scan>().unwrap().bases(grid, [1; 3]).collect::<Vec<_>>();
/// assert_eq!(bases("yx"), [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]);
/// assert_eq!(bases("x-y"), [[0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 0, 0]]);
/// # Ok::<(), pavior::GridError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scan {
    /// The axis numbers, fastest first.
    axes: [u8; 3],
    /// For each axis number, true if the scan descends along that axis.
    descending: [bool; 3],
}

/// The error for an invalid scan order.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a valid scan order; list the axes, fastest first, as in xyz, yzx or x-yz")]
pub struct ScanError(String);

impl Default for Scan {
    fn default() -> Self {
        Scan { axes: [0, 1, 2], descending: [false; 3] }
    }
}

impl Scan {
    /// Returns true if this is the default order.
    pub fn is_row_major(&self) -> bool {
        *self == Scan::default()
    }

    /// Returns the canonical bases of an unrotated shape in this order. There are none if the shape
    /// does not fit.
    pub fn bases(self, grid: Grid, shape: Sides) -> impl Iterator<Item = Coordinates> {
        let starts: Sides = std::array::from_fn(|axis| grid.starts(axis, shape[axis]));
        let [fast, middle, slow] = self.axes.map(usize::from);
        let walk = move |axis: usize| {
            let n = starts[axis];
            (0..n).map(move |step| if self.descending[axis] { n - 1 - step } else { step })
        };
        walk(slow).flat_map(move |c| {
            walk(middle).flat_map(move |b| {
                walk(fast).map(move |a| {
                    let mut base = [0; 3];
                    (base[fast], base[middle], base[slow]) = (a, b, c);
                    base
                })
            })
        })
    }

    /// Returns a base's sort key for this order. Smaller keys come first.
    pub fn key(&self, base: Coordinates) -> [i32; 3] {
        let [fast, middle, slow] = self.axes.map(usize::from);
        [slow, middle, fast].map(|axis| {
            let coordinate = i32::from(base[axis]);
            if self.descending[axis] { -coordinate } else { coordinate }
        })
    }
}

impl FromStr for Scan {
    type Err = ScanError;

    fn from_str(text: &str) -> Result<Scan, ScanError> {
        let error = || ScanError(text.to_string());
        let (mut axes, mut descending, mut minus) = (Vec::new(), [false; 3], false);
        for letter in text.chars() {
            let axis = match letter {
                'x' => 0,
                'y' => 1,
                'z' => 2,
                '-' if !minus => {
                    minus = true;
                    continue;
                }
                _ => return Err(error()),
            };
            if axes.contains(&axis) {
                return Err(error());
            }
            axes.push(axis);
            descending[usize::from(axis)] = std::mem::take(&mut minus);
        }
        if axes.is_empty() || minus {
            return Err(error());
        }
        for axis in 0..3 {
            if !axes.contains(&axis) {
                axes.push(axis);
            }
        }
        Ok(Scan { axes: [axes[0], axes[1], axes[2]], descending })
    }
}

impl fmt::Display for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for axis in self.axes.map(usize::from) {
            write!(f, "{}{}", if self.descending[axis] { "-" } else { "" }, ["x", "y", "z"][axis])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_survive_a_round_trip_and_faults_are_refused() {
        for text in ["xyz", "yzx", "x-yz", "-z-y-x"] {
            assert_eq!(text.parse::<Scan>().unwrap().to_string(), text);
        }
        assert_eq!("y".parse::<Scan>().unwrap().to_string(), "yxz");
        for text in ["", "xx", "xyq", "-", "xy-", "x--y", "xyzx"] {
            assert!(text.parse::<Scan>().is_err(), "{text}");
        }
    }

    #[test]
    fn keys_sort_as_the_scan_walks() {
        let grid = Grid::new(&[4, 3, 2], &[true, false, false]).unwrap();
        for text in ["xyz", "yzx", "x-yz", "-zxy"] {
            let scan: Scan = text.parse().unwrap();
            let walked: Vec<Coordinates> = scan.bases(grid, [2, 2, 1]).collect();
            let mut sorted = walked.clone();
            sorted.sort_by_key(|&base| scan.key(base));
            assert_eq!(walked, sorted);
            assert_eq!(walked.len(), 4 * 2 * 2);
        }
    }
}
