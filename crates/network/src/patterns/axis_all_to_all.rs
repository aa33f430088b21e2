//! All to all along one axis: in the logical grid, each rank sends to every other rank on its line
//! along that axis, starting with the next rank. This pattern occurs within each group in
//! expert-parallel training, and between the passes of a distributed FFT.
//!
//! ```text
//!   axis=x:   o-o-o-o     every rank with the three others in its row;
//!             o-o-o-o     no messages between rows
//! ```
//!
//! Source: common practice (expert parallelism; pencil decomposition).

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::Grid;

use super::lattice::Lattice;
use super::{BuildPattern, Entry, Pattern, PatternKind, RankGrid};

pub(super) static ENTRY: Entry = Entry {
    name: "axis-all-to-all",
    title: "All to all along one axis",
    source: "common practice: expert parallelism",
    options: &[OptionSpec {
        key: "axis",
        values: Values::OneOf(&["x", "y", "z"]),
        default: "x",
        meaning: "the axis of the logical grid",
        bare: true,
    }],
    variants: &["", "y", "z"],
    does: PatternKind {
        meaning: "each rank sends to all others on its line along the axis, starting with the next",
        quota_only: false,
        objection,
        build: BuildPattern::Function(build),
    },
};

#[derive(Debug)]
struct AxisAllToAll {
    lattice: Lattice,
    axis: usize,
}

fn axis(options: &Options) -> usize {
    ["x", "y", "z"].iter().position(|&name| name == options.get("axis")).unwrap_or(0)
}

fn objection(grid: &Grid, options: &Options) -> Option<String> {
    (axis(options) >= grid.axes())
        .then(|| format!("requires axis {}, which {grid} does not have", options.get("axis")))
}

fn build(shape: &RankGrid, options: &Options, _: &mut Stream) -> Box<dyn Pattern> {
    Box::new(AxisAllToAll { lattice: Lattice::new(shape, false), axis: axis(options) })
}

impl AxisAllToAll {
    /// Returns the difference between the numbers of neighboring ranks on the axis.
    fn stride(&self) -> u32 {
        self.lattice.sides[..self.axis].iter().map(|&side| u32::from(side)).product()
    }
}

impl Pattern for AxisAllToAll {
    fn rounds(&self) -> u32 {
        u32::from(self.lattice.sides[self.axis]) - 1
    }

    fn ranks(&self) -> u32 {
        self.lattice.ranks
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        let (at, stride) = (self.lattice.place(rank)[self.axis], self.stride());
        let first = rank - at * stride;
        // If there are fewer ranks than positions, the last positions on a line are empty.
        let line = u32::from(self.lattice.sides[self.axis])
            .min((self.lattice.ranks - first).div_ceil(stride));
        (round + 1 < line).then(|| first + (at + 1 + round) % line * stride)
    }
}
