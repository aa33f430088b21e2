//! Gen-Alg: for every center, find the n free nodes that are nearest by hops, and grant the set
//! with the smallest sum of pairwise distances.
//!
//! The strategy succeeds if and only if enough nodes are free. On a mesh, the granted set's sum of
//! pairwise distances is at most 2 - 2/n times the minimum. With `mm`, it is at most 2 - 1/(2d)
//! times the minimum in d dimensions (7/4 in 2D).
//!
//! ```text
//!       2           n nearest to c by hops: whole diamonds, the last one's
//!     2 1 2         nodes in row-major order
//!   2 1 c 1 2
//!     2 1 2         mm: centers may be busy nodes, if their column, row and
//!       2           plane each have a free node
//! ```
//!
//! Cost: O(C B) for C centers and B nodes (free or not) that are no farther away than the farthest
//! granted node. With `rule=gen-alg`, C is the number of free nodes. Pairwise sums are computed
//! without visiting pairs: hops are summed axis by axis, which requires only the number of nodes at
//! each coordinate. A line uses prefix sums, and a ring uses a sliding window of half a turn. A
//! machine can have at most 65,536 nodes.
//!
//! Source: Krumke, Marathe, Noltemeier, Radhakrishnan, Ravi & Rosenkrantz, "Compact location
//! problems", TCS 181(2), 1997; MM: Bender, Bunde, Demaine, Fekete, Leung, Meijer & Phillips,
//! "Communication-aware processor allocation for supercomputers", Algorithmica 50(2), 2008. The
//! algorithm is the one in SST's scheduler element, except that a busy center is never granted. On
//! rings, the shorter direction counts, and no bounds are claimed. Ties go to the first set.

use std::sync::Arc;

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::{Coordinates, Grid, NodeId, Occupancy, Request};

use crate::kind::{BoxedStrategy, Entry, StrategyKind, Unsupported};
use crate::strategies::shared::runs::runs;
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "gen-alg",
    title: "Gen-Alg (Compact Location)",
    source: "Krumke et al. 1997; Bender, Bunde et al. 2008",
    options: &[RULE],
    variants: &["", "mm"],
    does: StrategyKind::noncontiguous(build).with_supports(supports),
};

const RULE: OptionSpec = OptionSpec {
    key: "rule",
    values: Values::OneOf(&["gen-alg", "mm"]),
    default: "gen-alg",
    meaning: "the centers to try: free nodes, or all combinations of their coordinates (MM)",
    bare: true,
};

/// The maximum number of nodes, limited because each node may be a center.
const MOST_NODES: u32 = 1 << 16;

fn supports(grid: &Grid, _: &Options) -> Result<(), Unsupported> {
    if grid.nodes() <= MOST_NODES {
        return Ok(());
    }
    Err(Unsupported(format!(
        "it visits the neighbors of every free node, so it supports at most {MOST_NODES} nodes"
    )))
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let sides = grid.sides().map(usize::from);
    Box::new(GenAlg {
        grid: *grid,
        crossings: options.get("rule") == "mm",
        offsets: Arc::new(Offsets::new(grid)),
        ring: Vec::new(),
        chosen: Vec::new(),
        counts: sides.map(|side| vec![0; 2 * side]),
        present: sides.map(|side| vec![false; side]),
        tested: 0,
    })
}

#[derive(Clone)]
struct GenAlg {
    grid: Grid,
    crossings: bool,
    offsets: Arc<Offsets>,
    /// Scratch space for the free nodes at one distance, with their offsets.
    ring: Vec<(NodeId, [i32; 3])>,
    /// Scratch space for the nodes nearest to the last center.
    chosen: Vec<NodeId>,
    /// Scratch space for the number of nodes taken, by axis and by offset from the center. On an
    /// axis of n nodes, index 0 represents offset -n.
    counts: [Vec<u32>; 3],
    /// Scratch space: true for each axis and coordinate at which some node is free.
    present: [Vec<bool>; 3],
    /// The number of nodes visited around centers.
    tested: u64,
}

