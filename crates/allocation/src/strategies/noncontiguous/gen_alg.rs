//! Gen-Alg: for every centre the n nearest free nodes by hops; the set with the least sum of pairwise
//! distances wins.
//!
//! Misses nothing: it succeeds exactly when enough nodes are free. On a mesh its sum of pairwise
//! distances is at most 2 - 2/n times the least possible; with `mm` at most 2 - 1/(2d) times, in d
//! dimensions (7/4 in 2D).
//!
//! ```text
//!       2           n nearest to c by hops: whole diamonds, the last one's
//!     2 1 2         nodes in row-major order
//!   2 1 c 1 2
//!     2 1 2         mm: centres are also busy nodes, wherever columns, rows
//!       2           and planes that have free nodes cross
//! ```
//!
//! Cost: O(C (F + W + D + H)) for C centres, F free nodes and sides W, D, H; with `rule=gen-alg` C is
//! F. The pairwise sum needs no pairs: hops add up over the axes, and on an axis the number of nodes
//! by coordinate is enough (prefix sums on a line, a sliding half-turn on a ring).
//!
//! Source: Krumke, Marathe, Noltemeier, Radhakrishnan, Ravi & Rosenkrantz, "Compact location
//! problems", TCS 181(2), 1997; MM: Bender, Bunde, Demaine, Fekete, Leung, Meijer & Phillips,
//! "Communication-aware processor allocation for supercomputers", Algorithmica 50(2), 2008. As in
//! SST's scheduler element, except that a busy centre is never granted. Distances go the shorter way
//! round on rings, for which the bounds are not claimed. The first set with the least sum wins.

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::{Coordinates, Grid, NodeId, Occupancy, Request};

use super::super::shared::runs::runs;
use super::by_count;
use crate::kind::{ANY_GRID, BuildStrategy, Entry, StrategyKind};
use crate::{Placement, Strategy, Work};

pub(in crate::strategies) static ENTRY: Entry = Entry {
    name: "gen-alg",
    title: "Gen-Alg (Compact Location)",
    source: "Krumke et al. 1997; Bender, Bunde et al. 2008",
    options: &[RULE],
    variants: &["", "mm"],
    does: StrategyKind {
        contiguous: false,
        turns: false,
        supports: ANY_GRID,
        claim: by_count,
        build: BuildStrategy::Function(build),
    },
};

const RULE: OptionSpec = OptionSpec {
    key: "rule",
    values: Values::OneOf(&["gen-alg", "mm"]),
    default: "gen-alg",
    meaning: "the centres: free nodes, or all crossings of coordinates that free nodes have (MM)",
    bare: true,
};

fn build(grid: &Grid, options: &Options) -> Box<dyn Strategy> {
    let zeros = |length: usize| vec![0; length];
    let sides = grid.sides().map(usize::from);
    Box::new(GenAlg {
        grid: *grid,
        crossings: options.get("rule") == "mm",
        points: Vec::new(),
        hops: sides.map(zeros),
        rings: zeros(sides.iter().sum()),
        counts: sides.map(zeros),
        present: sides.map(|side| vec![false; side]),
        tested: 0,
    })
}

#[derive(Clone)]
struct GenAlg {
    grid: Grid,
    crossings: bool,
    /// Scratch: the free nodes, row-major.
    points: Vec<Coordinates>,
    /// Scratch, by axis and coordinate: the distance from the centre.
    hops: [Vec<u32>; 3],
    /// Scratch, by distance from the centre: how many free nodes there are.
    rings: Vec<u32>,
    /// Scratch, by axis and coordinate: how many nodes are taken.
    counts: [Vec<u32>; 3],
    /// Scratch, by axis and coordinate: whether some free node has it.
    present: [Vec<bool>; 3],
    /// Distances of nodes from a centre.
    tested: u64,
}

/// The nodes nearest to a centre: all below a distance, and so many at that distance.
#[derive(Clone, Copy)]
struct Nearest {
    below: u32,
    at: u32,
}

