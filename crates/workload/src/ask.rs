//! A caller's request: a shape, or a number of nodes that a shape rule converts to a box.

use std::ops::Range;

use pavior_mesh::{Grid, Request, Sides};
use thiserror::Error;

use crate::Shaper;

/// A caller's request for a shape or a number of nodes. Every interface reads requests with
/// [`Ask::read`] or [`Ask::typed`], so they all reject the same input for the same reason.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; pub use pavior_mesh::*; }
/// use pavior::workload::{Ask, AskFault, Shaper};
/// use pavior::{Grid, Request};
/// let grid: Grid = "mesh:8x8".parse()?;
/// let mut shaper = Shaper::new(&"compact".parse()?, &grid, 1, 0);
/// assert_eq!(Ask::read(Some(&[3, 2]), None, &grid)?, Ask::typed(Some("3x2"), None, &grid)?);
/// let twelve = Ask::read(None, Some(12), &grid)?;
/// assert_eq!(twelve.request(&mut shaper), Request::hinted(12, [4, 3]));
/// assert_eq!(Ask::read(None, None, &grid), Err(AskFault::Nothing));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A box. Its side is 1 along every axis that the machine lacks.
    Shape(Sides),
    /// A number of nodes.
    Nodes(u32),
    /// The number of nodes in a box that has a side longer than the maximum for any machine.
    /// Strategies that place boxes refuse such a request.
    Beyond(u32),
}

/// The reason why an [`Ask`] is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AskFault {
    /// Neither a shape nor a number was given.
    #[error("specify a shape or a number of nodes")]
    Nothing,
    /// Both a shape and a number were given.
    #[error("specify a shape or a number of nodes, not both")]
    Both,
    /// The number of nodes is 0.
    #[error("a request must be for at least 1 node")]
    NoNodes,
    /// The number of sides differs from the number of axes.
    #[error("expected {axes} sides, one for each axis of the machine, but found {sides}")]
    Axes {
        /// The number of sides in the request.
        sides: usize,
        /// The number of axes that the machine has.
        axes: usize,
    },
    /// A side is invalid.
    #[error("`{given}` is not a valid side; sides must be positive integers")]
    Side {
        /// The text or number that was given for the side.
        given: String,
        /// The side's byte range in a shape given as text, or an empty range for a number list.
        span: Range<usize>,
    },
}

impl Ask {
    /// Reads a request from two fields: the sides (x first) and a number of nodes. Exactly one of
    /// the fields must be given.
    ///
    /// # Errors
    /// Returns an error unless exactly one field is given, all numbers are positive, and there is
    /// one side per axis.
    pub fn read(shape: Option<&[u64]>, nodes: Option<u64>, grid: &Grid) -> Result<Ask, AskFault> {
        match (shape, nodes) {
            (Some(_), Some(_)) => Err(AskFault::Both),
            (None, None) => Err(AskFault::Nothing),
            (None, Some(0)) => Err(AskFault::NoNodes),
            // Numbers of nodes that no machine has are also passed on, so that a random rule still
            // consumes one draw.
            (None, Some(nodes)) => Ok(Ask::Nodes(u32::try_from(nodes).unwrap_or(u32::MAX))),
            (Some(sides), None) => Ask::shape(sides, grid),
        }
    }

    /// Reads the same fields as [`Ask::read`], but with the shape as text, such as `4x4x2`.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Ask::read`], and if a side is not a number.
    pub fn typed(shape: Option<&str>, nodes: Option<u32>, grid: &Grid) -> Result<Ask, AskFault> {
        let sides = shape.map(|typed| typed.split('x').map(|part| side(typed, part)).collect());
        let sides: Option<Vec<u64>> = sides.transpose()?;
        Ask::read(sides.as_deref(), nodes.map(u64::from), grid)
    }

    fn shape(given: &[u64], grid: &Grid) -> Result<Ask, AskFault> {
        let axes = grid.axes();
        if given.contains(&0) {
            return Err(AskFault::Side { given: "0".to_string(), span: 0..0 });
        }
        if given.len() != axes {
            return Err(AskFault::Axes { sides: given.len(), axes });
        }
        let mut sides = [1; 3];
        for (own, &side) in sides.iter_mut().zip(given) {
            let Ok(side) = u16::try_from(side) else {
                let nodes = given.iter().fold(1, |nodes: u64, &side| nodes.saturating_mul(side));
                return Ok(Ask::Beyond(u32::try_from(nodes).unwrap_or(u32::MAX)));
            };
            *own = side;
        }
        Ok(Ask::Shape(sides))
    }

    /// Converts this value to a request. For a number of nodes, the rule in `shaper` chooses the
    /// box.
    pub fn request(self, shaper: &mut Shaper) -> Request {
        match self {
            Ask::Shape(sides) => Request::shape(sides),
            Ask::Nodes(nodes) => shaper.request(nodes),
            Ask::Beyond(nodes) => Request::nodes(nodes),
        }
    }
}

/// Parses one side of a shape given as text: a positive number that consists only of digits.
fn side(typed: &str, part: &str) -> Result<u64, AskFault> {
    let digits = part.bytes().all(|byte| byte.is_ascii_digit());
    let number = part.parse().ok().filter(|&side: &u64| digits && side > 0);
    let start = part.as_ptr() as usize - typed.as_ptr() as usize;
    let fault = || AskFault::Side { given: part.to_string(), span: start..start + part.len() };
    number.ok_or_else(fault)
}