/// The offsets of the nodes at each distance from a center. On an axis that wraps, offsets follow
/// the shorter direction; if both directions are equally long, offsets are positive.
struct Offsets {
    /// The offsets, by distance. Offsets at the same distance are in row-major order.
    rings: Vec<Vec<[i32; 3]>>,
}

impl Offsets {
    fn new(grid: &Grid) -> Offsets {
        let range = |axis: usize| {
            let n = i32::from(grid.side(axis));
            if grid.wraps(axis) { -((n - 1) / 2)..=n / 2 } else { 1 - n..=n - 1 }
        };
        let mut rings = Vec::new();
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let offset = [x, y, z];
                    let distance: u32 = offset.iter().map(|part| part.unsigned_abs()).sum();
                    let distance = distance as usize;
                    if rings.len() <= distance {
                        rings.resize_with(distance + 1, Vec::new);
                    }
                    rings[distance].push(offset);
                }
            }
        }
        Offsets { rings }
    }
}

impl GenAlg {
    /// Returns the node at an offset from a center, if it exists.
    fn node(&self, centre: Coordinates, offset: &[i32; 3]) -> Option<NodeId> {
        let mut point = centre;
        for axis in 0..3 {
            let n = i32::from(self.grid.side(axis));
            let mut at = i32::from(centre[axis]) + offset[axis];
            if self.grid.wraps(axis) {
                at = at.rem_euclid(n);
            } else if at < 0 || at >= n {
                return None;
            }
            point[axis] = at as u16;
        }
        Some(self.grid.id(point))
    }

    /// Chooses the `nodes` free nodes nearest to a center. Among nodes at the last distance, the
    /// first in row-major order are chosen. Returns the sum of pairwise distances between the
    /// chosen nodes. Takes O(nodes at the visited distances) time.
    fn nearest(&mut self, free: &Occupancy, centre: Coordinates, nodes: u32) -> u64 {
        let offsets = Arc::clone(&self.offsets);
        self.chosen.clear();
        // The minimum and maximum offset on each axis.
        let mut reach = [[0; 2]; 3];
        for offsets in &offsets.rings {
            self.tested += offsets.len() as u64;
            let mut ring = std::mem::take(&mut self.ring);
            ring.clear();
            ring.extend(offsets.iter().filter_map(|offset| {
                let node = self.node(centre, offset).filter(|&node| free.is_node_free(node))?;
                Some((node, *offset))
            }));
            let left = nodes as usize - self.chosen.len();
            if ring.len() > left {
                ring.sort_unstable_by_key(|(node, _)| *node);
                ring.truncate(left);
            }
            for (node, offset) in &ring {
                self.chosen.push(*node);
                for axis in 0..3 {
                    let [low, high] = &mut reach[axis];
                    (*low, *high) = ((*low).min(offset[axis]), (*high).max(offset[axis]));
                    let side = i32::from(self.grid.side(axis));
                    self.counts[axis][(side + offset[axis]) as usize] += 1;
                }
            }
            self.ring = ring;
            if self.chosen.len() == nodes as usize {
                break;
            }
        }
        (0..3).map(|axis| self.pairwise(axis, reach[axis])).sum()
    }

    /// Uses the node count at each offset along an axis to compute the sum of pairwise distances,
    /// then resets the counts.
    fn pairwise(&mut self, axis: usize, [low, high]: [i32; 2]) -> u64 {
        let n = i32::from(self.grid.side(axis));
        let place = |offset: i32| (n + offset) as usize;
        let counts = &mut self.counts[axis];
        let sum = if self.grid.wraps(axis) && high - low > n / 2 {
            // These offsets cover one full turn of the ring.
            around_ring(&counts[place(-((n - 1) / 2))..=place(n / 2)])
        } else {
            along_line(&counts[place(low)..=place(high)])
        };
        counts[place(low)..=place(high)].fill(0);
        sum
    }

