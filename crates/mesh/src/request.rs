//! Requests from jobs to the machine.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::{PerAxis, Sides, volume};

/// A job number. Programs that identify jobs differently must map their identifiers to numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JobId(pub u64);

/// The levels of freedom allowed in placing a job, in increasing order. Each level allows
/// everything that the previous level allows.
///
/// ```
/// # use pavior_mesh as pavior;
/// use pavior::Freedom;
/// assert_eq!("any-box".parse(), Ok(Freedom::AnyBox));
/// assert!(Freedom::Box < Freedom::Connected);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Freedom {
    /// The box exactly as requested.
    Box,
    /// The box in any orientation.
    Turned,
    /// Any box with as many nodes as the job or as the requested box.
    AnyBox,
    /// Any set of nodes connected by links within the set.
    Connected,
    /// Any nodes.
    Any,
}

/// The error returned for a word that is not in [`Freedom::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a valid freedom; choose box, turned, any-box, connected or any")]
pub struct UnknownFreedom(pub String);

impl Freedom {
    /// Every level, from least freedom to most.
    pub const ALL: [Freedom; 5] =
        [Freedom::Box, Freedom::Turned, Freedom::AnyBox, Freedom::Connected, Freedom::Any];

    /// Returns the word for this level.
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

/// A pool number. A pool is a set of nodes to which requests can be confined. Each machine numbers
/// its pools in the order in which they are registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pool(pub u32);

/// A request for nodes in a shape.
///
/// Contiguous strategies place the shape. If its volume exceeds the node count, the excess is
/// internal fragmentation. Non-contiguous strategies allocate by count, with the shape as a hint.
///
/// ```
/// # use pavior_mesh as pavior;
/// use pavior::Request;
/// assert_eq!(Request::shape([2, 3, 2]).nodes, 12);
/// // On a plane, two sides are enough.
/// assert_eq!(Request::shape([2, 3]), Request::shape([2, 3, 1]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Request {
    /// The number of nodes that the job uses, at least 1.
    pub nodes: u32,
    /// The sides of the box to place, each at least 1, or `None` if no shape rule found a box that
    /// fits the machine.
    pub shape: Option<Sides>,
    /// The freedom allowed in placing the job, or `None` to let the strategy decide.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub freedom: Option<Freedom>,
    /// The pool of nodes to which the request is confined, or `None` to allow all nodes. The pool
    /// is never serialized, because it is meaningful only on a particular machine.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub pool: Option<Pool>,
}

impl Request {
    /// Creates a request for a box with one to three sides. The job uses all of the box's nodes.
    pub fn shape(sides: impl PerAxis) -> Request {
        let sides = sides.padded(1);
        let nodes = volume(sides).min(u64::from(u32::MAX)) as u32;
        Request::hinted(nodes, sides)
    }

    /// Creates a request for a number of nodes, without a shape.
    pub fn nodes(nodes: u32) -> Request {
        Request { nodes, shape: None, freedom: None, pool: None }
    }

    /// Creates a request for a number of nodes, with a box for contiguous strategies.
    pub fn hinted(nodes: u32, sides: impl PerAxis) -> Request {
        Request { shape: Some(sides.padded(1)), ..Request::nodes(nodes) }
    }

    /// Sets the freedom allowed in placing the request.
    pub fn with_freedom(self, freedom: impl Into<Option<Freedom>>) -> Request {
        Request { freedom: freedom.into(), ..self }
    }

    /// Confines the request to a pool of nodes.
    pub fn within(self, pool: impl Into<Option<Pool>>) -> Request {
        Request { pool: pool.into(), ..self }
    }

    /// Returns true if the request asks for no nodes, or for a box with a side of 0. No machine
    /// grants such a request.
    pub fn is_empty(&self) -> bool {
        self.nodes == 0 || self.shape.is_some_and(|sides| sides.contains(&0))
    }
}
