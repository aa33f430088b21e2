//! A compact connected set of free nodes that cuts as little as it can off the rest: `connected`.

use std::cmp::Ordering;

use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy, Sides, volume};

use super::branch_and_bound::{STEPS, Trial};
use super::closed_growth::ClosedGrowth;
use super::compact_growth::{Next, SetGrowth};
use super::component::Regions;
use super::cut_off::Floods;
use super::hop_sums::{Spread, distance_in};
use crate::strategies::shared::box_finder::BoxFinder;
use crate::strategies::shared::components::ConnectedSets;
use crate::strategies::shared::factor_shapes::factor_shapes_into;
use crate::strategies::shared::runs::runs;
use crate::{Placement, Work};

/// The most boxes that are looked at for one shape.
const BOXES: usize = 32;
/// The most sets of free nodes in which sets are grown that may cut something off.
const REGIONS: usize = 4;
/// What bounds the number of sets that are grown for large requests: nodes times sides.
const GROWING: u64 = 1 << 22;

/// Finds connected sets. It keeps nothing but what it knows of the last state, with which it
/// compares.
#[derive(Clone)]
pub(crate) struct ConnectedSearch {
    grid: Grid,
    /// The state that `sets` is of.
    state: Option<Occupancy>,
    sets: ConnectedSets,
    boxes: BoxFinder,
    regions: Regions,
    best: Option<Draft>,
    spread: Spread,
    growth: SetGrowth,
    closed: ClosedGrowth,
    trial: Trial,
    floods: Floods,
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

impl ConnectedSearch {
    pub(crate) fn new(grid: Grid) -> ConnectedSearch {
        ConnectedSearch {
            grid,
            state: None,
            sets: ConnectedSets::default(),
            boxes: BoxFinder::new(grid),
            regions: Regions::new(grid),
            best: None,
            spread: Spread::new(grid),
            growth: SetGrowth::default(),
            closed: ClosedGrowth::default(),
            trial: Trial::default(),
            floods: Floods::default(),
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

    /// A connected set of so many free nodes, if there is one; `asked` is a box that is tried
    /// first.
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
        self.best = None;
        let fits = |sides: &Sides| volume(*sides) == u64::from(nodes) && self.grid.fits(*sides);
        let asked = asked.filter(fits);
        let mut shapes = Vec::new();
        factor_shapes_into(nodes, &self.grid, &mut shapes);
        shapes.retain(|&sides| Some(sides) != asked);
        self.boxes.load(free);
        for sides in asked.into_iter().chain(shapes) {
            let at_once = Some(sides) == asked || is_compact(&self.grid, sides);
            if let Some(at) = self.box_of(free, sides, at_once) {
                return Some(Placement::Whole(at));
            }
        }
        let mut sets = Vec::new();
        self.sets.at_least(nodes, &mut sets);
        self.grow(free, nodes, &sets);
        self.grow_closed(free, nodes, &sets);
        let best = self.best.as_ref()?;
        Some(match best.at {
            Some(at) => Placement::Whole(at),
            None => runs(&self.grid, best.ids(&self.regions)),
        })
    }

    /// Looks at the free boxes of a shape, up to the first that cuts nothing off, which is answered
    /// if it is to be taken at once.
    fn box_of(&mut self, free: &Occupancy, sides: Sides, at_once: bool) -> Option<Cuboid> {
        let distance = distance_in(&self.grid, sides);
        if !at_once && self.most() < distance {
            return None;
        }
        let before = self.boxes.words_touched();
        let bases = self.boxes.first(sides, BOXES);
        self.work.words += self.boxes.words_touched() - before;
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
            self.add(draft);
            if cut == 0 {
                break;
            }
        }
        None
    }

    /// Grows sets from the corners of the first sets of free nodes.
    fn grow(&mut self, free: &Occupancy, nodes: u32, sets: &[usize]) {
        let mut left = self.most_grown(nodes);
        for &set in sets.iter().take(REGIONS) {
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
                let (region, most) = (self.regions.get(index), self.most());
                let grown =
                    self.growth.grow(&self.grid, region, &mut self.spread, start, nodes, most);
                if let Some(nodes) = grown.map(<[u32]>::to_vec) {
                    self.add_grown(index, nodes);
                }
            }
        }
    }

    /// As long as all candidates cut something off, grows sets with what they would cut off, in one
    /// set of free nodes after the other, and tries all sets of small ones.
    fn grow_closed(&mut self, free: &Occupancy, nodes: u32, sets: &[usize]) {
        let (mut left, mut steps) = (self.most_grown(nodes), STEPS);
        for &set in sets {
            if self.least_cut() == 0 {
                return;
            }
            let index = self.regions.look_at(&self.sets, set, free);
            let mut seeds = self.regions.get(index).seeds(&self.grid);
            seeds.truncate(left);
            left -= seeds.len();
            for seed in seeds {
                let (region, most) = (self.regions.get(index), self.most());
                let (scratch, start) =
                    ((&mut self.spread, &mut self.floods), (seed, nodes as usize));
                let grown = self.closed.grow(&self.grid, region, scratch, start, most);
                if let Some(nodes) = grown.map(<[u32]>::to_vec) {
                    self.add_grown(index, nodes);
                }
            }
            let region = self.regions.get(index);
            if let Some(nodes) = self.trial.least_cut(region, nodes, self.least_cut(), &mut steps) {
                self.spread.load(&nodes.iter().map(|&node| region.point(node)));
                self.add_grown(index, nodes);
            }
        }
    }

    /// How many sets may be grown.
    fn most_grown(&self, nodes: u32) -> usize {
        let sides: u64 = self.grid.sides().iter().map(|&side| u64::from(side)).sum();
        (GROWING / (u64::from(nodes) * sides)).max(1) as usize
    }

    /// The largest sum of hops with which another candidate may be better.
    fn most(&self) -> u64 {
        self.best.as_ref().filter(|best| best.cut == 0).map_or(u64::MAX, |best| best.distance)
    }

    /// How many nodes the best candidate cuts off.
    fn least_cut(&self) -> u32 {
        self.best.as_ref().map_or(u32::MAX, |best| best.cut)
    }

    /// Adds a set whose spread is known.
    fn add_grown(&mut self, region: usize, mut nodes: Vec<u32>) {
        let cut = self.floods.cut_off(self.regions.get(region), &nodes);
        if cut <= self.least_cut() {
            nodes.sort_unstable();
            self.add(Draft { region, nodes, at: None, cut, distance: self.spread.total() });
        }
    }

    fn add(&mut self, draft: Draft) {
        let is_better = |best: &Draft| draft.compare(best, &self.regions).is_lt();
        if self.best.as_ref().is_none_or(is_better) {
            self.best = Some(draft);
        }
    }

    /// Runs of free nodes, nodes of the fringes and of the floods; words compared and searched.
    pub(crate) fn work(&self) -> Work {
        let looked = self.growth.looked()
            + self.closed.looked()
            + self.trial.looked()
            + self.floods.looked();
        Work { boxes: self.work.boxes + looked, ..self.work }
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
}

/// Whether no side is longer than twice another, on the axes that the grid has.
fn is_compact(grid: &Grid, sides: Sides) -> bool {
    let own = (0..3).filter(|&axis| grid.side(axis) > 1).map(|axis| sides[axis]);
    let longest = own.clone().max().unwrap_or(1);
    own.min().is_none_or(|shortest| longest <= 2 * shortest)
}
