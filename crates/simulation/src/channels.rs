//! Records channel loads during a run.

use pavior_kernel::Time;
use pavior_network::{ChannelLoad, Channels};

use crate::{Fact, Interest, Observer};

/// An observer that counts the flits that cross each channel once counting has started.
pub struct ChannelRecorder {
    load: ChannelLoad,
    from: Time,
    until: Time,
}

impl ChannelRecorder {
    /// Creates a recorder for a network that has the given channels.
    pub fn new(channels: Channels) -> ChannelRecorder {
        ChannelRecorder { load: ChannelLoad::new(channels), from: Time::ZERO, until: Time::ZERO }
    }

    /// Returns the load, and the number of cycles over which it was counted.
    pub fn into_load(self) -> (ChannelLoad, u64) {
        (self.load, self.until.since(self.from).0)
    }
}

impl Observer for ChannelRecorder {
    fn interest(&self) -> Interest {
        Interest::DELIVERIES
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => {
                self.load = ChannelLoad::new(self.load.channels().clone());
                self.from = now;
            }
            Fact::Delivered(delivery) => self.load.count(delivery),
            Fact::Ended => self.until = now,
            _ => {}
        }
    }
}
