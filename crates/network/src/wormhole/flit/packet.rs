//! The state of messages and channels in the reference engine, down to individual flits.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::message::Message;

/// The value that represents a missing message. [`NEVER`] represents a missing cycle.
pub(super) const NONE: u32 = u32::MAX;
pub(super) const NEVER: u64 = u64::MAX;

/// A message that is in the network.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub(super) message: Message,
    /// The channels on the message's path.
    pub(super) path: Vec<u32>,
    /// The number of flits that have crossed each channel on the path.
    pub(super) crossed: Vec<u32>,
    /// The index of the channel that the header will cross next.
    pub(super) position: usize,
}

impl Packet {
    pub(super) fn last(&self) -> usize {
        self.path.len() - 1
    }
}

/// A channel, and the buffer after it.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// The message whose flits, from its header to its tail, are currently crossing (`sender`), and
    /// the channel's index on that message's path (`index`).
    pub(super) sender: u32,
    pub(super) index: usize,
    /// The messages with flits in the buffer, in FIFO order. `occupied` is their number of flits.
    pub(super) inside: VecDeque<u32>,
    pub(super) occupied: u32,
    /// The cycle in which a flit last crossed. `crossed_by` is that flit's message.
    pub(super) crossed_at: u64,
    pub(super) crossed_by: u32,
    /// Waiting headers, ordered by request time and then id.
    pub(super) queue: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// The last cycle for which the channel was added to the list of channels to try.
    pub(super) listed: u64,
}

impl Port {
    pub(super) fn new() -> Port {
        Port {
            sender: NONE,
            index: 0,
            inside: VecDeque::new(),
            occupied: 0,
            crossed_at: NEVER,
            crossed_by: NONE,
            queue: BinaryHeap::new(),
            listed: NEVER,
        }
    }
}
