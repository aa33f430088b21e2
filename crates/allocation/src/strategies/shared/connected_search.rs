//! A compact connected set of free nodes that cuts as little as it can off the rest: `connected`.

use std::cmp::Ordering;

use pavior_mesh::{BaseSet, Coordinates, Cuboid, Grid, NodeId, Occupancy, Sides, volume};

use super::connected_cuts::Floods;
use super::connected_exchange::Exchange;
use super::connected_growth::{Next, SetGrowth};
use super::connected_region::Regions;
use super::connected_sets::ConnectedSets;
use super::factor_shapes::factor_shapes_into;
use super::runs::runs;
use super::spread::{Spread, distance_in};
use crate::{Placement, Work};

/// The most boxes that are looked at for one shape.
const BOXES: usize = 32;
/// The most sets of free nodes in which sets are grown.
const REGIONS: usize = 4;
/// What bounds the number of sets that are grown for large requests: nodes times sides.
const GROWING: u64 = 1 << 22;

/// Finds connected sets. It keeps nothing but what it knows of the last state, with which it compares.
#[derive(Clone)]
pub(crate) struct ConnectedSearch {
    grid: Grid,
    /// The state that `sets` is of.
    state: Option<Occupancy>,
    sets: ConnectedSets,
    bases: BaseSet,
    regions: Regions,
    drafts: Drafts,
    spread: Spread,
    growth: SetGrowth,
    floods: Floods,
    exchange: Exchange,
    work: Work,
}

/// A candidate.
#[derive(Clone)]
struct Draft {
    /// Where the connected set that it lies in is kept.
    region: usize,
    /// Numbers in this set, in row-major order.
    nodes: Vec<u32>,
    at: Option<Cuboid>,
    /// How many nodes of the set it cuts off from the largest rest.
    cut: u32,
    distance: u64,
}

/// The candidates that can still be granted.
#[derive(Clone, Default)]
struct Drafts {
    /// The best of those that cut nothing off.
    cuts_none: Option<Draft>,
    /// The others, each once, as long as there are none of those.
    cuts_some: Vec<Draft>,
}

impl ConnectedSearch {
    pub(crate) fn new(grid: Grid) -> ConnectedSearch {
        ConnectedSearch {
            grid,
            state: None,
            sets: ConnectedSets::default(),
            bases: BaseSet::new(grid),
            regions: Regions::new(grid),
            drafts: Drafts::default(),
            spread: Spread::new(grid),
            growth: SetGrowth::default(),
            floods: Floods::default(),
            exchange: Exchange::default(),
            work: Work::default(),
        }
    }

    /// The number of nodes of the largest connected set of free nodes. O(N/64) in the state of the
    /// question before.
    pub(crate) fn largest(&mut self, free: &Occupancy) -> u32 {
        self.work.words += u64::from(self.grid.nodes().div_ceil(64));
        if self.state.as_ref() != Some(free) {
            self.sets.load(&self.grid, free);
            self.work.boxes += self.sets.runs();
            match &mut self.state {
                Some(state) => state.copy_from(free),
                state => *state = Some(free.clone()),
            }
        }
        self.sets.largest()
    }

    /// A connected set of so many free nodes, if there is one; `asked` is a box that is tried first.
    pub(crate) fn find(
        &mut self,
        free: &Occupancy,
        nodes: u32,
        asked: Option<Sides>,
    ) -> Option<Placement> {
        if nodes == 0 || nodes > free.count() || self.largest(free) < nodes {
            return None;
        }
        self.regions.clear();
        self.drafts = Drafts::default();
        let fits = |sides: &Sides| volume(*sides) == u64::from(nodes) && self.grid.fits(*sides);
        let asked = asked.filter(fits);
        let mut shapes = Vec::new();
        factor_shapes_into(nodes, &self.grid, &mut shapes);
        shapes.retain(|&sides| Some(sides) != asked);
        self.bases.load(free);
        for sides in asked.into_iter().chain(shapes) {
            let at_once = Some(sides) == asked || is_compact(&self.grid, sides);
            if let Some(at) = self.box_of(free, sides, at_once) {
                return Some(Placement::Whole(at));
            }
        }
        self.grown(free, nodes);
        self.best()
    }

    /// Looks at the free boxes of a shape, up to the first that cuts nothing off, which is answered if
    /// it is to be taken at once.
    fn box_of(&mut self, free: &Occupancy, sides: Sides, at_once: bool) -> Option<Cuboid> {
        let distance = distance_in(&self.grid, sides);
        if !at_once && self.drafts.most() < distance {
            return None;
        }
        let before = self.bases.words_touched();
        self.bases.compute_loaded(sides);
        self.work.words += self.bases.words_touched() - before;
        let bases: Vec<Coordinates> = self.bases.row_major().take(BOXES).collect();
        for base in bases {
            let at = Cuboid::new(base, sides);
            let set = self.sets.set_of(self.grid.id(base));
            let region = self.regions.look_at(&self.sets, set, free);
            let number = |node: NodeId| self.regions.number(node);
            let mut nodes: Vec<u32> = at.nodes(&self.grid).map(number).collect();
            nodes.sort_unstable();
            let cut = self.floods.cut_off(self.regions.get(region), &nodes);
            if cut == 0 && at_once {
                return Some(at);
            }
            let draft = Draft { region, nodes, at: Some(at), cut, distance };
            self.drafts.add(draft, &self.regions);
            if cut == 0 {
                break;
            }
        }
        None
    }

