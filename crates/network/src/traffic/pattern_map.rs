//! The ranks of a job laid on its nodes so that the messages of its pattern cross few links.
//!
//! The least sum of hops is a quadratic assignment problem; exact methods end at some thirty ranks. This
//! map is the better of two local optima:
//!
//! 1. Where it starts. The best of the maps of [`RankOrder`](super::RankOrder), with the ranks numbered along
//!    the axes of their grid in each of the six orders; and the best geometric bisection: the logical grid is cut in the middle of its longest axis and the nodes, in the order of
//!    the machine's axis that stands for it, into as many, until every part has one rank. Each of the six
//!    ways in which axes can stand for each other is tried. Coordinates on a ring are counted from behind
//!    its longest stretch without a node of the job.
//! 2. How it goes on. Each rank in turn changes places with the rank whose place, on the node of one of
//!    its partners or next to it, saves most hops, until no exchange saves any.
//!
//! So it never has more hops than any map of `RankOrder`. A start on which no message crosses more than
//! one link is taken as it is.
//!
//! Sources: bisection after Deveci, Rajamanickam, Leung, Pedretti, Olivier, Bunde, Çatalyürek & Devine,
//! "Exploiting geometric partitioning in task mapping for parallel computers", IPDPS 2014; exchanges after
//! Bokhari, "On the mapping problem", IEEE Transactions on Computers 30(3), 1981, limited to the places next
//! to partners as Schulz & Träff, "Better process mapping and sparse quadratic assignment", SEA 2017, limit
//! theirs to partners.
//!
//! Cost: O(n log^2 n) for the bisections of n ranks, O(n d^2) for a round of exchanges with d partners a
//! rank, at most [`MOST_ROUNDS`] rounds.

use pavior_mesh::{Coordinates, Grid, NodeId};

use crate::footprint::Arc;
use crate::patterns::{Pattern, RankGrid, each_message};

/// Rounds of exchanges that are made at most; nearly all maps end before.
const MOST_ROUNDS: usize = 64;

