//! All-Shapes First Fit: try First Fit with every box that has the requested number of nodes, most
//! compact first.
//!
//! The strategy finds a free placement of one of its shapes whenever one exists. Shapes are ordered
//! by the difference between their sides, and ties go to the wider shape. On 6x6, for example, a
//! request for 12 nodes is tried as 4x3, 3x4, 6x2 and 2x6, and one for 25 nodes only as 5x5. With
//! `peripheral`, the first shape that fits is placed at the base with the most nodes on the border.
//!
//! ```text
//!   12 nodes:   . . . .   . . .   . . . . . .   . .
//!               . . . .   . . .   . . . . . .   . .  (six high)
//!               . . . .   . . .
//!                         . . .
//! ```
//!
//! Cost: d(n) First Fit searches for n nodes, where d(n) is the number of boxes of exactly n nodes
//! that fit the machine. `peripheral` scores every base of one shape, in O(1) each. A job is always
//! refused if no box of exactly n nodes fits the machine (for example, 7 nodes on 6x6).
//!
//! Source: Ababneh, Bani-Mohammad & Ould-Khaoua, "All shapes contiguous submesh allocation for 2D
//! mesh multicomputers", IJPEDS 25(5), 2010. The order follows the examples in the NAS paper.
//!
//! Departures: the abstract mentions "all shapes combined with priority to peripheral submeshes",
//! but the NAS paper omits the priority. No source says how "peripheral" is measured; counting
//! border nodes is our interpretation. Support for tori and 3D is our addition. In 3D, shapes are
//! ordered by the difference between their longest and shortest sides.

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy, Request, Scan, Sides, volume};

use crate::claim::{BoxGroup, Claim, Over, Recognition};
use crate::contiguous::complete;
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{BaseSearch, SEARCH, asked_by_count};
use crate::strategies::shared::factor_shapes::{factor_shapes, factor_shapes_into};
use crate::strategies::shared::search_strategy::{SearchRule, SearchStrategy};
use crate::{Placement, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "asff",
    title: "All-Shapes First Fit",
    source: "Ababneh, Bani-Mohammad & Ould-Khaoua 2010",
    options: &[PLACE, OptionSpec { bare: false, ..SEARCH }],
    variants: &["", "plain", "peripheral", "peripheral:plain"],
    does: StrategyKind::contiguous(build).with_claim(claim),
};

const PLACE: OptionSpec = OptionSpec {
    key: "place",
    values: Values::OneOf(&["first", "peripheral"]),
    default: "first",
    meaning: "the base to choose: the first base of the first shape that fits, or the base with \
        the most border nodes",
    bare: true,
};

/// Returns the number of nodes in the requested box.
fn nodes(request: &Request) -> Option<u32> {
    u32::try_from(volume(request.shape?)).ok()
}

fn claim(options: &Options) -> Claim {
    Claim {
        family: |request, grid, _| {
            let shapes = nodes(request).map(|nodes| factor_shapes(nodes, grid));
            shapes.unwrap_or_default().into_iter().map(BoxGroup::cuboid).collect()
        },
        recognition: match options.get("place") {
            "peripheral" => Recognition::Best {
                score: |free, cuboid| {
                    let grid = free.grid();
                    let at_border =
                        cuboid.nodes(grid).filter(|node| is_border(grid, grid.point(*node)));
                    at_border.count() as i64
                },
                over: Over::FirstShape,
                first_of_ties: true,
            },
            _ => Recognition::First,
        },
        ..complete(options)
    }
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let peripheral = options.get("place") == "peripheral";
    let search = if peripheral {
        BaseSearch::of_bases(*grid, options)
    } else {
        BaseSearch::of(*grid, options, Scan::default())
    };
    let rule = AllShapes { grid: *grid, peripheral, shapes: Vec::new(), tested: 0 };
    SearchStrategy::boxed(search, rule)
}

#[derive(Clone)]
struct AllShapes {
    grid: Grid,
    peripheral: bool,
    shapes: Vec<Sides>,
    /// The number of bases tested individually.
    tested: u64,
}

/// Returns true if a node is at either end of an axis that does not wrap.
fn is_border(grid: &Grid, point: Coordinates) -> bool {
    let has_ends = |axis: usize| grid.side(axis) > 1 && !grid.wraps(axis);
    let at_end = |axis: usize| point[axis] == 0 || point[axis] + 1 == grid.side(axis);
    (0..3).any(|axis| has_ends(axis) && at_end(axis))
}

impl AllShapes {
    /// Finds the base at which a shape has the most border nodes. Their number is the volume of the
    /// shape minus the volume of the box formed by its non-border nodes.
    fn outermost(
        &mut self,
        search: &mut BaseSearch,
        free: &Occupancy,
        shape: Sides,
    ) -> Option<Coordinates> {
        search.compute(free, shape);
        let inner = |base: Coordinates| -> u64 {
            let side = |axis: usize| {
                let n = u32::from(self.grid.side(axis));
                let (base, side) = (u32::from(base[axis]), u32::from(shape[axis]));
                let ends = u32::from(base == 0) + u32::from(base + side == n);
                let has_ends = n > 1 && !self.grid.wraps(axis);
                u64::from(if has_ends { side.saturating_sub(ends) } else { side })
            };
            side(0) * side(1) * side(2)
        };
        let mut tested = 0;
        let bases = Scan::default().bases(self.grid, shape).inspect(|_| tested += 1);
        let free = bases.filter(|&base| search.is_base(base, shape));
        let outermost = free.min_by_key(|&base| inner(base));
        self.tested += tested;
        outermost
    }
}

impl SearchRule for AllShapes {
    fn find(
        &mut self,
        search: &mut BaseSearch,
        free: &Occupancy,
        request: &Request,
    ) -> Option<Placement> {
        let nodes = nodes(request)?;
        factor_shapes_into(nodes, &self.grid, &mut self.shapes);
        search.load(free);
        if !self.peripheral {
            let asked = asked_by_count(nodes);
            let found = search.first(free, asked, &self.shapes, Scan::default());
            return found.map(Placement::Whole);
        }
        for index in 0..self.shapes.len() {
            let shape = self.shapes[index];
            if let Some(base) = self.outermost(search, free, shape) {
                return Some(Placement::Whole(Cuboid::new(base, shape)));
            }
        }
        None
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested)
    }
}
