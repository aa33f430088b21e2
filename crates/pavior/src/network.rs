//! A cycle-accurate wormhole network and the messages that jobs send over it.
//!
//! By default, simulations use the [`Worm`] engine. The [`Flit`] engine moves every flit and is the
//! reference for correct results. [`patterns`] determine which ranks exchange messages, and a
//! [`Footprint`] is the set of links that a job's messages can use.
//!
//! ```
//! use pavior::network::{Message, Settings, Worm, run_list};
//! use pavior::{Grid, NodeId, Time};
//!
//! let mut network = Worm::new(Grid::mesh(&[4, 4])?, Settings::default())?;
//! let message = Message::new(0, NodeId(0), NodeId(11), 8, Time(0));
//! let mut arrivals = Vec::new();
//! run_list(&mut network, [message], |delivery| arrivals.push(delivery.id))?;
//! assert_eq!(arrivals, [0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_network::{
    BadMessage, BadSettings, Channel, ChannelId, ChannelKind, ChannelLoad, ChannelUse, Channels,
    Communication, DEFAULT_FLITS, Deadlock, Delivery, Energy, Engine, EngineKind, Entered, Flit,
    Footprint, IterationRoutes, JobTraffic, Layout, LinkHolds, Message, MessageTotals, Network,
    NetworkEvents, Path, PatternLayouts, RankOrder, Release, Rounds, Segment, Sending, Settings,
    Tag, TrafficPlan, VirtualChannels, Waiting, Worm, run_list, zero_load_latency,
};

pub mod patterns {
    //! Communication patterns for jobs, and everything needed to write your own.
    //!
    //! ```
    //! use pavior::network::patterns::PatternRegistry;
    //!
    //! assert!(PatternRegistry::new().entries().any(|pattern| pattern.name == "all-to-all"));
    //! ```

    pub use pavior_network::patterns::{
        BuildPattern, Entry, Needs, Pattern, PatternClosure, PatternKind, PatternRegistry,
        PatternSelection, RankGrid, UnsupportedPattern, supports_iterations,
    };
}
