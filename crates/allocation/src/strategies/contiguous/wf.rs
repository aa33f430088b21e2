//! Worst Fit: pick the base whose placement has the most free space around it.
//!
//! The strategy finds a free base for the requested orientation whenever one exists. `turn=all` and
//! `turn=best` work as in Best Fit, and ties go to the first base in row-major order. The rule can
//! be read in two ways:
//!
//! - `contact` (default): the base with the least contact with busy nodes and borders (Best Fit's
//!   score, negated);
//! - `prism`: a base inside the largest free box (prism) that can contain the shape.
//!
//! ```text
//!   contact, request 1x1      prism, request 1x1
//!   . . . . .                 # . . . .
//!   . . . . .                 # . . . .     the largest free box is
//!   . P . . .                 # P . . .     the 4x3 on the right
//!   . . . . .                 . # # # #
//! ```
//!
//! Cost: `contact` costs as much as Best Fit, both with the engine and with `plain`. `prism` visits
//! every combination of an interval of rows and an interval of planes, and scans the columns. At
//! worst, this takes O(W (D H)^2) on a W x D x H machine. Intervals that cannot beat the best box
//! found so far are skipped.
//!
//! Source: Qiao & Ni, MSU technical report, 1994 (on 3D meshes and tori, for which Worst Fit did
//! worse than FF and BF). We do not know their scoring rule, so both readings are reconstructions.

use std::cell::Cell;

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy, Scan, Sides};

use super::bf;
use crate::Work;
use crate::claim::Claim;
use crate::contiguous::{BoxRule, Contiguous, Scored, View};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::ENGINE_BY_KEY;
use crate::strategies::shared::contact::contact;
use crate::strategies::shared::prefix_sums::PrefixSums;
use crate::strategies::shared::turning::TURN_BEST_OFF;

pub(crate) static ENTRY: Entry = Entry {
    name: "wf",
    title: "Worst Fit",
    source: "Qiao & Ni 1994",
    options: &[RULE, TURN_BEST_OFF, ENGINE_BY_KEY],
    variants: &["", "plain", "prism", "turn=all", "turn=best", "plain:turn=best"],
    does: StrategyKind::contiguous(build).with_turns(false).with_claim(claim),
};

const RULE: OptionSpec = OptionSpec {
    key: "rule",
    values: Values::OneOf(&["contact", "prism"]),
    default: "contact",
    meaning: "the preferred base: the one with the least contact, or one inside the largest free \
              prism",
    bare: true,
};

fn claim(options: &Options) -> Claim {
    let score: fn(&Occupancy, &Cuboid) -> i64 = match options.get("rule") {
        "prism" => |free, cuboid| {
            let mut most = 0;
            room(free, *cuboid, 2, &mut most);
            i64::from(most)
        },
        _ => |free, cuboid| -contact(free, cuboid),
    };
    bf::best_claim(score, options)
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    if options.get("rule") == "contact" {
        return bf::build_with(grid, options, bf::Rule::Apart);
    }
    let rule = LargestPrism { grid: *grid, sums: PrefixSums::new(*grid), tested: 0 };
    Contiguous::new(grid, options, rule).boxed()
}

#[derive(Clone)]
struct LargestPrism {
    grid: Grid,
    sums: PrefixSums,
    /// The number of columns tested.
    tested: u64,
}

/// The volume of the largest prism found so far, and the first base in such a prism.
#[derive(Clone, Copy, Debug, Default)]
struct Best {
    volume: u32,
    base: Coordinates,
}

impl LargestPrism {
    /// Finds the largest free box that contains a shape.
    fn largest(&mut self, shape: Sides) -> Best {
        let mut best = Best::default();
        let plane = u32::from(self.grid.side(0));
        for (z, c) in self.intervals(2, shape[2]) {
            if plane * u32::from(self.grid.side(1)) * u32::from(c) < best.volume {
                continue;
            }
            for (y, b) in self.intervals(1, shape[1]) {
                if plane * u32::from(b) * u32::from(c) >= best.volume {
                    self.tested += self.walk(Cuboid::new([0, y, z], [1, b, c]), shape, &mut best);
                }
            }
        }
        best
    }

    /// Returns an axis's intervals of `least` or more coordinates, as `(first, length)`, longest
    /// first.
    fn intervals(&self, axis: usize, least: u16) -> impl Iterator<Item = (u16, u16)> + use<> {
        let grid = self.grid;
        (least..=grid.side(axis))
            .rev()
            .flat_map(move |length| (0..grid.starts(axis, length)).map(move |at| (at, length)))
    }

