//! Runs uniform traffic through one engine. Usage: `uniform [MACHINE [ENGINE [LOAD [CYCLES]]]]`.
//! The default arguments are `mesh:16x16 worm 0.05 20000`. `ENGINE` is `worm`, `flit` or `none`;
//! with `none`, only the cost of creating the traffic is measured. Prints the number of messages,
//! the number of header hops, and the mean latency.
//!
//! The number of instructions per header hop does not depend on how busy the host is. To measure
//! it, run
//!
//! ```text
//! cargo build --release -p pavior-network --example uniform
//! valgrind --tool=callgrind target/release/examples/uniform mesh:16x16 worm 0.05 20000
//! ```
//!
//! Subtract the instruction count of a run with `none`, and divide by the number of hops.

use std::error::Error;

use pavior_kernel::{Stream, Time};
use pavior_mesh::{Grid, NodeId};
use pavior_network::{
    Engine, EngineKind, Message, Network, Release, Settings, VirtualChannels, run_list,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &str| {
        arguments.get(index).map_or_else(|| default.to_string(), Clone::clone)
    };
    let grid: Grid = argument(0, "mesh:16x16").parse()?;
    let engine = argument(1, "worm");
    let load: f64 = argument(2, "0.05").parse()?;
    let cycles: u64 = argument(3, "20000").parse()?;

    let settings = Settings {
        routing_delay: 3,
        buffer: 5,
        virtual_channels: VirtualChannels::Two,
        release: Release::Drained,
    };
    let kind = if engine == "flit" { EngineKind::Flit } else { EngineKind::Worm };
    let mut network = Network::new(grid, settings, kind)?;
    let (mut messages, mut hops, mut latency) = (0u64, 0u64, 0u64);
    if engine == "none" {
        hops = traffic(&grid, load, cycles).map(|message| u64::from(message.to.0)).sum();
    } else {
        run_list(&mut network, traffic(&grid, load, cycles), |delivery| {
            messages += 1;
            hops += u64::from(delivery.hops);
            latency += delivery.latency();
        })?;
    }
    let mean = latency as f64 / messages.max(1) as f64;
    println!("{messages} messages, {hops} header hops, mean latency {mean:.1}");
    println!("ended at cycle {}", network.now());
    Ok(())
}

/// Creates messages of 8 flits between random nodes at a given load, in flits per node per cycle.
fn traffic(grid: &Grid, load: f64, cycles: u64) -> impl Iterator<Item = Message> + use<> {
    let mut draw = Stream::new(1, 0, "uniform");
    let nodes = u64::from(grid.nodes());
    let mean = 8.0 / load / nodes as f64;
    let mut at = 0.0;
    (0..).map_while(move |id| {
        at += draw.exponential(mean);
        let mut node = || NodeId(draw.below(nodes) as u32);
        let (from, to) = (node(), node());
        (at < cycles as f64).then(|| Message::new(id, from, to, 8, Time(at as u64)))
    })
}
