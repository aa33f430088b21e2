//! TPU pods: cubes of 4x4x4 chips that optical circuit switches or fixed wires join into slices.
//!
//! The machine is a grid of chips whose sides are multiples of 4. A cube is an aligned 4x4x4 box in
//! this grid, and cubes are numbered in row-major order. A request's shape is the shape of the
//! slice, in chips and in any orientation:
//!
//! - All sides are multiples of 4: the slice consists of whole cubes. With `ocs`, any free cubes
//!   will do, wherever they are. The lowest-numbered free cubes are taken. Each cube is one part,
//!   and the parts are in the order of the slice's own cubes. With `static`, the cubes must form a
//!   box. The box is found by First Fit, is rotated if necessary, and may wrap around.
//! - All sides are 1, 2 or 4: the slice is an aligned box inside one cube. The fullest cube with
//!   room for it is chosen, so that whole cubes stay free.
//! - Any other shape is granted only with `round=up`, which lengthens its sides to 1, 2 or 4 if no
//!   side is longer than 4, and to multiples of 4 otherwise.
//!
//! A request for a count without a shape gets the smallest slice that is large enough: 1, 2, 4,
//! ..., or 32 chips in one cube, or whole cubes.
//!
//! ```text
//!   ocs: 8x8x4, four cubes          static: the same free cubes
//!     # a # a                         # . # .     no 2x2 of them
//!     a # a #                         . # . #     is free: refused
//! ```
//!
//! Within its model, the strategy finds a slice whenever there is one. With `ocs`, external
//! fragmentation occurs inside cubes but not among whole cubes. A failed chip excludes its cube
//! from all whole-cube slices. With `ocs`, a slice of several cubes has fibers through every
//! switch, so no such slice can be formed while any switch is missing.
//!
//! Cost: O(C) for C cubes, and O(64) for each cube that could be the fullest. With `static`, it is
//! O(C/64 log(side)) per orientation.
//!
//! Source: Jouppi et al., "TPU v4: an optically reconfigurable supercomputer for machine learning
//! with hardware support for embeddings", ISCA 2023 (4x4x4 cubes, any i x j x k of them, and the
//! comparison with static wiring); Google Cloud's documentation of slice topologies. Our choices:
//! the lowest-numbered cubes and the fullest cube are taken, and single chips are allocated rather
//! than 2x2x1 hosts. Twisted slices (n x n x 2n, n x 2n x 2n) need the same cubes as untwisted
//! ones, so they make no difference here.

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::{
    BaseSet, Cubes, Cuboid, Grid, NodeId, Occupancy, Request, Scan, Sides, orientations, volume,
};

use crate::claim::{Claim, Grants, Recognition, Scene, by_count};
use crate::kind::{BoxedStrategy, Entry, StrategyKind, Unsupported};
use crate::strategies::shared::factor_shapes::factor_shapes_into;
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "tpu",
    title: "TPU Pod Slices",
    source: "Jouppi et al. 2023; Google Cloud TPU documentation",
    options: &[WIRING, ROUND],
    variants: &["", "static", "ocs:round=up", "static:round=up"],
    does: StrategyKind::noncontiguous(build)
        .with_turns(true)
        .with_supports(supports)
        .with_claim(claim),
};

const WIRING: OptionSpec = OptionSpec {
    key: "wiring",
    values: Values::OneOf(&["ocs", "static"]),
    default: "ocs",
    meaning: "the links between cubes: optical circuit switches, or only wires between neighbors",
    bare: true,
};

const ROUND: OptionSpec = OptionSpec {
    key: "round",
    values: Values::OneOf(&["none", "up"]),
    default: "none",
    meaning: "shapes that are not slices: always refused (none) or enlarged to slices (up)",
    bare: false,
};

const EDGE: u16 = Cubes::EDGE;
/// The number of chips in a cube.
const CUBE: u32 = Cubes::VOLUME;

fn supports(grid: &Grid, _: &Options) -> Result<(), Unsupported> {
    match Cubes::of(grid) {
        Some(_) => Ok(()),
        None => {
            Err(Unsupported("it requires three axes with sides that are multiples of 4".into()))
        }
    }
}

fn claim(options: &Options) -> Claim {
    Claim {
        grants: Grants::RoundsUp { most },
        recognition: Recognition::Own { feasible, allowed },
        ..by_count(options)
    }
}