    /// Passes each run of free columns to `best`, as a box that spans the given rows and planes.
    /// Returns the number of columns tested.
    fn walk(&self, column: Cuboid, shape: Sides, best: &mut Best) -> u64 {
        let n = self.grid.side(0);
        let tested = Cell::new(0);
        let is_free = |x: u32| {
            tested.set(tested.get() + 1);
            let mut column = column;
            column.base[0] = (x % u32::from(n)) as u16;
            self.sums.busy_in(&column) == 0
        };
        // On a ring, start just after a busy column so that no run is split in two.
        let busy = (0..u32::from(n)).find(|&x| self.grid.wraps(0) && !is_free(x));
        let from = busy.map_or(0, |x| x + 1);
        let mut run = 0;
        for x in from..from + u32::from(n) {
            run = if is_free(x) { run + 1 } else { 0 };
            let ends = run > 0 && (x + 1 == from + u32::from(n) || !is_free(x + 1));
            if ends && run >= shape[0] {
                let mut prism = column;
                prism.base[0] = ((x + 1 - u32::from(run)) % u32::from(n)) as u16;
                prism.sides[0] = run;
                self.offer(prism, shape, best);
            }
        }
        tested.get()
    }

    fn offer(&self, prism: Cuboid, shape: Sides, best: &mut Best) {
        let base = std::array::from_fn(|axis| {
            let n = self.grid.side(axis);
            let last = u32::from(prism.base[axis]) + u32::from(prism.sides[axis] - shape[axis]);
            // A prism that closes a ring or extends past the ring's end contains a base at 0.
            let around = prism.sides[axis] == n || last >= u32::from(n);
            if around { 0 } else { prism.base[axis] }
        });
        let key = |base| Scan::default().key(base);
        let volume = prism.volume();
        if volume > best.volume || (volume == best.volume && key(base) < key(best.base)) {
            *best = Best { volume, base };
        }
    }
}

impl BoxRule for LargestPrism {
    const READS_BUSY_LIST: bool = false;

    fn load(&mut self, view: &mut View<'_>) {
        self.sums.load(view.occupancy());
    }

    fn best(&mut self, _: &mut View<'_>, shape: Sides) -> Option<Scored> {
        let best = self.largest(shape);
        let at = Cuboid::new(best.base, shape);
        (best.volume > 0).then_some(Scored { score: best.volume.into(), at })
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested) + self.sums.work()
    }
}

/// Computes the volume of the largest free box obtained by widening a free box along the axes up to
/// `axis`. The oracle uses this slow, stepwise method to compute the `prism` score.
fn room(free: &Occupancy, inside: Cuboid, axis: usize, most: &mut u32) {
    let reach: [[u32; 2]; 3] = std::array::from_fn(|axis| reach(free, inside, axis));
    let widest = |axis: usize| {
        let widened = inside.sides.map(u32::from)[axis] + reach[axis].iter().sum::<u32>();
        u64::from(widened.min(u32::from(free.grid().side(axis))))
    };
    let bound: u64 = (0..3)
        .map(|other| if other <= axis { widest(other) } else { inside.sides[other].into() })
        .product();
    if bound <= u64::from(*most) {
        return;
    }
    let n = u32::from(free.grid().side(axis));
    let (base, side) = (u32::from(inside.base[axis]), u32::from(inside.sides[axis]));
    for below in (0..=reach[axis][0]).rev() {
        for above in (0..=reach[axis][1]).rev() {
            if side + below + above > n {
                continue;
            }
            let mut wider = inside;
            wider.sides[axis] = (side + below + above) as u16;
            wider.base[axis] = ((base + n - below) % n) as u16;
            match axis {
                0 => *most = wider.volume().max(*most),
                _ => room(free, wider, axis - 1, most),
            }
        }
    }
}

/// Returns the number of nodes by which a free box can be extended along an axis while staying
/// free: first below its base, then above its end.
fn reach(free: &Occupancy, cuboid: Cuboid, axis: usize) -> [u32; 2] {
    let (grid, n) = (free.grid(), u32::from(free.grid().side(axis)));
    let (base, side) = (u32::from(cuboid.base[axis]), u32::from(cuboid.sides[axis]));
    let is_free = |at: u32| {
        let mut slab = cuboid;
        (slab.base[axis], slab.sides[axis]) = ((at % n) as u16, 1);
        free.is_free(&slab)
    };
    let (low, high) = if grid.wraps(axis) { (n - side, n - side) } else { (base, n - base - side) };
    let below = (1..=low).take_while(|step| is_free(base + n - step)).count();
    let above = (1..=high).take_while(|step| is_free(base + side - 1 + step)).count();
    [below as u32, above as u32]
}
