//! A random box of exactly n nodes. Boxes that fit are equally likely, regardless of orientation.
//!
//! Each job uses one draw, even if at most one box fits, so that one job's draws do not affect the
//! next job's. The list of boxes for each number of nodes is computed only once.

use super::{Boxes, BuildRule, Choose, ShapeRule, Stream};
use pavior_kernel::Entry;
use pavior_mesh::Sides;
use rustc_hash::FxHashMap;

pub(super) const ENTRY: Entry<ShapeRule> = Entry {
    name: "random",
    title: "a random box of exactly n nodes",
    source: "",
    options: &[],
    variants: &[""],
    does: ShapeRule { draws: true, build: BuildRule::Function(|_| Box::new(Random::default())) },
};

#[derive(Default)]
struct Random {
    known: FxHashMap<u32, Vec<Sides>>,
}

impl Choose for Random {
    fn choose(&mut self, boxes: &Boxes, nodes: u32, draw: &mut Stream) -> Option<Sides> {
        let choice = self.known.entry(nodes).or_insert_with(|| boxes.exact(nodes));
        let index = draw.below(choice.len().max(1) as u64);
        choice.get(index as usize).copied()
    }
}
