//! The processing of one cycle, during which flits cross channels.

use std::cmp::Reverse;

use super::Flit;
use super::packet::NONE;
use crate::channel::VirtualChannels;
use crate::engine::Release;
use crate::message::Entered;

impl Flit {
    /// Processes the requests, releases, grants and body flits in the open cycle.
    pub(super) fn close(&mut self) {
        while let Some(place) = self.fresh.pop() {
            let created = self.packets[place as usize].message.created.0;
            self.request(place, created);
        }
        while self.requests.front().is_some_and(|&(at, _)| at <= self.now) {
            let (at, place) = self.requests.pop_front().expect("the channel was just examined");
            self.request(place, at);
        }
        if self.settings.virtual_channels == VirtualChannels::Shared {
            self.share();
        } else {
            self.settle();
        }
    }

    fn request(&mut self, place: u32, at: u64) {
        let packet = &self.packets[place as usize];
        let channel = packet.path[packet.position];
        let port = &mut self.ports[channel as usize];
        port.queue.push(Reverse((at, packet.message.id, place)));
        if port.listed != self.now {
            port.listed = self.now;
            self.active.push(channel);
        }
    }

    /// Moves flits until no more can move. When a flit crosses a channel, it may free a slot in a
    /// buffer, or a whole channel, that another flit can use in the same cycle.
    fn settle(&mut self) {
        let mut work = std::mem::take(&mut self.active);
        while let Some(channel) = work.pop() {
            if let Some(place) = self.eligible(channel) {
                let index = self.cross(channel, place);
                if index > 0 {
                    work.push(self.packets[place as usize].path[index - 1]);
                }
            }
        }
        // Reuse the list's memory. This is safe because `cross` adds channels only to `coming`.
        self.active = work;
    }

    /// Moves flits if virtual channels share links. Each link then carries at most one flit per
    /// cycle. The state at the start of the cycle determines which flits can move. Virtual channels
    /// take turns: each search starts after the channel that was served last.
    fn share(&mut self) {
        let mut able = std::mem::take(&mut self.able);
        for &channel in &self.active {
            if let Some(place) = self.eligible(channel) {
                let (link, virtual_channel) = self.links[channel as usize];
                let served = self.served[link as usize];
                able.push((link, (virtual_channel + 1 - served) % 2, channel, place));
            }
        }
        able.sort_unstable();
        self.active.clear();
        let mut busy = NONE;
        for (link, _, channel, place) in able.drain(..) {
            if link == busy {
                self.list(channel);
                continue;
            }
            busy = link;
            let index = self.cross(channel, place);
            if index > 0 {
                let before = self.packets[place as usize].path[index - 1];
                self.list(before);
            }
        }
        self.able = able;
    }

    /// Returns the message that can move a flit across a channel now, if there is one.
    fn eligible(&self, channel: u32) -> Option<u32> {
        let port = &self.ports[channel as usize];
        if port.crossed_at == self.now {
            return None;
        }
        let has_place = port.occupied < self.settings.buffer;
        if port.sender == NONE {
            let &Reverse((_, _, place)) = port.queue.peek()?;
            let free = match self.settings.release {
                Release::Drained => port.inside.is_empty(),
                Release::Passed => has_place,
            };
            return free.then_some(place);
        }
        let packet = &self.packets[port.sender as usize];
        let flit = packet.crossed[port.index];
        let arrived = port.index == 0 || {
            let before = &self.ports[packet.path[port.index - 1] as usize];
            let just = before.crossed_at == self.now && before.crossed_by == port.sender;
            packet.crossed[port.index - 1] - u32::from(just) > flit
        };
        let consumed = port.index == packet.last();
        (arrived && (consumed || has_place)).then_some(port.sender)
    }

    /// Moves the next flit of a message across a channel. Returns the channel's index on the path.
    fn cross(&mut self, channel: u32, place: u32) -> usize {
        let now = self.now;
        let packet = &mut self.packets[place as usize];
        let port = &mut self.ports[channel as usize];
        let header = port.sender == NONE;
        if header {
            port.queue.pop();
            port.sender = place;
            port.index = packet.position;
            packet.position += 1;
        }
        let index = port.index;
        packet.crossed[index] += 1;
        port.crossed_at = now;
        port.crossed_by = place;
        let tail = packet.crossed[index] == packet.message.flits;
        if tail {
            port.sender = NONE;
        }
        if index < packet.last() {
            port.occupied += 1;
            if header {
                port.inside.push_back(place);
                if port.inside.len() == 1 {
                    self.requests.push_back((now + self.pace, place));
                }
            } else {
                let next = packet.path[index + 1];
                self.list(next);
            }
        } else if tail {
            self.arrived.push(place);
        }
        if header && index == 0 {
            let message = &self.packets[place as usize].message;
            if message.followed {
                self.entered.push(Entered { id: message.id, tag: message.tag });
            }
        }
        let (link, virtual_channel) = self.links[channel as usize];
        self.served[link as usize] = virtual_channel;
        self.crossings += 1;
        self.list(channel);
        if index > 0 {
            self.leave(place, index - 1, tail);
        }
        index
    }

    /// Removes a flit from the buffer after a channel on its message's path. If the flit is a tail,
    /// the next message moves to the front of the buffer, and that message's header is routed.
    fn leave(&mut self, place: u32, index: usize, tail: bool) {
        let channel = self.packets[place as usize].path[index];
        let port = &mut self.ports[channel as usize];
        port.occupied -= 1;
        if tail {
            port.inside.pop_front();
            if let Some(&next) = port.inside.front() {
                self.requests.push_back((self.now + self.pace, next));
            }
        }
    }

    /// Adds a channel to the list of channels to try in the next cycle.
    fn list(&mut self, channel: u32) {
        let port = &mut self.ports[channel as usize];
        if port.listed != self.now + 1 {
            port.listed = self.now + 1;
            self.coming.push(channel);
        }
    }
}
