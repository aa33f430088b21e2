//! The claims that strategies make, in a form that tests can check against the oracle.

use pavior_kernel::Options;
use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy, Request, Scan, Sides};

use crate::{Placement, Selection};

/// The claim of a strategy with particular options.
pub struct Claim {
    /// The shapes that the strategy may grant for a request, in the order in which it tries them.
    /// The list is empty for a strategy that grants by count. A non-contiguous strategy grants
    /// pieces whose total size equals the size of one of the shapes.
    pub family: fn(&Request, &Grid, &Options) -> Vec<BoxGroup>,
    /// The order in which the strategy tries bases.
    pub scan: Scan,
    /// The number of nodes that the strategy grants, relative to the request.
    pub grants: Grants,
    /// The rule that determines which requests the strategy can grant.
    pub recognition: Recognition,
}

impl Claim {
    /// Returns the claim of a strategy with the given options.
    pub fn of(strategy: &Selection) -> Claim {
        (strategy.entry.does.claim)(&strategy.options)
    }
}

/// The number of nodes granted, relative to the number requested.
#[derive(Clone, Copy, Debug)]
pub enum Grants {
    /// Exactly the requested shape or count.
    Exact,
    /// Whole pages, buddies or cubes.
    RoundsUp {
        /// Returns the maximum number of nodes that the strategy grants for a request.
        most: fn(&Request, &Grid, &Options) -> u64,
    },
}

/// The rule that determines which requests a strategy can grant. The oracle considers only the
/// strategy's own family of shapes.
pub enum Recognition {
    /// The strategy chooses the first free base, in scan order, of the first shape that has one.
    First,
    /// The strategy chooses the placement with the best score.
    Best {
        /// Returns the score of a free box. Higher scores are better.
        score: fn(&Occupancy, &Cuboid) -> i64,
        /// The candidates that are compared.
        over: Over,
        /// True if ties go to the first base in scan order. Otherwise, any tied base may win.
        first_of_ties: bool,
    },
    /// The strategy refuses only if no shape in the family has a free base.
    Complete,
    /// The strategy sometimes answers this question incorrectly. A counterexample must be stored.
    Partial(Question),
    /// The strategy succeeds if and only if enough nodes are free.
    Count,
    /// The strategy has its own rule (partition hardware, connected sets), which may depend on the
    /// placements that jobs hold.
    Own {
        /// Returns true if and only if the request can be granted.
        feasible: fn(&Scene<'_>) -> bool,
        /// Returns true if the strategy may grant a placement that consists of free nodes.
        allowed: fn(&Scene<'_>, &Placement) -> bool,
    },
}

/// A request and everything else that the answer may depend on.
pub struct Scene<'a> {
    /// The free nodes.
    pub free: &'a Occupancy,
    /// The placements that jobs hold, as they were granted. Failed nodes that no job holds may be
    /// missing from this list.
    pub held: &'a [Placement],
    /// The request.
    pub request: &'a Request,
    /// The strategy's options.
    pub options: &'a Options,
}

/// The candidates from which the best is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The bases of the family's first shape that has a free base.
    FirstShape,
    /// The bases of all shapes in the family.
    AllShapes,
}

/// A question to which a partial strategy sometimes incorrectly answers no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Is there a free box of one of the family's shapes?
    Boxes,
    /// Are enough nodes free?
    Count,
}

/// Returns the claim of a strategy that grants exactly the requested number of nodes if enough
/// nodes are free, and otherwise refuses.
pub fn by_count(_: &Options) -> Claim {
    Claim {
        family: |_, _, _| Vec::new(),
        scan: Scan::default(),
        grants: Grants::Exact,
        recognition: Recognition::Count,
    }
}

impl Recognition {
    /// Returns the claim in words, as a phrase that can follow `claims`.
    pub fn meaning(&self) -> &'static str {
        match self {
            Recognition::First => "to grant the first free base in scan order",
            Recognition::Best { .. } => "to grant the free base with the best score",
            Recognition::Complete => "to refuse a request only if no base is free",
            Recognition::Partial(_) => "to grant only free boxes, although it may miss some",
            Recognition::Count => "to grant a request if and only if enough nodes are free",
            Recognition::Own { .. } => "to follow its own rule",
        }
    }

    /// Returns the word used in `pavior strategies`.
    pub fn word(&self) -> &'static str {
        match self {
            Recognition::First => "complete-first",
            Recognition::Best { .. } => "complete-best",
            Recognition::Complete => "complete",
            Recognition::Partial(_) => "partial",
            Recognition::Count => "count",
            Recognition::Own { .. } => "own",
        }
    }
}

/// A shape that a strategy may grant, made up of disjoint boxes at fixed offsets from a common
/// base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxGroup {
    /// The boxes, with bases relative to the shape's base.
    pub parts: Vec<Cuboid>,
}

impl BoxGroup {
    /// Creates a group of one box.
    pub fn cuboid(sides: Sides) -> BoxGroup {
        BoxGroup { parts: vec![Cuboid::new([0; 3], sides)] }
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> u32 {
        self.parts.iter().map(Cuboid::volume).fold(0, u32::saturating_add)
    }

    /// Returns the sides of the bounding box, which are all 0 for a group without boxes.
    pub fn bounding(&self) -> Sides {
        std::array::from_fn(|axis| {
            let end = |part: &Cuboid| part.base[axis].saturating_add(part.sides[axis]);
            self.parts.iter().map(end).max().unwrap_or(0)
        })
    }

    /// Returns the boxes for a given base on the grid.
    pub fn at(&self, grid: &Grid, base: Coordinates) -> Vec<Cuboid> {
        let place = |part: &Cuboid| {
            let at = |axis: usize| {
                let sum = u32::from(base[axis]) + u32::from(part.base[axis]);
                let n = u32::from(grid.side(axis));
                (if sum >= n { sum - n } else { sum }) as u16
            };
            Cuboid::new([at(0), at(1), at(2)], part.sides).canonical(grid)
        };
        self.parts.iter().map(place).collect()
    }
}
