//! What a job asks of the machine.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::{PerAxis, Sides, volume};

/// The number of a job. A program that gives jobs other names keeps a table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JobId(pub u64);

/// How free a job is to be placed, from the least to the greatest freedom: each level allows all
/// that the one before allows.
///
/// ```
/// use pavior_mesh::Freedom;
/// assert_eq!("any-box".parse(), Ok(Freedom::AnyBox));
/// assert!(Freedom::Box < Freedom::Connected);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Freedom {
    /// The box as it is asked for.
    Box,
    /// The box, turned as may be.
    Turned,
    /// Any box of as many nodes as the job uses, or as the box asked for has.
    AnyBox,
    /// Any nodes that the machine's own links connect.
    Connected,
    /// Any nodes.
    Any,
}

/// A word that is none of [`Freedom::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no freedom; there are box, turned, any-box, connected and any")]
pub struct UnknownFreedom(pub String);

impl Freedom {
    /// Every level, from the least freedom to the greatest.
    pub const ALL: [Freedom; 5] =
        [Freedom::Box, Freedom::Turned, Freedom::AnyBox, Freedom::Connected, Freedom::Any];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Freedom::Box => "box",
            Freedom::Turned => "turned",
            Freedom::AnyBox => "any-box",
            Freedom::Connected => "connected",
            Freedom::Any => "any",
        }
    }
}

impl fmt::Display for Freedom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Freedom {
    type Err = UnknownFreedom;

    fn from_str(text: &str) -> Result<Freedom, UnknownFreedom> {
        let found = Freedom::ALL.into_iter().find(|freedom| freedom.word() == text);
        found.ok_or_else(|| UnknownFreedom(text.to_string()))
    }
}

/// The number of a set of nodes that a machine knows: those that some requests are confined to.
/// Machines number their pools as they are told of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pool(pub u32);

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
    /// How free it is to be placed; `None` leaves that to the strategy.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub freedom: Option<Freedom>,
    /// The nodes that it is confined to; `None` allows all. It is never written or read: it has a
    /// meaning for one machine alone.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub pool: Option<Pool>,
}

impl Request {
    /// Exactly a box of one to three sides; the count is its volume (saturating at `u32::MAX`).
    pub fn shape(sides: impl PerAxis) -> Request {
        let sides = sides.padded(1);
        let nodes = volume(sides).min(u64::from(u32::MAX)) as u32;
        Request::hinted(nodes, sides)
    }

    /// A count, without a shape.
    pub fn nodes(nodes: u32) -> Request {
        Request { nodes, shape: None, freedom: None, pool: None }
    }

    /// A count, and the box in which a contiguous strategy is to place it.
    pub fn hinted(nodes: u32, sides: impl PerAxis) -> Request {
        Request { shape: Some(sides.padded(1)), ..Request::nodes(nodes) }
    }

    /// The same, as free to be placed as is said.
    pub fn with_freedom(self, freedom: impl Into<Option<Freedom>>) -> Request {
        Request { freedom: freedom.into(), ..self }
    }

    /// The same, confined to some nodes.
    pub fn within(self, pool: impl Into<Option<Pool>>) -> Request {
        Request { pool: pool.into(), ..self }
    }

    /// Whether it asks for nothing: no node, or a box with a side of 0. No machine grants that.
    pub fn is_empty(&self) -> bool {
        self.nodes == 0 || self.shape.is_some_and(|sides| sides.contains(&0))
    }
}
