//! Sides that are uniform on [1, L], where L is the axis length or a smaller bound. Each side uses
//! one draw.

use pavior_kernel::{Entry, OptionSpec, Values};

use super::{ANY_GRID, SideDistribution, per_axis};

pub(super) const ENTRY: Entry<SideDistribution> = Entry {
    name: "uniform",
    title: "uniformly distributed sides in [1, L]",
    source: "",
    options: &[OptionSpec {
        key: "most",
        values: Values::Integer(1, 65_535),
        default: "65535",
        meaning: "the maximum side length on any axis",
        bare: true,
    }],
    variants: &[""],
    does: SideDistribution {
        supports: ANY_GRID,
        build: |options, grid| {
            let most = options.integer("most");
            per_axis(grid, move |length, draw| draw.between(1, u64::from(length).min(most)) as u16)
        },
    },
};