/// Returns the number of chips in the requested slice.
fn most(request: &Request, _: &Grid, options: &Options) -> u64 {
    match Slice::of(request, options.get("round") == "up") {
        None => 0,
        Some(Slice::Inside(sides)) => volume(sides),
        Some(Slice::Cubes(count, _)) => count * u64::from(CUBE),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slice {
    /// A box with these sides inside one cube. Each side is 1, 2 or 4.
    Inside(Sides),
    /// The number of cubes, and the sides of their box in cubes (`None` if any sides will do).
    Cubes(u64, Option<Sides>),
}

impl Slice {
    fn of(request: &Request, round: bool) -> Option<Slice> {
        let Some(mut sides) = request.shape else {
            return Some(Slice::of_count(request.nodes));
        };
        let small = sides.iter().all(|&side| side <= EDGE);
        if round && small {
            sides = sides.map(u16::next_power_of_two);
        } else if round {
            // A side that overflows when rounded up does not fit on any machine.
            sides = sides.map(|side| side.checked_next_multiple_of(EDGE).unwrap_or(u16::MAX));
        }
        if sides.iter().all(|side| side % EDGE == 0) {
            let cubes = sides.map(|side| side / EDGE);
            Some(Slice::Cubes(volume(cubes), Some(cubes)))
        } else if small && sides.iter().all(|side| side.is_power_of_two()) {
            Some(Slice::Inside(sides))
        } else {
            None
        }
    }

    fn of_count(nodes: u32) -> Slice {
        match nodes {
            1 => Slice::Inside([1, 1, 1]),
            2 => Slice::Inside([1, 1, 2]),
            3..=4 => Slice::Inside([1, 2, 2]),
            5..=8 => Slice::Inside([2, 2, 2]),
            9..=16 => Slice::Inside([2, 2, 4]),
            17..=32 => Slice::Inside([2, 4, 4]),
            _ => Slice::Cubes(u64::from(nodes.div_ceil(CUBE)), None),
        }
    }
}

fn cube_grid(grid: &Grid) -> Grid {
    *Cubes::of(grid).expect("the strategy works on pods only").grid()
}

/// Returns the boxes that a slice can occupy inside a cube, each aligned to its own sides. The
/// boxes are sorted by orientation, and then by base in row-major order.
fn aligned(cube: Cuboid, sides: Sides) -> impl Iterator<Item = Cuboid> {
    let starts = move |axis: usize, side: u16| {
        let base = cube.base[axis];
        (base..base + EDGE).step_by(usize::from(side))
    };
    orientations(sides).flat_map(move |[a, b, c]| {
        starts(2, c).flat_map(move |z| {
            starts(1, b)
                .flat_map(move |y| starts(0, a).map(move |x| Cuboid::new([x, y, z], [a, b, c])))
        })
    })
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let cubes = cube_grid(grid);
    Box::new(Tpu {
        grid: *grid,
        cubes,
        anywhere: options.get("wiring") == "ocs",
        round: options.get("round") == "up",
        busy: vec![0; cubes.nodes() as usize],
        whole: Occupancy::all_free(cubes),
        bases: BaseSet::new(cubes),
        shapes: Vec::new(),
        work: Work::default(),
    })
}

#[derive(Clone)]
struct Tpu {
    grid: Grid,
    cubes: Grid,
    /// True if a slice may consist of any cubes.
    anywhere: bool,
    round: bool,
    /// For each cube, the number of its chips that are not free.
    busy: Vec<u32>,
    /// The cubes that are completely free.
    whole: Occupancy,
    bases: BaseSet,
    /// Scratch space for the shapes to try, in order, measured in cubes.
    shapes: Vec<Sides>,
    /// The work done so far: cubes tested, boxes tested inside cubes, and chips updated by grants
    /// and releases.
    work: Work,
}

impl Tpu {
    fn cube(&self, cube: NodeId) -> Cuboid {
        Cubes::scaled(Cuboid::node(self.cubes.point(cube)))
    }

    /// Finds a free aligned box inside the fullest cube that has one.
    fn inside(&mut self, free: &Occupancy, sides: Sides) -> Option<Placement> {
        let needed = volume(sides) as u32;
        let mut best: Option<(u32, Cuboid)> = None;
        for cube in (0..self.cubes.nodes()).map(NodeId) {
            let busy = self.busy[cube.index()];
            self.work.boxes += 1;
            if busy + needed <= CUBE && best.is_none_or(|(most, _)| busy > most) {
                let parts = aligned(self.cube(cube), sides);
                let mut parts = parts.inspect(|_| self.work.boxes += 1);
                let found = parts.find(|part| free.is_free(part));
                best = found.map(|part| (busy, part)).or(best);
            }
        }
        best.map(|(_, part)| Placement::Whole(part))
    }

    /// Finds the first free box of `count` cubes. The sides, if given, may be permuted.
    fn wired(&mut self, count: u32, sides: Option<Sides>) -> Option<Placement> {
        match sides {
            None => factor_shapes_into(count, &self.cubes, &mut self.shapes),
            Some(sides) => {
                self.shapes.clear();
                self.shapes.extend(orientations(sides));
            }
        }
        let (bases, whole) = (&mut self.bases, &self.whole);
        self.shapes.iter().find_map(|&shape| {
            let base = bases.find(whole, shape, Scan::default())?;
            Some(Placement::Whole(Cubes::scaled(Cuboid::new(base, shape))))
        })
    }

    /// Adds `by` to each cube's busy count for every chip of the placement in that cube.
    fn change(&mut self, placement: &Placement, by: i32) {
        for part in placement.parts() {
            for node in part.nodes(&self.grid) {
                let cube = self.cubes.id(self.grid.point(node).map(|c| c / EDGE));
                self.work.upkeep += 1;
                let busy = &mut self.busy[cube.index()];
                let before = *busy;
                *busy = before.checked_add_signed(by).expect("released chips were taken before");
                if before == 0 {
                    self.whole.take_node(cube);
                } else if *busy == 0 {
                    self.whole
                        .give(&Cuboid::node(self.cubes.point(cube)))
                        .expect("its last user is gone");
                }
            }
        }
    }
}

impl Strategy for Tpu {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        match Slice::of(request, self.round)? {
            Slice::Inside(sides) => self.inside(free, sides),
            Slice::Cubes(count, _) if count > u64::from(self.whole.count()) => None,
            Slice::Cubes(count, _) if self.anywhere => {
                self.work.boxes += count;
                let cubes = self.whole.iter().take(count as usize);
                Some(Placement::Parts(cubes.map(|cube| self.cube(cube)).collect()))
            }
            Slice::Cubes(count, sides) => self.wired(count as u32, sides),
        }
    }

    fn granted(&mut self, placement: &Placement) {
        self.change(placement, 1);
    }

    fn released(&mut self, placement: &Placement) {
        self.change(placement, -1);
    }

    fn work(&self) -> Work {
        self.work + Work::of_words(self.bases.words_touched())
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        for cube in (0..self.cubes.nodes()).map(NodeId) {
            let chips = self.cube(cube);
            let busy = chips.nodes(&self.grid).filter(|&chip| !free.is_node_free(chip)).count();
            assert_eq!(
                self.busy[cube.index()] as usize,
                busy,
                "wrong number of busy chips in cube {cube:?}"
            );
            assert_eq!(
                self.whole.is_node_free(cube),
                busy == 0,
                "cube {cube:?} has the wrong state"
            );
        }
    }
}

impl MachineStrategy for Tpu {
    fn uses_switches(&self, placement: &Placement) -> bool {
        self.anywhere && placement.parts().len() > 1
    }
}

// The rest of this file is an independent model for the oracle, based only on the free chips.

fn feasible(scene: &Scene<'_>) -> bool {
    let (free, cubes) = (scene.free, cube_grid(scene.free.grid()));
    let all = || Scan::default().bases(cubes, [1; 3]).map(|base| Cubes::scaled(Cuboid::node(base)));
    match Slice::of(scene.request, scene.options.get("round") == "up") {
        None => false,
        Some(Slice::Inside(sides)) => {
            all().any(|cube| aligned(cube, sides).any(|part| free.is_free(&part)))
        }
        Some(Slice::Cubes(count, sides)) if scene.options.get("wiring") == "static" => {
            let shapes = Scan::default().bases(cubes, [1; 3]).map(|last| last.map(|c| c + 1));
            let asked = |shape: &Sides| match sides {
                Some(sides) => orientations(sides).any(|turned| turned == *shape),
                None => volume(*shape) == count,
            };
            shapes.filter(asked).any(|shape| {
                let mut bases = Scan::default().bases(cubes, shape);
                bases.any(|base| free.is_free(&Cubes::scaled(Cuboid::new(base, shape))))
            })
        }
        Some(Slice::Cubes(count, _)) => {
            all().filter(|cube| free.is_free(cube)).count() as u64 >= count
        }
    }
}

fn allowed(scene: &Scene<'_>, placement: &Placement) -> bool {
    let parts = placement.parts();
    let is_aligned = |part: &Cuboid, to: Sides| (0..3).all(|axis| part.base[axis] % to[axis] == 0);
    match Slice::of(scene.request, scene.options.get("round") == "up") {
        None => false,
        Some(Slice::Inside(sides)) => {
            let turned = orientations(sides).any(|turned| turned == parts[0].sides);
            parts.len() == 1 && turned && is_aligned(&parts[0], parts[0].sides)
        }
        Some(Slice::Cubes(count, _)) if scene.options.get("wiring") == "ocs" => {
            let cube = |part: &Cuboid| part.sides == [EDGE; 3] && is_aligned(part, [EDGE; 3]);
            parts.len() as u64 == count && parts.iter().all(cube)
        }
        Some(Slice::Cubes(count, sides)) => {
            let shape = parts[0].sides.map(|side| side / EDGE);
            let turned = |sides: Sides| orientations(sides).any(|turned| turned == shape);
            let whole = parts[0].sides.iter().all(|side| side % EDGE == 0);
            parts.len() == 1
                && whole
                && is_aligned(&parts[0], [EDGE; 3])
                && volume(shape) == count
                && sides.is_none_or(turned)
        }
    }
}
