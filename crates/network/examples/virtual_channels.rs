//! Compares virtual channels that each have a link's full bandwidth with virtual channels that
//! share it. Prints the mean latency on a torus as the load increases. Usage: `virtual_channels
//! [MACHINE]`, by default `torus:8x8`, with L = 8, t_s = 3 and B = 4.

use std::error::Error;

use pavior_kernel::{Stream, Time};
use pavior_mesh::{Grid, NodeId};
use pavior_network::{EngineKind, Message, Network, Settings, VirtualChannels, run_list};

fn main() -> Result<(), Box<dyn Error>> {
    let machine = std::env::args().nth(1).unwrap_or_else(|| "torus:8x8".to_string());
    let grid: Grid = machine.parse()?;
    println!("{grid}: mean latency in cycles");
    println!("{:>22} {:>10} {:>10}", "flits/node/cycle", "separate", "shared");
    for load in [0.05, 0.1, 0.2, 0.3, 0.4, 0.5] {
        let separate = mean_latency(grid, VirtualChannels::Two, load)?;
        let shared = mean_latency(grid, VirtualChannels::Shared, load)?;
        println!("{load:>22} {separate:>10.1} {shared:>10.1}");
    }
    Ok(())
}

fn mean_latency(
    grid: Grid,
    virtual_channels: VirtualChannels,
    load: f64,
) -> Result<f64, Box<dyn Error>> {
    let settings = Settings { virtual_channels, buffer: 4, ..Settings::default() };
    let mut network = Network::new(grid, settings, EngineKind::Flit)?;
    let mut draw = Stream::new(1, 0, "lanes");
    let nodes = u64::from(grid.nodes());
    let mut at = 0.0;
    let list = (0..10_000).map(|id| {
        at += draw.exponential(8.0 / load / nodes as f64);
        let mut node = || NodeId(draw.below(nodes) as u32);
        let (from, to) = (node(), node());
        Message::new(id, from, to, 8, Time(at as u64))
    });
    let mut latency = 0;
    run_list(&mut network, list, |delivery| latency += delivery.latency())?;
    Ok(latency as f64 / 10_000.0)
}
