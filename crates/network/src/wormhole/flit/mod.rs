//! The reference engine, which moves every flit in every cycle.
//!
//! The engine directly implements the definition of the model: flit j crosses channel i in cycle
//!
//! ```text
//! c(i,j) = max( c(i-1,j) + 1,  c(i,j-1) + 1,  c(i+1, j-B) )
//! ```
//!
//! This is the first cycle in which the flit has arrived, the channel is clear, and the buffer
//! after the channel has room. A buffer slot vacated during a cycle can be filled in the same
//! cycle. A header crosses a channel when the channel is granted to it.
//!
//! This engine supports two settings that [`Worm`](crate::Worm) does not: releasing channels once
//! the tail has passed ([`Release::Passed`](crate::Release)), and virtual channels that share a
//! link's bandwidth ([`VirtualChannels::Shared`](crate::VirtualChannels)).
//!
//! With shared virtual channels, everything depends on the state at the start of the cycle, so a
//! slot or channel that is vacated becomes free only in the next cycle. Otherwise, the choice
//! between two virtual channels would depend on the order in which links are processed.
//!
//! Only channels whose state may have changed are processed, so blocked worms cost nothing. After a
//! flit crosses a channel, this channel and the next one on the path are listed for the next cycle,
//! and the previous one is retried at once. Cost: O(1) per flit and channel. Memory: O(total path
//! length in flight).

mod cycle;
mod packet;

use std::collections::{BTreeMap, VecDeque};

use pavior_kernel::Time;
use pavior_mesh::Grid;

use crate::channel::{ChannelId, ChannelKind, Channels};
use crate::deadlock::Deadlock;
use crate::engine::{BadSettings, Engine, Settings};
use crate::message::{Delivery, Entered, Message, NetworkEvents};
use crate::path::Path;
use packet::{NONE, Packet, Port};

/// The reference engine. See [`Engine`] for how to use it.
#[derive(Debug)]
pub struct Flit {
    channels: Channels,
    settings: Settings,
    /// The number of cycles from a header's crossing to its next request: t_s + 1.
    pace: u64,
    now: u64,
    ports: Vec<Port>,
    /// For each channel, the channel number of virtual channel 0 on the same link, and the
    /// channel's own index among that link's virtual channels.
    links: Vec<(u32, u32)>,
    /// The virtual channel last served on each link, indexed by the link's virtual channel 0.
    served: Vec<u32>,
    packets: Vec<Packet>,
    unused: Vec<u32>,
    fresh: Vec<u32>,
    /// Future requests. They are already in order, because each is made t_s + 1 cycles in advance.
    requests: VecDeque<(u64, u32)>,
    later: BTreeMap<(Time, u64), Message>,
    /// Channels to try in the open cycle. `coming` contains those to try in the next cycle.
    active: Vec<u32>,
    coming: Vec<u32>,
    /// A working list of the flits that can cross shared links: (link, turn, channel, message).
    able: Vec<(u32, u32, u32, u32)>,
    /// Messages whose tails crossed their ejection channel in the previous cycle.
    arrived: Vec<u32>,
    entered: Vec<Entered>,
    crossings: u64,
}

impl Flit {
    /// Creates an empty network.
    ///
    /// # Errors
    /// Returns the same errors as [`Settings::check`].
    pub fn new(grid: Grid, settings: Settings) -> Result<Flit, BadSettings> {
        settings.check()?;
        let channels = Channels::new(grid, settings.virtual_channels);
        let count = channels.count();
        let link = |number: u32| match channels.describe(ChannelId(number)).map(|c| c.kind) {
            Some(ChannelKind::Link { virtual_channel, .. }) => {
                (number - u32::from(virtual_channel), u32::from(virtual_channel))
            }
            _ => (number, 0),
        };
        Ok(Flit {
            links: (0..count as u32).map(link).collect(),
            // Virtual channel 0 is served first.
            served: vec![1; count],
            ports: vec![Port::new(); count],
            pace: u64::from(settings.routing_delay) + 1,
            settings,
            now: 0,
            packets: Vec::new(),
            unused: Vec::new(),
            fresh: Vec::new(),
            requests: VecDeque::new(),
            later: BTreeMap::new(),
            active: Vec::new(),
            coming: Vec::new(),
            able: Vec::new(),
            arrived: Vec::new(),
            entered: Vec::new(),
            crossings: 0,
            channels,
        })
    }

