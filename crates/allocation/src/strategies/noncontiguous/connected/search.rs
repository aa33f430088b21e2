//! The search behind `connected`, which collects candidates and keeps the best one.
//!
//! Candidates are boxes, grown sets, and sets found by branch and bound. The best candidate cuts
//! off the fewest nodes; ties go to the most compact one. The [`connected`](super) documentation
//! describes the four steps.
//!
//! Invariant: `best` is the best candidate so far. Data kept between queries depends only on the
//! last state.
//!
//! Cost: see the [`connected`](super) documentation.

use std::cmp::Ordering;

use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy, Sides, volume};

use super::branch_and_bound::{BranchAndBound, STEPS};
use super::closed_region::ClosedRegion;
use super::compact_region::{CompactRegions, NextNode};
use super::component::ComponentGraphs;
use super::flood_fill::FloodFill;
use super::hop_sums::{HopSums, hops_in};
use crate::strategies::shared::box_finder::BoxFinder;
use crate::strategies::shared::components::Components;
use crate::strategies::shared::factor_shapes::factor_shapes_into;
use crate::strategies::shared::runs::runs;
use crate::{Placement, Work};

/// The maximum number of boxes to try per shape.
const BOXES: usize = 32;
/// The maximum number of components in which to grow sets that may cut off nodes.
const COMPONENTS: usize = 4;
/// An upper bound on (number of grown sets) x (nodes per set) x (sum of the machine's sides).
const GROWN_NODES: u64 = 1 << 22;

/// The search. Between queries, it keeps only data about the most recent state.
#[derive(Clone)]
pub(crate) struct ConnectedSearch {
    grid: Grid,
    /// The state to which `components` belongs.
    state: Option<Occupancy>,
    components: Components,
    boxes: BoxFinder,
    graphs: ComponentGraphs,
    best: Option<Candidate>,
    hop_sums: HopSums,
    compact: CompactRegions,
    closed: ClosedRegion,
    branch_and_bound: BranchAndBound,
    floods: FloodFill,
    work: Work,
}

/// A set that could be granted.
#[derive(Clone)]
struct Candidate {
    /// The index of the graph of the candidate's component.
    component: usize,
    /// The numbers of the candidate's nodes in the component, in row-major order.
    nodes: Vec<u32>,
    /// The candidate's box, or `None` if the candidate is not a box.
    at: Option<Cuboid>,
    /// The number of nodes that the candidate cuts off from the largest part that remains.
    cut: u32,
    /// The sum of hops over all pairs of the candidate's nodes.
    hops: u64,
}

impl ConnectedSearch {
    pub(crate) fn new(grid: Grid) -> ConnectedSearch {
        ConnectedSearch {
            grid,
            state: None,
            components: Components::default(),
            boxes: BoxFinder::new(grid),
            graphs: ComponentGraphs::new(grid),
            best: None,
            hop_sums: HopSums::new(grid),
            compact: CompactRegions::default(),
            closed: ClosedRegion::default(),
            branch_and_bound: BranchAndBound::default(),
            floods: FloodFill::default(),
            work: Work::default(),
        }
    }

    /// Returns the number of nodes in the largest component of free nodes. Takes O(N/64) time for N
    /// nodes if the state is the same as in the previous query.
    pub(crate) fn largest(&mut self, free: &Occupancy) -> u32 {
        self.work.words += u64::from(self.grid.nodes().div_ceil(64));
        if self.state.as_ref() != Some(free) {
            self.components.load(&self.grid, free);
            self.work.boxes += self.components.runs();
            match &mut self.state {
                Some(state) => state.copy_from(free),
                state => *state = Some(free.clone()),
            }
        }
        self.components.largest()
    }

    /// Finds a connected set of `nodes` free nodes, trying the box `asked` first.
    pub(crate) fn find(
        &mut self,
        free: &Occupancy,
        nodes: u32,
        asked: Option<Sides>,
    ) -> Option<Placement> {
        if nodes == 0 || nodes > free.count() || self.largest(free) < nodes {
            return None;
        }
        self.graphs.clear();
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
        let mut components = Vec::new();
        self.components.at_least(nodes, &mut components);
        self.grow(free, nodes, &components);
        self.grow_closed(free, nodes, &components);
        let best = self.best.as_ref()?;
        Some(match best.at {
            Some(at) => Placement::Whole(at),
            None => runs(&self.grid, best.ids(&self.graphs)),
        })
    }

    /// Adds free boxes of a shape as candidates, up to and including the first one that cuts off no
    /// nodes. If `at_once` is true, returns that one instead of adding it.
    fn box_of(&mut self, free: &Occupancy, sides: Sides, at_once: bool) -> Option<Cuboid> {
        let hops = hops_in(&self.grid, sides);
        if !at_once && self.most() < hops {
            return None;
        }
        let before = self.boxes.words_touched();
        let bases = self.boxes.first(sides, BOXES);
        self.work.words += self.boxes.words_touched() - before;
        for base in bases {
            let at = Cuboid::new(base, sides);
            let number = self.components.of(self.grid.id(base));
            let component = self.graphs.look_at(&self.components, number, free);
            let number = |node: NodeId| self.graphs.number(node);
            let mut nodes: Vec<u32> = at.nodes(&self.grid).map(number).collect();
            nodes.sort_unstable();
            let cut = self.floods.cut_off(self.graphs.get(component), &nodes);
            if cut == 0 && at_once {
                return Some(at);
            }
            let candidate = Candidate { component, nodes, at: Some(at), cut, hops };
            self.add(candidate);
            if cut == 0 {
                break;
            }
        }
        None
    }

