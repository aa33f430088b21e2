//! The inner loop: the grants and releases of one cycle.
//!
//! A header that is granted a channel is queued at the next one at once, t_s + 1 cycles before it
//! requests it. So all requests of a cycle are queued when the cycle comes, and a channel is looked
//! at once a request:
//!
//! ```text
//!   channels to check -> grant the first of the queue, if both are ready -> queue it at the next
//!        ^                                   |                                       |
//!        |                                   v                                       v
//!        +--- now or later --- release the channel behind its tail        check it t_s + 1 later
//! ```
//!
//! Invariant: a channel serves its queue in the order of (cycle of the request, id). If it has a
//! release time, and the first of its queue is there or yet to come, a check of it is scheduled for
//! the later of the two. A check that comes too early, or twice, does nothing.
//!
//! Cost: O(1) a request that comes last in its queue, and a grant; O(A) where B > t_s + 1. These
//! symbols, h and L are those of [`worm`](super).

use super::slab::{Header, NONE, Slab};
use super::wheel::{What, Wheel};
use super::{ChannelState, HELD, Worm};
use crate::message::{Entered, Message};
use crate::path::Segment;

/// The open cycle while it is closed.
struct Closing<'w> {
    now: u64,
    /// When the headers that are granted now request their next channel.
    next: u64,
    buffer: u64,
    states: &'w mut [ChannelState],
    headers: &'w mut [Header],
    segments: &'w [Segment],
    wheel: &'w mut Wheel,
    /// Channels that become free in this cycle while a message waits.
    freed: &'w mut Vec<u32>,
    /// The channels of a header that is drained; else empty.
    held: &'w mut Vec<u32>,
    /// The places of followed messages that enter.
    entered: &'w mut Vec<u32>,
}

impl Worm {
    /// Requests, releases and grants of the open cycle.
    pub(super) fn close_cycle(&mut self) {
        let now = self.clock.now;
        self.queue_disordered();
        let mut checks = self.clock.wheel.take_checks(now);
        loop {
            self.check_all(&mut checks);
            self.clock.wheel.schedule_checks(now, now + self.pace, &mut checks);
            if self.freed.is_empty() {
                break;
            }
            std::mem::swap(&mut checks, &mut self.freed);
        }
        self.clock.wheel.give_back(now, checks);
    }

    /// Takes in a message that requests its injection channel in the open cycle.
    #[inline]
    pub(super) fn admit(&mut self, message: &Message) {
        let now = self.clock.now;
        self.clock.wheel.reserve(now, u64::from(message.flits));
        let place = self.slab.insert(message, &self.channels);
        let headers = &mut self.slab.headers;
        let channel = headers[place as usize].oldest;
        let last = self.states[channel as usize].last();
        if last.is_none_or(|last| headers[last as usize].key() < headers[place as usize].key()) {
            queue(&mut self.states, headers, channel, place);
            self.clock.wheel.check_now(now, channel);
        } else {
            self.clock.disordered.push(place);
        }
    }

    /// Queues the messages that were not created in the order of their keys. They are sorted, so
    /// that each comes last or near it.
    #[inline]
    fn queue_disordered(&mut self) {
        if self.clock.disordered.is_empty() {
            return;
        }
        let Worm { clock, slab: Slab { headers, .. }, states, .. } = self;
        clock.disordered.sort_unstable_by_key(|&place| headers[place as usize].key());
        for place in clock.disordered.drain(..) {
            let channel = headers[place as usize].oldest;
            queue(states, headers, channel, place);
            clock.wheel.check_now(clock.now, channel);
        }
    }

    /// Grants what can be granted of some channels, each of which gives way to the one that its
    /// header requests next.
    #[inline(never)]
    fn check_all(&mut self, checks: &mut Vec<u32>) {
        let Worm { clock, slab, states, .. } = self;
        let mut closing = Closing {
            now: clock.now,
            next: clock.now + self.pace,
            buffer: self.buffer.into(),
            states,
            headers: &mut slab.headers,
            segments: &slab.segments,
            wheel: &mut clock.wheel,
            freed: &mut self.freed,
            held: &mut self.held,
            entered: &mut self.entering,
        };
        let (list, mut kept) = (&mut checks[..], 0);
        for index in 0..list.len() {
            if let Some(next) = closing.check(list[index]) {
                list[kept] = next;
                kept += 1;
            }
        }
        checks.truncate(kept);
        for place in self.entering.drain(..) {
            let message = slab.message(place);
            clock.entered.push(Entered { id: message.id, tag: message.tag });
        }
    }
}

/// Puts a header into the queue of a channel.
#[inline]
fn queue(states: &mut [ChannelState], headers: &mut [Header], channel: u32, place: u32) {
    let state = &mut states[channel as usize];
    if state.head == NONE {
        state.head = place;
        state.tail = place;
    } else {
        queue_behind(state, headers, place);
    }
}

