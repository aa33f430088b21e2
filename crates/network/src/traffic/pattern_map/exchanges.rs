//! The number of messages that each pair of ranks exchanges in an iteration of a pattern.
//!
//! Invariant: each pair is stored for both ranks, and each rank's partners are in ascending order.
//!
//! Cost: O(m log m) once for m messages, and O(log d) per lookup for a rank with d partners.

use super::hops::{Hops, Point};
use crate::patterns::{Pattern, each_message};

/// The number of messages exchanged by each pair of ranks. Each pair is stored for both ranks.
#[derive(Debug)]
pub(super) struct Exchanges {
    /// The index of each rank's first partner, followed by the total number of partners.
    starts: Vec<usize>,
    /// Each rank's partners in ascending order, with the number of messages exchanged both ways.
    partners: Vec<(u32, u32)>,
    messages: u64,
    /// The number of messages between any two partners, if it is the same for all pairs and no rank
    /// has more than `FEW` partners.
    alike: Option<u32>,
}

impl Exchanges {
    /// The maximum product of ranks and rounds. Patterns with a larger product are not analyzed.
    const MOST: u64 = 1 << 20;

    /// The maximum number of partners for which the hops along one axis fit in 32 bits.
    const FEW: usize = 1 << 14;

    /// Counts a pattern's exchanges. Returns `None` if the pattern is too large, or if all pairs of
    /// ranks exchange the same number of messages, so that every map has the same number of hops.
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
            partners.push((to, same.len() as u32));
            starts[from as usize + 1] += 1;
        }
        for rank in 0..ranks as usize {
            starts[rank + 1] += starts[rank];
        }
        let all = u64::from(ranks) * u64::from(ranks - 1) == partners.len() as u64;
        if all && partners.iter().all(|(_, count)| *count == partners[0].1) {
            return None;
        }
        let most = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let one = partners.first().map(|(_, count)| *count).filter(|_| most <= Self::FEW);
        let alike = one.filter(|&one| partners.iter().all(|(_, count)| *count == one));
        Some(Exchanges { starts, partners, messages: pairs.len() as u64 / 2, alike })
    }

    /// Returns a rank's partners in ascending order, with the number of messages exchanged.
    pub(super) fn partners(&self, rank: u32) -> &[(u32, u32)] {
        &self.partners[self.starts[rank as usize]..self.starts[rank as usize + 1]]
    }

    /// Returns the number of messages between any two partners, if it is the same for all pairs and
    /// no rank has more than 2^14 partners.
    pub(super) fn alike(&self) -> Option<u32> {
        self.alike
    }

    /// Returns the number of messages that two ranks exchange.
    pub(super) fn between(&self, a: u32, b: u32) -> u32 {
        let partners = self.partners(a);
        partners.binary_search_by_key(&b, |(other, _)| *other).map_or(0, |index| partners[index].1)
    }

    /// Returns a lower bound on the total number of hops: one per message.
    pub(super) fn least(&self) -> u64 {
        self.messages
    }

    /// Returns the total hops with rank i at `points[i]`, or `None` if the total reaches `bound`.
    pub(super) fn hops_below(&self, bound: u64, points: &[Point], hops: Hops) -> Option<u64> {
        let mut sum = 0;
        for (rank, own) in (0..).zip(points) {
            let partners = self.partners(rank);
            // Count each pair only once, for the lower of its two ranks.
            let after = partners.partition_point(|(other, _)| *other < rank);
            for &(other, count) in &partners[after..] {
                sum += u64::from(count) * u64::from(hops.between(own, &points[other as usize]));
            }
            if sum >= bound {
                return None;
            }
        }
        Some(sum)
    }
}
