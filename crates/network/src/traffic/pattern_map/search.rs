//! A local search that exchanges ranks until no exchange saves any hops.
//!
//! The number of hops that an exchange saves depends only on the positions of the two ranks and of
//! their partners. After a check finds no useful exchange for a rank, the rank is therefore not
//! rechecked until one of these positions changes, for either the rank itself or a candidate.
//!
//! Invariant: `surplus` is a rank's total hops minus its message count. The exchanges are the same
//! as in a search that checks every rank in every round, as a test verifies.
//!
//! Cost: O(d^2) to check a rank that has d partners.

use pavior_mesh::{Grid, NodeId};

use super::exchanges::Exchanges;
use super::hops::{Hops, Point};

/// The maximum number of rounds of exchanges. Nearly all maps need fewer rounds.
pub(super) const MOST_ROUNDS: usize = 64;

/// A map that is being improved. Places are the job's nodes, in ascending order.
pub(super) struct Search<'s> {
    hops: Hops,
    exchanges: &'s Exchanges,
    nodes: Vec<NodeId>,
    /// The index of each place's first entry in `near`, followed by the number of entries.
    near_starts: Vec<usize>,
    /// For each place, the place itself and its neighbors.
    near: Vec<u32>,
    ranks: Vec<Rank>,
    /// The rank at each place.
    who: Vec<u32>,
    /// For each rank, true if its best exchange may have changed since the last check.
    open: Vec<bool>,
    /// For each rank, the value of `now` at the last search for its best exchange, or 0.
    checked_at: Vec<u32>,
    /// The number of exchanges made so far, plus one.
    now: u32,
    /// For each rank, the number of the last search that considered it as a candidate.
    seen_in: Vec<u64>,
    searches: u64,
}

/// A rank's position, and totals over its messages.
#[derive(Clone, Copy)]
struct Rank {
    point: Point,
    place: u32,
    /// The value of `now` when the rank or one of its partners last moved.
    moved: u32,
    /// The number of messages that the rank sends and receives.
    messages: i64,
    /// The total hops of these messages, minus one hop per message.
    surplus: i64,
}

