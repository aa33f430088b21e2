//! Dispersal: the mean hop distance between two nodes of a job, over that of the most compact box
//! of as many nodes, averaged over jobs started.
//!
//! Distances are the network's: the shorter way round on axes that wrap. Only the nodes granted
//! count. The most compact box is the one that the shape rule `compact` chooses for the count, with
//! its first nodes, row-major, if it has more; it is measured at the origin. Jobs of one node have no
//! pairs and do not count. Coordinates are counted per axis and part: O(parts x sides + sides^2) a job,
//! and a look-up for a job in one box, whose distances depend on its sides alone.

use std::collections::HashMap;

use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, Sides};
use pavior_workload::{Kind, Selection, ShapeRule, Shaper};

use super::mean::Mean;
use super::{Context, Metric, Spec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: Spec = Spec {
    name: "dispersal",
    meaning: "mean pairwise hop distance over that of the most compact box, over jobs started",
    unit: Unit::Ratio,
    standard: true,
    build: |context| Box::new(Dispersal::new(context)),
};

struct Dispersal {
    grid: Grid,
    shaper: Shaper,
    /// The mean distance in the most compact box, by the number of nodes.
    compact: HashMap<u32, f64>,
    /// The mean distance in one box, by its sides.
    whole: HashMap<Sides, f64>,
    mean: Mean,
}

impl Dispersal {
    fn new(context: &Context) -> Dispersal {
        let rule: Selection<ShapeRule> = Selection::defaults(ShapeRule::all()[0]);
        Dispersal {
            grid: context.grid,
            shaper: Shaper::new(&rule, &context.grid, 0, 0),
            compact: HashMap::new(),
            whole: HashMap::new(),
            mean: Mean::default(),
        }
    }

    fn ratio(&mut self, parts: &[Cuboid]) -> Option<f64> {
        let nodes: u32 = parts.iter().map(Cuboid::volume).sum();
        if nodes < 2 {
            return None;
        }
        let grid = self.grid;
        let compact = *self.compact.entry(nodes).or_insert_with(|| {
            let sides = self.shaper.shape(nodes).expect("what was granted fits the machine");
            let at_origin = Cuboid::new([0; 3], sides).nodes(&grid).take(nodes as usize);
            let first: Vec<Cuboid> = at_origin.map(|node| Cuboid::node(grid.point(node))).collect();
            mean_distance(&grid, &first)
        });
        let own = match parts {
            [one] => *self.whole.entry(one.sides).or_insert_with(|| mean_distance(&grid, parts)),
            _ => mean_distance(&grid, parts),
        };
        Some(own / compact)
    }
}

/// The mean distance over ordered pairs of nodes, a node with itself included: the pairs with itself
/// add nothing and stand in both terms of the ratio.
fn mean_distance(grid: &Grid, parts: &[Cuboid]) -> f64 {
    let total: u64 = parts.iter().map(|part| u64::from(part.volume())).sum();
    let distances: u64 = (0..3).map(|axis| distances(grid, axis, parts)).sum();
    distances as f64 / (total * total) as f64
}

/// The distances along one axis, summed over ordered pairs.
fn distances(grid: &Grid, axis: usize, parts: &[Cuboid]) -> u64 {
    let n = usize::from(grid.side(axis));
    let mut counts = vec![0u64; n];
    for part in parts {
        let layer = u64::from(part.volume()) / u64::from(part.sides[axis]);
        for offset in 0..part.sides[axis] {
            counts[usize::from(part.coordinate(grid, axis, offset))] += layer;
        }
    }
    let distance = |a: usize, b: usize| {
        let direct = b - a;
        if grid.wraps(axis) { direct.min(n - direct) } else { direct }
    };
    let occupied: Vec<usize> = (0..n).filter(|&at| counts[at] > 0).collect();
    let mut sum = 0;
    for (index, &a) in occupied.iter().enumerate() {
        for &b in &occupied[index + 1..] {
            sum += 2 * counts[a] * counts[b] * distance(a, b) as u64;
        }
    }
    sum
}

impl Observer for Dispersal {
    fn interest(&self) -> Interest {
        Interest::STARTS
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Started { placement, .. } => {
                if let Some(ratio) = self.ratio(placement.parts()) {
                    self.mean.add(ratio);
                }
            }
            _ => {}
        }
    }
}

impl Metric for Dispersal {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pavior_mesh::NodeId;

    /// The definition, pair by pair.
    fn by_pairs(grid: &Grid, parts: &[Cuboid]) -> f64 {
        let nodes: Vec<NodeId> = parts.iter().flat_map(|part| part.nodes(grid)).collect();
        let mut sum = 0;
        for &a in &nodes {
            for &b in &nodes {
                sum += grid.distance(grid.point(a), grid.point(b));
            }
        }
        f64::from(sum) / (nodes.len() * nodes.len()) as f64
    }

    #[test]
    fn distances_by_axis_are_the_distances_by_pairs() {
        for name in ["mesh:6x5", "torus:6x5", "grid:7wx3x4w"] {
            let grid: Grid = name.parse().unwrap();
            let parts = [Cuboid::new([1, 0, 0], [2, 3, 1]), Cuboid::new([5, 1, 0], [1, 2, 1])];
            assert!((mean_distance(&grid, &parts) - by_pairs(&grid, &parts)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_compact_box_has_dispersal_one_and_a_torn_one_more() {
        let mut dispersal = Dispersal::new(&Context::of("mesh:8x8".parse().unwrap()));
        assert_eq!(dispersal.ratio(&[Cuboid::new([3, 2, 0], [2, 2, 1])]), Some(1.0));
        let torn = [Cuboid::new([0, 0, 0], [2, 1, 1]), Cuboid::new([6, 7, 0], [2, 1, 1])];
        assert!(dispersal.ratio(&torn).unwrap() > 5.0);
        assert_eq!(dispersal.ratio(&[Cuboid::new([0, 0, 0], [1, 1, 1])]), None);
    }
}
