//! Text drawings of an occupancy, in which `.` marks a free node and `#` a busy one.
//!
//! As in the literature's figures, the origin is at the lower left: the first line has the highest
//! y, and x increases to the right. Planes start with z = 0 and are separated by empty lines.

use crate::{Grid, NodeId, Occupancy};

/// Draws an occupancy.
///
/// ```
/// # mod pavior { pub use pavior_mesh as boxes; pub use pavior_mesh::*; }
/// use pavior::boxes::picture;
/// use pavior::{Cuboid, Grid, Occupancy};
/// let mut free = Occupancy::all_free(Grid::mesh(&[4, 2])?);
/// free.take(&Cuboid::new([0, 0, 0], [2, 1, 1])).unwrap();
/// assert_eq!(picture::draw(&free), "....\n##..\n");
/// # Ok::<(), pavior::GridError>(())
/// ```
pub fn draw(free: &Occupancy) -> String {
    let grid = free.grid();
    let [w, d, h] = grid.sides();
    let mut text = String::new();
    for z in 0..h {
        if z > 0 {
            text.push('\n');
        }
        for y in (0..d).rev() {
            for x in 0..w {
                text.push(if free.is_node_free(grid.id([x, y, z])) { '.' } else { '#' });
            }
            text.push('\n');
        }
    }
    text
}

/// Parses a drawing.
///
/// # Errors
/// Returns an error if the lines do not match the grid, or if a character is neither `.` nor `#`.
pub fn parse(grid: Grid, text: &str) -> Result<Occupancy, String> {
    let [w, d, h] = grid.sides().map(usize::from);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.len() != d * h {
        return Err(format!("expected {} lines for {grid}, but found {}", d * h, lines.len()));
    }
    let mut free = Occupancy::all_free(grid);
    for (index, line) in lines.iter().enumerate() {
        let width = line.chars().count();
        if width != w {
            return Err(format!("expected {w} nodes in line {}, but found {width}", index + 1));
        }
        let row = w * ((d - 1 - index % d) + d * (index / d));
        for (x, mark) in line.chars().enumerate() {
            match mark {
                '.' => {}
                '#' => {
                    free.take_node(NodeId((row + x) as u32));
                }
                _ => return Err(format!("line {}: `{mark}` is neither . nor #", index + 1)),
            }
        }
    }
    Ok(free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cuboid;

    #[test]
    fn drawings_survive_a_round_trip() {
        let mut free = Occupancy::all_free(Grid::mesh(&[3, 2, 2]).unwrap());
        free.take(&Cuboid::new([1, 0, 1], [2, 1, 1])).unwrap();
        let drawn = draw(&free);
        assert_eq!(drawn, "...\n...\n\n...\n.##\n");
        assert_eq!(parse(*free.grid(), &drawn).unwrap(), free);
    }

    #[test]
    fn faults_are_named() {
        let grid = Grid::mesh(&[3, 2]).unwrap();
        assert!(parse(grid, "...").unwrap_err().ends_with("but found 1"));
        assert!(parse(grid, "...\n..").unwrap_err().contains("line 2"));
        assert!(parse(grid, "...\n..o").unwrap_err().contains('o'));
    }
}
