//! Best Fit's plain search, which tests every base of a shape and scores it with a table of prefix
//! sums. Rules without an engine also use this search.

use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy, Scan, Sides};

use super::base_regions::{Regions, closed_neighbours, region};
use crate::Work;
use crate::contiguous::{BoxRule, Scored, View};
use crate::strategies::shared::contact::most_contact;
use crate::strategies::shared::prefix_sums::PrefixSums;

/// The criterion for choosing a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The most contact.
    Frame,
    /// The base with the most neighboring positions that are not bases.
    Base,
    /// The base in the smallest connected region of bases. Ties are broken as for `Base`.
    Area,
    /// The least contact: Worst Fit.
    Apart,
}

#[derive(Clone)]
pub(super) struct BestFit {
    grid: Grid,
    rule: Rule,
    sums: PrefixSums,
    regions: Regions,
    /// The number of bases tested, plus the number of nodes labeled.
    work: Work,
}

impl BestFit {
    pub(super) fn new(grid: Grid, rule: Rule) -> BestFit {
        let (sums, regions) = (PrefixSums::new(grid), Regions::default());
        BestFit { grid, rule, sums, regions, work: Work::default() }
    }

    /// Finds the best base for one orientation.
    fn best_of(&mut self, shape: Sides) -> Option<(i64, Cuboid)> {
        let (grid, sums) = (self.grid, &self.sums);
        let is_base = |base: Coordinates| sums.busy_in(&Cuboid::new(base, shape)) == 0;
        if self.rule == Rule::Area {
            self.regions.label(&grid, shape, is_base);
            self.work.words += u64::from(grid.nodes());
        }
        let perfect = match self.rule {
            Rule::Frame => most_contact(&grid, shape),
            _ => i64::MAX,
        };
        let mut best: Option<(i64, Cuboid)> = None;
        let mut tested = 0;
        let bases = Scan::default().bases(grid, shape).inspect(|_| tested += 1);
        for base in bases.filter(|&base| is_base(base)) {
            let cuboid = Cuboid::new(base, shape);
            let score = match self.rule {
                Rule::Frame => sums.contact(&cuboid),
                Rule::Apart => -sums.contact(&cuboid),
                Rule::Base => closed_neighbours(&grid, base, shape, is_base),
                Rule::Area => {
                    let size = self.regions.size(grid.id(base));
                    area_score(size, closed_neighbours(&grid, base, shape, is_base))
                }
            };
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, cuboid));
            }
            if score == perfect {
                break;
            }
        }
        self.work.boxes += tested;
        best
    }
}

impl BoxRule for BestFit {
    const READS_BUSY_LIST: bool = false;

    fn load(&mut self, view: &mut View<'_>) {
        self.sums.load(view.occupancy());
    }

    fn best(&mut self, _: &mut View<'_>, shape: Sides) -> Option<Scored> {
        self.best_of(shape).map(|(score, at)| Scored { score, at })
    }

    fn work(&self) -> Work {
        self.work + self.sums.work()
    }
}

/// Returns a score that ranks bases in smaller regions higher and, among regions of equal size,
/// bases with more closed neighbors (at most six).
fn area_score(region: u32, neighbours: i64) -> i64 {
    neighbours - 8 * i64::from(region)
}

/// Computes a base's score under the `base` rule directly from the occupancy.
pub(super) fn neighbours_of(free: &Occupancy, cuboid: &Cuboid) -> i64 {
    let is_base = |base: Coordinates| free.is_free(&Cuboid::new(base, cuboid.sides));
    closed_neighbours(free.grid(), cuboid.base, cuboid.sides, is_base)
}

/// Computes a base's score under the `area` rule directly from the occupancy.
pub(super) fn area_of(free: &Occupancy, cuboid: &Cuboid) -> i64 {
    let is_base = |base: Coordinates| free.is_free(&Cuboid::new(base, cuboid.sides));
    let size = region(free.grid(), cuboid.base, cuboid.sides, is_base);
    area_score(size, neighbours_of(free, cuboid))
}