/// Puts a header into a queue that is not empty, by its key. Most come last.
#[inline(never)]
fn queue_behind(state: &mut ChannelState, headers: &mut [Header], place: u32) {
    let key = headers[place as usize].key();
    if headers[state.tail as usize].key() < key {
        headers[state.tail as usize].next = place;
        state.tail = place;
        return;
    }
    if key < headers[state.head as usize].key() {
        headers[place as usize].next = state.head;
        state.head = place;
        return;
    }
    let mut before = state.head;
    loop {
        let behind = headers[before as usize].next;
        if key < headers[behind as usize].key() {
            headers[before as usize].next = place;
            headers[place as usize].next = behind;
            return;
        }
        before = behind;
    }
}

impl Closing<'_> {
    /// Grants a channel to the first header in its queue, if it is free and the header is there.
    /// Returns the channel that the header requests next.
    #[inline]
    fn check(&mut self, channel: u32) -> Option<u32> {
        let state = &mut self.states[channel as usize];
        let place = state.head;
        // No header has the place NONE.
        let header = self.headers.get_mut(place as usize)?;
        let requested = header.requested;
        if requested > self.now {
            return None;
        }
        if state.time > self.now {
            if state.time < HELD {
                let free_at = state.time;
                self.check_later(channel, free_at);
            }
            return None;
        }
        state.time = HELD + self.now;
        state.head = header.next;
        header.next = NONE;
        header.requested = self.next;
        let next = if header.left > 0 {
            header.left -= 1;
            channel.wrapping_add_signed(header.step)
        } else if header.segment < header.segments_end {
            let segment = self.segments[header.segment as usize];
            header.segment += 1;
            header.step = segment.step;
            header.left = segment.count - 1;
            if header.followed {
                header.followed = false;
                self.entered.push(place);
            }
            segment.first
        } else {
            self.drain(place, channel);
            return None;
        };
        state.ahead = next;
        if header.unreleased > 0 {
            header.unreleased -= 1;
        } else {
            let oldest = header.oldest;
            let mut tail =
                (self.now + u64::from(header.lag)).max(requested + u64::from(header.early));
            let behind = self.states[oldest as usize].ahead;
            header.oldest = behind;
            if header.long {
                let body = header.body.into();
                tail = tail.max(self.latest(behind, channel, body));
            }
            self.release(oldest, tail);
        }
        queue(self.states, self.headers, next, place);
        Some(next)
    }

    /// The latest of h(j) + L-1 - (j - i) * B, over the channels j from `first`, which is i, to the
    /// one before `end`.
    #[inline(never)]
    fn latest(&self, first: u32, end: u32, body: u64) -> u64 {
        let (mut tail, mut term, mut channel) = (0, body, first);
        while channel != end {
            let state = &self.states[channel as usize];
            tail = tail.max(state.time - HELD + term);
            term = term.saturating_sub(self.buffer);
            channel = state.ahead;
        }
        tail
    }

    /// The header has reached its processing element, by the ejection channel. So the release times
    /// of all channels that it still holds are known.
    #[inline(never)]
    fn drain(&mut self, place: u32, ejection: u32) {
        let header = &self.headers[place as usize];
        let (body, mut channel) = (u64::from(header.body), header.oldest);
        self.wheel.schedule(self.now, self.now + body + 1, What::Delivery, place);
        while channel != ejection {
            self.held.push(channel);
            channel = self.states[channel as usize].ahead;
        }
        self.release(ejection, self.now + body + 1);
        // Channel i is released at the latest of h(j) + L-1 - (j - i - 1) * B over j = i+1..=last.
        // With every step back each term loses B, and one term joins.
        let mut tail = self.now + body;
        while let Some(channel) = self.held.pop() {
            let granted = self.states[channel as usize].time - HELD;
            self.release(channel, tail);
            tail = tail.saturating_sub(self.buffer).max(granted + body);
        }
    }

    /// Sets a held channel's release time, and sees to it that a message that waits gets it then.
    /// One that is still to come has a check of its own.
    #[inline]
    fn release(&mut self, channel: u32, at: u64) {
        let state = &mut self.states[channel as usize];
        state.time = at;
        if let Some(first) = self.headers.get(state.head as usize)
            && first.requested <= self.now
        {
            self.check_later(channel, at);
        }
    }

    /// Has a channel checked at a cycle; in the open one if that has come.
    #[inline(never)]
    fn check_later(&mut self, channel: u32, at: u64) {
        if at <= self.now {
            self.freed.push(channel);
        } else {
            self.wheel.schedule(self.now, at, What::Check, channel);
        }
    }
}