/// The ways in which the axes of the logical grid can stand for those of the machine.
const TURNS: [[usize; 3]; 6] = [[0, 1, 2], [1, 0, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Which ranks exchange how many messages in an iteration of a pattern.
pub(super) struct Exchanges {
    /// Where the partners of each rank begin, and where the last one's end.
    starts: Vec<usize>,
    partners: Vec<(u32, u64)>,
    /// Hops if every message crossed one link, counted from both ends.
    least: u64,
}

impl Exchanges {
    /// Patterns with more rounds times ranks are not looked at.
    pub(super) const MOST: u64 = 1 << 20;

    /// Those of a pattern. None if it is too large, or if all ranks exchange as many messages with each
    /// other, so that every map has the same hops.
    pub(super) fn of(pattern: &dyn Pattern) -> Option<Exchanges> {
        let ranks = pattern.ranks();
        if u64::from(pattern.rounds()) * u64::from(ranks) > Exchanges::MOST {
            return None;
        }
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        each_message(pattern, |from, to| pairs.extend([(from, to), (to, from)]));
        pairs.sort_unstable();
        let (mut starts, mut partners) = (vec![0; ranks as usize + 1], Vec::new());
        for same in pairs.chunk_by(|a, b| a == b) {
            let (from, to) = same[0];
            partners.push((to, same.len() as u64));
            starts[from as usize + 1] += 1;
        }
        for rank in 0..ranks as usize {
            starts[rank + 1] += starts[rank];
        }
        let all = u64::from(ranks) * u64::from(ranks - 1) == partners.len() as u64;
        if all && partners.iter().all(|(_, count)| *count == partners[0].1) {
            return None;
        }
        Some(Exchanges { starts, partners, least: pairs.len() as u64 })
    }

    fn partners(&self, rank: u32) -> &[(u32, u64)] {
        &self.partners[self.starts[rank as usize]..self.starts[rank as usize + 1]]
    }

    /// The hops of all messages of a map, each counted from both ends.
    fn hops(&self, points: &[Coordinates], grid: &Grid) -> u64 {
        let of_rank = |(rank, own): (u32, &Coordinates)| -> u64 {
            let hops = |&(other, count): &(u32, u64)| {
                count * u64::from(grid.distance(*own, points[other as usize]))
            };
            self.partners(rank).iter().map(hops).sum()
        };
        (0..).zip(points).map(of_rank).sum()
    }
}

/// The best map found from some starts, which must not be empty; the first of them also says which nodes
/// the bisections use.
pub(super) fn least_hops(
    grid: &Grid,
    shape: &RankGrid,
    starts: &[Vec<NodeId>],
    exchanges: &Exchanges,
) -> Vec<NodeId> {
    let points = |nodes: &[NodeId]| -> Vec<Coordinates> {
        nodes.iter().map(|&node| grid.point(node)).collect()
    };
    let hops = |nodes: &Vec<NodeId>| exchanges.hops(&points(nodes), grid);
    let bisections = bisections(grid, shape, &starts[0]);
    let starts = numbered_along_axes(shape, starts);
    let mut best: Option<(u64, Vec<NodeId>)> = None;
    for family in [starts, bisections] {
        let (start, nodes) = family
            .into_iter()
            .map(|nodes| (hops(&nodes), nodes))
            .min_by_key(|(hops, _)| *hops)
            .expect("a family is not empty");
        if start == exchanges.least {
            return nodes;
        }
        let improved = Search::new(grid, &nodes, exchanges).run();
        let hops = hops(&improved);
        if best.as_ref().is_none_or(|(least, _)| hops < *least) {
            best = Some((hops, improved));
        }
    }
    best.expect("two families were searched").1
}

/// The ranks, with their places on the logical grid.
fn rank_places(shape: &RankGrid) -> Vec<(Coordinates, u32)> {
    let [w, d, _] = shape.sides.map(u32::from);
    let place = |rank: u32| [rank % w, rank / w % d, rank / (w * d)].map(|at| at as u16);
    (0..shape.ranks).map(|rank| (place(rank), rank)).collect()
}

/// Every list of nodes, given to the ranks in the order of their places along the axes in each order of axes.
fn numbered_along_axes(shape: &RankGrid, starts: &[Vec<NodeId>]) -> Vec<Vec<NodeId>> {
    let places = rank_places(shape);
    let mut orders: Vec<Vec<u32>> = Vec::new();
    for turn in TURNS {
        let mut ranks = places.clone();
        ranks.sort_unstable_by_key(|(at, _)| [at[turn[2]], at[turn[1]], at[turn[0]]]);
        let order: Vec<u32> = ranks.into_iter().map(|(_, rank)| rank).collect();
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    let given = |nodes: &Vec<NodeId>, order: &[u32]| {
        let mut map = vec![NodeId(0); nodes.len()];
        for (&rank, &node) in order.iter().zip(nodes) {
            map[rank as usize] = node;
        }
        map
    };
    starts.iter().flat_map(|nodes| orders.iter().map(move |order| given(nodes, order))).collect()
}

/// The maps by bisection, one for each of [`TURNS`].
fn bisections(grid: &Grid, shape: &RankGrid, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
    let points: Vec<Coordinates> = nodes.iter().map(|&node| grid.point(node)).collect();
    let arcs = [0, 1, 2].map(|axis| Arc::around(grid, axis, &points));
    let mut placed: Vec<(Coordinates, NodeId)> = points
        .iter()
        .zip(nodes)
        .map(|(point, &node)| ([0, 1, 2].map(|axis| arcs[axis].place(point[axis])), node))
        .collect();
    let mut ranks = rank_places(shape);
    TURNS
        .iter()
        .map(|turn| {
            let mut map = vec![NodeId(0); nodes.len()];
            bisect(&mut ranks, &mut placed, turn, &mut map);
            map
        })
        .collect()
}

/// Gives every rank a node: halves both lists until one of each is left.
fn bisect(
    ranks: &mut [(Coordinates, u32)],
    nodes: &mut [(Coordinates, NodeId)],
    turn: &[usize; 3],
    map: &mut [NodeId],
) {
    if let ([(_, rank)], [(_, node)]) = (&*ranks, &*nodes) {
        map[*rank as usize] = *node;
        return;
    }
    let range = |axis: usize| {
        let along = ranks.iter().map(|(at, _)| at[axis]);
        (along.clone().min().unwrap_or(0), along.max().unwrap_or(0))
    };
    // The longest axis; of equal ones the first.
    let longest = (0..3).rev().max_by_key(|&axis| range(axis).1 - range(axis).0);
    let axis = longest.expect("there are three");
    let (low, high) = range(axis);
    let cut = low + (high - low + 1).div_ceil(2);
    ranks.sort_unstable_by_key(|(at, rank)| (at[axis], *rank));
    let below = ranks.partition_point(|(at, _)| at[axis] < cut);
    let other = |step: usize| turn[(axis + step) % 3];
    nodes.sort_unstable_by_key(|(at, node)| (at[turn[axis]], at[other(1)], at[other(2)], *node));
    let (low_ranks, high_ranks) = ranks.split_at_mut(below);
    let (low_nodes, high_nodes) = nodes.split_at_mut(below);
    bisect(low_ranks, low_nodes, turn, map);
    bisect(high_ranks, high_nodes, turn, map);
}

/// A map that is improved by exchanges. Places are the job's nodes in ascending order.
struct Search<'s> {
    grid: &'s Grid,
    exchanges: &'s Exchanges,
    nodes: Vec<NodeId>,
    points: Vec<Coordinates>,
    /// By place: itself, and the places next to it.
    near: Vec<Vec<u32>>,
    /// By rank: its place.
    at: Vec<u32>,
    /// By place: its rank.
    who: Vec<u32>,
}

impl<'s> Search<'s> {
    fn new(grid: &'s Grid, map: &[NodeId], exchanges: &'s Exchanges) -> Search<'s> {
        let mut nodes = map.to_vec();
        nodes.sort_unstable();
        let place = |node: &NodeId| nodes.binary_search(node).ok().map(|place| place as u32);
        let near = |(own, &node): (u32, &NodeId)| {
            let next = grid.neighbours(node).filter_map(|other| place(&other));
            std::iter::once(own).chain(next).collect()
        };
        let at: Vec<u32> = map.iter().map(|node| place(node).expect("it is one of them")).collect();
        let mut who = vec![0; at.len()];
        for (rank, &place) in (0..).zip(&at) {
            who[place as usize] = rank;
        }
        let points = nodes.iter().map(|&node| grid.point(node)).collect();
        let near = (0..).zip(&nodes).map(near).collect();
        Search { grid, exchanges, nodes, points, near, at, who }
    }

    fn run(mut self) -> Vec<NodeId> {
        for _ in 0..MOST_ROUNDS {
            let mut changed = false;
            for rank in 0..self.at.len() as u32 {
                if let Some(other) = self.best_exchange(rank) {
                    self.exchange(rank, other);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        self.at.iter().map(|&place| self.nodes[place as usize]).collect()
    }

    /// The rank with which an exchange saves most hops; none if none saves any.
    fn best_exchange(&self, rank: u32) -> Option<u32> {
        let mut best = None;
        let mut most = 0;
        for &(partner, _) in self.exchanges.partners(rank) {
            for &place in &self.near[self.at[partner as usize] as usize] {
                let other = self.who[place as usize];
                let saved = self.saved(rank, other);
                if saved > most {
                    (best, most) = (Some(other), saved);
                }
            }
        }
        best
    }

    /// The hops that an exchange saves.
    fn saved(&self, a: u32, b: u32) -> i64 {
        let (at_a, at_b) = (self.at[a as usize], self.at[b as usize]);
        self.hops(a, b, at_a) - self.hops(a, b, at_b) + self.hops(b, a, at_b)
            - self.hops(b, a, at_a)
    }

    /// The hops between a rank, were it at a place, and its partners but one.
    fn hops(&self, rank: u32, but: u32, place: u32) -> i64 {
        let own = self.points[place as usize];
        let partners = self.exchanges.partners(rank).iter().filter(|(other, _)| *other != but);
        let hops = partners.map(|&(other, count)| {
            let there = self.points[self.at[other as usize] as usize];
            count as i64 * i64::from(self.grid.distance(own, there))
        });
        hops.sum()
    }

    fn exchange(&mut self, a: u32, b: u32) {
        self.at.swap(a as usize, b as usize);
        for rank in [a, b] {
            self.who[self.at[rank as usize] as usize] = rank;
        }
    }
}
