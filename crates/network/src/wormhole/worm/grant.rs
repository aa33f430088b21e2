//! The inner loop, which processes the grants and releases in a cycle.
//!
//! A header that is granted a channel is immediately queued at the next one, t_s + 1 cycles before
//! its actual request. As a result, all requests for a cycle are already queued when the cycle
//! opens, and each channel is checked once per request:
//!
//! ```text
//!   channels to check -> grant the first of the queue, if both are ready -> queue it at the next
//!        ^                                   |                                       |
//!        |                                   v                                       v
//!        +--- now or later --- release the channel behind its tail        check it t_s + 1 later
//! ```
//!
//! Invariant: a channel serves its queue in order of request cycle and then id. If a channel has a
//! release time and a queued request, a check is scheduled for the release or the first request,
//! whichever is later. Early or repeated checks have no effect.
//!
//! Cost: O(1) per grant and per request appended to a queue, or O(A) if B > t_s + 1. These symbols,
//! as well as h and L, are defined in [`worm`](super).

use super::slab::{Header, NONE, Slab};
use super::wheel::{What, Wheel};
use super::{ChannelState, HELD, Worm};
use crate::message::{Entered, Message};

/// The state needed to close the open cycle.
struct Closing<'w> {
    now: u64,
    buffer: u64,
    states: &'w mut [ChannelState],
    headers: &'w mut [Header],
    wheel: &'w mut Wheel,
    /// Channels that become free in this cycle while a message is waiting for them.
    freed: &'w mut Vec<u32>,
    /// The channels still held by the header being drained. Empty at other times.
    held: &'w mut Vec<u32>,
}

/// Rare work that is deferred while a list is being checked. The order of this work does not affect
/// the result, except that headers must be drained last.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Channels with waiting messages, each with the later cycle in which the channel becomes free.
    free: Vec<(u32, u64)>,
    /// The slab slot of each header that was granted an ejection channel, and that channel.
    drain: Vec<(u32, u32)>,
    /// The slab slot of each header to insert into a nonempty queue, and the queue's channel.
    queue: Vec<(u32, u32)>,
    special: Vec<Special>,
}

/// A special header's slab slot, granted channel and request cycle.
#[derive(Debug)]
struct Special {
    place: u32,
    granted: u32,
    requested: u64,
}

impl Worm {
    /// Processes the requests, releases and grants in the open cycle.
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

    /// Admits a message that requests its injection channel in the open cycle.
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

    /// Queues the messages that were not created in key order. Sorts them first, so that each
    /// message is inserted at or near the end of its queue.
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

    /// Grants as many of the listed channels as possible. Each granted channel in the list is
    /// replaced by the channel that its header requests next.
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
        // A queue that was nonempty when the list was checked may be empty by now.
        for &(place, channel) in &left.queue {
            queue(closing.states, closing.headers, channel, place);
        }
        left.special.clear();
        left.free.clear();
        left.drain.clear();
        left.queue.clear();
    }
}

/// Checks each listed channel. If the channel is free, grants it to the first header in its queue,
/// if any, and replaces it in the list with the channel that this header requests next. Rare work
/// is deferred, because calls would take up registers that the loop needs.
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
            // NONE is not a valid slab slot, so the lookup fails if the queue is empty.
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

/// Removes a channel from a list by moving the last one into its place. The order is irrelevant.
#[inline]
fn without(list: &mut [u32], index: usize) -> &mut [u32] {
    let last = list.len() - 1;
    list[index] = list[last];
    &mut list[..last]
}

#[inline]
fn queue(states: &mut [ChannelState], headers: &mut [Header], channel: u32, place: u32) {
    let state = &mut states[channel as usize];
    if state.head == NONE {
        state.head = place;
    } else {
        queue_behind(state, headers, place);
    }
}

/// Inserts a header into a nonempty queue in key order. Most headers go to the end.
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
    /// Completes the grant of a channel to a special header. Returns true if the message is
    /// followed and enters the network with this grant.
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

    /// Releases the oldest channel that a long message holds. The release time is the maximum of
    /// `h(j) + L-1 - (j-i)*B` over all channels j from i (the channel after the oldest one) to the
    /// last one granted.
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

    /// Completes the path of a header that was granted its ejection channel. This grant determines
    /// the release time of each channel that the header still holds.
    #[inline]
    fn drain(&mut self, place: u32, ejection: u32) {
        let header = &self.headers[place as usize];
        let (body, mut channel) = (u64::from(header.body), header.oldest);
        self.wheel.schedule(self.now, self.now + body + 1, What::Delivery, place);
        self.release(ejection, self.now + body + 1);
        if channel == ejection {
            return;
        }
        // Most headers hold just one more channel.
        loop {
            let ahead = self.states[channel as usize].ahead;
            if ahead == ejection {
                break;
            }
            self.held.push(channel);
            channel = ahead;
        }
        // Channel i is released at the maximum of h(j) + L-1 - (j - i - 1) * B over j = i+1..=last.
        // For each step back, every term decreases by B, and one term is added.
        let mut tail = self.now + body;
        let mut granted = self.states[channel as usize].time - HELD;
        self.release(channel, tail);
        while let Some(channel) = self.held.pop() {
            tail = tail.saturating_sub(self.buffer).max(granted + body);
            granted = self.states[channel as usize].time - HELD;
            self.release(channel, tail);
        }
    }

    /// Sets the release time of a channel that is held. If a message is waiting for the channel,
    /// schedules a check; messages that arrive later schedule their own checks.
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

    /// Schedules a check of a channel at `at`, or in the open cycle if `at` is in the past.
    #[inline]
    fn check_later(&mut self, channel: u32, at: u64) {
        if at <= self.now {
            self.freed.push(channel);
        } else {
            self.wheel.schedule(self.now, at, What::Check, channel);
        }
    }
}
