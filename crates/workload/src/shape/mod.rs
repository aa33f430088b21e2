//! Shape rules: the box in which a contiguous strategy is to place a number of nodes.
//!
//! Logs count processors and know no shapes. A rule chooses a box that the machine has room for;
//! its sides, in descending order, are given to the axes in descending order of the machine's sides
//! (equal ones in the order x, y, z), so that every shape fits unturned. Nodes of the box beyond the
//! count are internal fragmentation. Where a rule finds no box, the request has no shape, and
//! contiguous strategies refuse it.
//!
//! "Surface" means the faces that look along axes longer than 1: on a machine with two axes it is
//! the perimeter of the box.

pub(crate) mod boxes;
mod compact;
mod exact;
mod pow2;
mod random;

use pavior_kernel::{Entry, Family, Options, Selection, Stream};
use pavior_mesh::{Grid, Request, Sides};

use boxes::Boxes;
use rustc_hash::FxHashMap;

/// What a shape rule does.
pub struct ShapeRule {
    /// Whether it draws random numbers, so that replications differ.
    pub draws: bool,
    pub(crate) build: fn(&Options) -> Box<dyn Choose>,
}

/// The choice that a rule makes for a machine; sides in descending order, `None` where it finds no
/// box. A rule that does not draw must answer the same for the same count.
pub(crate) trait Choose: Send {
    fn choose(&mut self, boxes: &Boxes, nodes: u32, draw: &mut Stream) -> Option<Sides>;
}

impl Family for ShapeRule {
    const NOUN: &'static str = "shape rule";

    fn builtin() -> &'static [&'static Entry<ShapeRule>] {
        &[&compact::ENTRY, &exact::ENTRY, &pow2::ENTRY, &random::ENTRY]
    }
}

/// A shape rule at work on a machine. Choices are remembered by count.
///
/// ```
/// use pavior_mesh::Grid;
/// use pavior_workload::{Selection, ShapeRule, Shaper};
/// let rule: Selection<ShapeRule> = "compact".parse()?;
/// let mut shaper = Shaper::new(&rule, &Grid::mesh(&[8, 16])?, 1, 0);
/// assert_eq!(shaper.shape(17), Some([3, 6, 1]));
/// assert_eq!(shaper.shape(129), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Shaper {
    boxes: Boxes,
    choose: Box<dyn Choose>,
    draw: Stream,
    /// Choices made so far; `None` for a rule that draws, which may choose otherwise next time.
    known: Option<FxHashMap<u32, Option<Sides>>>,
}

impl Shaper {
    /// A rule for a machine, in a replication.
    pub fn new(rule: &Selection<ShapeRule>, grid: &Grid, seed: u64, replication: u64) -> Shaper {
        let does = &rule.entry.does;
        Shaper {
            boxes: Boxes::new(grid),
            choose: (does.build)(&rule.options),
            draw: Stream::new(seed, replication, "shapes"),
            known: (!does.draws).then(FxHashMap::default),
        }
    }

    /// The box for a count; `None` if the rule finds none, as for a count of 0.
    pub fn shape(&mut self, nodes: u32) -> Option<Sides> {
        if nodes == 0 {
            return None;
        }
        let Shaper { boxes, choose, draw, known } = self;
        let mut choose = || {
            let sides = choose.choose(boxes, nodes, draw)?;
            Some(boxes.placed(sides))
        };
        match known {
            Some(known) => *known.entry(nodes).or_insert_with(choose),
            None => choose(),
        }
    }

    /// The request of a job that wants so many nodes.
    pub fn request(&mut self, nodes: u32) -> Request {
        Request { nodes, shape: self.shape(nodes) }
    }
}
