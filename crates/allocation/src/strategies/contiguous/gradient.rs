//! Fragmentation Gradient: among the free placements, pick the one that destroys the fewest places
//! for the shapes that running jobs use.
//!
//! The strategy finds a free placement whenever one exists. The job mix consists of the four most
//! common shapes among the boxes granted to running jobs. A free base of a shape in the mix is
//! called a *place*. A placement destroys every place that it overlaps:
//!
//! ```text
//!   mix 2x2, busy #:    . . . . #     2x2 has places in columns 0, 1 and 2. A node in column 4
//!                       . . . . .     destroys none of them; in column 0 or 3, one; in 1 or 2, two
//! ```
//!
//! A placement's cost is a sum over the shapes in the mix: the number of jobs with that shape,
//! times the fraction (`by=share`) or the number (`by=count`) of the shape's places that the
//! placement destroys. Ties go to the first placement in scan order. The first orientation with a
//! free base is used.
//!
//! Cost: O(N), plus O(N/64 log(side)) per shape, O(1) per place (usually 4 cells in 2D and 8 in
//! 3D), and O(1) per free base.
//!
//! Source of the idea: Weng, Yang, Yu, Wang, Tang, Yang & Zhang, "Beware of fragmentation:
//! scheduling GPU-sharing workloads with fragmentation gradient descent", USENIX ATC 2023. There,
//! fragments are parts of a node's GPUs, and the mix is known in advance. Using boxes and shares,
//! and taking the mix from the running jobs, are our own ideas.

use std::collections::BTreeMap;

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{BaseSet, Cuboid, Grid, Sides};

use crate::Work;
use crate::contiguous::{BoxRule, Contiguous, Scored, TURN_ON, View};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::meeting_costs::MeetingCosts;

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
    meaning: "the cost of losing a free base: its share of the shape's free bases, or 1",
    bare: false,
};

/// The maximum number of shapes in the mix.
const SHAPES: usize = 4;
/// The cost, per job, of destroying all of a shape's places with `by=share`.
const WHOLE: i64 = 1 << 30;

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let rule = Gradient {
        by_count: options.get("by") == "count",
        bases: BaseSet::new(*grid),
        costs: MeetingCosts::new(*grid),
        work: Work::default(),
    };
    Contiguous::new(grid, options, rule).exact().boxed()
}

#[derive(Clone)]
struct Gradient {
    by_count: bool,
    bases: BaseSet,
    costs: MeetingCosts,
    work: Work,
}

impl Gradient {
    /// Returns the most common shapes among the busy boxes, with the number of boxes of each.
    fn shapes(busy: &[Cuboid]) -> Vec<(Sides, i64)> {
        let mut counts: BTreeMap<Sides, i64> = BTreeMap::new();
        for held in busy {
            *counts.entry(held.sides).or_default() += 1;
        }
        let mut left: Vec<(Sides, i64)> = counts.into_iter().collect();
        // Ties go to the first shape, which a backward iteration reaches last.
        let most = || {
            let most = (0..left.len()).rev().max_by_key(|&at| left[at].1)?;
            Some(left.remove(most))
        };
        std::iter::from_fn(most).take(SHAPES).collect()
    }

    /// Computes the cost of every placement of a shape.
    fn weigh(&mut self, view: &View<'_>, shape: Sides) {
        self.costs.begin(shape);
        self.bases.load(view.occupancy());
        for (shape, jobs) in Gradient::shapes(view.busy()) {
            self.bases.compute_loaded(shape);
            let places = i64::from(self.bases.count());
            self.work.boxes += places as u64;
            let cost = if self.by_count { jobs } else { jobs * (WHOLE / places.max(1)) };
            self.costs.add(&self.bases, cost);
        }
        self.costs.sum();
        self.work += Work {
            boxes: view.busy().len() as u64,
            words: view.grid().nodes().into(),
            ..Work::default()
        };
    }
}

impl BoxRule for Gradient {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        self.weigh(view, shape);
        self.bases.compute_loaded(shape);
        self.work.boxes += u64::from(self.bases.count());
        // Ties go to the first base.
        let base = self.bases.row_major().min_by_key(|&base| self.costs.of(base))?;
        Some(Scored { score: -self.costs.of(base), at: Cuboid::new(base, shape) })
    }

    fn work(&self) -> Work {
        self.work + Work::of_words(self.bases.words_touched())
    }
}

#[cfg(test)]
mod tests {
    use pavior_kernel::Stream;
    use pavior_mesh::{JobId, Occupancy, Request, Scan, orientations};

    use super::*;
    use crate::{Machine, Placement};

    /// Counts a shape's free placements, and how many of them overlap a given placement.
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
