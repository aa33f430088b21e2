//! What the conformance suite cannot know of `connected`: how compact its sets are, and how often they
//! cut off what they need not.

use pavior_allocation::{Placement, SelectedStrategy, Selection};
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy, Request};

/// A small machine, its sets of nodes as bits of a word.
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

    /// What of a set is connected with its lowest node.
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

    /// How many nodes of a connected region a set cuts off from the largest rest.
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

    /// The region of a free set that holds a set of it.
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

/// How the answers of one machine compare with all connected sets.
#[derive(Debug, Default)]
struct Tally {
    answers: u32,
    /// Another set, no less compact, cuts less off.
    needless: u32,
    /// Another set, however spread, cuts less off.
    cut: u32,
    /// Sums over answers: hops between pairs, and the least such sum among the sets that cut no more
    /// off.
    hops: u64,
    least: u64,
}

fn compare(name: &str, step: usize) -> Tally {
    let small = Small::new(name);
    let grid = small.grid;
    let mut strategy = "connected".parse::<Selection>().unwrap().build(&grid).unwrap();
    let mut tally = Tally::default();
    for free_set in (0..1u32 << grid.nodes()).step_by(step) {
        let mut free = Occupancy::all_free(grid);
        for node in ones(!free_set & ((1 << grid.nodes()) - 1)) {
            free.take(&Cuboid::node(grid.point(NodeId(node)))).unwrap();
        }
        // The best of each size: by what they cut off, the least distance.
        let mut best = vec![[u32::MAX; 16]; 16];
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
            let better = &best[nodes as usize][..cut as usize];
            tally.answers += 1;
            tally.needless += u32::from(better.iter().any(|&least| least <= hops));
            tally.cut += u32::from(better.iter().any(|&least| least < u32::MAX));
            tally.hops += u64::from(hops);
            let no_more: u32 = *best[nodes as usize][..=cut as usize].iter().min().unwrap();
            tally.least += u64::from(no_more);
        }
    }
    tally
}

#[test]
fn little_is_cut_off_and_sets_are_compact() {
    for (name, step) in [("mesh:4x3", 3), ("torus:4x3", 5), ("mesh:3x2x2", 5), ("mesh:12", 7)] {
        let tally = compare(name, step);
        println!("{name}: {tally:?}");
        assert!(tally.answers > 1000);
        // Measured, see docs/strategies/connected.md; a change of the rule must not make it worse.
        assert!(f64::from(tally.needless) <= 0.001 * f64::from(tally.answers), "{name}: {tally:?}");
        assert!(f64::from(tally.cut) <= 0.001 * f64::from(tally.answers), "{name}: {tally:?}");
        assert!(tally.hops as f64 <= 1.005 * tally.least as f64, "{name}: {tally:?}");
    }
}
