//! What stands in the way of a box, whatever the strategy.
//!
//! - **Fits**: the first free place of the shape, in the order of its orientations, bases
//!   row-major.
//! - **Nearest**: the largest free box within the shape's sides, in some orientation. Ties: the
//!   least sum of what is cut off the sides; then the earlier orientation; then the greater sides
//!   in the order x, y, z. It stands at its first base. Where the shape fits, it is the shape.
//! - **Blocked**: the place of the shape that holds the fewest busy or failed nodes. Ties: the
//!   fewest jobs and failed nodes in it; then the first, as above.
//!
//! Cost: nearest as the largest free box, for each orientation; blocked O(N) for each orientation,
//! and O(B) for each place of the fewest nodes, for B busy boxes.

use pavior_mesh::{BaseSet, Cuboid, JobId, NodeId, Scan, Sides, orientations, volume};

use super::State;
use crate::strategies::shared::prefix_sums::PrefixSums;

/// What stands in the way of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// Where the box is free, if anywhere, turned or not.
    pub fits: Option<Cuboid>,
    /// The largest free box; `None` if no node is free.
    pub largest_free: Option<Cuboid>,
    /// The free box that comes nearest to what was asked for; `None` if no node is free.
    pub nearest: Option<Cuboid>,
    /// The place that comes nearest to being free, where the box fits the machine but is nowhere
    /// free.
    pub blocked: Option<Blocked>,
}

/// A place that would do if others were not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The place.
    pub at: Cuboid,
    /// The jobs that hold nodes in it and how many, in the order of their grants.
    pub jobs: Vec<(JobId, u32)>,
    /// The failed nodes in it that no job holds.
    pub failed: Vec<NodeId>,
}

impl Blocked {
    /// The number of its nodes that are not free.
    pub fn nodes(&self) -> u32 {
        self.failed.len() as u32 + self.jobs.iter().map(|(_, nodes)| nodes).sum::<u32>()
    }
}

impl Diagnosis {
    /// Looks at a state and a box.
    pub fn of(state: &State, shape: Sides) -> Diagnosis {
        let grid = *state.grid();
        let turned: Vec<Sides> = orientations(shape).filter(|&sides| grid.fits(sides)).collect();
        let fits = turned.iter().find_map(|&sides| first(state, sides));
        let blocked = if fits.is_none() { blocked(state, &turned) } else { None };
        let largest_free = state.free().largest_free();
        Diagnosis { fits, largest_free, nearest: nearest(state, shape), blocked }
    }
}

/// The first free place of a box, unturned.
fn first(state: &State, sides: Sides) -> Option<Cuboid> {
    let base = BaseSet::new(*state.grid()).find(state.free(), sides, Scan::default())?;
    Some(Cuboid::new(base, sides))
}

fn nearest(state: &State, shape: Sides) -> Option<Cuboid> {
    let turned: Vec<Sides> = orientations(shape).collect();
    let most = |&within: &Sides| state.free().largest_free_within(within);
    let greatest = turned.iter().filter_map(most).map(|cuboid| cuboid.volume()).max()?;
    let mut best: Option<(u32, Cuboid)> = None;
    for within in turned {
        for sides in boxes_within(u64::from(greatest), within) {
            let cut = (0..3).map(|axis| u32::from(within[axis] - sides[axis])).sum();
            if best.is_none_or(|(least, _)| cut < least)
                && let Some(at) = first(state, sides)
            {
                best = Some((cut, at));
            }
        }
    }
    best.map(|(_, at)| at)
}

/// The boxes of a volume within some sides, lexicographically greater sides first.
fn boxes_within(nodes: u64, within: Sides) -> impl Iterator<Item = Sides> {
    let divisors = |n: u64, most: u16| {
        (1..=u64::from(most).min(n) as u16).rev().filter(move |&side| n % u64::from(side) == 0)
    };
    divisors(nodes, within[0]).flat_map(move |a| {
        let rest = nodes / u64::from(a);
        divisors(rest, within[1]).filter_map(move |b| {
            let c = rest / u64::from(b);
            let fits = c <= u64::from(within[2]);
            fits.then_some([a, b, c as u16])
        })
    })
}

fn blocked(state: &State, turned: &[Sides]) -> Option<Blocked> {
    let grid = *state.grid();
    let mut sums = PrefixSums::new(grid);
    sums.load(state.free());
    let places = || {
        turned.iter().flat_map(|&sides| {
            Scan::default().bases(grid, sides).map(move |base| Cuboid::new(base, sides))
        })
    };
    let least = places().map(|at| sums.busy_in(&at)).min()?;
    let failed = state.failed();
    let of_least = places().filter(|at| sums.busy_in(at) == least);
    let best = of_least.map(|at| blockers(state, &failed, at));
    // Of equals the first: `min_by_key` keeps it.
    let best = best.min_by_key(|blocked| blocked.jobs.len() + blocked.failed.len());
    debug_assert!(best.as_ref().is_none_or(|best| best.nodes() == least));
    best
}

fn blockers(state: &State, failed: &[NodeId], at: Cuboid) -> Blocked {
    let grid = state.grid();
    let nodes = |parts: &[Cuboid]| -> u32 {
        let shared = |part: &Cuboid| {
            let smaller =
                if volume(part.sides) < volume(at.sides) { (part, &at) } else { (&at, part) };
            let (inner, outer) = smaller;
            inner.nodes(grid).filter(|&node| outer.contains(grid, grid.point(node))).count() as u32
        };
        let met = parts.iter().filter(|part| part.intersects(grid, &at));
        met.map(shared).sum()
    };
    let jobs = state.held().iter().map(|(job, placement)| (*job, nodes(placement.parts())));
    let inside = |node: &&NodeId| at.contains(grid, grid.point(**node));
    Blocked {
        at,
        jobs: jobs.filter(|(_, nodes)| *nodes > 0).collect(),
        failed: failed.iter().filter(inside).copied().collect(),
    }
}
