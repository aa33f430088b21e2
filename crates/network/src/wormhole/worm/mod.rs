//! The default engine: header events only.
//!
//! A header gains at least one cycle per channel, so the recurrence of the body flits solves to
//!
//! ```text
//! c(i, L-1) = max over a = 0..floor((L-1)/B), i+a <= last, of h(i+a) + (L-1 - a*B)
//! ```
//!
//! and the cycle `r(i) = c(i+1, L-1)` at which channel i becomes free is known as soon as the
//! header has been granted channel `i + 1 + floor((L-1)/B)`, or the ejection channel. No flit is
//! simulated, and nothing is missed: the result is that of the [`Flit`](crate::Flit) engine,
//! message by message, for released-when-drained channels and separate lanes.
//!
//! ```text
//!    released   the worm (window)   granted now
//!   ---o------[=====|=====|=====]------>o--------
//!      p-1-A     p-A   ...  p-1         p            A = floor((L-1)/B)
//! ```
//!
//! A channel whose release time is known needs no event unless somebody waits for it. Within a
//! cycle every request is queued before anything is granted, and grants run off a work list,
//! because a grant can free another channel in the same cycle; the result is the least fixpoint
//! and does not depend on the order of the list.
//!
//! Cost: O(1 + [L > B and B > t_s + 1] * A) per header hop, whatever the length of the message;
//! memory O(messages in flight * min(A, hops) + channels). All events but those of very long
//! messages lie in a timing wheel.

mod slab;
mod wheel;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pavior_kernel::Time;
use pavior_mesh::Grid;

use crate::channel::{Channels, Lanes};
use crate::deadlock::Deadlock;
use crate::engine::{BadSettings, Engine, Release, Settings};
use crate::message::{Entered, Message, News};
use crate::path::Path;
use slab::{Crossing, NONE, Slab};
use wheel::{What, Wheel};

/// The release time of a channel that is held, and whose release is not known yet.
const HELD: u64 = u64::MAX;

/// A channel: when it is free, and who waits, in the order of service.
#[derive(Clone, Copy, Debug)]
struct Gate {
    free_at: u64,
    head: u32,
    tail: u32,
}

/// A message to be created in a later cycle; ordered by time and id.
#[derive(Debug)]
struct Later(Message);

