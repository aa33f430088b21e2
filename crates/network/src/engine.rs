//! The interface of the network engines, their settings, and the choice between them.
//!
//! Invariant: an engine stands in an open cycle; time never goes back.

use pavior_kernel::Time;
use pavior_mesh::Grid;
use thiserror::Error;

use crate::channel::{Channels, VirtualChannels};
use crate::deadlock::Deadlock;
use crate::message::{Delivery, Message, NetworkEvents};
use crate::wormhole::{Flit, Worm};

/// When a channel can be granted to the next message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Release {
    /// When the tail has left the channel's buffer.
    #[default]
    Drained,
    /// From the cycle after the tail has crossed the channel; the buffer may then hold flits of
    /// several messages. Only the flit engine has it.
    Passed,
}

/// The parameters of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Cycles that a header takes to be routed through a node (t_s).
    pub routing_delay: u32,
    /// Flits that the input buffer behind a channel holds (B), at least 1.
    pub buffer: u32,
    /// The virtual channels of wrapping links.
    pub virtual_channels: VirtualChannels,
    /// When a channel becomes free.
    pub release: Release,
}

impl Default for Settings {
    /// The papers' settings: t_s = 3, B = 1.
    fn default() -> Settings {
        Settings {
            routing_delay: 3,
            buffer: 1,
            virtual_channels: VirtualChannels::Two,
            release: Release::Drained,
        }
    }
}

/// The papers' message length in flits.
pub const DEFAULT_FLITS: u32 = 8;

/// Settings that an engine does not model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BadSettings {
    /// A buffer without a place.
    #[error("a buffer holds at least 1 flit")]
    NoBuffer,
    /// Shared virtual channels with one place: a flit would cross every other cycle at most.
    #[error("shared virtual channels need buffers of at least 2 flits")]
    SharedNeedsTwo,
    /// Something that the closed form of the worm engine does not contain.
    #[error("{0} needs the flit engine (--engine flit)")]
    FlitOnly(&'static str),
}

impl Settings {
    /// Checks what holds for every engine.
    ///
    /// # Errors
    /// If buffers have no place, or one place under shared virtual channels.
    pub fn check(&self) -> Result<(), BadSettings> {
        match (self.buffer, self.virtual_channels) {
            (0, _) => Err(BadSettings::NoBuffer),
            (1, VirtualChannels::Shared) => Err(BadSettings::SharedNeedsTwo),
            _ => Ok(()),
        }
    }
}

impl EngineKind {
    /// Checks whether this engine models the settings.
    ///
    /// # Errors
    /// As [`Settings::check`], and if the settings ask for what only the flit engine models:
    /// channels released when passed, and virtual channels that share a link.
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

/// A network that runs along with the code that creates messages.
///
/// An engine always stands in an *open* cycle, [`now`](Engine::now): its deliveries have been
/// reported, its requests and grants have not happened yet. Messages may be created for it (and for
/// later cycles). [`advance`](Engine::advance) closes the cycle and goes on to the first one with
/// events, at most to `until`. So neither side polls the other: the caller names the
/// time of its own next event, and gets control at that time or at the first delivery before it.
///
/// ```
/// use pavior_kernel::Time;
/// use pavior_mesh::{Grid, NodeId};
/// use pavior_network::{Engine, Message, NetworkEvents, Settings, Worm};
/// let mut network = Worm::new(Grid::mesh(&[4, 4])?, Settings::default())?;
/// network.create(Message::new(0, NodeId(0), NodeId(11), 8, Time(0)));
/// let mut events = NetworkEvents::default();
/// let at = network.advance(Time(1000), &mut events)?;
/// assert_eq!((at, events.deliveries[0].id), (Time(32), 0)); // (3+1)(5+1)+8
/// // In cycle 32 the receiver may answer at once.
/// network.create(Message::new(1, NodeId(11), NodeId(0), 8, at));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Engine {
    /// The open cycle.
    fn now(&self) -> Time;

    /// Takes a message over. It requests its injection channel at `created`, or in the open cycle
    /// if that is past (its place in the channel's queue is that of `created` all the same).
    ///
    /// The nodes must lie on the grid and the message must have a flit: [`Message::between`] checks
    /// what comes from outside.
    fn create(&mut self, message: Message);

    /// Goes to the first cycle after the open one in which anything happens, at most to `until`.
    /// `events` is replaced. With `until` at or before the open cycle, or an idle network and
    /// [`Time::MAX`], nothing happens and there are no events.
    ///
    /// Returns the cycle that is now open.
    ///
    /// # Errors
    /// If messages are undelivered and nothing is pending: they can never move again. The engine
    /// stays in its cycle, and goes on if more messages are created.
    fn advance(&mut self, until: Time, events: &mut NetworkEvents) -> Result<Time, Deadlock>;

    /// The next cycle, at or after the open one, in which anything can happen; `None` if nothing
    /// is pending.
    fn next_event(&self) -> Option<Time>;

    /// The number of messages taken over and not delivered.
    fn undelivered(&self) -> usize;
}

/// The name of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// Header events only; the default.
    #[default]
    Worm,
    /// Cycle by cycle, flit by flit: the specification.
    Flit,
}

/// An engine chosen at run time.
pub enum Network {
    /// See [`Worm`].
    Worm(Worm),
    /// See [`Flit`].
    Flit(Flit),
}

impl Network {
    /// An empty network.
    ///
    /// # Errors
    /// If the engine does not model the settings.
    pub fn new(grid: Grid, settings: Settings, kind: EngineKind) -> Result<Network, BadSettings> {
        Ok(match kind {
            EngineKind::Worm => Network::Worm(Worm::new(grid, settings)?),
            EngineKind::Flit => Network::Flit(Flit::new(grid, settings)?),
        })
    }

    /// The numbering of the channels.
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

/// Sends a list of messages, in order of `created` and then id, through an idle engine and hands
/// every delivery to `sink`, in order of time and then id. Memory is that of the messages in
/// flight.
///
/// # Errors
/// If the network deadlocks; what could be delivered has been.
pub fn run_list<E: Engine>(
    engine: &mut E,
    messages: impl IntoIterator<Item = Message>,
    mut sink: impl FnMut(&Delivery),
) -> Result<(), Deadlock> {
    let mut events = NetworkEvents::default();
    for message in messages {
        let mut announced = false;
        while engine.now() < message.created {
            // A deadlock is final only when nothing is left to come: what is not in its way still
            // arrives. An engine to which something has been announced does not report it.
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
