//! The interface of network engines, their settings, and the selection of an engine at run time.
//!
//! Invariant: an engine always has exactly one open cycle, and time never goes backward.

use pavior_kernel::Time;
use pavior_mesh::Grid;
use thiserror::Error;

use crate::channel::{Channels, VirtualChannels};
use crate::deadlock::Deadlock;
use crate::message::{Delivery, Message, NetworkEvents};
use crate::wormhole::{Flit, Worm};

/// The point at which a channel can be granted to the next message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Release {
    /// The cycle in which the message's tail leaves the buffer after the channel.
    #[default]
    Drained,
    /// The cycle after the tail has crossed the channel. The buffer may then contain flits from
    /// several messages. Only the flit engine supports this setting.
    Passed,
}

/// The parameters of the network.
///
/// ```
/// # mod pavior { pub use pavior_network as network; }
/// use pavior::network::Settings;
/// let settings = Settings { routing_delay: 1, ..Settings::default() };
/// assert_eq!(settings.buffer, 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The number of cycles needed to route a header through a node (t_s).
    pub routing_delay: u32,
    /// The capacity of the input buffer after each channel, in flits (B, at least 1).
    pub buffer: u32,
    /// The virtual channels on links that wrap.
    pub virtual_channels: VirtualChannels,
    /// The rule that determines when a channel becomes free.
    pub release: Release,
}

impl Default for Settings {
    /// Returns the settings used in the papers: t_s = 3 and B = 1.
    fn default() -> Settings {
        Settings {
            routing_delay: 3,
            buffer: 1,
            virtual_channels: VirtualChannels::Two,
            release: Release::Drained,
        }
    }
}

/// The message length used in the papers, in flits.
pub const DEFAULT_FLITS: u32 = 8;

/// The reason why an engine does not support the given settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BadSettings {
    /// Buffers are too small to hold a flit.
    #[error("a buffer must hold at least 1 flit")]
    NoBuffer,
    /// Virtual channels share links, but buffers hold only 1 flit, so a flit could cross only in
    /// every other cycle.
    #[error("shared virtual channels require buffers of at least 2 flits")]
    SharedNeedsTwo,
    /// The setting is not supported by the worm engine's closed-form calculation.
    #[error("{0} requires the flit engine (--engine flit)")]
    FlitOnly(&'static str),
}

impl Settings {
    /// Checks the requirements that all engines share.
    ///
    /// # Errors
    /// Returns an error if buffers are too small to hold a flit, or if virtual channels share links
    /// and buffers can hold only one flit.
    pub fn check(&self) -> Result<(), BadSettings> {
        match (self.buffer, self.virtual_channels) {
            (0, _) => Err(BadSettings::NoBuffer),
            (1, VirtualChannels::Shared) => Err(BadSettings::SharedNeedsTwo),
            _ => Ok(()),
        }
    }
}

impl EngineKind {
    /// Checks that this kind of engine supports the settings.
    ///
    /// # Errors
    /// Returns the errors of [`Settings::check`]. With the worm engine, also rejects settings that
    /// only the flit engine supports: [`Release::Passed`] and [`VirtualChannels::Shared`].
    pub fn check(self, settings: &Settings) -> Result<(), BadSettings> {
        settings.check()?;
        match self {
            EngineKind::Worm if settings.release == Release::Passed => {
                Err(BadSettings::FlitOnly("--release passed"))
            }
            EngineKind::Worm if settings.virtual_channels == VirtualChannels::Shared => {
                Err(BadSettings::FlitOnly("--lanes shared"))
            }
            EngineKind::Worm | EngineKind::Flit => Ok(()),
        }
    }
}