impl GenAlg {
    /// The `nodes` free nodes nearest to a centre. O(F).
    fn nearest(&mut self, centre: Coordinates, nodes: u32) -> Nearest {
        for axis in 0..3 {
            let mut point = centre;
            for at in 0..self.grid.side(axis) {
                point[axis] = at;
                self.hops[axis][usize::from(at)] = self.grid.distance(centre, point);
            }
        }
        self.tested += self.points.len() as u64;
        self.rings.fill(0);
        for point in &self.points {
            self.rings[distance(&self.hops, *point) as usize] += 1;
        }
        let (mut below, mut left) = (0, nodes);
        while left > self.rings[below] {
            left -= self.rings[below];
            below += 1;
        }
        Nearest { below: below as u32, at: left }
    }

    /// The sum of the pairwise distances of the nodes nearest to the centre last asked for.
    fn pairwise(&mut self, mut nearest: Nearest) -> u64 {
        for counts in &mut self.counts {
            counts.fill(0);
        }
        self.tested += self.points.len() as u64;
        for &point in &self.points {
            if nearest.takes(distance(&self.hops, point)) {
                for (counts, at) in self.counts.iter_mut().zip(point) {
                    counts[usize::from(at)] += 1;
                }
            }
        }
        let sum = |axis: usize| {
            let counts = &self.counts[axis];
            if self.grid.wraps(axis) { around_ring(counts) } else { along_line(counts) }
        };
        sum(0) + sum(1) + sum(2)
    }

    /// Looks at one centre.
    fn look(&mut self, centre: Coordinates, nodes: u32, best: &mut Option<(u64, Coordinates)>) {
        let nearest = self.nearest(centre, nodes);
        let sum = self.pairwise(nearest);
        if best.is_none_or(|(least, _)| sum < least) {
            *best = Some((sum, centre));
        }
    }

    /// Whether a point shares each of its coordinates with some free node.
    fn is_crossing(&self, point: Coordinates) -> bool {
        (0..3).all(|axis| self.present[axis][usize::from(point[axis])])
    }
}

impl Nearest {
    /// Whether the next node, in row-major order, is among the nearest.
    fn takes(&mut self, distance: u32) -> bool {
        let here = distance == self.below && self.at > 0;
        self.at -= u32::from(here);
        distance < self.below || here
    }
}

impl Strategy for GenAlg {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let nodes = request.nodes;
        if nodes > free.count() {
            return None;
        }
        self.points.clear();
        self.points.extend(free.iter().map(|node| self.grid.point(node)));
        let mut best = None;
        if self.crossings {
            for (axis, present) in self.present.iter_mut().enumerate() {
                present.fill(false);
                for point in &self.points {
                    present[usize::from(point[axis])] = true;
                }
            }
            for node in (0..self.grid.nodes()).map(NodeId) {
                let centre = self.grid.point(node);
                if self.is_crossing(centre) {
                    self.look(centre, nodes, &mut best);
                }
            }
        } else {
            for index in 0..self.points.len() {
                self.look(self.points[index], nodes, &mut best);
            }
        }
        let (_, centre) = best.expect("some node is free");
        let mut nearest = self.nearest(centre, nodes);
        let taken = self.points.iter().filter(|&&p| nearest.takes(distance(&self.hops, p)));
        Some(runs(&self.grid, taken.map(|&point| self.grid.id(point))))
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested)
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

fn distance(hops: &[Vec<u32>; 3], point: Coordinates) -> u32 {
    (0..3).map(|axis| hops[axis][usize::from(point[axis])]).sum()
}

/// The sum of |a - b| over all pairs of nodes, by the number of nodes at each coordinate.
fn along_line(counts: &[u32]) -> u64 {
    let (mut sum, mut before, mut reach) = (0, 0, 0);
    for &count in counts {
        // `reach` is the sum of the distances from here to the nodes before.
        reach += before;
        sum += u64::from(count) * reach;
        before += u64::from(count);
    }
    sum
}

/// The same on a ring, the shorter way round: every node looks up to half the ring ahead.
fn around_ring(counts: &[u32]) -> u64 {
    let n = counts.len();
    let half = (n - 1) / 2;
    let at = |index: usize| u64::from(counts[index % n]);
    let mut ahead: u64 = (1..=half).map(at).sum();
    let mut reach: u64 = (1..=half).map(|step| step as u64 * at(step)).sum();
    let (mut sum, mut opposite) = (0, 0);
    for index in 0..n {
        sum += at(index) * reach;
        // Diametral pairs of an even ring are seen from both ends.
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
