//! The default engine, which simulates headers and computes the times of all other flits.
//!
//! A header takes at least one cycle per channel, so the recurrence for body flits has a closed
//! form:
//!
//! ```text
//! c(i, L-1) = max over a = 0..floor((L-1)/B), i+a <= last, of h(i+a) + (L-1 - a*B)
//! ```
//!
//! Here, h(i) is the cycle in which the header crosses channel i, L is the length in flits, B is
//! the buffer size, and t_s is the routing delay. Channel i becomes free at `r(i) = c(i+1, L-1)`.
//! This time is known once channel `i + 1 + floor((L-1)/B)` or the ejection channel has been
//! granted to the header:
//!
//! ```text
//!    released   the worm (window)   granted now
//!   ---o------[=====|=====|=====]------>o--------
//!      p-1-A     p-A   ...  p-1         p            A = floor((L-1)/B)
//! ```
//!
//! A channel whose release time is known needs no event unless a message is waiting for it. A
//! header that is granted a channel is queued at the next one, t_s + 1 cycles before its actual
//! request. All requests in a cycle are thus queued before the cycle's grants, and each hop is one
//! event. A grant can free another channel in the same cycle, so grants are processed from a list.
//!
//! Invariant: the result is the least fixpoint of the grants and does not depend on the order of
//! the list. If channels are released when drained and virtual channels do not share links, every
//! message has the same timing as in the [`Flit`](crate::Flit) engine.
//!
//! Cost: O(1 + [L > B and B > t_s + 1] * A) per header hop, regardless of message length. Memory:
//! O(messages in flight + channels). A timing wheel holds all events except those of very long
//! messages.

mod clock;
mod grant;
mod slab;
mod wheel;

use std::cmp::Reverse;

use pavior_kernel::Time;
use pavior_mesh::Grid;

use crate::channel::Channels;
use crate::deadlock::Deadlock;
use crate::engine::{BadSettings, Engine, EngineKind, Settings};
use crate::message::{Message, NetworkEvents};
use crate::path::Path;
use clock::Clock;
use grant::Left;
use slab::{Header, NONE, Slab};

/// The bit that marks [`ChannelState::time`] as a grant cycle while the release time is unknown.
const HELD: u64 = 1 << 63;

/// The release time of a channel, and its queue in order of service.
///
/// The channels that a message holds form a list. It starts with `oldest` in the message's header
/// and continues with `ahead` in each channel.
#[derive(Clone, Copy, Debug)]
struct ChannelState {
    /// The cycle in which the channel becomes free. While that cycle is unknown, HELD plus the
    /// cycle in which the channel was granted.
    time: u64,
    head: u32,
    /// The last message in the queue. Valid only if at least two messages are waiting.
    tail: u32,
    /// The next channel on the path of the message that holds this one.
    ahead: u32,
}

/// The event-driven engine. See [`Engine`] for how to use it.
#[derive(Debug)]
pub struct Worm {
    channels: Channels,
    /// The number of cycles from a grant to the next request: t_s + 1.
    pace: u64,
    buffer: u32,
    states: Vec<ChannelState>,
    slab: Slab,
    /// The open cycle, and all events from then on.
    clock: Clock,
    /// Working lists for [`close_cycle`](Worm::close_cycle): channels to check, channels freed
    /// while a message is waiting, channels held by a header being drained, and deferred work.
    checks: Vec<u32>,
    freed: Vec<u32>,
    held: Vec<u32>,
    left: Box<Left>,
}

impl ChannelState {
    #[inline]
    fn last(&self, headers: &[Header]) -> Option<u32> {
        let first = headers.get(self.head as usize)?;
        Some(if first.next == NONE { self.head } else { self.tail })
    }
}

impl Worm {
    /// Creates an empty network.
    ///
    /// # Errors
    /// Returns the same errors as [`EngineKind::check`].
    pub fn new(grid: Grid, settings: Settings) -> Result<Worm, BadSettings> {
        EngineKind::Worm.check(&settings)?;
        let channels = Channels::new(grid, settings.virtual_channels);
        let pace = u64::from(settings.routing_delay) + 1;
        Ok(Worm {
            pace,
            buffer: settings.buffer,
            states: vec![
                ChannelState { time: 0, head: NONE, tail: NONE, ahead: NONE };
                channels.count()
            ],
            slab: Slab::new(Path::segments_bound(&channels), pace, settings.buffer),
            clock: Clock::new(0, pace),
            checks: Vec::new(),
            freed: Vec::new(),
            held: Vec::new(),
            left: Box::default(),
            channels,
        })
    }

    /// Returns the channel numbering.
    pub fn channels(&self) -> &Channels {
        &self.channels
    }

