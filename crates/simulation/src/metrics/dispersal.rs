//! Dispersal: the mean hop distance between a job's nodes, divided by the mean hop distance in the
//! most compact box with as many nodes, averaged over started jobs.
//!
//! Distances are hops in the network, in the shorter direction on axes that wrap. The most compact
//! box is the one at the origin that the `compact` shape rule chooses for the number of granted
//! nodes. If this box has more nodes than were granted, only its first nodes in row-major order
//! count. Jobs with a single node are ignored. Nodes are counted by coordinate, one axis at a time.
//! Cost per job: O(parts + sides of the machine), or O(1) for a job in one box if no ring shortens
//! its distances.

use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, Sides};
use pavior_workload::{Family, Selection, ShapeRule, Shaper};

use super::mean::Mean;
use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "dispersal",
    meaning: "mean pairwise hop distance relative to that in the most compact box, averaged over \
              started jobs",
    unit: Unit::Ratio,
    standard: true,
    build: |context| Box::new(Dispersal::new(context)),
};

struct Dispersal {
    grid: Grid,
    shaper: Shaper,
    /// The mean distance in the most compact box, by number of nodes. 0 if not computed yet.
    compact: Vec<f64>,
    counts: Counts,
    mean: Mean,
}

impl Dispersal {
    fn new(context: &Context) -> Dispersal {
        let rule: Selection<ShapeRule> = Selection::defaults(ShapeRule::builtin()[0]);
        Dispersal {
            grid: context.grid,
            shaper: Shaper::new(&rule, &context.grid, 0, 0),
            compact: vec![0.0; context.grid.nodes() as usize + 1],
            counts: Counts::default(),
            mean: Mean::default(),
        }
    }

    fn ratio(&mut self, parts: &[Cuboid]) -> Option<f64> {
        let nodes: u32 = parts.iter().map(Cuboid::volume).sum();
        if nodes < 2 {
            return None;
        }
        let Dispersal { grid, counts, shaper, compact, .. } = self;
        let compact = &mut compact[nodes as usize];
        if *compact == 0.0 {
            let sides = shaper.shape(nodes).expect("what was granted fits the machine");
            *compact = mean_distance(grid, &first_nodes(sides, nodes), counts);
        }
        Some(mean_distance(grid, parts, counts) / *compact)
    }
}

/// Returns the mean distance over all ordered pairs of nodes, including pairs of a node with
/// itself, whose effect cancels out in the ratio.
fn mean_distance(grid: &Grid, parts: &[Cuboid], counts: &mut Counts) -> f64 {
    let total: u64 = parts.iter().map(|part| u64::from(part.volume())).sum();
    let of_axes = (0..3).map(|axis| distances(grid, axis, parts, total, counts));
    of_axes.sum::<u64>() as f64 / (total * total) as f64
}

/// Returns the first `nodes` nodes of a box at the origin, in row-major order: whole planes, then
/// whole rows, then a partial row.
fn first_nodes([a, b, _]: Sides, nodes: u32) -> Vec<Cuboid> {
    let (row, plane) = (u32::from(a), u32::from(a) * u32::from(b));
    let (planes, beyond) = ((nodes / plane) as u16, nodes % plane);
    let (rows, rest) = ((beyond / row) as u16, (beyond % row) as u16);
    let parts = [
        Cuboid::new([0; 3], [a, b, planes]),
        Cuboid::new([0, 0, planes], [a, rows, 1]),
        Cuboid::new([0, rows, planes], [rest, 1, 1]),
    ];
    parts.into_iter().filter(|part| part.volume() > 0).collect()
}

/// Sums the distances along an axis over all ordered pairs of the `total` nodes in the parts.
fn distances(grid: &Grid, axis: usize, parts: &[Cuboid], total: u64, counts: &mut Counts) -> u64 {
    let n = grid.side(axis);
    if n == 1 {
        return 0;
    }
    if let [one] = parts {
        let side = u64::from(one.sides[axis]);
        let layer = layer(one, axis);
        if !grid.wraps(axis) || 2 * (side - 1) <= u64::from(n) {
            return layer * layer * (side * (side * side - 1) / 3);
        }
    }
    let ends = parts.iter().map(|part| u32::from(part.base[axis]) + u32::from(part.sides[axis]));
    let begin = parts.iter().map(|part| part.base[axis]).min().unwrap_or(0);
    let extent = ends.max().unwrap_or(0) - u32::from(begin);
    // If all nodes lie within half a ring, the path the other way around is never shorter.
    let n = u32::from(n);
    if grid.wraps(axis) && 2 * (extent - 1) > n {
        counts.count(0, n, axis, parts);
        counts.around(total)
    } else {
        counts.count(begin, extent, axis, parts);
        counts.along(total)
    }
}

