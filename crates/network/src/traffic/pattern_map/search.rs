//! Exchanges of places that save hops.

use pavior_mesh::{Coordinates, Grid, NodeId};

use super::exchanges::Exchanges;
use super::points;

/// Rounds of exchanges that are made at most; nearly all maps end before.
pub(super) const MOST_ROUNDS: usize = 64;

/// A map that is improved by exchanges. Places are the job's nodes in ascending order.
pub(super) struct Search<'s> {
    grid: &'s Grid,
    exchanges: &'s Exchanges,
    nodes: Vec<NodeId>,
    points: Vec<Coordinates>,
    /// Where each place's entry of `near` begins, and where the last one ends.
    near_starts: Vec<usize>,
    /// By place: itself, and the places next to it.
    near: Vec<u32>,
    /// By rank: its place.
    at: Vec<u32>,
    /// By place: its rank.
    who: Vec<u32>,
    /// By rank: the hops of its messages, and how many there are, both ways.
    hops: Vec<i64>,
    messages: Vec<i64>,
    /// By rank: whether its best exchange may be another than when it was looked for last.
    open: Vec<bool>,
    /// By place: the search that looked at it last.
    seen: Vec<u32>,
    searches: u32,
}

impl<'s> Search<'s> {
    pub(super) fn new(grid: &'s Grid, map: &[NodeId], exchanges: &'s Exchanges) -> Search<'s> {
        let mut nodes = map.to_vec();
        nodes.sort_unstable();
        let place = |node: &NodeId| nodes.binary_search(node).ok().map(|place| place as u32);
        let (mut near, mut near_starts) = (Vec::with_capacity(nodes.len() * 5), vec![0]);
        for (own, &node) in (0..).zip(&nodes) {
            near.push(own);
            near.extend(grid.neighbours(node).filter_map(|other| place(&other)));
            near_starts.push(near.len());
        }
        let at: Vec<u32> = map.iter().map(|node| place(node).expect("it is one of them")).collect();
        let count = at.len();
        let mut who = vec![0; count];
        for (rank, &place) in (0..).zip(&at) {
            who[place as usize] = rank;
        }
        let of_rank = |rank: u32| {
            exchanges.partners(rank).iter().map(|&(_, count)| i64::from(count)).sum::<i64>()
        };
        let messages = (0..count as u32).map(of_rank).collect();
        let points = points(grid, &nodes);
        let (hops, open, seen) = (vec![0; count], vec![true; count], vec![0; count]);
        let mut search = Search {
            grid,
            exchanges,
            nodes,
            points,
            near_starts,
            near,
            at,
            who,
            hops,
            messages,
            open,
            seen,
            searches: 0,
        };
        for rank in 0..count as u32 {
            search.hops[rank as usize] = search.hops_at(rank, search.at[rank as usize]);
        }
        search
    }

    pub(super) fn run(mut self) -> Vec<NodeId> {
        for _ in 0..MOST_ROUNDS {
            let mut changed = false;
            for rank in 0..self.at.len() as u32 {
                if !std::mem::take(&mut self.open[rank as usize]) {
                    continue;
                }
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

    fn near(&self, place: u32) -> std::ops::Range<usize> {
        self.near_starts[place as usize]..self.near_starts[place as usize + 1]
    }

    /// The rank with which an exchange saves most hops; none if none saves any.
    fn best_exchange(&mut self, rank: u32) -> Option<u32> {
        let mut best = None;
        let mut most = 0;
        self.searches += 1;
        let exchanges = self.exchanges;
        for &(partner, _) in exchanges.partners(rank) {
            for index in self.near(self.at[partner as usize]) {
                let place = self.near[index] as usize;
                if std::mem::replace(&mut self.seen[place], self.searches) == self.searches {
                    continue;
                }
                let other = self.who[place];
                // No message can cross less than one link.
                if other == rank || self.surplus(rank) + self.surplus(other) <= most {
                    continue;
                }
                if let Some(saved) = self.saved(rank, other, most) {
                    (best, most) = (Some(other), saved);
                }
            }
        }
        best
    }

    /// The hops of a rank's messages above one each.
    fn surplus(&self, rank: u32) -> i64 {
        self.hops[rank as usize] - self.messages[rank as usize]
    }

    /// The hops that an exchange saves, if they are more than so many.
    fn saved(&self, a: u32, b: u32, most: i64) -> Option<i64> {
        let [at_a, at_b] = [a, b].map(|rank| self.at[rank as usize]);
        let by_a = self.hops[a as usize] - self.hops_at(a, at_b);
        if by_a + self.surplus(b) <= most {
            return None;
        }
        // Counted where both have their old places, each message between the two has none then.
        let apart =
            i64::from(self.grid.distance(self.points[at_a as usize], self.points[at_b as usize]));
        let partners = self.exchanges.partners(a);
        let between = partners
            .binary_search_by_key(&b, |(other, _)| *other)
            .map_or(0, |index| i64::from(partners[index].1));
        let by_b = self.hops[b as usize] - self.hops_at(b, at_a);
        Some(by_a + by_b - 2 * between * apart).filter(|saved| *saved > most)
    }

    /// The hops between a rank, were it at a place, and its partners where they are.
    fn hops_at(&self, rank: u32, place: u32) -> i64 {
        let own = self.points[place as usize];
        let hops = |&(other, count): &(u32, u32)| {
            let there = self.points[self.at[other as usize] as usize];
            i64::from(count) * i64::from(self.grid.distance(own, there))
        };
        self.exchanges.partners(rank).iter().map(hops).sum()
    }

    fn exchange(&mut self, a: u32, b: u32) {
        self.at.swap(a as usize, b as usize);
        for rank in [a, b] {
            self.who[self.at[rank as usize] as usize] = rank;
        }
        let exchanges = self.exchanges;
        for rank in [a, b] {
            self.moved(rank);
            for &(partner, _) in exchanges.partners(rank) {
                self.moved(partner);
            }
        }
    }

    /// A rank or one of its partners has another place: its hops are counted anew, and every rank that may
    /// change places with it is open again.
    fn moved(&mut self, rank: u32) {
        let place = self.at[rank as usize];
        self.hops[rank as usize] = self.hops_at(rank, place);
        self.open[rank as usize] = true;
        let exchanges = self.exchanges;
        for index in self.near(place) {
            let next = self.who[self.near[index] as usize];
            for &(partner, _) in exchanges.partners(next) {
                self.open[partner as usize] = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pavior_kernel::Stream;

    use super::*;
    use crate::patterns::{PatternSelection, RankGrid, iteration};

    /// The same exchanges, with every rank looked at in every round and all hops counted for each.
    fn plain(grid: &Grid, map: &[NodeId], exchanges: &Exchanges) -> Vec<NodeId> {
        let hops = |map: &[NodeId]| {
            exchanges.hops_below(u64::MAX, &points(grid, map), grid).expect("no bound")
        };
        let mut map = map.to_vec();
        let mut best = hops(&map);
        for _ in 0..MOST_ROUNDS {
            let before = best;
            for rank in 0..map.len() {
                let mut found = None;
                for &(partner, _) in exchanges.partners(rank as u32) {
                    let own = map[partner as usize];
                    for place in std::iter::once(own).chain(grid.neighbours(own)) {
                        let Some(other) = map.iter().position(|&node| node == place) else {
                            continue;
                        };
                        map.swap(rank, other);
                        let after = hops(&map);
                        map.swap(rank, other);
                        if after < best {
                            (best, found) = (after, Some(other));
                        }
                    }
                }
                if let Some(other) = found {
                    map.swap(rank, other);
                }
            }
            if best == before {
                break;
            }
        }
        map
    }

    #[test]
    fn exchanges_are_those_of_a_search_that_leaves_nothing_out() {
        let mut draw = Stream::new(5, 0, "sets");
        for case in 0..48 {
            let grid: Grid = ["mesh:9x7", "torus:8x8", "torus:4x4x4"][case % 3].parse().unwrap();
            let pattern: PatternSelection = ["near-neighbour", "ring", "stencil", "binomial-tree"]
                [case / 3 % 4]
                .parse()
                .unwrap();
            let mut nodes: Vec<NodeId> = (0..grid.nodes()).map(NodeId).collect();
            for from in 0..24 {
                let other = from + (draw.unit() * (nodes.len() - from) as f64) as usize;
                nodes.swap(from, other);
            }
            let shape = RankGrid { ranks: 24, sides: [[6, 4, 1], [3, 4, 2]][case % 2] };
            let built = iteration(&pattern, &shape, &mut draw.clone()).unwrap();
            let exchanges = Exchanges::of(&*built).unwrap();
            let found = Search::new(&grid, &nodes[..24], &exchanges).run();
            assert_eq!(found, plain(&grid, &nodes[..24], &exchanges), "{grid} {pattern}");
        }
    }
}
