//! Blue Gene/L: a partition is a box of units with its own network, so it needs free cables as well
//! as free units.
//!
//! A node of the machine is a unit (on Blue Gene/L, a midplane of 512 nodes), and a request's shape
//! is given in units. Along each axis, a partition is a ring if `links` selects rings for that axis
//! and the axis wraps; otherwise, it is a chain. A single unit needs no cable. A job or reservation
//! that holds a box also holds the box's cables.
//!
//! ```text
//!   wiring=plain: a ring through 2 of 4 units        wiring=multi: a line also has loops,
//!   returns through the others, and takes            and a ring takes one of them
//!   the whole line
//!     +-a===a---.---.-+   the free pair on the         +-a===a---b===b-+
//!     |       a       |   right gets no ring, but      | \___/   \___/ |  loops=2: two rings
//!     +===============+   it can hold two jobs of 1    +---------------+  can share a line
//! ```
//!
//! `plain` is therefore the same as `multi` with one loop. Chains never compete for a cable,
//! because the cables between a partition's units belong to no other partition.
//!
//! Within its model, the strategy misses nothing: it refuses a request only if every box with an
//! allowed shape needs a unit or cable that is not free. If several boxes are possible, `place`
//! chooses one. A free box whose cables are taken is not granted.
//!
//! Cost: O(N/64 log(side)) per shape. For a shape that needs cables, the units on any line whose
//! cables are taken count as busy. For every placement that overlaps the current largest free box,
//! `mfp` searches for the largest free box again.
//!
//! Source: Aridor, Domany, Goldshmidt, Moreira & Shmueli, "Resource allocation and utilization in
//! the Blue Gene/L supercomputer", IBM J. R&D 49(2/3), 2005 (rectangular partitions, dedicated
//! links, multi-toroidal lines); Krevat, Castaños & Moreira, "Job scheduling for the BlueGene/L
//! system", JSSPP 2002 (`mfp`: keep the maximal free partition large).
//!
//! Departures: the cables are our own model, based on descriptions in these sources. Three details
//! are also our own: the number of loops per line, cables that pass through failed units and other
//! partitions' units, and the fact that `mfp` counts free units regardless of their cables.

mod cables;
mod judge;

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::{BaseSet, Cuboid, Grid, Occupancy, Request, Scan, Sides, volume};

use crate::claim::{BoxGroup, Claim, Recognition};
use crate::contiguous::complete;
use crate::kind::{BoxedStrategy, Entry, StrategyKind, Unsupported};
use crate::strategies::shared::factor_shapes::{factor_shapes, factor_shapes_into};
use crate::strategies::shared::turning::{TURN_ON, Turn, box_family};
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};
use cables::Cables;
use judge::{allowed, feasible};

pub(crate) static ENTRY: Entry = Entry {
    name: "bluegene",
    title: "Blue Gene/L Partitions",
    source: "Aridor, Domany et al. 2005; Krevat, Castaños & Moreira 2002",
    options: &[WIRING, PLACE, LINKS, LOOPS, SHAPES, TURN_ON],
    variants: &["", "mfp", "multi", "multi:loops=1:shapes=all", "links=mesh", "turn=none"],
    does: StrategyKind::contiguous(build).with_supports(supports).with_claim(claim),
};

const WIRING: OptionSpec = OptionSpec {
    key: "wiring",
    values: Values::OneOf(&["plain", "multi"]),
    default: "plain",
    meaning: "the wiring of each line: one cable between neighbors, or one cable plus additional \
              loops (multi-toroidal)",
    bare: true,
};

const PLACE: OptionSpec = OptionSpec {
    key: "place",
    values: Values::OneOf(&["first", "mfp"]),
    default: "first",
    meaning: "the partition to choose: the first possible one, or the one that leaves the largest \
              free box",
    bare: true,
};

const LINKS: OptionSpec = OptionSpec {
    key: "links",
    values: Values::Text("torus, mesh, or a letter t or m for each axis, such as ttm", is_links),
    default: "torus",
    meaning: "the axes along which partitions are wired as rings (only axes that wrap can be)",
    bare: false,
};

const LOOPS: OptionSpec = OptionSpec {
    key: "loops",
    values: Values::Integer(1, 65535),
    default: "2",
    meaning: "with wiring=multi, the number of loops on each line; each loop allows one ring \
              through part of the line",
    bare: false,
};

const SHAPES: OptionSpec = OptionSpec {
    key: "shapes",
    values: Values::OneOf(&["asked", "all"]),
    default: "asked",
    meaning: "the shapes to try: the requested one (rotated as `turn` allows), or any box with the \
        same number of units",
    bare: false,
};

fn is_links(text: &str) -> bool {
    let letters = text.bytes().all(|letter| matches!(letter, b't' | b'm'));
    matches!(text, "torus" | "mesh") || (letters && (1..=3).contains(&text.len()))
}

/// Returns a flag per axis: true if partitions form rings along that axis whenever it wraps.
fn torus_axes(options: &Options) -> [bool; 3] {
    match options.get("links") {
        "torus" => [true; 3],
        "mesh" => [false; 3],
        letters => std::array::from_fn(|axis| letters.as_bytes().get(axis) == Some(&b't')),
    }
}

