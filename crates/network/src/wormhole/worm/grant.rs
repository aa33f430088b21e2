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

/// The open cycle while it is closed.
struct Closing<'w> {
    now: u64,
    buffer: u64,
    states: &'w mut [ChannelState],
    headers: &'w mut [Header],
    wheel: &'w mut Wheel,
    /// Channels that become free in this cycle while a message waits.
    freed: &'w mut Vec<u32>,
    /// The channels of a header that is drained; else empty.
    held: &'w mut Vec<u32>,
}

/// What the checks of a list leave to be done behind them: what is seldom. No order of it changes
/// the result, but that a header is drained last.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Channels that become free at a cycle, and a message waits.
    free: Vec<(u32, u64)>,
    /// The places of headers that have been granted an ejection channel, and the channel.
    drain: Vec<(u32, u32)>,
    /// The places of headers that are to be queued at a channel behind or before others.
    queue: Vec<(u32, u32)>,
    special: Vec<Special>,
}

/// A special header at a place was granted a channel that it had requested then.
#[derive(Debug)]
struct Special {
    place: u32,
    granted: u32,
    requested: u64,
}

impl Worm {
    /// Requests, releases and grants of the open cycle.
    #[inline]
    pub(super) fn close_cycle(&mut self) {
        let now = self.clock.now;
        if !self.clock.disordered.is_empty() {
            self.queue_disordered();
        }
        self.clock.wheel.take_checks(now, &mut self.checks);
        loop {
            self.check_all();
            self.clock.wheel.schedule_checks(now, now + self.pace, &mut self.checks);
            if self.freed.is_empty() {
                break;
            }
            std::mem::swap(&mut self.checks, &mut self.freed);
        }
    }

    /// Takes in a message that requests its injection channel in the open cycle.
    #[inline]
    pub(super) fn admit(&mut self, message: &Message) {
        let now = self.clock.now;
        self.clock.wheel.reserve(now, u64::from(message.flits));
        let place = self.slab.insert(message, &self.channels);
        let headers = &mut self.slab.headers;
        let channel = headers[place as usize].oldest;
        let last = self.states[channel as usize].last(headers);
        if last.is_none_or(|last| headers[last as usize].key() < headers[place as usize].key()) {
            queue(&mut self.states, headers, channel, place);
            self.clock.wheel.check_now(now, channel);
        } else {
            self.clock.disordered.push(place);
        }
    }

    /// Queues the messages that were not created in the order of their keys. They are sorted, so
    /// that each comes last or near it.
    #[inline(never)]
    fn queue_disordered(&mut self) {
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
    #[inline]
    fn check_all(&mut self) {
        let Worm { clock, slab, states, checks, left, .. } = self;
        let now = clock.now;
        grant_all([now, now + self.pace], checks, states, slab, left);
        let mut closing = Closing {
            now,
            buffer: self.buffer.into(),
            states,
            headers: &mut slab.headers,
            wheel: &mut clock.wheel,
            freed: &mut self.freed,
            held: &mut self.held,
        };
        for special in &left.special {
            if closing.grant_special(special) {
                let message = &slab.origins[special.place as usize].message;
                clock.entered.push(Entered { id: message.id, tag: message.tag });
            }
        }
        for &(channel, at) in &left.free {
            closing.check_later(channel, at);
        }
        for &(place, ejection) in &left.drain {
            closing.drain(place, ejection);
        }
        // The queue may be empty by now.
        for &(place, channel) in &left.queue {
            queue(closing.states, closing.headers, channel, place);
        }
        left.special.clear();
        left.free.clear();
        left.drain.clear();
        left.queue.clear();
    }
}

/// Grants each of some channels to the first header in its queue, if the channel is free and the
/// header is there. The channel gives way to the one that the header requests next. What is seldom
/// is left to be done: calls would take the registers that the loop needs.
#[inline(never)]
fn grant_all(
    [now, next_request]: [u64; 2],
    checks: &mut Vec<u32>,
    states: &mut [ChannelState],
    slab: &mut Slab,
    left: &mut Left,
) {
    let (headers, segments) = (&mut slab.headers[..], &slab.segments[..]);
    let (mut list, mut index) = (&mut checks[..], 0);
    'check: while index < list.len() {
        let channel = list[index];
        'granted: {
            let state = &mut states[channel as usize];
            let place = state.head;
            // No header has the place NONE.
            let Some(header) = headers.get_mut(place as usize) else { break 'granted };
            let requested = header.requested;
            if requested > now {
                break 'granted;
            }
            if state.time > now {
                if state.time < HELD {
                    left.free.push((channel, state.time));
                }
                break 'granted;
            }
            state.time = HELD + now;
            state.head = header.next;
            header.next = NONE;
            header.requested = next_request;
            if header.unreleased == 0 {
                let tail = (now + u64::from(header.lag)).max(requested + u64::from(header.early));
                let oldest = header.oldest;
                let freed = &mut states[oldest as usize];
                header.oldest = freed.ahead;
                freed.time = tail;
                if let Some(first) = headers.get(freed.head as usize)
                    && first.requested <= now
                {
                    left.free.push((oldest, tail));
                }
            } else if header.special {
                left.special.push(Special { place, granted: channel, requested });
            } else {
                header.unreleased -= 1;
            }
            let header = &mut headers[place as usize];
            let next = if channel != header.corner {
                channel.wrapping_add_signed(header.step)
            } else if header.segment < header.segments_end {
                header.turn(segments)
            } else {
                left.drain.push((place, channel));
                break 'granted;
            };
            states[channel as usize].ahead = next;
            let queue = &mut states[next as usize];
            if queue.head == NONE {
                queue.head = place;
            } else {
                left.queue.push((place, next));
            }
            list[index] = next;
            index += 1;
            continue 'check;
        }
        list = without(std::mem::take(&mut list), index);
    }
    checks.truncate(index);
}

