//! Fragmentation gradient: of the free placements the one that destroys the fewest places of the
//! boxes that run.
//!
//! Misses nothing. The job mix is that of the running jobs: the four shapes, as granted, that most
//! of them have. A free base of such a shape is a place. A placement destroys every place that it
//! meets:
//!
//! ```text
//!   mix 2x2, busy #:    . . . . #     2x2 has places at the columns 0, 1 and 2. A node destroys
//!                       . . . . .     none in column 4, one in 0 and 3, two in 1 and 2.
//! ```
//!
//! The cost of a placement is the sum over the mix of how many jobs have the shape, times the share
//! of its places that are destroyed (`by=share`), or their number (`by=count`). Ties: the first in
//! scan order. Of the orientations the first that has a free base is taken.
//!
//! Cost: O(N) for each shape of the mix, up to 8 N on tori, and O(1) for each free base and shape.
//!
//! Source: the idea is that of Weng, Yang, Yu, Wang, Tang, Yang & Zhang, "Beware of fragmentation:
//! scheduling GPU-sharing workloads with fragmentation gradient descent", USENIX ATC 2023. There
//! fragments are of the GPUs of a node, and the mix is known. Boxes, the mix of what runs, and the
//! shares are the project's own.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{BaseSet, Cuboid, Grid, Occupancy, Sides};

use crate::contiguous::{BoxRule, Contiguous, Scored, TURN_ON, View};
use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::coverage::reach;
use crate::strategies::shared::prefix_sums::PrefixSums;
use crate::{Strategy, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "gradient",
    title: "Fragmentation Gradient",
    source: "after Weng et al. 2023",
    options: &[TURN_ON, BY],
    variants: &["", "turn=none", "by=count"],
    does: StrategyKind::contiguous(build),
};

const BY: OptionSpec = OptionSpec {
    key: "by",
    values: Values::OneOf(&["share", "count"]),
    default: "share",
    meaning: "destroyed places are counted as a share of the shape's places, or each as one",
    bare: false,
};

/// The most shapes of the mix.
const SHAPES: usize = 4;
/// What all places of a shape cost together, by share.
const WHOLE: i64 = 1 << 30;

fn build(grid: &Grid, options: &Options) -> Box<dyn Strategy> {
    let rule = Gradient {
        by_count: options.get("by") == "count",
        bases: BaseSet::new(*grid),
        marks: Occupancy::all_free(*grid),
        mix: Vec::new(),
        spare: Vec::new(),
        work: Work::default(),
    };
    Contiguous::new(grid, options, rule).exact().boxed()
}

/// The places of a shape of the mix.
#[derive(Clone)]
struct Places {
    shape: Sides,
    /// What each costs.
    cost: i64,
    /// A base counts as busy.
    sums: PrefixSums,
}

#[derive(Clone)]
struct Gradient {
    by_count: bool,
    bases: BaseSet,
    /// Scratch: the bases of a shape, as taken nodes.
    marks: Occupancy,
    mix: Vec<Places>,
    /// Scratch: tables that are not in use.
    spare: Vec<PrefixSums>,
    work: Work,
}

impl Gradient {
    /// The shapes that most of the busy boxes have, and how many.
    fn shapes(busy: &[Cuboid]) -> Vec<(Sides, i64)> {
        let mut counts: BTreeMap<Sides, i64> = BTreeMap::new();
        for held in busy {
            *counts.entry(held.sides).or_default() += 1;
        }
        let mut shapes: Vec<(Sides, i64)> = counts.into_iter().collect();
        shapes.sort_by_key(|&(_, jobs)| Reverse(jobs));
        shapes.truncate(SHAPES);
        shapes
    }

    /// The places of a shape that so many jobs have; none where it has none.
    fn places(&mut self, shape: Sides, jobs: i64) -> Option<Places> {
        self.bases.compute_loaded(shape);
        let mut places = 0;
        for base in self.bases.row_major() {
            self.marks.take(&Cuboid::node(base)).ok()?;
            places += 1;
        }
        self.work.boxes += places as u64;
        let cost = if self.by_count { jobs } else { jobs * (WHOLE / places.max(1)) };
        if places == 0 {
            return None;
        }
        let spare = self.spare.pop();
        let mut sums = spare.unwrap_or_else(|| PrefixSums::new(*self.bases.grid()));
        sums.load(&self.marks);
        for base in self.bases.row_major() {
            self.marks.give(&Cuboid::node(base)).ok()?;
        }
        Some(Places { shape, cost, sums })
    }
}