/// A network simulation that advances in step with the code that creates messages.
///
/// An engine always has one *open* cycle, [`now`](Engine::now). Deliveries in this cycle have been
/// reported, but the cycle's requests and grants have not happened yet. Messages may be created for
/// this cycle or for later ones. [`advance`](Engine::advance) closes the cycle and opens the next
/// one that has events, but never goes past `until`. Neither side polls the other: the caller
/// passes the time of its own next event, and regains control at that time, or earlier if there is
/// a delivery.
///
/// ```
/// # mod pavior { pub use pavior_network as network;
/// #     pub use {pavior_kernel::*, pavior_mesh::*}; }
/// use pavior::network::{Engine, Message, NetworkEvents, Settings, Worm};
/// use pavior::{Grid, NodeId, Time};
/// let mut network = Worm::new(Grid::mesh(&[4, 4])?, Settings::default())?;
/// network.create(Message::new(0, NodeId(0), NodeId(11), 8, Time(0)));
/// let mut events = NetworkEvents::default();
/// let at = network.advance(Time(1000), &mut events)?;
/// assert_eq!((at, events.deliveries[0].id), (Time(32), 0)); // (3+1)(5+1)+8
/// // The receiver may reply in the same cycle.
/// network.create(Message::new(1, NodeId(11), NodeId(0), 8, at));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Engine {
    /// Returns the open cycle.
    fn now(&self) -> Time;

    /// Accepts a message. The message requests its injection channel at `created` or, if that time
    /// has passed, in the open cycle. In either case, `created` determines the message's position
    /// in the channel's queue.
    ///
    /// The nodes must be on the grid, and the message must have at least one flit. Use
    /// [`Message::between`] to check external input.
    fn create(&mut self, message: Message);

    /// Advances to the next cycle in which anything happens, but not past `until`, and replaces the
    /// contents of `events`. If `until` is not after the open cycle, or if the network is idle and
    /// `until` is [`Time::MAX`], the open cycle stays the same and there are no events.
    ///
    /// Returns the cycle that is now open.
    ///
    /// # Errors
    /// Returns an error if messages are undelivered but no events are pending, so that nothing can
    /// ever move again. The cycle stays open, and creating messages lets the engine continue.
    fn advance(&mut self, until: Time, events: &mut NetworkEvents) -> Result<Time, Deadlock>;

    /// Returns the next cycle in which anything can happen, which may be the open cycle. Returns
    /// `None` if no events are pending.
    fn next_event(&self) -> Option<Time>;

    /// Returns the number of messages that have been accepted but not delivered.
    fn undelivered(&self) -> usize;
}

/// A kind of engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// The default engine, which simulates only headers.
    #[default]
    Worm,
    /// The engine that moves every flit in every cycle. It serves as the specification.
    Flit,
}

/// An engine whose kind is selected at run time.
pub enum Network {
    /// The default engine.
    Worm(Worm),
    /// The engine that serves as the specification.
    Flit(Flit),
}

impl Network {
    /// Creates an empty network.
    ///
    /// # Errors
    /// Returns an error if the engine does not support the settings.
    pub fn new(grid: Grid, settings: Settings, kind: EngineKind) -> Result<Network, BadSettings> {
        Ok(match kind {
            EngineKind::Worm => Network::Worm(Worm::new(grid, settings)?),
            EngineKind::Flit => Network::Flit(Flit::new(grid, settings)?),
        })
    }

    /// Returns the channel numbering.
    pub fn channels(&self) -> &Channels {
        match self {
            Network::Worm(engine) => engine.channels(),
            Network::Flit(engine) => engine.channels(),
        }
    }
}

impl Engine for Network {
    fn now(&self) -> Time {
        match self {
            Network::Worm(engine) => engine.now(),
            Network::Flit(engine) => engine.now(),
        }
    }

    fn create(&mut self, message: Message) {
        match self {
            Network::Worm(engine) => engine.create(message),
            Network::Flit(engine) => engine.create(message),
        }
    }

    fn advance(&mut self, until: Time, events: &mut NetworkEvents) -> Result<Time, Deadlock> {
        match self {
            Network::Worm(engine) => engine.advance(until, events),
            Network::Flit(engine) => engine.advance(until, events),
        }
    }

    fn next_event(&self) -> Option<Time> {
        match self {
            Network::Worm(engine) => engine.next_event(),
            Network::Flit(engine) => engine.next_event(),
        }
    }

    fn undelivered(&self) -> usize {
        match self {
            Network::Worm(engine) => engine.undelivered(),
            Network::Flit(engine) => engine.undelivered(),
        }
    }
}

/// Sends messages, sorted by `created` and then id, through an idle engine. Passes every delivery
/// to `sink`, in order of time and then id. Memory use is proportional to the number of messages in
/// flight.
///
/// # Errors
/// If the network deadlocks, delivers every message that can arrive and then returns an error.
pub fn run_list<E: Engine>(
    engine: &mut E,
    messages: impl IntoIterator<Item = Message>,
    mut sink: impl FnMut(&Delivery),
) -> Result<(), Deadlock> {
    let mut events = NetworkEvents::default();
    for message in messages {
        let mut announced = false;
        while engine.now() < message.created {
            // While messages remain to be sent, a deadlock is not final, because those messages can
            // still be delivered. Once the next message is created, the engine continues instead of
            // reporting a deadlock.
            if engine.advance(message.created, &mut events).is_ok() {
                events.deliveries.iter().for_each(&mut sink);
            } else {
                engine.create(message);
                announced = true;
            }
        }
        if !announced {
            engine.create(message);
        }
    }
    while engine.undelivered() > 0 {
        engine.advance(Time::MAX, &mut events)?;
        events.deliveries.iter().for_each(&mut sink);
    }
    Ok(())
}
