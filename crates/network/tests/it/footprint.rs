//! Tests of the links that a job's messages can use, and of jobs that share no links.

use std::collections::BTreeSet;

use pavior_kernel::{Stream, Time};
use pavior_mesh::{Grid, NodeId};
use pavior_network::{
    ChannelKind, Channels, Delivery, Engine, Footprint, Message, NetworkEvents, Path, Settings,
    VirtualChannels, Worm, run_list,
};
use proptest::prelude::*;

/// Returns the links on the paths between all pairs of nodes, numbered as in a footprint.
fn links_of_all_pairs(channels: &Channels, nodes: &[NodeId]) -> BTreeSet<u32> {
    let mut links = BTreeSet::new();
    for &from in nodes {
        for &to in nodes {
            for id in Path::new(channels, from, to).channels() {
                let channel = channels.describe(id).expect("paths use channels that exist");
                if let ChannelKind::Link { axis, positive, .. } = channel.kind {
                    links.insert(channel.node.0 * 6 + axis as u32 * 2 + u32::from(!positive));
                }
            }
        }
    }
    links
}

fn machines() -> impl Strategy<Value = Grid> {
    prop::sample::select(vec![
        "mesh:9x7",
        "mesh:4x3x5",
        "torus:9",
        "torus:8",
        "torus:8x7",
        "grid:9wx4",
        "grid:5x6wx3w",
        "torus:2x6x3",
    ])
    .prop_map(|name| name.parse().expect("a machine"))
}