    /// Returns the channel numbering.
    pub fn channels(&self) -> &Channels {
        &self.channels
    }

    /// Returns the number of channel crossings by flits, including injection and ejection.
    pub fn crossings(&self) -> u64 {
        self.crossings
    }

    fn admit(&mut self, message: Message) {
        let path = Path::new(&self.channels, message.from, message.to);
        let place = self.unused.pop().unwrap_or_else(|| {
            let (path, crossed) = (Vec::new(), Vec::new());
            self.packets.push(Packet { message, path, crossed, position: 0 });
            self.packets.len() as u32 - 1
        });
        let packet = &mut self.packets[place as usize];
        packet.message = message;
        packet.position = 0;
        packet.path.clear();
        packet.path.extend(path.channels().map(|channel| channel.0));
        packet.crossed.clear();
        packet.crossed.resize(packet.path.len(), 0);
        self.fresh.push(place);
    }

    fn open(&mut self, events: &mut NetworkEvents) {
        while let Some(entry) = self.later.first_entry() {
            if entry.key().0.0 > self.now {
                break;
            }
            let message = entry.remove();
            self.admit(message);
        }
        for place in self.arrived.drain(..) {
            let packet = &self.packets[place as usize];
            let Message { id, from, to, flits, created, tag, .. } = packet.message;
            let (hops, delivered) = (packet.last() as u32 - 1, Time(self.now));
            events.deliveries.push(Delivery { id, from, to, flits, hops, created, delivered, tag });
            self.unused.push(place);
        }
        events.entered.append(&mut self.entered);
        events.sort();
    }

    fn deadlock(&self) -> Deadlock {
        let mut live = vec![true; self.packets.len()];
        self.unused.iter().for_each(|&place| live[place as usize] = false);
        let live: Vec<u32> = (0..live.len() as u32).filter(|&place| live[place as usize]).collect();
        let id = |place: u32| self.packets[place as usize].message.id;
        Deadlock::find(Time(self.now), &live, &self.channels, id, |place| self.waits(place))
    }

    /// Returns the channel that a blocked message is waiting for, and the message that occupies it.
    fn waits(&self, place: u32) -> (u32, u32) {
        let packet = &self.packets[place as usize];
        if packet.position > 0 {
            let here = packet.path[packet.position - 1];
            let front = self.ports[here as usize].inside.front();
            if let Some(&front) = front.filter(|&&front| front != place) {
                return (here, front);
            }
        }
        let channel = packet.path[packet.position];
        let port = &self.ports[channel as usize];
        let holder = if port.sender == NONE {
            *port.inside.front().expect("a channel that is not granted is held")
        } else {
            port.sender
        };
        (channel, holder)
    }
}

impl Engine for Flit {
    fn now(&self) -> Time {
        Time(self.now)
    }

    fn create(&mut self, message: Message) {
        debug_assert!(message.flits > 0 && message.created <= Message::LATEST);
        if message.created.0 <= self.now {
            self.admit(message);
        } else {
            self.later.insert((message.created, message.id), message);
        }
    }

    fn advance(&mut self, until: Time, events: &mut NetworkEvents) -> Result<Time, Deadlock> {
        events.clear();
        while self.now < until.0 {
            if self.undelivered() == 0 {
                self.active.clear();
                if until < Time::MAX {
                    self.now = until.0;
                }
                break;
            }
            self.close();
            std::mem::swap(&mut self.active, &mut self.coming);
            let soon = !(self.active.is_empty() && self.arrived.is_empty());
            let next = match self.next_event() {
                _ if soon || !self.entered.is_empty() => self.now + 1,
                Some(next) => next.0,
                None => return Err(self.deadlock()),
            };
            self.now = next.min(until.0);
            self.open(events);
            if !events.is_empty() {
                break;
            }
        }
        Ok(Time(self.now))
    }

    fn next_event(&self) -> Option<Time> {
        if !(self.fresh.is_empty() && self.active.is_empty()) {
            return Some(Time(self.now));
        }
        let request = self.requests.front().map(|&(at, _)| Time(at));
        let later = self.later.keys().next().map(|&(at, _)| at);
        match (request, later) {
            (Some(request), Some(later)) => Some(request.min(later)),
            (request, later) => request.or(later),
        }
    }

    fn undelivered(&self) -> usize {
        self.packets.len() - self.unused.len() + self.later.len()
    }
}
