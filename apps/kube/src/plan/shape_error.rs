//! Errors in shapes.

use pavior::Grid;

/// The reason why no box on a machine has the requested shape.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ShapeError {
    /// The text is not a shape.
    Syntax,
    /// The shape does not have one side per axis.
    Sides { sides: usize, axes: usize },
    /// The shape is too large for the grid.
    Size(Grid),
    /// The shape does not consist of whole nodes, which have these sides in chips.
    Host(String),
}

impl ShapeError {
    /// Describes the error in a sentence that does not quote the shape but refers to it as `shape`,
    /// for example `its shape`.
    pub(crate) fn words(&self, shape: &str) -> String {
        match self {
            ShapeError::Syntax => {
                format!("{shape} is not valid; use 1 to 3 sides, such as 4x4x2")
            }
            ShapeError::Sides { sides, axes } => {
                format!("{shape} has {sides} sides, but the machine has {axes} axes")
            }
            ShapeError::Size(grid) => format!("{shape} does not fit on {grid}"),
            ShapeError::Host(sides) => {
                format!("the sides of {shape} must be multiples of the host's sides, {sides}")
            }
        }
    }
}