    /// Grows sets from the corners of the sets of free nodes that are large enough.
    fn grown(&mut self, free: &Occupancy, nodes: u32) {
        let mut sets = Vec::new();
        self.sets.at_least(nodes, &mut sets);
        let sides: u64 = self.grid.sides().iter().map(|&side| u64::from(side)).sum();
        let mut left = (GROWING / (u64::from(nodes) * sides)).max(1) as usize;
        for set in sets.into_iter().take(REGIONS) {
            let index = self.regions.look_at(&self.sets, set, free);
            let region = self.regions.get(index);
            let seeds = region.seeds(&self.grid);
            let mut starts: Vec<(u32, Next)> = [Next::Fullest, Next::Nearest]
                .into_iter()
                .flat_map(|next| seeds.iter().map(move |&seed| (seed, next)))
                .collect();
            // Every start leads to the whole region if that is asked for.
            let whole = region.count() == nodes as usize;
            starts.truncate(if whole { left.min(1) } else { left });
            left -= starts.len();
            self.growth.begin(region);
            // Both rules from one seed after the other: a good set early on bounds all others.
            starts.sort_by_key(|(seed, _)| seeds.iter().position(|other| other == seed));
            for start in starts {
                let (spread, most) = (&mut self.spread, self.drafts.most());
                let grown = self.growth.grow(&self.grid, region, spread, start, nodes, most);
                if let Some(grown) = grown {
                    let cut = self.floods.cut_off(region, grown);
                    if self.drafts.can_gain(cut) {
                        let (mut nodes, distance) = (grown.to_vec(), self.spread.total());
                        nodes.sort_unstable();
                        let draft = Draft { region: index, nodes, at: None, cut, distance };
                        self.drafts.add(draft, &self.regions);
                    }
                }
            }
        }
    }

    /// The best of the candidates, of which there is one; after exchanges if each cuts something off.
    fn best(&mut self) -> Option<Placement> {
        let mut best = self.drafts.cuts_none.take();
        for mut draft in std::mem::take(&mut self.drafts.cuts_some) {
            let region = self.regions.get(draft.region);
            let exchanged =
                self.exchange.exchange(region, &mut self.spread, &mut self.floods, draft.nodes);
            (draft.nodes, draft.cut) = (exchanged.nodes, exchanged.cut);
            if let Some(distance) = exchanged.distance {
                (draft.at, draft.distance) = (None, distance);
            }
            if best.as_ref().is_none_or(|best| draft.compare(best, &self.regions).is_lt()) {
                best = Some(draft);
            }
        }
        let best = best?;
        Some(match best.at {
            Some(at) => Placement::Whole(at),
            None => runs(&self.grid, best.ids(&self.regions)),
        })
    }

    /// Runs of free nodes, nodes of the fringes and of the floods; words compared and searched.
    pub(crate) fn work(&self) -> Work {
        let looked = self.growth.looked() + self.floods.looked() + self.exchange.looked();
        Work { boxes: self.work.boxes + looked, ..self.work }
    }
}

impl Drafts {
    /// The largest sum of hops with which another candidate may be better.
    fn most(&self) -> u64 {
        self.cuts_none.as_ref().map_or(u64::MAX, |best| best.distance)
    }

    /// Whether a candidate may be granted that cuts so many nodes off.
    fn can_gain(&self, cut: u32) -> bool {
        cut == 0 || self.cuts_none.is_none()
    }

    fn add(&mut self, draft: Draft, regions: &Regions) {
        if draft.cut == 0 {
            if self.cuts_none.as_ref().is_none_or(|best| draft.compare(best, regions).is_lt()) {
                self.cuts_none = Some(draft);
            }
            self.cuts_some.clear();
        } else if self.can_gain(draft.cut)
            && !self.cuts_some.iter().any(|other| other.is_same(&draft))
        {
            self.cuts_some.push(draft);
        }
    }
}

impl Draft {
    /// Less is better.
    fn compare(&self, other: &Draft, regions: &Regions) -> Ordering {
        let key = |draft: &Draft| (draft.cut, draft.distance, draft.at.is_none());
        key(self).cmp(&key(other)).then_with(|| self.ids(regions).cmp(other.ids(regions)))
    }

    fn ids<'a>(&'a self, regions: &'a Regions) -> impl Iterator<Item = NodeId> + 'a {
        let region = regions.get(self.region);
        self.nodes.iter().map(|&number| region.node(number))
    }

    /// Whether it is the same set of nodes.
    fn is_same(&self, other: &Draft) -> bool {
        (self.region, self.distance) == (other.region, other.distance) && self.nodes == other.nodes
    }
}

/// Whether no side is longer than twice another, on the axes that the grid has.
fn is_compact(grid: &Grid, sides: Sides) -> bool {
    let own = (0..3).filter(|&axis| grid.side(axis) > 1).map(|axis| sides[axis]);
    let longest = own.clone().max().unwrap_or(1);
    own.min().is_none_or(|shortest| longest <= 2 * shortest)
}
