//! Stencil: every rank sends to all ranks around it on the logical grid, including those across
//! edges and corners (up to 26 ranks in 3D, or 8 in 2D). With `faces`, every rank sends only to
//! neighbors across its faces (up to 6). Messages are sent in row-major order of displacement. Grid
//! codes on 3D machines use this pattern for halo exchange.
//!
//! ```text
//!      6 7 8
//!      4 o 5         a plane: the order of the middle rank's messages
//!      1 2 3
//! ```
//!
//! Source: common practice (halo exchange for 27-point and 7-point stencils).

use pavior_kernel::{OptionSpec, Options, Stream, Values};

use super::lattice::{Lattice, WRAP};
use super::{BuildPattern, Entry, Pattern, PatternKind, RankGrid, any_grid};

pub(super) static ENTRY: Entry = Entry {
    name: "stencil",
    title: "Stencil",
    source: "common practice: halo exchange",
    options: &[
        OptionSpec {
            key: "points",
            values: Values::OneOf(&["all", "faces"]),
            default: "all",
            meaning: "the destinations: all surrounding ranks (26 in 3D), or only face neighbors \
                      (6)",
            bare: true,
        },
        WRAP,
    ],
    variants: &["", "faces", "wrap=yes"],
    does: PatternKind {
        meaning: "every rank sends to all ranks around it on the logical grid",
        quota_only: false,
        objection: any_grid,
        build: BuildPattern::Function(build),
    },
};

#[derive(Debug)]
struct Stencil {
    lattice: Lattice,
    faces: bool,
}

fn build(shape: &RankGrid, options: &Options, _: &mut Stream) -> Box<dyn Pattern> {
    let lattice = Lattice::new(shape, options.get("wrap") == "yes");
    Box::new(Stencil { lattice, faces: options.get("points") == "faces" })
}

impl Pattern for Stencil {
    fn rounds(&self) -> u32 {
        let axes = self.lattice.most_neighbours() / 2;
        if self.faces { 2 * axes } else { 3u32.pow(axes) - 1 }
    }

    fn ranks(&self) -> u32 {
        self.lattice.ranks
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        (0..27)
            .map(|code| [code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1])
            .filter(|step: &[i32; 3]| !self.faces || step.iter().filter(|&&s| s != 0).count() == 1)
            .filter_map(|step| self.lattice.displaced(rank, step))
            .nth(round as usize)
    }
}
