//! The compact box with each side rounded up to a power of two, as in a buddy system.
//!
//! If a rounded side is longer than the machine's side, the rule finds no box.

use super::{Boxes, BuildRule, Choose, ShapeRule, Stream, compact};
use pavior_kernel::Entry;
use pavior_mesh::Sides;

pub(super) const ENTRY: Entry<ShapeRule> = Entry {
    name: "pow2",
    title: "the compact box with each side rounded up to a power of two",
    source: "",
    options: &[],
    variants: &[""],
    does: ShapeRule { draws: false, build: BuildRule::Function(|_| Box::new(Pow2)) },
};

struct Pow2;

impl Choose for Pow2 {
    fn choose(&mut self, boxes: &Boxes, nodes: u32, _: &mut Stream) -> Option<Sides> {
        let mut sides = compact::least_volume(boxes, nodes)?;
        for (side, most) in sides.iter_mut().zip(boxes.most()) {
            *side = side.checked_next_power_of_two().filter(|&side| side <= most)?;
        }
        Some(sides)
    }
}