/// Draws up to `count` distinct nodes from a box of side `spread`, which may wrap around. Returns
/// them in random order.
fn nodes(grid: &Grid, seed: u64, count: usize, spread: u16) -> Vec<NodeId> {
    let mut draw = Stream::new(seed, 0, "footprint");
    let base = grid.point(NodeId(draw.below(grid.nodes().into()) as u32));
    let mut nodes: Vec<NodeId> = Vec::new();
    for _ in 0..4 * count {
        let point = [0, 1, 2].map(|axis| {
            let side = grid.side(axis);
            let at = base[axis] + draw.below(spread.min(side).into()) as u16;
            if grid.wraps(axis) { at % side } else { at.min(side - 1) }
        });
        let node = grid.id(point);
        if nodes.len() < count && !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    nodes
}

/// Creates all-to-all messages among nodes. Ids start at `first_id`, and each message is created at
/// a random time in the 30 cycles starting at `start`.
fn messages(nodes: &[NodeId], start: u64, first_id: u64, seed: u64) -> Vec<Message> {
    let mut draw = Stream::new(seed, 1, "footprint");
    let pairs = nodes.iter().flat_map(|&from| nodes.iter().map(move |&to| (from, to)));
    let list = pairs.filter(|(from, to)| from != to).enumerate().map(|(id, (from, to))| {
        let (at, flits) = (draw.below(30), draw.between(1, 12) as u32);
        Message::new(first_id + id as u64, from, to, flits, Time(start + at))
    });
    let mut list: Vec<Message> = list.collect();
    list.sort_by_key(|message| (message.created, message.id));
    list
}

fn deliveries(grid: Grid, messages: &[Message]) -> Vec<Delivery> {
    let mut engine = Worm::new(grid, Settings::default()).unwrap();
    let mut deliveries = Vec::new();
    run_list(&mut engine, messages.iter().copied(), |delivery| deliveries.push(*delivery)).unwrap();
    deliveries
}

/// Returns true if messages among the nodes may go all the way around a ring.
fn goes_round(grid: &Grid, nodes: &[NodeId]) -> bool {
    let far = |axis: usize| {
        let side = grid.side(axis);
        let apart = |a: u16, b: u16| a.abs_diff(b).min(side - a.abs_diff(b));
        let at = |node: NodeId| grid.point(node)[axis];
        let pairs = nodes.iter().flat_map(|&a| nodes.iter().map(move |&b| (a, b)));
        let widest = pairs.map(|(a, b)| apart(at(a), at(b))).max().unwrap_or(0);
        // Messages among three nodes that are a third of the ring apart may go around it.
        grid.wraps(axis) && side > 2 && 3 * widest >= side - 1
    };
    (0..3).any(far)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_message_leaves_it(
        grid in machines(), seed: u64, count in 1usize..12, spread in 1u16..10
    ) {
        let nodes = nodes(&grid, seed, count, spread);
        let footprint = Footprint::of(&grid, &nodes, u64::MAX).unwrap();
        let claimed: BTreeSet<u32> = footprint.links().iter().copied().collect();
        prop_assert_eq!(claimed.len(), footprint.links().len(), "each once");
        let used = links_of_all_pairs(&Channels::new(grid, VirtualChannels::Two), &nodes);
        prop_assert!(used.is_subset(&claimed));
        if !goes_round(&grid, &nodes) {
            prop_assert_eq!(used, claimed, "and no link in vain");
        }
    }

    #[test]
    fn equal_forms_see_the_same(
        grid in machines(), seed: u64, count in 2usize..8, spread in 1u16..7,
        by in [0u16..9, 0..8, 0..6],
    ) {
        let here = nodes(&grid, seed, count, spread);
        let moved = |node: &NodeId| {
            let point = grid.point(*node);
            let to = [0, 1, 2].map(|axis| (point[axis] + by[axis]) % grid.side(axis));
            grid.id(to)
        };
        let there: Vec<NodeId> = here.iter().map(moved).collect();
        let footprint = |nodes: &Vec<NodeId>| Footprint::of(&grid, nodes, u64::MAX).unwrap();
        let [one, other] = [&here, &there].map(footprint);
        let within = |axis: usize| {
            let ends_inside = |&node| grid.point(node)[axis] + by[axis] < grid.side(axis);
            grid.wraps(axis) || here.iter().all(ends_inside)
        };
        if !grid.has_wrap() && (0..3).all(within) {
            let (one, other) = (one.relative_layout(), other.relative_layout());
            prop_assert_eq!(one, other, "moved along lines without a wrap");
        }
        if one.relative_layout() != other.relative_layout() {
            return Ok(());
        }
        let times = |nodes: &[NodeId]| -> Vec<(u64, u64)> {
            let all = deliveries(grid, &messages(nodes, 0, 0, seed));
            all.iter().map(|delivery| (delivery.id, delivery.delivered.0)).collect()
        };
        prop_assert_eq!(times(&here), times(&there));
    }

    #[test]
    fn who_catches_up_was_there_all_along(
        grid in machines(), seeds: [u64; 2], count in 2usize..6, spread in 1u16..4,
        since in 0u64..40, now in 41u64..90,
    ) {
        let [here, there] = seeds.map(|seed| nodes(&grid, seed, count, spread));
        let footprint = |nodes: &Vec<NodeId>| Footprint::of(&grid, nodes, u64::MAX).unwrap();
        let [one, other] = [&here, &there].map(footprint);
        prop_assume!(here.iter().all(|node| !there.contains(node)));
        prop_assume!(one.links().iter().all(|link| !other.links().contains(link)));
        let first = messages(&here, 0, 0, seeds[0]);
        let second = messages(&there, since, 1000, seeds[1]);

        let mut together = [first.as_slice(), second.as_slice()].concat();
        together.sort_by_key(|message| (message.created, message.id));
        let expected = deliveries(grid, &together);

        let mut engine = Worm::new(grid, Settings::default()).unwrap();
        let mut heard = Vec::new();
        let mut go_on = |engine: &mut Worm, until: Time| {
            let mut events = NetworkEvents::default();
            while engine.now() < until && engine.undelivered() > 0 {
                engine.advance(until, &mut events).unwrap();
                heard.append(&mut events.deliveries);
            }
            if until < Time::MAX {
                engine.advance(until, &mut events).unwrap();
                heard.append(&mut events.deliveries);
            }
        };
        for &message in &first {
            engine.create(message);
        }
        go_on(&mut engine, Time(now));
        engine.catch_up(Time(since), |engine| {
            for &message in &second {
                engine.create(message);
            }
            go_on(engine, Time(now));
        });
        go_on(&mut engine, Time::MAX);
        heard.sort_by_key(|delivery| (delivery.delivered, delivery.id));
        prop_assert_eq!(heard, expected);
    }
}