    /// Retroactively simulates messages created at or after `since`. Between `since` and now, no
    /// other message may have used any channel that these messages use.
    ///
    /// While `run` executes, the engine is at `since` and contains only messages created by `run`.
    /// Before `run` returns, it must advance the engine back to the current cycle. Messages of
    /// `run` that are still in flight then continue alongside the others, as if they had been
    /// simulated all along.
    ///
    /// ```
    /// # mod pavior { pub use pavior_network as network;
    /// #     pub use {pavior_kernel::*, pavior_mesh::*}; }
    /// use pavior::network::{Engine, Message, NetworkEvents, Settings, Worm};
    /// use pavior::{Grid, NodeId, Time};
    /// let mut network = Worm::new(Grid::mesh(&[4, 4])?, Settings::default())?;
    /// let mut events = NetworkEvents::default();
    /// network.create(Message::new(0, NodeId(0), NodeId(3), 8, Time(0)));
    /// network.advance(Time(20), &mut events)?;
    /// // Another row has been busy since cycle 1, and has not been simulated.
    /// network.catch_up(Time(1), |network| {
    ///     network.create(Message::new(1, NodeId(4), NodeId(7), 8, Time(1)));
    ///     network.advance(Time(20), &mut events).expect("it moves");
    /// });
    /// assert_eq!(network.advance(Time::MAX, &mut events)?, Time(24)); // (3 + 1)(3 + 1) + 8
    /// assert_eq!(network.advance(Time::MAX, &mut events)?, Time(25));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn catch_up(&mut self, since: Time, run: impl FnOnce(&mut Worm)) {
        let past = Clock { foreign: self.slab.len(), ..Clock::new(since.0, self.pace) };
        let present = std::mem::replace(&mut self.clock, past);
        run(self);
        let past = std::mem::replace(&mut self.clock, present);
        self.clock.join(past);
    }

    /// Opens cycle `now`, admits the messages announced for it, and reports its deliveries.
    #[inline]
    fn open_cycle(&mut self, events: &mut NetworkEvents) {
        let now = self.clock.now;
        if !self.clock.later.is_empty() {
            self.admit_announced();
        }
        let Clock { wheel, entered, .. } = &mut self.clock;
        let deliveries = wheel.deliveries(now);
        if !(deliveries.is_empty() && entered.is_empty()) {
            for &place in &*deliveries {
                events.deliveries.push(self.slab.remove(place, now));
            }
            deliveries.clear();
            events.entered.append(entered);
            events.sort();
        }
    }

    /// Admits the messages announced for the open cycle.
    #[inline(never)]
    fn admit_announced(&mut self) {
        let now = Time(self.clock.now);
        while self.clock.later.peek().is_some_and(|first| first.0.0 <= now) {
            let Reverse((.., message)) = self.clock.later.pop().expect("just peeked");
            self.admit(&message);
        }
    }

    fn deadlock(&self) -> Deadlock {
        let live = self.slab.live();
        let headers = &self.slab.headers;
        // The channel that each message is waiting for, or NONE.
        let mut waits = vec![NONE; headers.len()];
        for (channel, state) in (0..).zip(&self.states) {
            let mut place = state.head;
            while place != NONE {
                waits[place as usize] = channel;
                place = headers[place as usize].next;
            }
        }
        let mut holders = vec![NONE; self.states.len()];
        for &place in &live {
            let mut channel = headers[place as usize].oldest;
            while channel != waits[place as usize] {
                holders[channel as usize] = place;
                channel = self.states[channel as usize].ahead;
            }
        }
        Deadlock::find(
            Time(self.clock.now),
            &live,
            &self.channels,
            |place| self.slab.headers[place as usize].id,
            |place| {
                let channel = waits[place as usize];
                (channel, holders[channel as usize])
            },
        )
    }
}

impl Engine for Worm {
    #[inline]
    fn now(&self) -> Time {
        Time(self.clock.now)
    }

    #[inline]
    fn create(&mut self, message: Message) {
        debug_assert!(message.flits > 0 && message.created <= Message::LATEST);
        if message.created.0 <= self.clock.now {
            self.admit(&message);
        } else {
            self.clock.announce(message);
        }
    }

    fn advance(&mut self, until: Time, events: &mut NetworkEvents) -> Result<Time, Deadlock> {
        events.clear();
        while self.clock.now < until.0 {
            if self.undelivered() == 0 {
                if until < Time::MAX {
                    self.clock.now = until.0;
                }
                break;
            }
            self.close_cycle();
            let next = match self.next_event() {
                _ if !self.clock.entered.is_empty() => self.clock.now + 1,
                Some(next) => next.0,
                None => return Err(self.deadlock()),
            };
            self.clock.now = next.min(until.0);
            self.open_cycle(events);
            if !events.is_empty() {
                break;
            }
        }
        Ok(Time(self.clock.now))
    }

    #[inline]
    fn next_event(&self) -> Option<Time> {
        if !self.clock.disordered.is_empty() {
            return Some(Time(self.clock.now));
        }
        let later = self.clock.later.peek().map(|Reverse((created, ..))| *created);
        let wheel = self.clock.wheel.next(self.clock.now).map(Time);
        match (later, wheel) {
            (Some(later), Some(wheel)) => Some(later.min(wheel)),
            (later, wheel) => later.or(wheel),
        }
    }

    fn undelivered(&self) -> usize {
        self.slab.len() - self.clock.foreign + self.clock.later.len()
    }
}
