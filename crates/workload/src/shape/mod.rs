//! Shape rules, which turn a number of nodes into a box that a contiguous strategy can place.
//!
//! Logs count processors and have no shapes, so a rule chooses a box that fits the machine. The
//! box's longest side lies along the machine's longest side, the second longest along the second
//! longest, and so on (ties in the order x, y, z). Every shape therefore fits without rotation.
//!
//! Nodes in the box beyond the requested number count as internal fragmentation. If a rule finds no
//! box, the request has no shape, and contiguous strategies refuse it.
//!
//! "Surface" counts only faces perpendicular to axes longer than 1. On a machine with two axes, the
//! surface is the box's perimeter.

pub(crate) mod boxes;
mod compact;
mod exact;
mod pow2;
mod random;

use std::sync::Arc;

use pavior_kernel::{Entry, Family, Options, Selection, Stream};
use pavior_mesh::{Grid, Request, Sides, volume};

use boxes::Boxes;
use rustc_hash::FxHashMap;

/// The implementation of a shape rule.
pub struct ShapeRule {
    /// True if the rule draws random numbers, which makes replications differ.
    pub draws: bool,
    pub(crate) build: BuildRule,
}

pub(crate) enum BuildRule {
    /// A built-in rule.
    Function(fn(&Options) -> Box<dyn Choose>),
    /// A rule added by the caller.
    Closure(Arc<ShapeClosure>),
}

/// A rule added by the caller. Given a machine and a number of nodes, it returns the sides of the
/// box, axis by axis.
type ShapeClosure = dyn Fn(&Grid, u32, &Options, &mut Stream) -> Option<Sides> + Send + Sync;

impl ShapeRule {
    /// Creates a rule that can be added to a [registry](pavior_kernel::Registry).
    ///
    /// Given a machine and a number of nodes, the closure returns the sides of the box, axis by
    /// axis, or `None` if it finds no box. Sides that do not fit the machine, or that contain too
    /// few nodes, are treated as `None`. A rule that draws no random numbers must always return the
    /// same box for a given number of nodes.
    ///
    /// ```
    /// # mod pavior { pub use pavior_kernel as strategies; pub use pavior_workload as workload; }
    /// use pavior::strategies::{Entry, Registry};
    /// use pavior::workload::{ShapeRule, Shaper};
    /// let columns = ShapeRule::new(false, |grid, nodes, _, _| {
    ///     let height = grid.side(1);
    ///     Some([u16::try_from(nodes.div_ceil(height.into())).ok()?, height, 1])
    /// });
    /// let mut registry = Registry::<ShapeRule>::new();
    /// registry.add(Entry::new("columns", columns))?;
    /// let mut shaper = Shaper::new(&registry.select("columns")?, &"mesh:8x4".parse()?, 1, 0);
    /// assert_eq!(shaper.shape(9), Some([3, 4, 1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new<F>(draws: bool, closure: F) -> ShapeRule
    where
        F: Fn(&Grid, u32, &Options, &mut Stream) -> Option<Sides> + Send + Sync + 'static,
    {
        ShapeRule { draws, build: BuildRule::Closure(Arc::new(closure)) }
    }
}

/// A built-in rule. It returns the sides in descending order, or `None` if it finds no box. A rule
/// that draws no random numbers must always return the same box for a given number of nodes.
pub(crate) trait Choose: Send {
    fn choose(&mut self, boxes: &Boxes, nodes: u32, draw: &mut Stream) -> Option<Sides>;
}

impl Family for ShapeRule {
    const NOUN: &'static str = "shape rule";

    fn builtin() -> &'static [&'static Entry<ShapeRule>] {
        &[&compact::ENTRY, &exact::ENTRY, &pow2::ENTRY, &random::ENTRY]
    }
}

/// A shape rule applied to a machine. The choice for each number of nodes is cached.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; pub use pavior_mesh::*; }
/// use pavior::workload::{Selection, ShapeRule, Shaper};
/// use pavior::Grid;
/// let rule: Selection<ShapeRule> = "compact".parse()?;
/// let mut shaper = Shaper::new(&rule, &Grid::mesh(&[8, 16])?, 1, 0);
/// assert_eq!(shaper.shape(17), Some([3, 6, 1]));
/// assert_eq!(shaper.shape(129), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Shaper {
    rule: Rule,
    draw: Stream,
    /// Cached choices, or `None` for a rule that draws random numbers.
    known: Option<FxHashMap<u32, Option<Sides>>>,
}

/// A rule built for a particular machine.
enum Rule {
    Builtin { boxes: Boxes, choose: Box<dyn Choose> },
    Added { closure: Arc<ShapeClosure>, grid: Grid, options: Options },
}

impl Rule {
    fn choose(&mut self, nodes: u32, draw: &mut Stream) -> Option<Sides> {
        match self {
            Rule::Builtin { boxes, choose } => {
                let sides = choose.choose(boxes, nodes, draw)?;
                Some(boxes.placed(sides))
            }
            Rule::Added { closure, grid, options } => {
                let sides = closure(grid, nodes, options, draw)?;
                (grid.fits(sides) && volume(sides) >= u64::from(nodes)).then_some(sides)
            }
        }
    }
}

impl Shaper {
    /// Builds a rule for the given machine and replication.
    pub fn new(rule: &Selection<ShapeRule>, grid: &Grid, seed: u64, replication: u64) -> Shaper {
        let does = &rule.entry.does;
        let options = &rule.options;
        let rule = match &does.build {
            BuildRule::Function(build) => {
                Rule::Builtin { boxes: Boxes::new(grid), choose: build(options) }
            }
            BuildRule::Closure(closure) => {
                Rule::Added { closure: closure.clone(), grid: *grid, options: options.clone() }
            }
        };
        Shaper {
            rule,
            draw: Stream::new(seed, replication, "shapes"),
            known: (!does.draws).then(FxHashMap::default),
        }
    }

    /// Returns the box for a number of nodes, or `None` if the number is 0 or the rule finds no
    /// box.
    pub fn shape(&mut self, nodes: u32) -> Option<Sides> {
        if nodes == 0 {
            return None;
        }
        let Shaper { rule, draw, known } = self;
        match known {
            Some(known) => *known.entry(nodes).or_insert_with(|| rule.choose(nodes, draw)),
            None => rule.choose(nodes, draw),
        }
    }

    /// Returns a request for a number of nodes, with a box chosen by the rule.
    pub fn request(&mut self, nodes: u32) -> Request {
        Request { shape: self.shape(nodes), ..Request::nodes(nodes) }
    }
}
