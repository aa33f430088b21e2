//! Parses and formats boxes and sides, in the notation used for snapshots.

use std::fmt;
use std::str::FromStr;

use pavior_kernel::BadName;
use pavior_mesh::{Cubes, Cuboid, Grid, Request, Sides, read_sides};

/// Parses boxes such as `1,2:4x3 5,5:2x2`. Each box consists of a base and its sides.
pub(crate) fn boxes(text: &str) -> Result<Vec<Cuboid>, BadName> {
    let one = |word: &str| {
        let parsed = word
            .split_once(':')
            .and_then(|(base, sides)| Some(Cuboid::new(point(base)?, read_sides(sides)?)));
        parsed.ok_or_else(|| {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            let reason =
                format!("`{word}` is not a valid box; expected a base and sides, such as 1,2:4x3");
            BadName { reason, span: start..start + word.len() }
        })
    };
    text.split_whitespace().map(one).collect()
}

/// Parses sides such as `3x2`.
pub(crate) fn sides(text: &str) -> Result<Sides, BadName> {
    read_sides(text).ok_or_else(|| BadName {
        reason: format!("`{text}` is not a valid request; expected sides, such as 3x2"),
        span: 0..text.len(),
    })
}

/// A slice, specified as a number of cubes (such as `16`) or as sides in nodes (`8x8x16`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slice {
    /// A number of cubes of 4x4x4 nodes.
    Cubes(u32),
    /// A box of nodes.
    Sides(Sides),
}

impl Slice {
    pub(crate) fn request(self) -> Request {
        match self {
            Slice::Cubes(count) => Request::nodes(count * Cubes::VOLUME),
            Slice::Sides(sides) => Request::shape(sides),
        }
    }
}

impl FromStr for Slice {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Slice, BadName> {
        let bad = || BadName {
            reason: format!(
                "`{text}` is not a valid slice; expected a number of cubes from 1 to {MOST_CUBES}, \
                 or sides in nodes, such as 8x8x16"
            ),
            span: 0..text.len(),
        };
        if text.contains('x') {
            return read_sides(text).map(Slice::Sides).ok_or_else(bad);
        }
        let count = text.parse().ok().filter(|count| (1..=MOST_CUBES).contains(count));
        count.map(Slice::Cubes).ok_or_else(bad)
    }
}

/// The number of cubes in the largest supported machine.
const MOST_CUBES: u32 = (Grid::MAX_NODES / Cubes::VOLUME as u64) as u32;

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slice::Cubes(count) => write!(f, "{count}"),
            Slice::Sides([x, y, z]) => write!(f, "{x}x{y}x{z}"),
        }
    }
}

/// Parses up to three coordinates. Omitted coordinates are 0.
fn point(text: &str) -> Option<[u16; 3]> {
    let mut all = [0; 3];
    for (axis, word) in text.split(',').enumerate() {
        *all.get_mut(axis)? = word.parse().ok()?;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_cubes_or_sides() {
        for (text, nodes) in [("16", 1024), ("8x8x16", 1024), ("3x2x1", 6)] {
            let slice: Slice = text.parse().unwrap();
            assert_eq!((slice.to_string().as_str(), slice.request().nodes), (text, nodes));
        }
        assert_eq!("4x4".parse::<Slice>().unwrap().to_string(), "4x4x1");
        for text in ["", "0", "-1", "1.5", "0x4", "4x", "4x4x4x4", "262145", "70000x1"] {
            assert!(text.parse::<Slice>().is_err(), "{text}");
        }
    }

    #[test]
    fn boxes_are_read_and_faults_are_shown() {
        let read = boxes("1,2:4x3 5,5,1:2x2x2").unwrap();
        assert_eq!(read[0], Cuboid::new([1, 2, 0], [4, 3, 1]));
        assert_eq!(read[1], Cuboid::new([5, 5, 1], [2, 2, 2]));
        let bad = boxes("1,2:4x3 5,5:0x2").unwrap_err();
        assert_eq!(bad.span, 8..15);
        assert_eq!(sides("3x2"), Ok([3, 2, 1]));
        for wrong in ["", "3x", "0x2", "3x2x1x1", "3,2"] {
            assert!(sides(wrong).is_err(), "{wrong}");
        }
    }
}
