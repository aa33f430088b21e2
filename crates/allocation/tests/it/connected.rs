//! Tests of properties of `connected` that the conformance suite cannot check: the granted sets are
//! compact, and do not cut off nodes unnecessarily.

use pavior_allocation::Placement;
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy, Request};

use crate::common::strategy;

/// A machine small enough that one word can represent a set of its nodes.
struct Small {
    grid: Grid,
    beside: Vec<u32>,
}

impl Small {
    fn new(name: &str) -> Small {
        let grid: Grid = name.parse().unwrap();
        let bit = |set: u32, node: NodeId| set | 1 << node.0;
        let beside = (0..grid.nodes()).map(|node| grid.neighbours(NodeId(node)).fold(0, bit));
        Small { grid, beside: beside.collect() }
    }

    /// Returns the nodes in a set that are connected, within the set, to its lowest node.
    fn reach(&self, set: u32) -> u32 {
        let mut reached = set & set.wrapping_neg();
        let mut fresh = reached;
        while fresh != 0 {
            let beside = ones(fresh).fold(0, |all, node| all | self.beside[node as usize]);
            fresh = beside & set & !reached;
            reached |= fresh;
        }
        reached
    }

    /// Returns the number of a region's nodes that a set cuts off from the largest remaining part.
    fn cut_off(&self, region: u32, set: u32) -> u32 {
        let (mut rest, mut largest) = (region & !set, 0);
        let all = rest.count_ones();
        while rest != 0 {
            let part = self.reach(rest);
            largest = largest.max(part.count_ones());
            rest &= !part;
        }
        all - largest
    }

    fn distance(&self, set: u32) -> u32 {
        let points: Vec<_> = ones(set).map(|node| self.grid.point(NodeId(node))).collect();
        let to_earlier = |index: usize| {
            points[..index].iter().map(|&b| self.grid.distance(points[index], b)).sum::<u32>()
        };
        (0..points.len()).map(to_earlier).sum()
    }

    /// Returns the connected region of free nodes that contains a set.
    fn region(&self, free: u32, set: u32) -> u32 {
        let mut left = free;
        loop {
            let part = self.reach(left);
            if part & set != 0 {
                return part;
            }
            left &= !part;
        }
    }
}

fn ones(set: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |node| set >> node & 1 == 1)
}

fn set_of(grid: &Grid, placement: &Placement) -> u32 {
    let nodes = placement.parts().iter().flat_map(|part| part.nodes(grid));
    nodes.fold(0, |set, node| set | 1 << node.0)
}

/// A comparison of the answers of `connected` with all connected sets on one machine.
#[derive(Debug, Default)]
struct Tally {
    answers: u32,
    /// The number of answers for which another set, compact or not, cuts off fewer nodes.
    needless: u32,
    /// The sum, over all answers, of the hops between pairs of nodes, and the minimum possible sum
    /// for sets that cut off equally many nodes.
    hops: u64,
    least: u64,
}

fn compare(name: &str, states: impl FnOnce(&Grid) -> Vec<u32>) -> Tally {
    let small = Small::new(name);
    let grid = small.grid;
    let mut strategy = strategy("connected", &grid);
    let mut tally = Tally::default();
    for free_set in states(&grid) {
        let mut free = Occupancy::all_free(grid);
        for node in ones(!free_set & ((1 << grid.nodes()) - 1)) {
            free.take(&Cuboid::node(grid.point(NodeId(node)))).unwrap();
        }
        // The smallest sum of distances, by the number of nodes in a set and the number that it
        // cuts off.
        let mut best = vec![[u32::MAX; 32]; 32];
        let mut subset = free_set;
        while subset != 0 {
            if small.reach(subset) == subset {
                let cut = small.cut_off(small.region(free_set, subset), subset);
                let least = &mut best[subset.count_ones() as usize][cut as usize];
                *least = (*least).min(small.distance(subset));
            }
            subset = (subset - 1) & free_set;
        }
        for nodes in 1..=free.count() {
            let answer =
                strategy.find(&free, &Request::nodes(nodes), &mut Stream::new(1, 0, "unused"));
            let Some(placement) = answer else { continue };
            let set = set_of(&grid, &placement);
            let (cut, hops) =
                (small.cut_off(small.region(free_set, set), set), small.distance(set));
            let of_size = &best[nodes as usize];
            tally.answers += 1;
            tally.needless += u32::from(of_size[..cut as usize].iter().any(|&h| h < u32::MAX));
            tally.hops += u64::from(hops);
            tally.least += u64::from(of_size[cut as usize]);
        }
    }
    tally
}

