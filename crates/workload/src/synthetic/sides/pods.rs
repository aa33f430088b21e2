//! Boxes whose sides are powers of two, like the slices of an accelerator pod.
//!
//! The volume is 2^k, with probability proportional to `decay`^k. The exponent k ranges from 0 to
//! the largest value for which a box fits the machine. With `decay` below 1, smaller slices are
//! more frequent. Among the boxes with that volume that fit the machine, `compact` chooses the one
//! with the smallest surface (1x1x1, 2x1x1, 2x2x1, 2x2x2, ...), and `any` chooses one at random. As
//! with shape rules, the longest side lies along the machine's longest side, and so on.
//!
//! The shapes follow the slices that vendors publish. The frequencies are our own, because no log
//! is publicly available. Each job uses two draws.

use pavior_kernel::{Entry, OptionSpec, Options, Stream, Values};
use pavior_mesh::{Grid, Sides, volume};

use super::{ANY_GRID, DrawSides, SideDistribution};
use crate::shape::boxes::Boxes;

pub(super) const ENTRY: Entry<SideDistribution> = Entry {
    name: "pods",
    title: "power-of-two cuboids, as offered by accelerator pods",
    source: "",
    options: &[
        OptionSpec {
            key: "decay",
            values: Values::Number(0.001, 1000.0),
            default: "0.8",
            meaning: "the frequency of each volume, divided by that of half the volume",
            bare: true,
        },
        OptionSpec {
            key: "shape",
            values: Values::OneOf(&["compact", "any"]),
            default: "compact",
            meaning: "the box chosen for a volume",
            bare: false,
        },
    ],
    variants: &[""],
    does: SideDistribution { supports: ANY_GRID, build },
};

struct Pods {
    /// The cumulative weight for each k.
    cumulated: Vec<f64>,
    /// For each k, the boxes of volume 2^k that may be chosen.
    choices: Vec<Vec<Sides>>,
}

fn build(options: &Options, grid: &Grid) -> Box<dyn DrawSides> {
    let boxes = Boxes::new(grid);
    let [most_a, most_b, most_c] = boxes.most();
    let powers = |most: u16| (0..16).map(|k| 1u16 << k).take_while(move |&side| side <= most);
    let mut choices: Vec<Vec<Sides>> = Vec::new();
    for a in powers(most_a) {
        for b in powers(most_b.min(a)) {
            for c in powers(most_c.min(b)) {
                let k = volume([a, b, c]).trailing_zeros() as usize;
                choices.resize(choices.len().max(k + 1), Vec::new());
                choices[k].push([a, b, c]);
            }
        }
    }
    if options.get("shape") == "compact" {
        for choice in &mut choices {
            choice.sort_by_key(|&sides| (boxes.surface(sides), sides));
            choice.truncate(1);
        }
    }
    for choice in &mut choices {
        for sides in choice {
            *sides = boxes.placed(*sides);
        }
    }
    let decay = options.number("decay");
    let (mut sum, mut weight) = (0.0, 1.0);
    let cumulated = (0..choices.len())
        .map(|_| {
            sum += weight;
            weight *= decay;
            sum
        })
        .collect();
    Box::new(Pods { cumulated, choices })
}

impl DrawSides for Pods {
    fn sides(&mut self, draw: &mut Stream) -> Sides {
        let total = self.cumulated.last().expect("a box of one node always fits");
        let at = draw.unit() * total;
        let k = self.cumulated.partition_point(|&sum| sum <= at).min(self.choices.len() - 1);
        let choice = &self.choices[k];
        choice[draw.below(choice.len() as u64) as usize]
    }
}
