//! Boxes and sides in words, as still states are given.

use std::str::FromStr;

use pavior_kernel::BadName;
use pavior_mesh::{Cuboid, Sides};

/// Boxes in words: `1,2:4x3 5,5:2x2`, each its base and its sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Boxes(pub(crate) Vec<Cuboid>);

/// Sides in words: `3x2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestedSides(pub(crate) Sides);

impl FromStr for Boxes {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Boxes, BadName> {
        let mut boxes = Vec::new();
        for word in text.split_whitespace() {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            let parsed = word.split_once(':').and_then(|(base, sides)| {
                let (base, sides) = (numbers(base, ',', 0)?, numbers(sides, 'x', 1)?);
                Some(Cuboid::new(base, sides))
            });
            let Some(parsed) = parsed else {
                let reason =
                    format!("`{word}` is no box: write its base and its sides, such as 1,2:4x3");
                return Err(BadName { reason, span: start..start + word.len() });
            };
            boxes.push(parsed);
        }
        Ok(Boxes(boxes))
    }
}

/// Boxes in words: `1,2:4x3 5,5:2x2`, each its base and its sides.
///
/// # Errors
/// If they are none.
pub(crate) fn boxes(text: &str) -> Result<Vec<Cuboid>, BadName> {
    text.parse::<Boxes>().map(|Boxes(boxes)| boxes)
}

/// Sides in words: `3x2`.
///
/// # Errors
/// If they are none.
pub(crate) fn sides(text: &str) -> Result<Sides, BadName> {
    text.parse::<RequestedSides>().map(|RequestedSides(sides)| sides)
}

impl FromStr for RequestedSides {
    type Err = BadName;

    fn from_str(text: &str) -> Result<RequestedSides, BadName> {
        let bad = || BadName {
            reason: format!("`{text}` is no request: write its sides, such as 3x2"),
            span: 0..text.len(),
        };
        numbers(text, 'x', 1).map(RequestedSides).ok_or_else(bad)
    }
}

/// Up to three numbers; axes that are left out have `usual`, which no number is below.
fn numbers(text: &str, between: char, usual: u16) -> Option<[u16; 3]> {
    let mut all = [usual; 3];
    for (axis, word) in text.split(between).enumerate() {
        let number = word.parse().ok().filter(|&number| number >= usual)?;
        *all.get_mut(axis)? = number;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_read_and_faults_are_shown() {
        let boxes: Boxes = "1,2:4x3 5,5,1:2x2x2".parse().unwrap();
        assert_eq!(boxes.0[0], Cuboid::new([1, 2, 0], [4, 3, 1]));
        assert_eq!(boxes.0[1], Cuboid::new([5, 5, 1], [2, 2, 2]));
        let bad = "1,2:4x3 5,5:0x2".parse::<Boxes>().unwrap_err();
        assert_eq!(bad.span, 8..15);
        assert_eq!("3x2".parse::<RequestedSides>(), Ok(RequestedSides([3, 2, 1])));
        for wrong in ["", "3x", "0x2", "3x2x1x1", "3,2"] {
            assert!(wrong.parse::<RequestedSides>().is_err(), "{wrong}");
        }
    }
}
