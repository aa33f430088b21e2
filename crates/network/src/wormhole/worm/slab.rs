//! The messages in flight: records of fixed size in reused places.
//!
//! What every grant touches stands in one cache line ([`Header`]). What only creation and delivery
//! touch stands apart.
//!
//! Invariant: nothing is allocated once the greatest number of simultaneous messages has been seen.
//!
//! Cost: O(1) to insert and remove, and O(segments of the path).

use pavior_kernel::Time;
use pavior_mesh::NodeId;

use crate::channel::Channels;
use crate::message::{Delivery, Message, Tag};
use crate::path::{Segment, write_segments};

/// No message, no channel.
pub(super) const NONE: u32 = u32::MAX;

/// What every grant touches: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Header {
    /// When the header requested the channel that it waits for, and the id: the key of queues.
    pub(super) requested: u64,
    pub(super) id: u64,
    /// The channel requested, or to be requested, and how to step to the one behind it.
    pub(super) channel: u32,
    pub(super) step: i32,
    /// Channels behind it in its segment, and on the whole path.
    pub(super) left_in_segment: u32,
    pub(super) left_on_path: u32,
    /// The index of the channel on the path.
    pub(super) position: u32,
    /// The next message in a queue.
    pub(super) next: u32,
    /// Flits behind the header, and how many channels they fill: floor((L-1)/B).
    pub(super) body: u32,
    pub(super) window: u32,
    /// The segment behind the present one.
    pub(super) segment: u32,
    pub(super) followed: bool,
}

impl Header {
    /// The order in which a channel serves its queue.
    #[inline]
    pub(super) fn key(&self) -> (u64, u64) {
        (self.requested, self.id)
    }
}

/// A channel on a message's path and the cycle at which the header crossed it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crossing {
    pub(super) at: u64,
    pub(super) channel: u32,
}

/// What only creation and delivery touch.
#[derive(Clone, Copy, Debug)]
struct Origin {
    message: Message,
    hops: u32,
}

/// What stands in a place that was never used.
const NO_MESSAGE: Message = Message {
    id: 0,
    from: NodeId(0),
    to: NodeId(0),
    flits: 1,
    created: Time::ZERO,
    followed: false,
    tag: Tag { owner: 0, rank: 0, sequence: 0 },
};

/// All messages in flight, by place.
#[derive(Debug, Default)]
pub(super) struct Slab {
    pub(super) headers: Vec<Header>,
    origins: Vec<Origin>,
    /// `most_segments` a message.
    segments: Vec<Segment>,
    most_segments: usize,
    /// The last crossings of each message: `1 << shift` of them, at the position modulo that.
    crossings: Vec<Crossing>,
    shift: u32,
    free: Vec<u32>,
}

impl Slab {
    /// A slab for paths of at most so many segments.
    pub(super) fn new(most_segments: usize) -> Slab {
        Slab { most_segments, ..Slab::default() }
    }

    /// The number of messages.
    pub(super) fn len(&self) -> usize {
        self.headers.len() - self.free.len()
    }

    /// The places that hold a message.
    pub(super) fn live(&self) -> Vec<u32> {
        let mut live = vec![true; self.headers.len()];
        self.free.iter().for_each(|&place| live[place as usize] = false);
        (0..live.len() as u32).filter(|&place| live[place as usize]).collect()
    }

    /// Adds a message that will request its injection channel.
    pub(super) fn insert(&mut self, message: &Message, channels: &Channels, buffer: u32) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| self.grow());
        let index = place as usize;
        let mut rest = self.segments[index * self.most_segments..].iter_mut();
        let hops = write_segments(channels, message.from, message.to, |segment| {
            *rest.next().expect("the bound on segments holds") = segment;
        });
        let body = message.flits - 1;
        let window = body / buffer;
        // A release reads the channel `window + 1` back; no more than the path is ever there.
        let length = window.min(hops) + 2;
        if length > 1 << self.shift {
            self.lengthen_crossings(length);
        }
        let header = Header {
            requested: message.created.0,
            id: message.id,
            channel: channels.injection(message.from).0,
            step: 0,
            left_in_segment: 0,
            left_on_path: hops + 1,
            position: 0,
            next: NONE,
            body,
            window,
            segment: 0,
            followed: message.followed,
        };
        self.headers[index] = header;
        self.origins[index] = Origin { message: *message, hops };
        place
    }

    /// Adds a place.
    #[cold]
    fn grow(&mut self) -> u32 {
        let place = self.headers.len();
        self.headers.push(Header::default());
        self.origins.push(Origin { message: NO_MESSAGE, hops: 0 });
        self.segments.resize((place + 1) * self.most_segments, Segment::default());
        self.crossings.resize((place + 1) << self.shift, Crossing::default());
        place as u32
    }

    /// Makes room for `length` crossings of each message. Those that are known move with it.
    #[cold]
    fn lengthen_crossings(&mut self, length: u32) {
        let shift = length.next_power_of_two().trailing_zeros();
        let mut longer = vec![Crossing::default(); self.headers.len() << shift];
        for (place, header) in self.headers.iter().enumerate() {
            for back in 1..=(header.position).min(1 << self.shift) {
                let position = (header.position - back) as usize;
                longer[(place << shift) + (position & ((1 << shift) - 1))] =
                    self.crossings[(place << self.shift) + (position & ((1 << self.shift) - 1))];
            }
        }
        self.crossings = longer;
        self.shift = shift;
    }

    /// A message's memory of crossings, and the mask that makes a position an index.
    #[inline]
    pub(super) fn crossings_of(&mut self, place: u32) -> (&mut [Crossing], u32) {
        let (start, length) = ((place as usize) << self.shift, 1usize << self.shift);
        (&mut self.crossings[start..start + length], length as u32 - 1)
    }

    /// The header goes on in the next segment of its path.
    #[inline]
    pub(super) fn turn(&mut self, place: u32) {
        let header = &mut self.headers[place as usize];
        let segment = self.segments[place as usize * self.most_segments + header.segment as usize];
        header.segment += 1;
        header.channel = segment.first;
        header.step = segment.step;
        header.left_in_segment = segment.count - 1;
    }

    /// Takes a delivered message out.
    pub(super) fn remove(&mut self, place: u32, at: u64) -> Delivery {
        self.free.push(place);
        let Origin { message, hops } = self.origins[place as usize];
        Delivery {
            id: message.id,
            from: message.from,
            to: message.to,
            flits: message.flits,
            hops,
            created: message.created,
            delivered: Time(at),
            tag: message.tag,
        }
    }

    /// A message as it was handed over.
    pub(super) fn message(&self, place: u32) -> &Message {
        &self.origins[place as usize].message
    }
}
