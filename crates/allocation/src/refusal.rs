//! Reasons why a request is refused.

use std::fmt;

/// The reason a request was refused. If several reasons apply, the first one listed here is
/// reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Refusal {
    /// The request asks for no nodes, or for a box with a side of 0.
    EmptyRequest,
    /// The strategy places boxes, but the request gives only a number of nodes, which does not
    /// exceed the machine's.
    NoShape,
    /// The request can never fit. For a contiguous strategy, no rotation of the shape fits the
    /// machine; for any other strategy, the requested count exceeds the machine's number of nodes.
    LargerThanMachine,
    /// The strategy never grants this request, even on an empty machine.
    UnsupportedShape,
    /// Fewer nodes are free than were requested.
    TooFewFreeNodes,
    /// Enough nodes are free, but not in a usable arrangement (external fragmentation).
    NoFreeSubmesh,
}

impl Refusal {
    /// All reasons, in order of precedence.
    pub const ALL: [Refusal; 6] = [
        Refusal::EmptyRequest,
        Refusal::NoShape,
        Refusal::LargerThanMachine,
        Refusal::UnsupportedShape,
        Refusal::TooFewFreeNodes,
        Refusal::NoFreeSubmesh,
    ];

    /// Returns a short description.
    pub fn meaning(self) -> &'static str {
        match self {
            Refusal::EmptyRequest => "the request is for zero nodes",
            Refusal::NoShape => "the strategy places boxes, but the request has no shape",
            Refusal::LargerThanMachine => "the request can never fit on this machine",
            Refusal::UnsupportedShape => {
                "the strategy never grants this request, even on an empty machine"
            }
            Refusal::TooFewFreeNodes => "fewer nodes are free than were requested",
            Refusal::NoFreeSubmesh => "enough nodes are free, but not where they are needed",
        }
    }

    /// Returns the word used for this reason in results. `NoShape` gets the word for requests
    /// larger than the machine, because the shape rule found no box for the requested count.
    pub fn word(self) -> &'static str {
        match self {
            Refusal::EmptyRequest => "empty-request",
            Refusal::NoShape | Refusal::LargerThanMachine => "larger-than-machine",
            Refusal::UnsupportedShape => "unsupported-shape",
            Refusal::TooFewFreeNodes => "too-few-free-nodes",
            Refusal::NoFreeSubmesh => "no-free-submesh",
        }
    }

    /// Returns true if the request can never be granted on a healthy machine.
    pub fn is_permanent(self) -> bool {
        !matches!(self, Refusal::TooFewFreeNodes | Refusal::NoFreeSubmesh)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl std::error::Error for Refusal {}