impl Rank {
    /// Returns an upper bound on the number of hops saved by moving the rank to a node `hops` hops
    /// away. A partner that is now h hops away would then be at least `hops - h` hops away.
    fn saves_at_most(&self, hops: i64) -> i64 {
        self.surplus.min(2 * (self.surplus + self.messages) - self.messages * hops)
    }
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
        let rank = |(number, node): (u32, &NodeId)| Rank {
            point: Hops::point(grid.point(*node)),
            place: place(node).expect("it is one of them"),
            moved: 1,
            messages: exchanges.partners(number).iter().map(|(_, count)| i64::from(*count)).sum(),
            surplus: 0,
        };
        let ranks: Vec<Rank> = (0..).zip(map).map(rank).collect();
        let count = ranks.len();
        let mut who = vec![0; count];
        for (number, rank) in (0..).zip(&ranks) {
            who[rank.place as usize] = number;
        }
        let (hops, open, checked_at, now) = (Hops::of(grid), vec![true; count], vec![0; count], 1);
        let (seen_in, searches) = (vec![0; count], 0);
        let mut search = Search {
            hops,
            exchanges,
            nodes,
            near_starts,
            near,
            ranks,
            who,
            open,
            checked_at,
            now,
            seen_in,
            searches,
        };
        for rank in 0..count as u32 {
            search.count_surplus(rank);
        }
        search
    }

    pub(super) fn run(mut self) -> Vec<NodeId> {
        for _ in 0..MOST_ROUNDS {
            let mut changed = false;
            for rank in 0..self.ranks.len() as u32 {
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
        self.ranks.iter().map(|rank| self.nodes[rank.place as usize]).collect()
    }

    fn rank(&self, number: u32) -> Rank {
        self.ranks[number as usize]
    }

    /// Returns the rank whose exchange with `rank` saves the most hops, or `None` if no exchange
    /// saves any. If nothing has changed for `rank` since it was last checked, considers only
    /// candidates for which something has changed.
    fn best_exchange(&mut self, rank: u32) -> Option<u32> {
        let own = self.rank(rank);
        let checked_at = std::mem::replace(&mut self.checked_at[rank as usize], self.now);
        let known = if own.moved > checked_at { 0 } else { checked_at };
        let (mut best, mut most) = (None, 0);
        self.searches += 1;
        for &(partner, _) in self.exchanges.partners(rank) {
            let place = self.rank(partner).place as usize;
            for next in self.near_starts[place]..self.near_starts[place + 1] {
                let number = self.who[self.near[next] as usize];
                // Without this check, a place that is near two partners would be tried twice.
                let seen_in = &mut self.seen_in[number as usize];
                if std::mem::replace(seen_in, self.searches) == self.searches {
                    continue;
                }
                let other = self.rank(number);
                if other.moved <= known || own.surplus + other.surplus <= most || number == rank {
                    continue;
                }
                if let Some(saved) = self.saved([rank, number], [own, other], most) {
                    (best, most) = (Some(number), saved);
                }
            }
        }
        best
    }

    /// Returns the number of hops that an exchange saves, or `None` if it is at most `most`.
    fn saved(&self, numbers: [u32; 2], [a, b]: [Rank; 2], most: i64) -> Option<i64> {
        let apart = i64::from(self.hops.between(&a.point, &b.point));
        let by_b_at_most = b.saves_at_most(apart);
        if a.saves_at_most(apart) + by_b_at_most <= most {
            return None;
        }
        let by_a = a.surplus - self.surplus_at(numbers[0], &b.point);
        if by_a + by_b_at_most <= most {
            return None;
        }
        // Each term assumes that the other rank stays put, so it counts no hops for messages
        // between the two ranks.
        let between = i64::from(self.exchanges.between(numbers[0], numbers[1]));
        let by_b = b.surplus - self.surplus_at(numbers[1], &a.point);
        Some(by_a + by_b - 2 * between * apart).filter(|saved| *saved > most)
    }

    /// Returns the surplus that a rank would have at `point` if its partners stayed where they are.
    fn surplus_at(&self, rank: u32, point: &Point) -> i64 {
        let partners = self.exchanges.partners(rank);
        if let Some(count) = self.exchanges.alike() {
            // Axes are summed separately and combined at the end.
            let mut hops = [0; 4];
            for &(other, _) in partners {
                let there = &self.ranks[other as usize].point;
                let along = self.hops.along_axes(point, there);
                for axis in 0..4 {
                    hops[axis] += along[axis];
                }
            }
            let hops = hops.into_iter().map(i64::from).sum::<i64>();
            return i64::from(count) * (hops - partners.len() as i64);
        }
        let above = |&(other, count): &(u32, u32)| {
            let there = &self.ranks[other as usize].point;
            i64::from(count) * (i64::from(self.hops.between(point, there)) - 1)
        };
        partners.iter().map(above).sum()
    }

    fn count_surplus(&mut self, rank: u32) {
        self.ranks[rank as usize].surplus = self.surplus_at(rank, &self.rank(rank).point);
    }

    fn exchange(&mut self, a: u32, b: u32) {
        self.now += 1;
        let [old_a, old_b] = [a, b].map(|rank| self.rank(rank));
        for (rank, to) in [(a, old_b), (b, old_a)] {
            let own = &mut self.ranks[rank as usize];
            (own.point, own.place) = (to.point, to.place);
            self.who[to.place as usize] = rank;
        }
        for rank in [a, b] {
            self.moved(rank);
            for &(partner, _) in self.exchanges.partners(rank) {
                self.moved(partner);
            }
        }
    }

    /// Updates a rank after it or one of its partners has moved: recounts the rank's hops, and
    /// marks the rank and its candidates to be checked again.
    fn moved(&mut self, rank: u32) {
        let place = self.rank(rank).place;
        if std::mem::replace(&mut self.ranks[rank as usize].moved, self.now) == self.now {
            return;
        }
        self.count_surplus(rank);
        self.open[rank as usize] = true;
        let exchanges = self.exchanges;
        let near = self.near_starts[place as usize]..self.near_starts[place as usize + 1];
        for &next in &self.near[near] {
            for &(partner, _) in exchanges.partners(self.who[next as usize]) {
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

    /// Performs the same exchanges naively: checks every rank in every round and counts all hops.
    fn plain(grid: &Grid, map: &[NodeId], exchanges: &Exchanges) -> Vec<NodeId> {
        let hops = |map: &[NodeId]| {
            let points: Vec<Point> =
                map.iter().map(|&node| Hops::point(grid.point(node))).collect();
            exchanges.hops_below(u64::MAX, &points, Hops::of(grid)).expect("no bound")
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
            let nodes = draw.sample(&mut nodes, 24);
            let shape = RankGrid { ranks: 24, sides: [[6, 4, 1], [3, 4, 2]][case % 2] };
            let built = iteration(&pattern, &shape, &mut draw.clone()).unwrap();
            let exchanges = Exchanges::of(&*built).unwrap();
            let found = Search::new(&grid, nodes, &exchanges).run();
            assert_eq!(found, plain(&grid, nodes, &exchanges), "{grid} {pattern}");
        }
    }
}
