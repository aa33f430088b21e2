//! The smallest box (by volume, then by surface) with at least n nodes.
//!
//! With `slack=S`, the rule instead considers boxes of n to n(1+S) nodes, and chooses the one with
//! the smallest surface (then the smallest volume). If there are none, the rule finds no box.
//! Remaining ties go to the box with the shorter longest side, then to the one with the shorter
//! middle side. The search is exhaustive: for each choice of the two smaller sides, only the
//! tightest box can be the best. Cost: O(B·C) on a machine with sides A >= B >= C, incurred once
//! for each number of nodes.
//!
//! ```text
//!   n = 13 on 12x12        compact: 7x2 (14)      compact:slack=0.2: 5x3 (15)
//! ```

use pavior_kernel::{Entry, OptionSpec, Options, Stream, Values};
use pavior_mesh::{Sides, volume};

use super::{Boxes, BuildRule, Choose, ShapeRule};

pub(super) const ENTRY: Entry<ShapeRule> = Entry {
    name: "compact",
    title: "among the boxes of at least n nodes, the one with the smallest volume, then the \
            smallest surface area",
    source: "",
    options: &[OptionSpec {
        key: "slack",
        values: Values::Text("number from 0 to 1e6, or none", |text| {
            text == "none" || text.parse::<f64>().is_ok_and(|slack| (0.0..=1e6).contains(&slack))
        }),
        default: "none",
        meaning: "the box with the smallest surface area among those with a volume of up to \
                  n(1+slack)",
        bare: false,
    }],
    variants: &[""],
    does: ShapeRule { draws: false, build: BuildRule::Function(build) },
};

struct Compact {
    slack: Option<f64>,
}

fn build(options: &Options) -> Box<dyn Choose> {
    Box::new(Compact { slack: options.get("slack").parse().ok() })
}

impl Choose for Compact {
    fn choose(&mut self, boxes: &Boxes, nodes: u32, _: &mut Stream) -> Option<Sides> {
        match self.slack {
            None => least_volume(boxes, nodes),
            Some(slack) => {
                // Decimals such as 0.15 are inexact in binary, but 20 * 1.15 must still be 23.
                let spare = (f64::from(nodes) * slack + 1e-6).floor() as u64;
                least_surface(boxes, nodes, u64::from(nodes) + spare)
            }
        }
    }
}

/// Returns the box with the smallest volume or, in a tie, the smallest surface.
pub(super) fn least_volume(boxes: &Boxes, nodes: u32) -> Option<Sides> {
    let mut best: Option<(u64, u64, Sides)> = None;
    boxes.tight(nodes, |sides| {
        let volume = volume(sides);
        if best.is_some_and(|(least, ..)| volume > least) {
            return;
        }
        let key = (volume, boxes.surface(sides), sides);
        if best.is_none_or(|least| key < least) {
            best = Some(key);
        }
    });
    best.map(|(_, _, sides)| sides)
}

fn least_surface(boxes: &Boxes, nodes: u32, most: u64) -> Option<Sides> {
    let mut best = None;
    boxes.tight(nodes, |sides| {
        let key = (boxes.surface(sides), volume(sides), sides);
        if volume(sides) <= most && best.is_none_or(|least| key < least) {
            best = Some(key);
        }
    });
    best.map(|(_, _, sides)| sides)
}