    /// Tries one center, and stores it in `best` if its nodes have the smallest sum so far.
    fn look(
        &mut self,
        free: &Occupancy,
        centre: Coordinates,
        nodes: u32,
        best: &mut Option<(u64, Coordinates)>,
    ) {
        let sum = self.nearest(free, centre, nodes);
        if best.is_none_or(|(least, _)| sum < least) {
            *best = Some((sum, centre));
        }
    }

    /// Returns true if each of a point's coordinates is also a coordinate of some free node.
    fn is_crossing(&self, point: Coordinates) -> bool {
        (0..3).all(|axis| self.present[axis][usize::from(point[axis])])
    }
}

impl Strategy for GenAlg {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let nodes = request.nodes;
        if nodes > free.count() {
            return None;
        }
        let mut best = None;
        if self.crossings {
            for (axis, present) in self.present.iter_mut().enumerate() {
                present.fill(false);
                for node in free.iter() {
                    present[usize::from(self.grid.point(node)[axis])] = true;
                }
            }
            for node in (0..self.grid.nodes()).map(NodeId) {
                let centre = self.grid.point(node);
                if self.is_crossing(centre) {
                    self.look(free, centre, nodes, &mut best);
                }
            }
        } else {
            for node in free.iter() {
                self.look(free, self.grid.point(node), nodes, &mut best);
            }
        }
        let (_, centre) = best.expect("some node is free");
        self.nearest(free, centre, nodes);
        self.chosen.sort_unstable();
        Some(runs(&self.grid, self.chosen.iter().copied()))
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested)
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

impl MachineStrategy for GenAlg {}

/// Returns the sum of |a - b| over all pairs of nodes, given the number of nodes per coordinate.
fn along_line(counts: &[u32]) -> u64 {
    let (mut sum, mut before, mut reach) = (0, 0, 0);
    for &count in counts {
        // `reach` is the sum of the distances from this coordinate to all earlier nodes.
        reach += before;
        sum += u64::from(count) * reach;
        before += u64::from(count);
    }
    sum
}

/// Returns the sum of distances over all pairs of nodes on a ring, given the number of nodes per
/// coordinate. Each node is paired with the nodes up to half a ring ahead.
fn around_ring(counts: &[u32]) -> u64 {
    let n = counts.len();
    let half = (n - 1) / 2;
    let at = |index: usize| u64::from(counts[index % n]);
    let mut ahead: u64 = (1..=half).map(at).sum();
    let mut reach: u64 = (1..=half).map(|step| step as u64 * at(step)).sum();
    let (mut sum, mut opposite) = (0, 0);
    for index in 0..n {
        sum += at(index) * reach;
        // On an even ring, each pair of opposite nodes is counted from both ends.
        if n % 2 == 0 {
            opposite += at(index) * at(index + n / 2) * (n / 2) as u64;
        }
        let entering = at(index + 1 + half);
        reach = reach + half as u64 * entering - ahead;
        ahead = ahead + entering - at(index + 1);
    }
    sum + opposite / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairwise_sums_by_brute_force() {
        for n in 1..=7usize {
            for code in 0..3u32.pow(n as u32) {
                let counts: Vec<u32> = (0..n as u32).map(|i| code / 3u32.pow(i) % 3).collect();
                let (mut line, mut ring) = (0, 0);
                for a in 0..n {
                    for b in 0..a {
                        let pairs = u64::from(counts[a] * counts[b]);
                        line += pairs * (a - b) as u64;
                        ring += pairs * (a - b).min(n - (a - b)) as u64;
                    }
                }
                assert_eq!(along_line(&counts), line, "{counts:?}");
                assert_eq!(around_ring(&counts), ring, "{counts:?}");
            }
        }
    }
}
