//! Frame Sliding: slide a frame of the requested size over the mesh in steps of its own width and
//! height.
//!
//! The first frame is at the lowest leftmost free node. The strategy misses every base that falls
//! between strides. Unlike the earlier buddy system, it grants exactly the shape requested.
//!
//! ```text
//!   request 3x1, busy #:    . # . . .     frames at 0 (hits #) and 3 (off the mesh);
//!                           [ . . ][ .    base 2 is free and missed
//! ```
//!
//! Cost: testing the frames against the coverages takes O(N/(a b) B) for an a x b request and B
//! busy boxes. Finding the first free node takes O(N B) at worst. The source states O(N B). A
//! release takes O(B) to search the list.
//!
//! Source: Chuang & Tzeng, "An efficient submesh allocation strategy for mesh computer systems",
//! ICDCS 1991; "Allocating precise submeshes in mesh connected systems", IEEE TPDS 5(2), 1994. The
//! latter is known only from its abstract and from summaries.
//!
//! Departures: no source says where each row of frames above the first begins. Here, it begins at
//! the first column that is a multiple of the stride away from the first frame. In some accounts,
//! every second row is traversed backward (`walk=snake`), or the last frame is moved back to the
//! border (`walk=clamp`). Tori are not supported, because a row of frames needs a border at each
//! end. 3D is not supported, because no paper describes how a frame would slide.

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::{Cuboid, Grid, Occupancy, Request, Sides};

use crate::claim::{Claim, Question, Recognition};
use crate::contiguous::complete;
use crate::kind::{BoxedStrategy, Entry, StrategyKind, Unsupported};
use crate::strategies::shared::busy_list::BusyList;
use crate::strategies::shared::coverage::CoverageList;
use crate::strategies::shared::turning::{TURN_OFF, Turn};
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "fs",
    title: "Frame Sliding",
    source: "Chuang & Tzeng 1991, 1994",
    options: &[TURN_OFF, WALK],
    variants: &["", "turn=all", "walk=snake", "walk=clamp"],
    does: StrategyKind::contiguous(build)
        .with_turns(false)
        .with_supports(supports)
        .with_claim(claim),
};

const WALK: OptionSpec = OptionSpec {
    key: "walk",
    values: Values::OneOf(&["forward", "snake", "clamp"]),
    default: "forward",
    meaning: "the order of frames: all rows forward, every other row backward, or all rows forward \
              with the last frame of each row and column moved back to the border",
    bare: false,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walk {
    Forward,
    Snake,
    Clamp,
}

fn supports(grid: &Grid, _: &Options) -> Result<(), Unsupported> {
    let reason = if grid.side(2) > 1 {
        "frames slide over a plane; no paper specifies how they would move in 3D"
    } else if grid.has_wrap() {
        "a row of frames must begin and end at a border"
    } else {
        return Ok(());
    };
    Err(Unsupported(reason.into()))
}

fn claim(options: &Options) -> Claim {
    Claim { recognition: Recognition::Partial(Question::Boxes), ..complete(options) }
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    Box::new(FrameSliding {
        grid: *grid,
        turn: Turn::of(options),
        walk: match options.get("walk") {
            "snake" => Walk::Snake,
            "clamp" => Walk::Clamp,
            _ => Walk::Forward,
        },
        busy: BusyList::default(),
        coverages: CoverageList::default(),
        tested: 0,
    })
}

#[derive(Clone)]
struct FrameSliding {
    grid: Grid,
    turn: Turn,
    walk: Walk,
    busy: BusyList,
    coverages: CoverageList,
    /// The total number of frames tested, boxes compared with a node, and coverages compared with a
    /// frame.
    tested: u64,
}

impl FrameSliding {
    /// Finds the lowest leftmost free node.
    fn first_free(&mut self) -> Option<(u16, u16)> {
        for y in 0..self.grid.side(1) {
            let mut x = 0;
            while x < self.grid.side(0) {
                let node = Cuboid::node([x, y, 0]);
                let boxes = self.busy.boxes();
                let over = boxes.iter().position(|held| held.intersects(&self.grid, &node));
                self.tested += over.map_or(boxes.len(), |index| index + 1) as u64;
                let Some(held) = over.map(|index| &boxes[index]) else { return Some((x, y)) };
                x = held.base[0] + held.sides[0];
            }
        }
        None
    }

    /// Finds the first frame, row by row, that contains no busy node.
    fn slide(&mut self, shape: Sides) -> Option<Cuboid> {
        let (x0, y0) = self.first_free()?;
        self.coverages.load(&self.grid, self.busy.boxes(), shape);
        let [a, b, _] = shape;
        let clamp = self.walk == Walk::Clamp;
        let last: Sides = std::array::from_fn(|axis| self.grid.side(axis) - shape[axis]);
        for (row, y) in stops(y0, b, last[1], clamp).enumerate() {
            let from = if row == 0 { x0 } else { x0 % a };
            let mut frames = stops(from, a, last[0], clamp);
            let found = if self.walk == Walk::Snake && row % 2 == 1 {
                frames.rev().find(|&x| self.is_base(x, y))
            } else {
                frames.find(|&x| self.is_base(x, y))
            };
            if let Some(x) = found {
                return Some(Cuboid::new([x, y, 0], shape));
            }
        }
        None
    }

    /// Returns true if the frame at a position is free, meaning that no coverage contains it.
    fn is_base(&mut self, x: u16, y: u16) -> bool {
        let pieces = self.coverages.pieces();
        let hit = pieces.iter().position(|[xs, ys, _]| xs.contains(x) && ys.contains(y));
        self.tested += 1 + hit.map_or(pieces.len(), |index| index + 1) as u64;
        hit.is_none()
    }
}

/// Returns the positions of frames along an axis: `from`, then one position per stride up to
/// `last`, beyond which a frame would leave the mesh. With `clamp`, the last stride is shortened so
/// that it ends at `last`.
fn stops(
    from: u16,
    stride: u16,
    last: u16,
    clamp: bool,
) -> impl DoubleEndedIterator<Item = u16> + ExactSizeIterator {
    let distance = last.saturating_sub(from);
    let count = match (clamp, from <= last) {
        (true, _) => distance.div_ceil(stride) + 1,
        (false, true) => distance / stride + 1,
        (false, false) => 0,
    };
    (0..count).map(move |index| {
        (u32::from(from) + u32::from(index) * u32::from(stride)).min(u32::from(last)) as u16
    })
}

impl Strategy for FrameSliding {
    fn find(&mut self, _: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let mut shapes = self.turn.shapes(self.grid, request);
        shapes.find_map(|shape| self.slide(shape)).map(Placement::Whole)
    }

    fn granted(&mut self, placement: &Placement) {
        self.busy.add(placement);
    }

    fn released(&mut self, placement: &Placement) {
        self.busy.remove(placement);
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested) + self.coverages.work() + self.busy.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        self.busy.validate(free);
    }
}

impl MachineStrategy for FrameSliding {}
