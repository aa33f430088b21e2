//! A cache of the times for which jobs hold each link.
//!
//! On a machine without wraparound, moving a layout shifts all link numbers by the same amount and
//! leaves the hold times unchanged.
//!
//! Invariant: a cached result equals the result of [`LinkHolds::of`].
//!
//! Cost: O(nodes + links) for a job whose kind is already cached.

use pavior_kernel::Stream;
use pavior_mesh::{Grid, NodeId};
use pavior_network::{ChannelId, Channels, Layout, LinkHolds};
use rustc_hash::FxHashMap;

use super::NetworkSetup;
use super::histories::HistoryKey;

/// The maximum number of links in the cache (32 MB).
const MOST_LINKS: usize = 1 << 20;

/// The cache for jobs on one network.
pub(super) struct KnownHolds {
    setup: NetworkSetup,
    grid: Grid,
    channels: Channels,
    /// Results by relative layout. Each is stored with the first node of the job for which it was
    /// computed.
    known: FxHashMap<HistoryKey, (NodeId, Box<[LinkHolds]>)>,
    /// The total number of links in the cache.
    links: usize,
}

impl KnownHolds {
    pub(super) fn new(setup: &NetworkSetup, grid: Grid, channels: Channels) -> KnownHolds {
        KnownHolds { setup: setup.clone(), grid, channels, known: FxHashMap::default(), links: 0 }
    }

    /// Returns how long a job in a layout holds each link, in order of link number. `key` describes
    /// the relative layout, and is `None` if the pattern makes random draws for each job.
    pub(super) fn of(
        &mut self,
        layout: &Layout,
        key: Option<HistoryKey>,
        draw: &Stream,
    ) -> Vec<LinkHolds> {
        let NetworkSetup { plan, settings, .. } = &self.setup;
        let found = || LinkHolds::of(&self.grid, layout, plan, settings, draw);
        let Some(key) = key.filter(|_| !self.grid.has_wrap()) else { return found() };
        let first = layout.nodes[0];
        if let Some((there, holds)) = self.known.get(&key) {
            let number = |node| self.channels.injection(node).0;
            let further = number(first).wrapping_sub(number(*there));
            let moved = |hold: &LinkHolds| {
                let link = ChannelId(hold.link.0.wrapping_add(further));
                LinkHolds { link, ..*hold }
            };
            return holds.iter().map(moved).collect();
        }
        let holds = found();
        self.links += holds.len();
        if self.links > MOST_LINKS {
            self.known.clear();
            self.links = holds.len();
        }
        self.known.insert(key, (first, holds.as_slice().into()));
        holds
    }
}

#[cfg(test)]
mod tests {
    use pavior_mesh::Cuboid;
    use pavior_network::{Communication, EngineKind, RankOrder, Settings, TrafficPlan};

    use super::super::iterations::Trials;
    use super::super::{Contention, Histories};
    use super::*;

    #[test]
    fn what_is_remembered_is_what_would_be_found() {
        // Results are cached only for patterns without random draws, and only on machines where all
        // positions are equivalent.
        for (machine, pattern, kept) in [
            ("mesh:7x6x5", "near-neighbour", 2),
            ("mesh:7x6x5", "all-to-all", 2),
            ("mesh:7x6x5", "one-to-all", 0),
            ("torus:7x6x5", "ring", 0),
        ] {
            let grid: Grid = machine.parse().unwrap();
            let plan = TrafficPlan {
                pattern: pattern.parse().unwrap(),
                sending: None,
                rounds: None,
                flits: 8,
            };
            let setup = NetworkSetup {
                engine: EngineKind::Worm,
                settings: Settings::default(),
                plan,
                ranks: RankOrder::Coordinates,
                histories: Histories::default(),
                contention: Contention::Estimated,
            };
            let trials = Trials::new(&setup, grid).unwrap();
            let channels = Channels::new(grid, setup.settings.virtual_channels);
            let mut known = KnownHolds::new(&setup, grid, channels);
            let mut draw = Stream::new(4, 0, "places");
            for job in 0..60 {
                let sides = [[3, 2, 2], [2, 3, 2]][job % 2];
                let mut base = [0; 3];
                for axis in 0..3 {
                    base[axis] = draw.below(u64::from(grid.side(axis) - sides[axis] + 1)) as u16;
                }
                let box_there = [Cuboid::new(base, sides)];
                let layout = Layout::new(&grid, &box_there, 12, Some(sides), setup.ranks);
                let key = trials.key(&layout, Communication::Iterations(1), &draw);
                let found = known.of(&layout, key, &draw);
                let plain = LinkHolds::of(&grid, &layout, &setup.plan, &setup.settings, &draw);
                assert_eq!(found, plain, "{machine} {pattern} {base:?}");
                assert!(!found.is_empty(), "{machine} {pattern}");
            }
            assert_eq!(known.known.len(), kept, "{machine} {pattern}");
        }
    }
}
