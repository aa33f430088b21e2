//! The interconnection network of the machine, exact to the cycle: wormhole switching on meshes
//! and tori.

mod channel;
mod deadlock;
mod engine;
mod message;
mod metrics;
mod path;
pub mod patterns;
mod traffic;
mod wormhole;

pub use channel::{Channel, ChannelId, Channels, Kind, Lanes};
pub use deadlock::{Deadlock, Waiting};
pub use engine::{
    BadSettings, DEFAULT_FLITS, Engine, EngineKind, Network, Release, Settings, run_list,
};
pub use message::{BadMessage, Delivery, Entered, Message, News, Tag};
pub use metrics::{ChannelLoad, ChannelUse, Energy, write_heatmap};
pub use path::{Path, Segment, zero_load_latency};
pub use patterns::{PATTERNS, PatternSelection, PatternSpec, UnsupportedPattern};
pub use traffic::{JobTraffic, Layout, Plan, RankOrder, Rounds, Sending, Service};
pub use wormhole::{Flit, Worm};
