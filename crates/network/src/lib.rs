//! Cycle-accurate simulation of the messages that jobs send over the machine's interconnection
//! network, which uses wormhole switching on a mesh or torus.
//!
//! ```text
//!   job --Layout--> ranks --Pattern--> JobTraffic --Message--> Engine --Delivery--> job, metrics
//! ```
//!
//! - [`Channels`] numbers the channels on a grid. A [`Path`] is a message's dimension-order path.
//! - [`Engine`] is the common interface of two engines. [`Worm`], the default, simulates only
//!   headers. [`Flit`] moves every flit, supports more settings, and serves as the specification.
//!   The two were written independently and agree on every message.
//! - [`patterns`] define which ranks exchange messages. [`JobTraffic`] decides when they are sent.
//! - A [`Footprint`] is the set of links that a job's messages can use. Jobs that share no links
//!   never contend.
//! - [`MessageTotals`], [`ChannelLoad`] and [`Energy`] are metrics, computed from deliveries alone.
//!
//! This crate does not depend on strategies, queues or occupancy.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod channel;
mod deadlock;
mod engine;
mod footprint;
mod message;
mod metrics;
mod path;
pub mod patterns;
mod traffic;
mod wormhole;

pub use channel::{Channel, ChannelId, ChannelKind, Channels, VirtualChannels};
pub use deadlock::{Deadlock, Waiting};
pub use engine::{
    BadSettings, DEFAULT_FLITS, Engine, EngineKind, Network, Release, Settings, run_list,
};
pub use footprint::Footprint;
pub use message::{BadMessage, Delivery, Entered, Message, NetworkEvents, Tag};
pub use metrics::{ChannelLoad, ChannelUse, Energy, IterationRoutes, LinkHolds, MessageTotals};
pub use path::{Path, Segment, zero_load_latency};
pub use patterns::{
    BuildPattern, PatternClosure, PatternKind, PatternRegistry, PatternSelection,
    UnsupportedPattern, supports_iterations,
};
pub use traffic::{
    Communication, JobTraffic, Layout, PatternLayouts, RankOrder, Rounds, Sending, TrafficPlan,
};
pub use wormhole::{Flit, Worm};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
