//! Options about messages and the network.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pavior_network::DEFAULT_FLITS;

use crate::output::Format;

#[derive(Debug, Args)]
#[command(next_help_heading = "Messages (--service messages or iterations)")]
pub(crate) struct MessageArgs {
    /// What jobs send; see `pavior patterns` [default: one-to-all]
    #[arg(long)]
    pub(crate) pattern: Option<String>,
    /// Messages in flight at once: one of the job, one of each rank, or all
    /// [default: sequential for messages, blocking for iterations]
    #[arg(long, value_enum)]
    pub(crate) sending: Option<Sending>,
    /// The order of destinations of a one-to-all or all-to-all: from-zero [default: from the sender]
    #[arg(long)]
    pub(crate) order: Option<String>,
    /// What lies between two rounds of a pattern [default: what the pattern says]
    #[arg(long, value_enum)]
    pub(crate) rounds: Option<Rounds>,
    /// How the ranks of a job in several parts are numbered
    #[arg(long, value_enum, default_value_t = Ranks::Coordinates)]
    pub(crate) ranks: Ranks,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    /// The energy of a flit on a link
    #[arg(long, default_value_t = 1.0)]
    pub(crate) link_energy: f64,
    /// The energy of a flit in a router
    #[arg(long, default_value_t = 1.0)]
    pub(crate) router_energy: f64,
    /// Writes the load of every channel in replication 0 as CSV; names as for --jobs-csv
    #[arg(long)]
    pub(crate) channels: Option<PathBuf>,
    /// Draws it on the machine, as SVG; names as for --jobs-csv
    #[arg(long)]
    pub(crate) heatmap: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct NetworkCommandArgs {
    /// The machine
    #[arg(long, short)]
    pub(crate) machine: String,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    /// How to print [default: json, a line a message]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

/// The parameters of the network.
#[derive(Debug, Args)]
pub(crate) struct NetworkArgs {
    /// The length of a message
    #[arg(long, default_value_t = DEFAULT_FLITS)]
    pub(crate) flits: u32,
    /// Cycles that a header takes to be routed through a node
    #[arg(long, default_value_t = 3)]
    pub(crate) routing_delay: u32,
    /// Flits that the buffer behind a channel holds
    #[arg(long, default_value_t = 1)]
    pub(crate) buffer: u32,
    /// The engine: header events, or flit by flit; the results are the same
    #[arg(long, value_enum, default_value_t = Engine::Worm)]
    pub(crate) engine: Engine,
    /// When a channel is free for the next message: its buffer drained, or the tail passed
    #[arg(long, value_enum, default_value_t = Release::Drained)]
    pub(crate) release: Release,
    /// VirtualChannels of links on axes that wrap
    #[arg(long, value_enum, default_value_t = VirtualChannels::Two)]
    pub(crate) lanes: VirtualChannels,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Sending {
    /// One message of the job
    Sequential,
    /// One message of each rank
    Blocking,
    /// All of a rank's messages
    Pipelined,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Rounds {
    /// A round starts when the one before is delivered
    Barrier,
    /// Ranks send on without waiting
    Free,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Ranks {
    /// Row-major over the whole allocation
    Coordinates,
    /// Part by part
    Parts,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Engine {
    /// Header events only
    Worm,
    /// Flit by flit
    Flit,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Release {
    /// When its buffer has drained
    Drained,
    /// When the tail has passed
    Passed,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum VirtualChannels {
    /// One, which can deadlock
    #[value(name = "1")]
    One,
    /// Two, each with the full bandwidth
    #[value(name = "2")]
    Two,
    /// Two that share the bandwidth
    Shared,
}