impl Later {
    fn key(&self) -> (Time, u64) {
        (self.0.created, self.0.id)
    }
}
impl PartialEq for Later {
    fn eq(&self, other: &Later) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Later {}
impl PartialOrd for Later {
    fn partial_cmp(&self, other: &Later) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Later {
    fn cmp(&self, other: &Later) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// The event-driven engine; see the head of the file for the rule, [`Engine`] for the use.
#[derive(Debug)]
pub struct Worm {
    channels: Channels,
    /// Cycles from a grant to the next request: t_s + 1.
    pace: u64,
    buffer: u32,
    now: u64,
    gates: Vec<Gate>,
    slab: Slab,
    wheel: Wheel,
    /// Messages whose request falls on the open cycle.
    fresh: Vec<u32>,
    later: BinaryHeap<Reverse<Later>>,
    /// Channels to be granted in the cycle that is being closed.
    work: Vec<u32>,
    entered: Vec<Entered>,
}

impl Worm {
    /// An empty network.
    ///
    /// # Errors
    /// If buffers have no place, or the settings ask for what only the flit engine models: channels
    /// released when passed, and lanes that share a link.
    pub fn new(grid: Grid, settings: Settings) -> Result<Worm, BadSettings> {
        settings.check()?;
        if settings.release == Release::Passed {
            return Err(BadSettings::FlitOnly("--release passed"));
        }
        if settings.lanes == Lanes::Shared {
            return Err(BadSettings::FlitOnly("--lanes shared"));
        }
        let channels = Channels::new(grid, settings.lanes);
        let pace = u64::from(settings.routing_delay) + 1;
        Ok(Worm {
            pace,
            buffer: settings.buffer,
            now: 0,
            gates: vec![Gate { free_at: 0, head: NONE, tail: NONE }; channels.count()],
            slab: Slab::new(Path::segments_bound(&channels)),
            wheel: Wheel::new(pace),
            fresh: Vec::new(),
            later: BinaryHeap::new(),
            work: Vec::new(),
            entered: Vec::new(),
            channels,
        })
    }

    /// The numbering of the channels.
    pub fn channels(&self) -> &Channels {
        &self.channels
    }

    fn admit(&mut self, message: &Message) {
        self.wheel.reserve(self.now, u64::from(message.flits));
        let path = Path::new(&self.channels, message.from, message.to);
        let place = self.slab.insert(message, &path, self.buffer);
        self.fresh.push(place);
    }

    /// Requests, releases and grants of the open cycle.
    fn close(&mut self) {
        let now = self.now;
        self.fresh.sort_unstable_by_key(|&place| self.slab.headers[place as usize].key());
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.drain(..).for_each(|place| self.request(place));
        self.fresh = fresh;

        let mut requests = std::mem::take(&mut self.wheel.slot(now).requests);
        requests.drain(..).for_each(|place| self.request(place));
        let slot = self.wheel.slot(now);
        slot.requests = requests;
        self.work.append(&mut slot.wakes);
        self.wheel.done(now);
        while let Some(channel) = self.work.pop() {
            self.grant(channel);
        }
    }

    /// Queues a header at the channel that it requests.
    #[inline]
    fn request(&mut self, place: u32) {
        let header = self.slab.headers[place as usize];
        let gate = &mut self.gates[header.channel as usize];
        if gate.head == NONE {
            gate.head = place;
            gate.tail = place;
            if gate.free_at <= self.now {
                self.work.push(header.channel);
            } else if gate.free_at != HELD {
                self.wheel.schedule(self.now, gate.free_at, What::Wake, header.channel);
            }
            return;
        }
        self.queue(place);
    }

    /// Puts a header into a queue that is not empty, by its key. Most come last.
    fn queue(&mut self, place: u32) {
        let headers = &mut self.slab.headers;
        let (key, channel) = (headers[place as usize].key(), headers[place as usize].channel);
        let gate = &mut self.gates[channel as usize];
        if headers[gate.tail as usize].key() < key {
            headers[gate.tail as usize].next = place;
            gate.tail = place;
            return;
        }
        if key < headers[gate.head as usize].key() {
            headers[place as usize].next = gate.head;
            gate.head = place;
            return;
        }
        let mut before = gate.head;
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
        let now = self.now;
        let gate = &mut self.gates[channel as usize];
        let place = gate.head;
        let header = &mut self.slab.headers[place as usize];
        gate.head = header.next;
        gate.free_at = HELD;
        header.next = NONE;
        let position = header.position;
        let (ahead, body, window) = (header.ahead, header.body, header.window);
        header.position += 1;
        if position == 0 && header.followed {
            self.entered.push(Entered { id: header.id, tag: self.slab.message(place).tag });
        }
        *self.slab.crossing(place, position) = Crossing { at: now, channel };
        if ahead == 0 {
            self.drain(place, position, body, window);
            return;
        }
        self.step(place);
        if position > window {
            let behind = position - window;
            let tail = self.tail_leaves(place, behind, position, body);
            let released = self.slab.crossing(place, behind - 1).channel;
            self.release(released, tail);
        }
    }

    /// Moves a header that has crossed a channel on to the one behind it.
    #[inline]
    fn step(&mut self, place: u32) {
        let requested = self.now + self.pace;
        let header = &mut self.slab.headers[place as usize];
        header.requested = requested;
        header.ahead -= 1;
        if header.left > 0 {
            header.left -= 1;
            header.channel = header.channel.wrapping_add_signed(header.step);
        } else {
            self.slab.turn(place);
        }
        self.wheel.schedule(self.now, requested, What::Request, place);
    }

    /// When the tail crosses channel `behind` of the path, `granted` having just been crossed by
    /// the header: the latest of h(j) + L-1 - (j - behind) * B over the channels between.
    #[inline]
    fn tail_leaves(&mut self, place: u32, behind: u32, granted: u32, body: u32) -> u64 {
        let buffer = u64::from(self.buffer);
        let mut tail = self.now + u64::from(body) - u64::from(granted - behind) * buffer;
        if buffer > self.pace {
            // Only then can an earlier term exceed the last one: headers gain t_s + 1 a channel.
            for j in behind..granted {
                let crossed = self.slab.crossing(place, j).at;
                tail = tail.max(crossed + u64::from(body) - u64::from(j - behind) * buffer);
            }
        }
        tail
    }

    /// The header has reached its processing element: everything behind it is known.
    fn drain(&mut self, place: u32, last: u32, body: u32, window: u32) {
        let buffer = u64::from(self.buffer);
        let end = self.now + u64::from(body) + 1;
        self.wheel.schedule(self.now, end, What::Delivery, place);
        let own = self.slab.crossing(place, last).channel;
        self.release(own, end);
        // Channel i is released at the latest of h(j) + L-1 - (j - i - 1) * B over j = i+1..=last:
        // with every step back each term loses B, and the one of channel i joins.
        let mut tail = self.now + u64::from(body);
        for i in (last.saturating_sub(window + 1)..last).rev() {
            let Crossing { at, channel } = *self.slab.crossing(place, i);
            self.release(channel, tail);
            tail = (tail - buffer.min(tail)).max(at + u64::from(body));
        }
    }

    /// Sets a held channel's release time, and sees to it that somebody who waits gets it then.
    #[inline]
    fn release(&mut self, channel: u32, at: u64) {
        let gate = &mut self.gates[channel as usize];
        gate.free_at = at;
        if gate.head != NONE {
            if at <= self.now {
                self.work.push(channel);
            } else {
                self.wheel.schedule(self.now, at, What::Wake, channel);
            }
        }
    }

    /// Enters the cycle `now`: creations that were announced, and deliveries.
    fn open(&mut self, news: &mut News) {
        while self.later.peek().is_some_and(|Reverse(later)| later.0.created.0 <= self.now) {
            let Reverse(later) = self.later.pop().expect("just peeked");
            self.admit(&later.0);
        }
        self.wheel.settle(self.now);
        let slab = &mut self.slab;
        let slot = self.wheel.slot(self.now);
        let deliveries = slot.deliveries.drain(..).map(|place| slab.remove(place, self.now));
        news.deliveries.extend(deliveries);
        news.entered.append(&mut self.entered);
        news.sort();
    }

    fn deadlock(&self) -> Deadlock {
        let live = self.slab.live();
        let mut holders = vec![NONE; self.gates.len()];
        for &place in &live {
            let header = &self.slab.headers[place as usize];
            let from = header.position.saturating_sub(header.window + 1);
            let path = Path::new(
                &self.channels,
                self.slab.message(place).from,
                self.slab.destination(place),
            );
            let held = path.channels().take(header.position as usize).skip(from as usize);
            held.for_each(|channel| holders[channel.index()] = place);
        }
        Deadlock::find(
            Time(self.now),
            &live,
            &self.channels,
            |place| self.slab.headers[place as usize].id,
            |place| {
                let channel = self.slab.headers[place as usize].channel;
                (channel, holders[channel as usize])
            },
        )
    }
}

impl Engine for Worm {
    fn now(&self) -> Time {
        Time(self.now)
    }

    fn create(&mut self, message: Message) {
        debug_assert!(message.flits > 0 && message.created <= Message::LATEST);
        if message.created.0 <= self.now {
            self.admit(&message);
        } else {
            self.later.push(Reverse(Later(message)));
        }
    }

    fn advance(&mut self, until: Time, news: &mut News) -> Result<Time, Deadlock> {
        news.clear();
        while self.now < until.0 {
            if self.undelivered() == 0 {
                if until < Time::MAX {
                    self.now = until.0;
                }
                break;
            }
            self.close();
            let next = match self.next_event() {
                _ if !self.entered.is_empty() => self.now + 1,
                Some(next) => next.0,
                None => return Err(self.deadlock()),
            };
            self.now = next.min(until.0);
            self.open(news);
            if !news.is_empty() {
                break;
            }
        }
        Ok(Time(self.now))
    }

    fn next_event(&self) -> Option<Time> {
        if !self.fresh.is_empty() {
            return Some(Time(self.now));
        }
        let later = self.later.peek().map(|Reverse(later)| later.0.created);
        let wheel = self.wheel.next(self.now).map(Time);
        match (later, wheel) {
            (Some(later), Some(wheel)) => Some(later.min(wheel)),
            (later, wheel) => later.or(wheel),
        }
    }

    fn undelivered(&self) -> usize {
        self.slab.len() + self.later.len()
    }
}
