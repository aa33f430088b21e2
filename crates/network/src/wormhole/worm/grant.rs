//! The inner loop: the requests, grants and releases of one cycle.
//!
//! ```text
//!   requests of the cycle -> queues of their channels -> grants of free channels -> releases
//!                                                          ^                           |
//!                                                          +---- channels freed now ---+
//! ```
//!
//! Invariant: a channel serves its queue in the order of (cycle of the request, id). A channel that
//! is held has no release time, until the header that holds it is far enough ahead.
//!
//! Cost: O(1) a request that comes last in its queue, and a grant; O(A) where B > t_s + 1. These
//! symbols, h and L are those of [`worm`](super).

use super::slab::{Crossing, NONE};
use super::wheel::What;
use super::{HELD, Worm};
use crate::message::Entered;

impl Worm {
    /// Requests, releases and grants of the open cycle.
    pub(super) fn close_cycle(&mut self) {
        let now = self.clock.now;
        // Followers created in the past are queued by their key, like all others.
        if self.clock.new_requests.len() > 1 {
            self.clock
                .new_requests
                .sort_unstable_by_key(|&place| self.slab.headers[place as usize].key());
        }
        let mut requests = std::mem::take(&mut self.clock.wheel.slot(now).requests);
        requests.append(&mut self.clock.new_requests);
        for &place in &requests {
            self.request(place);
        }
        requests.clear();
        let slot = self.clock.wheel.slot(now);
        slot.requests = requests;
        self.work.append(&mut slot.wakes);
        self.clock.wheel.done(now);
        while let Some(channel) = self.work.pop() {
            self.grant(channel);
        }
    }

    /// Queues a header at the channel that it requests.
    #[inline]
    fn request(&mut self, place: u32) {
        let channel = self.slab.headers[place as usize].channel;
        let state = &mut self.states[channel as usize];
        if state.head != NONE {
            self.queue(place, channel);
            return;
        }
        state.head = place;
        state.tail = place;
        if state.free_at <= self.clock.now {
            self.work.push(channel);
        } else if state.free_at != HELD {
            self.clock.wheel.schedule(self.clock.now, state.free_at, What::Wake, channel);
        }
    }

    /// Puts a header into a queue that is not empty, by its key. Most come last.
    #[inline(never)]
    fn queue(&mut self, place: u32, channel: u32) {
        let headers = &mut self.slab.headers;
        let key = headers[place as usize].key();
        let state = &mut self.states[channel as usize];
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

    /// Grants a free channel to the first header in its queue, which crosses it.
    #[inline]
    fn grant(&mut self, channel: u32) {
        let now = self.clock.now;
        // When the header will request its next channel.
        let requested = now + self.pace;
        let state = &mut self.states[channel as usize];
        let place = state.head;
        let header = &mut self.slab.headers[place as usize];
        state.head = header.next;
        state.free_at = HELD;
        header.next = NONE;
        header.requested = requested;
        let (position, window, body) = (header.position, header.window, header.body);
        header.position = position + 1;
        if position == 0 && header.followed {
            self.clock.entered.push(Entered { id: header.id, tag: self.slab.message(place).tag });
        }
        let header = &mut self.slab.headers[place as usize];
        if header.left_on_path == 0 {
            self.drain(place, channel, position);
            return;
        }
        header.left_on_path -= 1;
        if header.left_in_segment > 0 {
            header.left_in_segment -= 1;
            header.channel = channel.wrapping_add_signed(header.step);
        } else {
            self.slab.turn(place);
        }
        self.clock.wheel.schedule(now, requested, What::Request, place);

        let (crossings, mask) = self.slab.crossings_of(place);
        crossings[(position & mask) as usize] = Crossing { at: now, channel };
        if position > window {
            // The channel released is the one before `behind`. The tail crosses `behind` at the
            // latest of h(j) + L-1 - (j - behind) * B, over the channels j from there to this one.
            let behind = position - window;
            let buffer = u64::from(self.buffer);
            let mut tail = now + u64::from(body) - u64::from(window) * buffer;
            if buffer > self.pace {
                // Only then can an earlier term exceed the last: headers gain t_s + 1 a channel.
                for j in behind..position {
                    let crossed = crossings[(j & mask) as usize].at + u64::from(body);
                    tail = tail.max(crossed - u64::from(j - behind) * buffer);
                }
            }
            let released = crossings[((behind - 1) & mask) as usize].channel;
            self.release(released, tail);
        }
    }

    /// The header has reached its processing element, by the ejection channel at the place `last`
    /// of its path. So the release times of all channels that it still holds are known.
    #[inline(never)]
    fn drain(&mut self, place: u32, ejection: u32, last: u32) {
        let (now, buffer) = (self.clock.now, u64::from(self.buffer));
        let header = &self.slab.headers[place as usize];
        let (body, window) = (u64::from(header.body), header.window);
        self.clock.wheel.schedule(now, now + body + 1, What::Delivery, place);
        self.release(ejection, now + body + 1);
        // Channel i is released at the latest of h(j) + L-1 - (j - i - 1) * B over j = i+1..=last.
        // With every step back each term loses B, and one term joins.
        let mut tail = now + body;
        for i in (last.saturating_sub(window + 1)..last).rev() {
            let (crossings, mask) = self.slab.crossings_of(place);
            let Crossing { at, channel } = crossings[(i & mask) as usize];
            self.release(channel, tail);
            tail = tail.saturating_sub(buffer).max(at + body);
        }
    }

    /// Sets a held channel's release time, and sees to it that a message that waits gets it then.
    #[inline]
    fn release(&mut self, channel: u32, at: u64) {
        let state = &mut self.states[channel as usize];
        state.free_at = at;
        if state.head != NONE {
            self.wake(channel, at);
        }
    }

    /// Lets a channel be granted at `at`, or in this cycle if that has come.
    #[inline(never)]
    fn wake(&mut self, channel: u32, at: u64) {
        if at <= self.clock.now {
            self.work.push(channel);
        } else {
            self.clock.wheel.schedule(self.clock.now, at, What::Wake, channel);
        }
    }
}