/// Returns every `step`-th set of free nodes.
fn each(step: usize) -> impl FnOnce(&Grid) -> Vec<u32> {
    move |grid| (0..1u32 << grid.nodes()).step_by(step).collect()
}

/// Draws `states` random sets of `free` free nodes each.
fn drawn(states: usize, free: usize) -> impl FnOnce(&Grid) -> Vec<u32> {
    move |grid| {
        let mut draw = Stream::new(20, 0, "free");
        let mut nodes: Vec<u32> = (0..grid.nodes()).collect();
        let one = |_| draw.sample(&mut nodes, free).iter().fold(0, |set, node| set | 1 << node);
        (0..states).map(one).collect()
    }
}

fn check(name: &str, states: impl FnOnce(&Grid) -> Vec<u32>) {
    let tally = compare(name, states);
    println!("{name}: {tally:?}");
    assert!(tally.answers > 100, "{name}: {tally:?}");
    assert_eq!(tally.needless, 0, "{name}: {tally:?}");
    // The bound is empirical; see the documentation of `connected`. Changes to the rule must not
    // exceed it.
    assert!(tally.hops as f64 <= 1.01 * tally.least as f64, "{name}: {tally:?}");
}

#[test]
fn nothing_is_cut_off_that_another_set_would_not_and_sets_are_compact() {
    for (name, step) in [("mesh:4x3", 3), ("torus:4x3", 5), ("mesh:3x2x2", 5), ("mesh:12", 7)] {
        check(name, each(step));
    }
    for name in ["mesh:6x5", "torus:6x5", "mesh:5x3x2", "torus:10x3"] {
        check(name, drawn(25, 14));
    }
}

/// Parses an occupancy given as rows, in which `.` is a free node.
fn picture(name: &str, rows: &[&str]) -> Occupancy {
    let mut free = Occupancy::all_free(name.parse().unwrap());
    for (node, byte) in (0..).zip(rows.concat().bytes()) {
        if byte == b'#' {
            free.take_node(NodeId(node));
        }
    }
    free
}

#[test]
fn three_nodes_are_taken_where_they_part_nothing() {
    // A search found this state. Three nodes in the first row cut off the node below them from the
    // last row.
    let free = picture("torus:5x4", &[".#...", "#####", "##.#.", "###.."]);
    let state = free.iter().fold(0, |set, node| set | 1 << node.0);
    assert_eq!(compare("torus:5x4", |_| vec![state]).needless, 0);
}

#[test]
fn sets_behind_the_four_smallest_are_looked_at() {
    // Any three nodes of a cross separate its other two nodes. Three nodes at one end of the stairs
    // separate nothing.
    let crosses = ["#.###.###.###.#", "...#...#...#...", "#.###.###.###.#", "###############"];
    let stairs = ["..#############", "#..############", "##..###########", "###.###########"];
    let free = picture("mesh:15x8", &[crosses, stairs].concat());
    let mut strategy = strategy("connected", free.grid());
    let answer = strategy.find(&free, &Request::nodes(3), &mut Stream::new(1, 0, "unused"));
    let parts = answer.unwrap();
    assert!(parts.parts().iter().all(|part| part.base[1] >= 4), "{parts:?}");
}
