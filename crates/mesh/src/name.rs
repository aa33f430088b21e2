//! Parsing and formatting grid names, such as `mesh:16x16`, `torus:8x8x8` or `grid:8wx4x4w`.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use pavior_kernel::BadName;

use crate::Grid;

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes = 0..self.axes();
        let all = axes.clone().all(|axis| self.wraps(axis));
        let none = !axes.clone().any(|axis| self.wraps(axis));
        f.write_str(if none {
            "mesh:"
        } else if all {
            "torus:"
        } else {
            "grid:"
        })?;
        for axis in axes {
            let mark = if !all && self.wraps(axis) { "w" } else { "" };
            write!(f, "{}{}{mark}", if axis > 0 { "x" } else { "" }, self.side(axis))?;
        }
        Ok(())
    }
}

impl FromStr for Grid {
    type Err = BadName;

    fn from_str(name: &str) -> Result<Grid, BadName> {
        let whole = 0..name.len();
        let fail = |reason: String, span: Range<usize>| Err(BadName { reason, span });
        let Some((kind, rest)) = name.split_once(':') else {
            return fail(
                "expected a machine such as mesh:16x16, torus:8x8x8 or grid:8wx4x4w".into(),
                whole,
            );
        };
        let lower = kind.to_ascii_lowercase();
        let is = |word: &str| lower == word;
        if !["mesh", "torus", "grid"].into_iter().any(is) {
            return fail(
                format!("unknown machine kind `{kind}`; choose mesh, torus or grid"),
                0..kind.len(),
            );
        }
        let (mut sides, mut wraps) = (Vec::new(), Vec::new());
        let mut at = kind.len() + 1;
        for part in rest.split(['x', 'X']) {
            let span = at..at + part.len();
            at += part.len() + 1;
            let (digits, mark) = match part.strip_suffix(['w', 'W']) {
                Some(digits) if is("grid") => (digits, true),
                _ => (part, false),
            };
            let side = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse::<u16>());
            match side {
                Some(Ok(side)) if side > 0 => sides.push(side),
                _ => {
                    return fail(
                        format!("`{part}` is not a valid side; sides must be from 1 to 65535"),
                        span,
                    );
                }
            }
            wraps.push(mark || is("torus"));
        }
        Grid::new(&sides, &wraps)
            .or_else(|error| fail(error.to_string(), kind.len() + 1..name.len()))
    }
}

impl TryFrom<String> for Grid {
    type Error = BadName;

    fn try_from(name: String) -> Result<Grid, BadName> {
        name.parse()
    }
}

impl From<Grid> for String {
    fn from(grid: Grid) -> String {
        grid.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_are_small_letters() {
        for (given, name) in [("Torus:8X8", "torus:8x8"), ("GRID:4Wx2", "grid:4wx2")] {
            assert_eq!(given.parse::<Grid>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn names_survive_a_round_trip() {
        for name in
            ["mesh:1", "mesh:16x16", "torus:8x8x8", "grid:8wx4x4w", "torus:7", "mesh:65535x256"]
        {
            assert_eq!(name.parse::<Grid>().unwrap().to_string(), name);
        }
        assert_eq!("grid:4x4".parse::<Grid>().unwrap().to_string(), "mesh:4x4");
        assert_eq!("grid:4wx4w".parse::<Grid>().unwrap().to_string(), "torus:4x4");
    }

    #[test]
    fn faults_are_shown_where_they_stand() {
        let span = |name: &str| name.parse::<Grid>().unwrap_err().span;
        assert_eq!(span("mesh:0x4"), 5..6);
        assert_eq!(span("mesh:70000x2"), 5..10);
        assert_eq!(span("mesh:4x"), 7..7);
        assert_eq!(span("mesh:4x4w"), 7..9);
        assert_eq!(span("ring:4"), 0..4);
        assert_eq!(span("mesh:+4x4"), 5..7);
        assert_eq!(span("mesh:2x2x2x2"), 5..12);
        assert_eq!(span("mesh:65535x65535"), 5..16);
        assert_eq!(span("16x16"), 0..5);
    }
}