    /// Grows sets in the smallest components and adds them as candidates.
    fn grow(&mut self, free: &Occupancy, nodes: u32, components: &[usize]) {
        let mut left = self.most_grown(nodes);
        for &number in components.iter().take(COMPONENTS) {
            let index = self.graphs.look_at(&self.components, number, free);
            let component = self.graphs.get(index);
            let seeds = component.seeds(&self.grid);
            // If the whole component is requested, all starts lead to the same set.
            let whole = component.count() == nodes as usize;
            let count = left.min(if whole { 1 } else { 2 * seeds.len() });
            left -= count;
            self.compact.begin(component);
            // Starts are numbered so that all seeds with one rule precede all seeds with the other.
            // Only the first `count` starts are used.
            let of_seed = |(place, &seed): (usize, &u32)| {
                let other = seeds.len() + place;
                [(place, (seed, NextNode::Fullest)), (other, (seed, NextNode::Nearest))]
            };
            // Both rules are applied to a seed before the next seed is tried, because a good set
            // bounds later ones.
            let starts = seeds.iter().enumerate().flat_map(of_seed);
            for (_, start) in starts.filter(|&(number, _)| number < count) {
                let (component, most) = (self.graphs.get(index), self.most());
                let grown = self.compact.grow(component, &mut self.hop_sums, start, nodes, most);
                if let Some(nodes) = grown.map(<[u32]>::to_vec) {
                    self.add_grown(index, nodes);
                }
            }
        }
    }

    /// While every candidate cuts off nodes, adds more candidates, one component at a time: closed
    /// regions and, in small components, sets found by branch and bound.
    fn grow_closed(&mut self, free: &Occupancy, nodes: u32, components: &[usize]) {
        let (mut left, mut steps) = (self.most_grown(nodes), STEPS);
        for &number in components {
            if self.least_cut() == 0 {
                return;
            }
            let index = self.graphs.look_at(&self.components, number, free);
            let mut seeds = self.graphs.get(index).seeds(&self.grid);
            seeds.truncate(left);
            left -= seeds.len();
            for seed in seeds {
                let (component, most) = (self.graphs.get(index), self.most());
                let (scratch, start) =
                    ((&mut self.hop_sums, &mut self.floods), (seed, nodes as usize));
                let grown = self.closed.grow(component, scratch, start, most);
                if let Some(nodes) = grown.map(<[u32]>::to_vec) {
                    self.add_grown(index, nodes);
                }
            }
            let component = self.graphs.get(index);
            if let Some(nodes) =
                self.branch_and_bound.least_cut(component, nodes, self.least_cut(), &mut steps)
            {
                self.hop_sums.load(&nodes.iter().map(|&node| component.point(node)));
                self.add_grown(index, nodes);
            }
        }
    }

    /// Returns the maximum number of sets of a given size to grow.
    fn most_grown(&self, nodes: u32) -> usize {
        let sides: u64 = self.grid.sides().iter().map(|&side| u64::from(side)).sum();
        (GROWN_NODES / (u64::from(nodes) * sides)).max(1) as usize
    }

    /// Returns the maximum sum of hops that a candidate may have and still beat the best one.
    fn most(&self) -> u64 {
        self.best.as_ref().filter(|best| best.cut == 0).map_or(u64::MAX, |best| best.hops)
    }

    /// Returns the number of nodes that the best candidate cuts off.
    fn least_cut(&self) -> u32 {
        self.best.as_ref().map_or(u32::MAX, |best| best.cut)
    }

    /// Adds the set in `hop_sums` as a candidate.
    fn add_grown(&mut self, component: usize, mut nodes: Vec<u32>) {
        let cut = self.floods.cut_off(self.graphs.get(component), &nodes);
        if cut <= self.least_cut() {
            nodes.sort_unstable();
            self.add(Candidate { component, nodes, at: None, cut, hops: self.hop_sums.total() });
        }
    }

    /// Keeps a candidate if it is better than the best one so far.
    fn add(&mut self, candidate: Candidate) {
        let is_better = |best: &Candidate| candidate.compare(best, &self.graphs).is_lt();
        if self.best.as_ref().is_none_or(is_better) {
            self.best = Some(candidate);
        }
    }

    /// Returns the work done: the number of free runs, nodes visited by growth and floods, and
    /// words compared and searched.
    pub(crate) fn work(&self) -> Work {
        let looked = self.compact.looked()
            + self.closed.looked()
            + self.branch_and_bound.looked()
            + self.floods.looked();
        Work { boxes: self.work.boxes + looked, ..self.work }
    }
}

impl Candidate {
    /// Orders two candidates so that the better one comes first.
    fn compare(&self, other: &Candidate, graphs: &ComponentGraphs) -> Ordering {
        let key = |candidate: &Candidate| (candidate.cut, candidate.hops, candidate.at.is_none());
        key(self).cmp(&key(other)).then_with(|| self.ids(graphs).cmp(other.ids(graphs)))
    }

    fn ids<'a>(&'a self, graphs: &'a ComponentGraphs) -> impl Iterator<Item = NodeId> + 'a {
        let component = graphs.get(self.component);
        self.nodes.iter().map(|&number| component.node(number))
    }
}

/// Returns true if no side is more than twice as long as another, ignoring axes that the grid
/// lacks.
fn is_compact(grid: &Grid, sides: Sides) -> bool {
    let own = (0..3).filter(|&axis| grid.side(axis) > 1).map(|axis| sides[axis]);
    let longest = own.clone().max().unwrap_or(1);
    own.min().is_none_or(|shortest| longest <= 2 * shortest)
}
