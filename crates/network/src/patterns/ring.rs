//! Ring: rank i sends to i + 1 mod k. There are k messages per iteration.
//!
//! ```text
//!   0 > 1 > 2 > ... > k-1 > 0
//! ```
//!
//! Source: common practice (pipelines, shifts).

use pavior_kernel::{Options, Stream};

use super::{BuildPattern, Entry, Pattern, PatternKind, RankGrid, any_grid};

pub(super) static ENTRY: Entry = Entry {
    name: "ring",
    title: "Ring",
    source: "common practice",
    options: &[],
    variants: &[""],
    does: PatternKind {
        meaning: "rank i sends to i+1 mod k",
        quota_only: false,
        objection: any_grid,
        build: BuildPattern::Function(build),
    },
};

#[derive(Debug)]
struct Ring {
    ranks: u32,
}

fn build(shape: &RankGrid, _: &Options, _: &mut Stream) -> Box<dyn Pattern> {
    Box::new(Ring { ranks: shape.ranks })
}

impl Pattern for Ring {
    fn rounds(&self) -> u32 {
        1
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        (round == 0).then_some((rank + 1) % self.ranks)
    }
}
