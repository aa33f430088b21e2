//! Lays out the ranks of jobs. Usage: `layouts [MACHINE [PATTERN [RANKS [JOBS]]]]`. The default
//! arguments are `mesh:48x48x41 near-neighbour 1000 20`. Each job requests a nearly cubic box and
//! receives scattered boxes of up to eight nodes. Prints the total hops and a checksum of the
//! layouts.
//!
//! ```text
//! cargo build --release -p pavior-network --example layouts
//! valgrind --tool=callgrind target/release/examples/layouts mesh:48x48x41 near-neighbour 1000 20
//! ```

use std::error::Error;

use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, Sides};
use pavior_network::{IterationRoutes, PatternLayouts, PatternSelection};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &str| {
        arguments.get(index).map_or_else(|| default.to_string(), Clone::clone)
    };
    let grid: Grid = argument(0, "mesh:48x48x41").parse()?;
    let pattern: PatternSelection = argument(1, "near-neighbour").parse()?;
    let ranks: u32 = argument(2, "1000").parse()?;
    let jobs: u32 = argument(3, "20").parse()?;

    let mut layouts = PatternLayouts::new(pattern.clone());
    let mut draw = Stream::new(1, 0, "layouts");
    let (mut hops, mut checksum) = (0, 0u64);
    for _ in 0..jobs {
        let parts = apart(&grid, ranks, &mut draw);
        let layout = layouts.layout(&grid, &parts, ranks, Some(near_cube(ranks)), &draw);
        for node in &layout.nodes {
            checksum = checksum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(node.0);
        }
        hops +=
            IterationRoutes::of(&grid, &layout, &pattern, &draw).map_or(0, |routes| routes.hops);
    }
    println!("{jobs} jobs of {ranks} ranks, {hops} hops, layouts {checksum:016x}");
    Ok(())
}

/// Draws disjoint boxes of up to 2 x 2 x 2 nodes until they contain at least `nodes` nodes.
fn apart(grid: &Grid, nodes: u32, draw: &mut Stream) -> Vec<Cuboid> {
    let sides = grid.sides();
    let (mut parts, mut found) = (Vec::new(), 0);
    for z in (0..sides[2]).step_by(2) {
        for y in (0..sides[1]).step_by(2) {
            for x in (0..sides[0]).step_by(2) {
                if found < nodes && draw.below(2) == 0 {
                    let part = [sides[0] - x, sides[1] - y, sides[2] - z].map(|left| left.min(2));
                    found += part.map(u32::from).iter().product::<u32>();
                    parts.push(Cuboid::new([x, y, z], part));
                }
            }
        }
    }
    parts
}

/// Returns the sides of the smallest nearly cubic box with at least `nodes` nodes.
fn near_cube(nodes: u32) -> Sides {
    let side = (1..1625).find(|side: &u32| side.pow(3) >= nodes).unwrap_or(1625);
    let depth = nodes.div_ceil(side * side);
    [side as u16, side as u16, depth as u16]
}