/// Returns the maximum number of rings that can use part of the same line. With plain wiring, a
/// ring occupies the whole line, because its return path uses the cables of all other units.
fn rings_a_line(options: &Options) -> u32 {
    match options.get("wiring") {
        "plain" => 1,
        _ => options.integer("loops") as u32,
    }
}

fn supports(grid: &Grid, options: &Options) -> Result<(), Unsupported> {
    let letters = options.get("links");
    if matches!(letters, "torus" | "mesh") || letters.len() == grid.axes() {
        Ok(())
    } else {
        Err(Unsupported(format!("links={letters} must have one letter per axis")))
    }
}

fn claim(options: &Options) -> Claim {
    Claim { family, recognition: Recognition::Own { feasible, allowed }, ..complete(options) }
}

fn family(request: &Request, grid: &Grid, options: &Options) -> Vec<BoxGroup> {
    match (options.get("shapes"), request.shape) {
        ("all", Some(shape)) if volume(shape) <= u64::from(grid.nodes()) => {
            factor_shapes(volume(shape) as u32, grid).into_iter().map(BoxGroup::cuboid).collect()
        }
        ("all", _) => Vec::new(),
        _ => box_family(request, grid, options),
    }
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    Box::new(BlueGene {
        grid: *grid,
        turn: Turn::of(options),
        all_shapes: options.get("shapes") == "all",
        largest: options.get("place") == "mfp",
        cables: Cables::new(*grid, torus_axes(options), rings_a_line(options)),
        bases: BaseSet::new(*grid),
        usable: Occupancy::all_free(*grid),
        left: Occupancy::all_free(*grid),
        shapes: Vec::new(),
        tested: 0,
    })
}

#[derive(Clone)]
struct BlueGene {
    grid: Grid,
    turn: Turn,
    all_shapes: bool,
    /// True if the strategy chooses the placement that leaves the largest free box.
    largest: bool,
    cables: Cables,
    bases: BaseSet,
    /// Scratch space for the free units whose lines have enough cables left for a shape.
    usable: Occupancy,
    /// Scratch space for the units that a placement would leave free.
    left: Occupancy,
    /// Scratch space for the shapes to try, in order.
    shapes: Vec<Sides>,
    /// The number of partitions compared by `mfp`, not counting its searches for the largest free
    /// box.
    tested: u64,
}

impl BlueGene {
    /// Finds the first box of a shape such that all of the box's units and cables are available.
    fn first(&mut self, free: &Occupancy, shape: Sides) -> Option<Cuboid> {
        self.cables.usable(free, shape, &mut self.usable);
        let base = self.bases.find(&self.usable, shape, Scan::default())?;
        Some(Cuboid::new(base, shape))
    }

    /// Finds the first partition that leaves the largest possible free box.
    fn least_harmful(&mut self, free: &Occupancy) -> Option<Cuboid> {
        self.left.copy_from(free);
        // No placement can enlarge the largest free box, so the search ends at a placement that
        // preserves its size. The current largest box is computed only once a partition is
        // possible.
        let mut before = None;
        let mut best: Option<(u32, Cuboid)> = None;
        for &shape in &self.shapes {
            self.cables.usable(free, shape, &mut self.usable);
            self.bases.compute(&self.usable, shape);
            for base in self.bases.row_major() {
                let cuboid = Cuboid::new(base, shape);
                self.tested += 1;
                let before = *before.get_or_insert_with(|| free.largest_free());
                if before.is_some_and(|largest| !largest.intersects(&self.grid, &cuboid)) {
                    return Some(cuboid);
                }
                self.left.take(&cuboid).expect("the box was found free");
                let most = best.map_or(0, |(most, _)| most);
                let better = self.left.largest_free_above(most).map(|rest| rest.volume());
                self.left.give(&cuboid).expect("the box was found free");
                if better.is_some() && better == before.map(|largest| largest.volume()) {
                    return Some(cuboid);
                }
                match better {
                    Some(largest) => best = Some((largest, cuboid)),
                    None => best = best.or(Some((0, cuboid))),
                }
            }
        }
        best.map(|(_, cuboid)| cuboid)
    }
}

impl Strategy for BlueGene {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let units = volume(request.shape?);
        if units > u64::from(free.count()) {
            return None;
        }
        if self.all_shapes {
            factor_shapes_into(units as u32, &self.grid, &mut self.shapes);
        } else {
            self.shapes.clear();
            self.shapes.extend(self.turn.shapes(self.grid, request));
        }
        let found = if self.largest {
            self.least_harmful(free)
        } else {
            (0..self.shapes.len()).find_map(|index| self.first(free, self.shapes[index]))
        };
        found.map(Placement::Whole)
    }

    fn granted(&mut self, placement: &Placement) {
        self.cables.take(placement);
    }

    fn released(&mut self, placement: &Placement) {
        self.cables.give(placement);
    }

    fn work(&self) -> Work {
        let found = Work::of_boxes(self.tested) + Work::of_words(self.bases.words_touched());
        found + self.cables.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        if free.count() == self.grid.nodes() {
            self.cables.validate_unused();
        }
    }
}

impl MachineStrategy for BlueGene {}
