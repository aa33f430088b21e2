//! Tests of channel load and energy.

use pavior_kernel::Stream;
use pavior_kernel::Time;
use pavior_mesh::{Grid, NodeId};
use pavior_network::{
    ChannelId, ChannelLoad, Channels, Energy, Engine, Flit, Message, Path, Settings,
    VirtualChannels, run_list,
};
use proptest::prelude::*;

fn loads(grid: Grid, virtual_channels: VirtualChannels, seed: u64) -> (ChannelLoad, Vec<u64>) {
    let channels = Channels::new(grid, virtual_channels);
    let mut plain = vec![0; channels.count()];
    let mut load = ChannelLoad::new(channels.clone());
    let mut draw = Stream::new(seed, 0, "loads");
    for _ in 0..60 {
        let mut node = || NodeId(draw.below(u64::from(grid.nodes())) as u32);
        let (from, to) = (node(), node());
        let flits = draw.between(1, 9) as u32;
        load.add(from, to, flits);
        for channel in Path::new(&channels, from, to).channels() {
            plain[channel.index()] += u64::from(flits);
        }
    }
    (load, plain)
}

proptest! {
    #[test]
    fn sums_along_lines_are_counts_along_paths(
        sides in [1u16..=7, 1u16..=5, 1u16..=4],
        wraps in any::<[bool; 3]>(),
        one: bool,
        seed: u64,
    ) {
        let grid = Grid::new(&sides, &wraps).unwrap();
        let virtual_channels = if one { VirtualChannels::One } else { VirtualChannels::Two };
        let (load, plain) = loads(grid, virtual_channels, seed);
        prop_assert_eq!(load.busy_cycles(), plain.clone());
        let listed: u64 = load.table(1).iter().map(|row| row.busy_cycles).sum();
        prop_assert_eq!(listed, plain.iter().sum::<u64>(), "unused numbers have no load");
    }

    #[test]
    fn paths_are_short_and_connected(
        sides in [1u16..=7, 1u16..=5, 1u16..=4],
        wraps in any::<[bool; 3]>(),
        ends: [u32; 2],
    ) {
        let grid = Grid::new(&sides, &wraps).unwrap();
        let channels = Channels::new(grid, VirtualChannels::Two);
        let [from, to] = ends.map(|end| NodeId(end % grid.nodes()));
        let path = Path::new(&channels, from, to);
        prop_assert_eq!(path.hops(), grid.distance(grid.point(from), grid.point(to)));
        prop_assert!(path.segments().len() <= Path::segments_bound(&channels));
        let list: Vec<ChannelId> = path.channels().collect();
        prop_assert_eq!(list.len() as u32, path.hops() + 2);
        let mut at = from;
        for id in list {
            let channel = channels.describe(id).expect("paths use channels that exist");
            prop_assert_eq!(channel.node, at);
            at = channels.end(channel);
        }
        prop_assert_eq!(at, to);
    }
}

#[test]
fn the_flit_engine_moves_as_many_flits_as_are_counted() {
    let grid: Grid = "torus:5x4".parse().unwrap();
    let mut network = Flit::new(grid, Settings::default()).unwrap();
    let mut load = ChannelLoad::new(network.channels().clone());
    let mut draw = Stream::new(3, 0, "flits");
    let list: Vec<Message> = (0..200)
        .map(|id| {
            let [from, to] = [20, 20].map(|nodes| NodeId(draw.below(nodes) as u32));
            Message::new(id, from, to, draw.between(1, 10) as u32, Time(id))
        })
        .collect();
    let mut energy = 0.0;
    run_list(&mut network, list, |delivery| {
        load.count(delivery);
        energy += Energy::default().of(delivery.flits, delivery.hops);
    })
    .unwrap();
    assert_eq!(load.busy_cycles().iter().sum::<u64>(), network.crossings());
    assert!((load.energy(Energy::default()) - energy).abs() < 1e-9);
    let cycles = network.now().0;
    assert!(load.table(cycles).iter().all(|row| row.utilization <= 1.0));
}

#[test]
fn tables() {
    let (load, _) = loads("grid:3wx2".parse().unwrap(), VirtualChannels::Two, 1);
    let mut csv = String::new();
    load.write_csv(&mut csv, 1000).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "kind,x,y,axis,direction,lane,busy_cycles,utilization");
    // Each of the six nodes has one injection channel, one ejection channel, four along x and one
    // along y.
    assert_eq!(lines.len(), 1 + 6 * (2 + 4 + 1));
    assert!(lines[1].starts_with("injection,0,0,,,0,"));
    assert!(lines[3].starts_with("link,0,0,x,+,0,"));
    assert!(lines[4].starts_with("link,0,0,x,+,1,"));
    let hottest = load.hottest(1000, 5);
    assert!(hottest.is_sorted_by(|a, b| a.busy_cycles >= b.busy_cycles));
    assert_eq!(hottest.len(), 5);
}
