//! Writes an SVG heat map of uniform traffic with a hot spot: every fifth message goes to the
//! middle node. Run it as `heatmap [MACHINE]`. The default machine is `mesh:16x16`.

use std::error::Error;

use pavior_kernel::{Stream, Time};
use pavior_mesh::{Grid, NodeId};
use pavior_network::{ChannelLoad, Engine, Message, Settings, Worm, run_list};

fn main() -> Result<(), Box<dyn Error>> {
    let machine = std::env::args().nth(1).unwrap_or_else(|| "mesh:16x16".to_string());
    let grid: Grid = machine.parse()?;
    let mut network = Worm::new(grid, Settings::default())?;
    let mut load = ChannelLoad::new(network.channels().clone());
    let mut draw = Stream::new(1, 0, "heatmap");
    let nodes = u64::from(grid.nodes());
    let middle = grid.id(grid.sides().map(|side| side / 2));
    let list = (0..5000).map(|id| {
        let mut node = || NodeId(draw.below(nodes) as u32);
        let (from, to) = (node(), node());
        Message::new(id, from, if id % 5 == 0 { middle } else { to }, 8, Time(10 * id))
    });
    run_list(&mut network, list, |delivery| load.count(delivery))?;
    let title = format!("{grid}, hot spot in the middle");
    print!("{}", pavior_draw::heatmap(&load, network.now().0, &title));
    Ok(())
}