/// Returns the number of nodes that a box has at each coordinate along an axis.
fn layer(part: &Cuboid, axis: usize) -> u64 {
    let side = |other: usize| u64::from(part.sides[(axis + other) % 3]);
    side(1) * side(2)
}

/// The number of nodes at each successive coordinate along an axis.
#[derive(Default)]
struct Counts {
    at: Vec<u64>,
}

impl Counts {
    /// Counts the nodes at each of `n` coordinates, starting at `first` and wrapping around at the
    /// end of the axis. Takes O(parts + n) time.
    fn count(&mut self, first: u16, n: u32, axis: usize, parts: &[Cuboid]) {
        let n = n as usize;
        self.at.clear();
        self.at.resize(n, 0);
        // Each element first holds the (wrapping) difference from the preceding coordinate.
        for part in parts {
            let layer = layer(part, axis);
            let begin = usize::from(part.base[axis] - first);
            let end = begin + usize::from(part.sides[axis]);
            self.at[begin] = self.at[begin].wrapping_add(layer);
            if end > n {
                self.at[0] = self.at[0].wrapping_add(layer);
            }
            if end != n {
                self.at[end % n] = self.at[end % n].wrapping_sub(layer);
            }
        }
        let mut count = 0u64;
        for at in &mut self.at {
            count = count.wrapping_add(*at);
            *at = count;
        }
    }

    /// Sums the distances along a line. Each step between adjacent coordinates is counted once for
    /// every pair of nodes that it separates.
    fn along(&self, total: u64) -> u64 {
        let (mut before, mut sum) = (0, 0);
        for count in &self.at {
            before += count;
            sum += before * (total - before);
        }
        2 * sum
    }

    /// Sums the distances around a ring of n coordinates. Of the n arcs that span n / 2 coordinates
    /// (rounded down), 2d contain exactly one of any two nodes that are a distance d apart.
    fn around(&self, total: u64) -> u64 {
        let half = self.at.len() / 2;
        let (first, rest) = self.at.split_at(half);
        let mut held: u64 = first.iter().sum();
        let mut apart = |leave: &[u64], enter: &[u64]| {
            let mut sum = 0;
            for (leaves, enters) in leave.iter().zip(enter) {
                sum += held * (total - held);
                held = held + enters - leaves;
            }
            sum
        };
        let from_first = apart(first, rest);
        if rest.len() == half {
            // The arcs that start at the other coordinates are the complements of these.
            2 * from_first
        } else {
            let from_middle = apart(&rest[..1], &rest[half..]);
            from_first + from_middle + apart(&rest[1..], first)
        }
    }
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

    /// Computes the metric from its definition, pair by pair.
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
        let counts = &mut Counts::default();
        for name in ["mesh:6x5", "torus:6x5", "torus:7x6", "grid:7wx3x4w"] {
            let grid: Grid = name.parse().unwrap();
            let apart = [Cuboid::new([1, 0, 0], [2, 3, 1]), Cuboid::new([5, 1, 0], [1, 2, 1])];
            // On a ring, the last part wraps around.
            let around = [apart[0], apart[1], Cuboid::new([5, 0, 0], [3, 1, 1])];
            let last = if grid.wraps(0) { 3 } else { 2 };
            for parts in [&apart[..1], &apart, &around[..last]] {
                assert!(
                    (mean_distance(&grid, parts, counts) - by_pairs(&grid, parts)).abs() < 1e-12
                );
            }
            let all = [[3, 3, 1], [4, 2, 1], [6, 5, 1], [1, 3, 1], [7, 3, 4], [5, 2, 3]];
            for sides in all.into_iter().filter(|&sides| grid.fits(sides)) {
                let one = [Cuboid::new([0; 3], sides)];
                assert!((mean_distance(&grid, &one, counts) - by_pairs(&grid, &one)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_first_nodes_of_a_box_are_the_first_in_row_major_order() {
        let grid: Grid = "mesh:4x3x3".parse().unwrap();
        let sides = [3, 2, 3];
        for nodes in 1..=18 {
            let parts = first_nodes(sides, nodes);
            let mut given: Vec<NodeId> = parts.iter().flat_map(|part| part.nodes(&grid)).collect();
            given.sort_unstable();
            let whole = Cuboid::new([0; 3], sides);
            assert_eq!(given, whole.nodes(&grid).take(nodes as usize).collect::<Vec<_>>());
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
