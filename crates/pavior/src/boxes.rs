//! Box notation, orientations and volumes, and text drawings of occupancies.
//!
//! The box type is [`Cuboid`](crate::Cuboid), which has a base and [`Sides`](crate::Sides).
//!
//! ```
//! use pavior::boxes::{orientations, picture, read_sides, volume, words};
//! use pavior::{Cuboid, Grid};
//!
//! let sides = read_sides("4x2").expect("two sides");
//! assert_eq!(volume(sides), 8);
//! let turned: Vec<_> = orientations(sides).filter(|sides| sides[2] == 1).collect();
//! assert_eq!(turned, [[4, 2, 1], [2, 4, 1]]);
//!
//! // All answers write a box as its sides followed by its base.
//! let grid = Grid::mesh(&[8, 8])?;
//! assert_eq!(words(&grid, &Cuboid::new([4, 5], [4, 2])), "4x2 at 4,5");
//!
//! // `.` is free and `#` is busy.
//! let free = picture::parse(Grid::mesh(&[4, 2])?, ".##.\n....")?;
//! assert_eq!(free.count(), 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_allocation::explain::words;
pub use pavior_mesh::{PerAxis, ascending, orientations, read_sides, tile, tile_rows, volume};

pub mod picture {
    //! Occupancies drawn as lines of text, for tests and messages.

    pub use pavior_mesh::picture::{draw, parse};
}
