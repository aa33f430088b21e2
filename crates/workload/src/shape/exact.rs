//! The box with exactly n nodes and the smallest surface. Ties are broken as in `compact`.
//!
//! No box of exactly n nodes fits if n is a prime greater than the machine's longest side. Cost:
//! O(divisors of n).

use super::{Boxes, BuildRule, Choose, ShapeRule, Stream};
use pavior_kernel::Entry;
use pavior_mesh::Sides;

pub(super) const ENTRY: Entry<ShapeRule> = Entry {
    name: "exact",
    title: "the box of exactly n nodes with the smallest surface area",
    source: "",
    options: &[],
    variants: &[""],
    does: ShapeRule { draws: false, build: BuildRule::Function(|_| Box::new(Exact)) },
};

struct Exact;

impl Choose for Exact {
    fn choose(&mut self, boxes: &Boxes, nodes: u32, _: &mut Stream) -> Option<Sides> {
        boxes.exact(nodes).into_iter().min_by_key(|&sides| (boxes.surface(sides), sides))
    }
}
