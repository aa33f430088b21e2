//! What strategies claim, as data that tests can hold against the oracle.

use pavior_kernel::Options;
use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy, Request, Scan, Sides};

use crate::{Placement, Selection};

/// What a strategy claims, for given options.
pub struct Claim {
    /// The shapes that it may grant for a request, in the order in which it tries them; empty for
    /// strategies that grant by count. A strategy that is not contiguous grants as many nodes as
    /// one of them has, in pieces.
    pub family: fn(&Request, &Grid, &Options) -> Vec<BoxGroup>,
    /// The order in which it tries bases.
    pub scan: Scan,
    /// Whether it grants exactly what is asked for.
    pub grants: Grants,
    /// What it recognises.
    pub recognition: Recognition,
}

impl Claim {
    /// What a strategy claims with its options.
    pub fn of(strategy: &Selection) -> Claim {
        (strategy.entry.does.claim)(&strategy.options)
    }
}

/// Whether a strategy may grant more nodes than asked for.
#[derive(Clone, Copy, Debug)]
pub enum Grants {
    /// Exactly the shape, or exactly the count.
    Exact,
    /// Whole pages, buddies or cubes.
    RoundsUp {
        /// The most nodes that it ever grants for a request, whatever is free.
        most: fn(&Request, &Grid, &Options) -> u64,
    },
}

/// What a strategy recognises, judged by the oracle within its own family of shapes.
pub enum Recognition {
    /// The first free base, in scan order, of the first shape that has one.
    First,
    /// The best score.
    Best {
        /// The score of a box that is free, higher is better.
        score: fn(&Occupancy, &Cuboid) -> i64,
        /// Over all shapes, or over the first that fits.
        over: Over,
        /// Whether the first base in scan order wins a tie (else any may).
        first_of_ties: bool,
    },
    /// Refuses only if no shape of the family has a free base.
    Complete,
    /// Misses some; a stored counterexample is demanded. What it misses is said by the question.
    Partial(Question),
    /// Succeeds if and only if enough nodes are free.
    Count,
    /// Follows a rule of its own (partition hardware, connected sets), which may depend on what is
    /// held.
    Own {
        /// Whether something can be granted: it succeeds if and only if this says so.
        feasible: fn(&Scene<'_>) -> bool,
        /// Whether a placement, all of its nodes free, may be granted.
        allowed: fn(&Scene<'_>, &Placement) -> bool,
    },
}

/// A request, and everything that the answer to it may depend on.
pub struct Scene<'a> {
    /// The free nodes.
    pub free: &'a Occupancy,
    /// What is held, as it was granted. Failed nodes that no job holds may be missing.
    pub held: &'a [Placement],
    /// The request.
    pub request: &'a Request,
    /// The strategy's options.
    pub options: &'a Options,
}

/// Which candidates a best score is the best of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The bases of the first shape of the family that has a free base.
    FirstShape,
    /// The bases of all shapes of the family.
    AllShapes,
}

/// The question that a partial strategy sometimes answers wrongly with no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Is there a free box of one of the family's shapes?
    Boxes,
    /// Are enough nodes free?
    Count,
}

/// The claim of a strategy that succeeds exactly when enough nodes are free, and grants as many.
pub fn by_count(_: &Options) -> Claim {
    Claim {
        family: |_, _, _| Vec::new(),
        scan: Scan::default(),
        grants: Grants::Exact,
        recognition: Recognition::Count,
    }
}

impl Recognition {
    /// What it means, after `claims`.
    pub fn meaning(&self) -> &'static str {
        match self {
            Recognition::First => "to grant the first free base in scan order",
            Recognition::Best { .. } => "to grant the free base of the best score",
            Recognition::Complete => "to refuse only where no base is free",
            Recognition::Partial(_) => "to grant none but free boxes, and may miss some",
            Recognition::Count => "to grant exactly where enough nodes are free",
            Recognition::Own { .. } => "to follow a rule of its own",
        }
    }

    /// The word for it in `pavior strategies`.
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

/// A shape that a strategy may grant: disjoint boxes, placed together, relative to one base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxGroup {
    /// The boxes, with bases relative to the shape's base.
    pub parts: Vec<Cuboid>,
}

impl BoxGroup {
    /// One box.
    pub fn cuboid(sides: Sides) -> BoxGroup {
        BoxGroup { parts: vec![Cuboid::new([0; 3], sides)] }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> u32 {
        self.parts.iter().map(Cuboid::volume).fold(0, u32::saturating_add)
    }

    /// The sides of the bounding box, all 0 for a group of no boxes.
    pub fn bounding(&self) -> Sides {
        std::array::from_fn(|axis| {
            let end = |part: &Cuboid| part.base[axis].saturating_add(part.sides[axis]);
            self.parts.iter().map(end).max().unwrap_or(0)
        })
    }

    /// The boxes at a base of the grid.
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
