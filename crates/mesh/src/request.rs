//! What a job asks of the machine.

use crate::{PerAxis, Sides, volume};

/// The number of a job. A program that gives jobs other names keeps a table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JobId(pub u64);

/// A request for nodes: how many, and in which shape.
///
/// Contiguous strategies place the shape, whose volume may exceed the count (the rest is internal
/// fragmentation). Non-contiguous ones grant by count, with the shape as a hint.
///
/// ```
/// use pavior_mesh::Request;
/// assert_eq!(Request::shape([2, 3, 2]).nodes, 12);
/// // On a plane, two sides are enough.
/// assert_eq!(Request::shape([2, 3]), Request::shape([2, 3, 1]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Request {
    /// The number of nodes that the job uses, at least 1.
    pub nodes: u32,
    /// The box to place, at least 1 on each axis; `None` if no shape rule found one that fits the
    /// machine.
    pub shape: Option<Sides>,
}

impl Request {
    /// Exactly a box of one to three sides; the count is its volume (saturating at `u32::MAX`).
    pub fn shape(sides: impl PerAxis) -> Request {
        let sides = sides.padded(1);
        let nodes = volume(sides).min(u64::from(u32::MAX)) as u32;
        Request { nodes, shape: Some(sides) }
    }

    /// A count, without a shape.
    pub fn nodes(nodes: u32) -> Request {
        Request { nodes, shape: None }
    }

    /// A count, and the box in which a contiguous strategy is to place it.
    pub fn hinted(nodes: u32, sides: impl PerAxis) -> Request {
        Request { nodes, shape: Some(sides.padded(1)) }
    }

    /// Whether it asks for nothing: no node, or a box with a side of 0. No machine grants that.
    pub fn is_empty(&self) -> bool {
        self.nodes == 0 || self.shape.is_some_and(|sides| sides.contains(&0))
    }
}