impl BoxRule for Gradient {
    fn load(&mut self, view: &mut View<'_>) {
        self.spare.extend(self.mix.drain(..).map(|places| places.sums));
        self.bases.load(view.occupancy());
        view.count(Work::of_boxes(view.busy().len() as u64));
        for (shape, jobs) in Gradient::shapes(view.busy()) {
            let places = self.places(shape, jobs);
            self.mix.extend(places);
        }
    }

    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        self.bases.compute_loaded(shape);
        let grid = view.grid();
        let cost = |at: &Cuboid| -> i64 {
            let of = |places: &Places| {
                places.cost * i64::from(places.sums.busy_in(&reach(grid, at, places.shape)))
            };
            self.mix.iter().map(of).sum()
        };
        let all = self.bases.row_major().map(|base| Cuboid::new(base, shape));
        let scored = all.map(|at| Scored { score: -cost(&at), at });
        let mut tested = 0;
        // `min_by_key` takes the first of equals.
        let best = scored.inspect(|_| tested += 1).min_by_key(|found| Reverse(found.score));
        view.count(Work::of_boxes(tested * (1 + self.mix.len() as u64)));
        best
    }

    fn work(&self) -> Work {
        let tables = self.mix.iter().map(|places| places.sums.work());
        let spare = self.spare.iter().map(PrefixSums::work);
        let searches = Work { words: self.bases.words_touched(), ..Work::default() };
        tables.chain(spare).fold(self.work + searches, |sum, one| sum + one)
    }
}

#[cfg(test)]
mod tests {
    use pavior_kernel::Stream;
    use pavior_mesh::{JobId, Request, Scan, orientations};

    use super::*;
    use crate::{Machine, Placement};

    /// The places of a shape, and those that a placement meets.
    fn places(free: &Occupancy, at: &Cuboid, shape: Sides) -> (i64, i64) {
        let bases = Scan::default().bases(*free.grid(), shape);
        let all = bases.map(|base| Cuboid::new(base, shape)).filter(|place| free.is_free(place));
        all.fold((0, 0), |(all, met), place| {
            (all + 1, met + i64::from(place.intersects(free.grid(), at)))
        })
    }

    fn cost(free: &Occupancy, busy: &[Cuboid], at: &Cuboid, by_count: bool) -> i64 {
        let of = |(shape, jobs): (Sides, i64)| {
            let (all, met) = places(free, at, shape);
            met * if by_count { jobs } else { jobs * (WHOLE / all.max(1)) }
        };
        Gradient::shapes(busy).into_iter().map(of).sum()
    }

    #[test]
    fn it_takes_the_first_free_base_of_the_least_cost() {
        let mut dice = Stream::new(5, 0, "gradient");
        let mut chosen = 0;
        for (name, strategy) in [
            ("mesh:7x5", "gradient"),
            ("torus:5x4x3", "gradient"),
            ("torus:6x6", "gradient:by=count"),
            ("mesh:4x4x3", "gradient:by=count"),
        ] {
            let grid: Grid = name.parse().unwrap();
            let mut machine = Machine::new(grid, strategy).unwrap();
            let mut held: Vec<(JobId, Cuboid)> = Vec::new();
            for number in 0..300 {
                if !held.is_empty() && dice.below(3) == 0 {
                    let (id, _) = held.remove(dice.below(held.len() as u64) as usize);
                    machine.release(id).unwrap();
                    continue;
                }
                let sides =
                    [0, 1, 2].map(|axis| 1 + dice.below(grid.side(axis).min(3).into()) as u16);
                let (free, busy) = (machine.free().clone(), boxes(&held));
                let fitting =
                    orientations(sides).filter(|&shape| grid.fits(shape)).find_map(|shape| {
                        let bases = Scan::default().bases(grid, shape);
                        let all = bases.map(|base| Cuboid::new(base, shape));
                        let by_count = strategy.contains("count");
                        all.filter(|at| free.is_free(at))
                            .min_by_key(|at| cost(&free, &busy, at, by_count))
                    });
                let granted = machine.allocate(JobId(number), &Request::shape(sides));
                let granted = granted.ok().map(|placement| match placement {
                    Placement::Whole(at) => *at,
                    parts @ Placement::Parts(_) => panic!("{parts:?}"),
                });
                assert_eq!(granted, fitting, "{name} {strategy}");
                held.extend(granted.map(|at| (JobId(number), at)));
                chosen += u32::from(granted.is_some());
            }
        }
        assert!(chosen > 300, "{chosen}");
    }

    fn boxes(held: &[(JobId, Cuboid)]) -> Vec<Cuboid> {
        held.iter().map(|(_, at)| *at).collect()
    }
}
