//! Maps a job's ranks to its nodes so that the messages in its pattern cross few links.
//!
//! Minimizing the total hops is a quadratic assignment problem, which exact methods can solve only
//! for up to about thirty ranks. The map used here is the better of two local optima:
//!
//! 1. Start. One start is the best of the maps that [`RankOrder`](super::RankOrder) produces when
//!    ranks are numbered along the axes of their grid in each of the six orders. The other is the
//!    best geometric bisection ([`bisections`]).
//! 2. Improvement. Each rank in turn swaps places with the rank that saves the most hops, until no
//!    swap saves any ([`search`]). Only ranks at, or next to, a partner's node are tried.
//!
//! Invariant: the map never has more hops than any map from `RankOrder`. A start in which no
//! message crosses more than one link is used unchanged.
//!
//! Cost: O(n log n) to bisect n ranks. If each rank has d partners, each of up to
//! [`search::MOST_ROUNDS`] rounds of exchanges takes at most O(n d^2) more.
//!
//! Sources: the geometric bisection is from Deveci, Rajamanickam, Leung, Pedretti, Olivier, Bunde,
//! Çatalyürek & Devine, "Exploiting geometric partitioning in task mapping for parallel computers",
//! IPDPS 2014. The exchanges are from Bokhari, "On the mapping problem", IEEE Transactions on
//! Computers 30(3), 1981, but try only nodes near partners. Schulz & Träff, "Better process mapping
//! and sparse quadratic assignment", SEA 2017, limit exchanges to partners.

mod bisections;
mod exchanges;
mod hops;
mod search;

use pavior_mesh::{Coordinates, Grid, NodeId};

use crate::patterns::{Pattern, RankGrid};
use bisections::Cuts;
use exchanges::Exchanges;
pub(super) use hops::{Hops, Point};
use search::Search;

/// The orders in which the logical grid's axes can be traversed.
const AXIS_ORDERS: [[usize; 3]; 6] =
    [[0, 1, 2], [1, 0, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Data that describes a pattern on its logical grid and does not depend on the nodes.
#[derive(Debug)]
pub(super) struct PatternMap {
    exchanges: Exchanges,
    /// The ranks numbered along the grid's axes, once for each order of the axes, without duplicate
    /// lists.
    orders: Vec<Vec<u32>>,
    cuts: Cuts,
}

impl PatternMap {
    /// Analyzes a pattern. Returns `None` if it is too large, or if every map has the same number
    /// of hops.
    pub(super) fn of(pattern: &dyn Pattern, shape: &RankGrid) -> Option<PatternMap> {
        let exchanges = Exchanges::of(pattern)?;
        let ranks = rank_places(shape);
        let orders = numbered_along_axes(&ranks);
        Some(PatternMap { exchanges, orders, cuts: Cuts::of(ranks) })
    }

    /// Returns the best map found. `lists` contains the job's nodes, one per rank, in one or more
    /// orders. Only the first list is used for the bisections.
    pub(super) fn lay(
        &self,
        grid: &Grid,
        mut lists: impl Iterator<Item = Vec<NodeId>>,
    ) -> Vec<NodeId> {
        let first = lists.next().expect("there is a list");
        // On a box or a set of whole rows, several orders are identical.
        let others = lists.filter(|list| *list != first);
        let numbered = std::iter::once(first.clone()).chain(others).flat_map(|list| {
            let given = move |order: &Vec<u32>| {
                let mut map = vec![NodeId(0); list.len()];
                for (&rank, &node) in order.iter().zip(&list) {
                    map[rank as usize] = node;
                }
                map
            };
            self.orders.iter().map(given)
        });
        let numbered = match self.best(grid, numbered) {
            (map, hops) if hops == self.exchanges.least() => return map,
            (map, _) => self.improve(grid, &map),
        };
        let bisected = match self.best(grid, self.cuts.bisections(grid, &first)) {
            (map, hops) if hops == self.exchanges.least() => return map,
            (map, _) => self.improve(grid, &map),
        };
        if bisected.1 < numbered.1 { bisected.0 } else { numbered.0 }
    }

    /// Returns the first map with the fewest hops, and its hop count. Stops early at an optimal
    /// map.
    fn best(&self, grid: &Grid, maps: impl Iterator<Item = Vec<NodeId>>) -> (Vec<NodeId>, u64) {
        let mut best = (Vec::new(), u64::MAX);
        for map in maps {
            if let Some(hops) = self.hops_below(best.1, grid, &map) {
                best = (map, hops);
            }
            if best.1 == self.exchanges.least() {
                break;
            }
        }
        best
    }

    /// Improves a map by exchanging ranks. Returns the resulting map and its hop count.
    fn improve(&self, grid: &Grid, map: &[NodeId]) -> (Vec<NodeId>, u64) {
        let map = Search::new(grid, map, &self.exchanges).run();
        let hops = self.hops_below(u64::MAX, grid, &map);
        (map, hops.unwrap_or(u64::MAX))
    }

    /// Returns a map's total hops, or `None` if the total is at least `bound`.
    fn hops_below(&self, bound: u64, grid: &Grid, map: &[NodeId]) -> Option<u64> {
        let points: Vec<Point> = map.iter().map(|&node| Hops::point(grid.point(node))).collect();
        self.exchanges.hops_below(bound, &points, Hops::of(grid))
    }
}

/// Returns each rank and its position on the logical grid.
fn rank_places(shape: &RankGrid) -> Vec<(Coordinates, u32)> {
    let [w, d, _] = shape.sides.map(u32::from);
    let place = |rank: u32| [rank % w, rank / w % d, rank / (w * d)].map(|at| at as u16);
    (0..shape.ranks).map(|rank| (place(rank), rank)).collect()
}

/// Returns the ranks sorted by position, once for each order of the axes, without duplicate lists.
fn numbered_along_axes(ranks: &[(Coordinates, u32)]) -> Vec<Vec<u32>> {
    let mut orders: Vec<Vec<u32>> = Vec::new();
    for turn in AXIS_ORDERS {
        let mut ranks = ranks.to_vec();
        ranks.sort_unstable_by_key(|(at, _)| [at[turn[2]], at[turn[1]], at[turn[0]]]);
        let order: Vec<u32> = ranks.into_iter().map(|(_, rank)| rank).collect();
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    orders
}
