//! The messages in flight, stored as fixed-size records in reused slots.
//!
//! All data that a grant uses is in one cache line ([`Header`]). Data used only when a message is
//! created or delivered is stored separately.
//!
//! Invariant: memory is allocated only when the number of messages in flight exceeds its previous
//! maximum.
//!
//! Cost: O(segments in the path) to insert a message, and O(1) to remove one.

use pavior_kernel::Time;
use pavior_mesh::NodeId;

use crate::channel::Channels;
use crate::message::{Delivery, Message, Tag};
use crate::path::{Segment, write_segments};

/// The value that represents a missing message or channel.
pub(super) const NONE: u32 = u32::MAX;

/// The data used by every grant, in one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Header {
    /// The cycle in which the header requests its channel. The queue key is (`requested`, `id`).
    pub(super) requested: u64,
    pub(super) id: u64,
    /// The next message in the same queue.
    pub(super) next: u32,
    /// The step from this channel to the next. `corner` is the last channel in the same segment.
    pub(super) step: i32,
    pub(super) corner: u32,
    /// The index of the next segment. `segments_end` is the index after the last segment.
    pub(super) segment: u32,
    pub(super) segments_end: u32,
    /// The path's first channel without a release time. `unreleased` is the number of grants until
    /// this channel has one; for `long` messages, the number is one higher and never reaches 0.
    pub(super) oldest: u32,
    pub(super) unreleased: u32,
    /// The number of flits after the header.
    pub(super) body: u32,
    /// The number of cycles until the tail crosses the channel that is `window` channels behind,
    /// counted from a channel's grant (`lag`) or from its request (`early`). The later of the two
    /// times applies, except to `long` messages.
    pub(super) lag: u32,
    pub(super) early: u32,
    /// True if release times also depend on grants before the last two.
    pub(super) long: bool,
    pub(super) followed: bool,
    /// True if the message is long, or is followed and has not entered the network yet.
    pub(super) special: bool,
}

impl Header {
    /// Returns a header whose fields are those shared by all messages of a given length.
    #[cold]
    fn of_length(flits: u32, pace: u64, buffer: u32) -> Header {
        let body = flits - 1;
        let window = body / buffer;
        let lag = body - window * buffer;
        let gain = if window > 0 { u64::from(buffer).saturating_sub(pace) as u32 } else { 0 };
        let long = window > 1 && gain > 0;
        // For a long message, earlier grants also affect release times. `unreleased` then never
        // reaches 0, and `release_long` computes the release times.
        let unreleased = window + 1 + u32::from(long);
        Header { next: NONE, unreleased, body, lag, early: lag + gain, long, ..Header::default() }
    }

    #[inline]
    pub(super) fn key(&self) -> (u64, u64) {
        (self.requested, self.id)
    }

    /// Moves to the next segment, which must exist. Returns its first channel.
    #[inline]
    pub(super) fn turn(&mut self, segments: &[Leg]) -> u32 {
        let Leg { first, step, last } = segments[self.segment as usize];
        self.segment += 1;
        (self.step, self.corner) = (step, last);
        first
    }
}

/// A [`Segment`], defined by its two ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Leg {
    first: u32,
    step: i32,
    last: u32,
}

/// Data that is used only when a message is created or delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) message: Message,
    hops: u32,
}

/// The content of an unused slot.
const NO_MESSAGE: Message = Message {
    id: 0,
    from: NodeId(0),
    to: NodeId(0),
    flits: 1,
    created: Time::ZERO,
    followed: false,
    tag: Tag { owner: 0, rank: 0, sequence: 0 },
};

/// All messages in flight, indexed by slot.
#[derive(Debug, Default)]
pub(super) struct Slab {
    pub(super) headers: Vec<Header>,
    pub(super) origins: Vec<Origin>,
    /// The segments, with room for `most_segments` per message.
    pub(super) segments: Vec<Leg>,
    most_segments: usize,
    /// The number of cycles between requests, t_s + 1. `buffer` is the buffer size, B.
    pace: u64,
    buffer: u32,
    /// The length of the last message, or 0 before the first one. `of_length` caches the header for
    /// that length, because most messages have the same length.
    flits: u32,
    of_length: Header,
    free: Vec<u32>,
}

impl Slab {
    /// Creates a slab for paths with at most `most_segments` segments.
    pub(super) fn new(most_segments: usize, pace: u64, buffer: u32) -> Slab {
        Slab { most_segments, pace, buffer, ..Slab::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.headers.len() - self.free.len()
    }

    /// Returns the slots in use.
    pub(super) fn live(&self) -> Vec<u32> {
        let mut live = vec![true; self.headers.len()];
        self.free.iter().for_each(|&place| live[place as usize] = false);
        (0..live.len() as u32).filter(|&place| live[place as usize]).collect()
    }

    #[expect(clippy::inline_always, reason = "its only caller does little else")]
    #[inline(always)]
    pub(super) fn insert(&mut self, message: &Message, channels: &Channels) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| self.grow());
        let index = place as usize;
        let (start, mut count) = (index * self.most_segments, 0);
        let own = &mut self.segments[start..start + self.most_segments];
        let hops = write_segments(channels, message.from, message.to, |segment| {
            let Segment { first, step, count: links } = segment;
            let last = first.wrapping_add_signed(step.wrapping_mul(links as i32 - 1));
            own[count] = Leg { first, step, last };
            count += 1;
        });
        let injection = channels.injection(message.from).0;
        if message.flits != self.flits {
            self.flits = message.flits;
            self.of_length = Header::of_length(message.flits, self.pace, self.buffer);
        }
        let header = Header {
            requested: message.created.0,
            id: message.id,
            segment: start as u32,
            segments_end: (start + count) as u32,
            corner: injection,
            oldest: injection,
            followed: message.followed,
            special: message.followed | self.of_length.long,
            ..self.of_length
        };
        self.headers[index] = header;
        self.origins[index] = Origin { message: *message, hops };
        place
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let place = self.headers.len();
        self.headers.push(Header::default());
        self.origins.push(Origin { message: NO_MESSAGE, hops: 0 });
        self.segments.resize((place + 1) * self.most_segments, Leg::default());
        place as u32
    }

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
}