/// A list without one of its channels. The last one takes its place: no order changes the result.
#[inline]
fn without(list: &mut [u32], index: usize) -> &mut [u32] {
    let last = list.len() - 1;
    list[index] = list[last];
    &mut list[..last]
}

/// Puts a header into the queue of a channel.
#[inline]
fn queue(states: &mut [ChannelState], headers: &mut [Header], channel: u32, place: u32) {
    let state = &mut states[channel as usize];
    if state.head == NONE {
        state.head = place;
    } else {
        queue_behind(state, headers, place);
    }
}

/// Puts a header into a queue that is not empty, by its key. Most come last.
#[inline(never)]
fn queue_behind(state: &mut ChannelState, headers: &mut [Header], place: u32) {
    let key = headers[place as usize].key();
    let tail = state.last(headers).unwrap_or(place);
    if headers[tail as usize].key() < key {
        headers[tail as usize].next = place;
        state.tail = place;
        return;
    }
    state.tail = tail;
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
    /// Goes on with a special header that was granted a channel. Returns whether its message enters
    /// and is followed.
    #[inline(never)]
    fn grant_special(&mut self, special: &Special) -> bool {
        let header = &mut self.headers[special.place as usize];
        if header.long && header.unreleased == 1 {
            self.release_long(special);
            return false;
        }
        header.unreleased -= 1;
        header.special = header.long;
        std::mem::take(&mut header.followed)
    }

    /// Releases the oldest channel of a message for which grants before the last two matter as
    /// well: at the latest of h(j) + L-1 - (j - i) * B, over the channels j from i, the one ahead
    /// of it, to the one that was granted now.
    fn release_long(&mut self, &Special { place, granted, requested }: &Special) {
        let header = &mut self.headers[place as usize];
        let oldest = header.oldest;
        let mut tail = (self.now + u64::from(header.lag)).max(requested + u64::from(header.early));
        let (mut term, mut channel) = (u64::from(header.body), self.states[oldest as usize].ahead);
        header.oldest = channel;
        while channel != granted {
            let state = &self.states[channel as usize];
            tail = tail.max(state.time - HELD + term);
            term = term.saturating_sub(self.buffer);
            channel = state.ahead;
        }
        self.release(oldest, tail);
    }

    /// The header has reached its processing element, by the ejection channel. So the release times
    /// of all channels that it still holds are known.
    #[inline]
    fn drain(&mut self, place: u32, ejection: u32) {
        let header = &self.headers[place as usize];
        let (body, mut channel) = (u64::from(header.body), header.oldest);
        self.wheel.schedule(self.now, self.now + body + 1, What::Delivery, place);
        self.release(ejection, self.now + body + 1);
        if channel == ejection {
            return;
        }
        // Most hold one more.
        loop {
            let ahead = self.states[channel as usize].ahead;
            if ahead == ejection {
                break;
            }
            self.held.push(channel);
            channel = ahead;
        }
        // Channel i is released at the latest of h(j) + L-1 - (j - i - 1) * B over j = i+1..=last.
        // With every step back each term loses B, and one term joins.
        let mut tail = self.now + body;
        let mut granted = self.states[channel as usize].time - HELD;
        self.release(channel, tail);
        while let Some(channel) = self.held.pop() {
            tail = tail.saturating_sub(self.buffer).max(granted + body);
            granted = self.states[channel as usize].time - HELD;
            self.release(channel, tail);
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
    #[inline]
    fn check_later(&mut self, channel: u32, at: u64) {
        if at <= self.now {
            self.freed.push(channel);
        } else {
            self.wheel.schedule(self.now, at, What::Check, channel);
        }
    }
}
