//! The list of all maximal free boxes in a mesh, maintained by the free-list strategies.
//!
//! A free box is maximal if no other free box contains it. The list changes with every grant and
//! release:
//!
//! - A grant A cuts every entry that it overlaps into at most two slabs per axis: left and right of
//!   A, and below and above A. Each slab is as large as possible, so slabs overlap at the corners.
//!   A slab that another entry contains is dropped. This takes O(C * F) for C slabs and F entries.
//! - A release A joins the entries near A by iterated consensus, which is KYMFL's rule. Two boxes
//!   are joined along an axis if their ranges on that axis touch or overlap. The join spans both
//!   ranges on that axis and, on every other axis, the range that the boxes share. A box inside
//!   another is dropped. Repeating this until nothing new appears takes O(F^3).
//!
//! ```text
//!   P P P . .        . . . . .      joined along x: the columns of both,
//!   P P P Q Q   ->   J J J J J      and the rows that they share
//!   . . . Q Q        . . . . .
//! ```
//!
//! Invariant: the entries are exactly the maximal free boxes. Consensus misses none of them: take a
//! free box with nodes inside and outside A, and cut it at a face of A. If each of the two parts is
//! in some entry, the join of those entries contains the box. This does not hold on rings, where
//! two arcs can overlap in two arcs.

pub(crate) mod placing;
pub(crate) mod strategy;

use pavior_mesh::{Cuboid, Grid, Occupancy, Scan};

use crate::Work;
use crate::kind::Unsupported;
use crate::strategies::shared::prefix_sums::PrefixSums;

/// The maximal free boxes, in an order that depends only on past changes.
#[derive(Clone)]
pub(crate) struct FreeBoxes {
    grid: Grid,
    boxes: Vec<Cuboid>,
    /// The number of free nodes.
    nodes: u32,
    /// Scratch space for new boxes. `wanted` is false for boxes that have been dropped.
    fresh: Vec<Cuboid>,
    wanted: Vec<bool>,
    upkeep: u64,
}

impl FreeBoxes {
    /// Checks that the grid is a mesh.
    ///
    /// # Errors
    /// Returns an error if an axis longer than 1 wraps.
    pub(crate) fn supports(grid: &Grid) -> Result<(), Unsupported> {
        if grid.has_wrap() {
            return Err(Unsupported(
                "on a ring, two free boxes can overlap in two separate parts".into(),
            ));
        }
        Ok(())
    }

    /// Checks that the grid is a mesh of at most two dimensions.
    ///
    /// # Errors
    /// Returns the same errors as [`FreeBoxes::supports`], or an error if there are three axes.
    pub(crate) fn supports_plane(grid: &Grid) -> Result<(), Unsupported> {
        if grid.side(2) > 1 {
            return Err(Unsupported("its list supports only two dimensions".into()));
        }
        Self::supports(grid)
    }

    pub(crate) fn new(grid: Grid) -> FreeBoxes {
        let boxes = vec![Cuboid::whole(&grid)];
        FreeBoxes {
            grid,
            boxes,
            nodes: grid.nodes(),
            fresh: Vec::new(),
            wanted: Vec::new(),
            upkeep: 0,
        }
    }

    pub(crate) fn grid(&self) -> &Grid {
        &self.grid
    }

    pub(crate) fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Adds a released box's nodes to the free count. Must be called before updating the list.
    pub(crate) fn count_given(&mut self, given: &Cuboid) {
        self.nodes += given.volume();
    }

    pub(crate) fn boxes(&self) -> &[Cuboid] {
        &self.boxes
    }

    /// Returns the list, for strategies that apply their own update rules to it.
    pub(crate) fn boxes_mut(&mut self) -> &mut Vec<Cuboid> {
        &mut self.boxes
    }

    /// Removes the given nodes from the free nodes.
    pub(crate) fn take(&mut self, taken: &Cuboid) {
        self.nodes -= taken.volume();
        let mut tested = self.boxes.len() as u64;
        self.fresh.clear();
        let fresh = &mut self.fresh;
        self.boxes.retain(|entry| {
            let apart = !meets(entry, taken);
            if !apart {
                fresh.extend(slabs(entry, taken));
            }
            apart
        });
        for (index, slab) in self.fresh.iter().enumerate() {
            let later = self.fresh[index + 1..].iter();
            let mut others = later.chain(&self.boxes).inspect(|_| tested += 1);
            if !others.any(|other| holds(other, slab)) {
                self.boxes.push(*slab);
            }
        }
        self.upkeep += tested;
    }

    /// Adds the given nodes to the free nodes.
    pub(crate) fn give(&mut self, given: &Cuboid) {
        let mut tested = self.boxes.len() as u64;
        self.fresh.clear();
        let (fresh, halo) = (&mut self.fresh, halo(given));
        self.boxes.retain(|entry| {
            let far = !meets(entry, &halo);
            if !far {
                fresh.push(*entry);
            }
            far
        });
        self.fresh.push(*given);
        self.join_all();
        for (entry, _) in self.fresh.iter().zip(&self.wanted).filter(|&(_, &wanted)| wanted) {
            let mut far = self.boxes.iter().inspect(|_| tested += 1);
            if !far.any(|far| holds(far, entry)) {
                self.boxes.push(*entry);
            }
        }
        self.upkeep += tested;
    }

    /// Returns the number of entries compared with one another by grants and releases.
    pub(crate) fn work(&self) -> Work {
        Work::of_upkeep(self.upkeep)
    }

    /// Joins fresh boxes until no new join appears. Adds each join that no fresh box contains, and
    /// drops the boxes that a join contains.
    fn join_all(&mut self) {
        self.wanted.clear();
        self.wanted.resize(self.fresh.len(), true);
        let mut last = 0;
        while last < self.fresh.len() {
            for first in 0..last {
                for axis in 0..3 {
                    if self.wanted[first] && self.wanted[last] {
                        self.join_pair(first, last, axis);
                    }
                }
            }
            last += 1;
        }
    }

    fn join_pair(&mut self, first: usize, last: usize, axis: usize) {
        self.upkeep += 1;
        let Some(joined) = join(&self.fresh[first], &self.fresh[last], axis) else { return };
        let mut entries = self.fresh.iter().zip(&mut self.wanted).inspect(|_| self.upkeep += 1);
        if entries.any(|(entry, wanted)| *wanted && holds(entry, &joined)) {
            return;
        }
        for (entry, wanted) in self.fresh.iter().zip(&mut self.wanted) {
            *wanted &= !holds(&joined, entry);
        }
        self.upkeep += self.fresh.len() as u64;
        self.fresh.push(joined);
        self.wanted.push(true);
    }

    /// Panics unless the entries are exactly the maximal free boxes.
    pub(crate) fn validate(&self, free: &Occupancy) {
        let truth = recomputed(free);
        let listed = |cuboid: &Cuboid| self.boxes.contains(cuboid);
        let right = self.boxes.len() == truth.len() && truth.iter().all(listed);
        assert!(right, "the list does not contain exactly the maximal free boxes");
    }
}

/// Computes all maximal free boxes from scratch: the free boxes that cannot be extended by one
/// layer on any side.
fn recomputed(free: &Occupancy) -> Vec<Cuboid> {
    let grid = *free.grid();
    let mut sums = PrefixSums::new(grid);
    sums.load(free);
    let is_free = |cuboid: &Cuboid| cuboid.lies_on(&grid) && sums.busy_in(cuboid) == 0;
    let extends = |cuboid: &Cuboid| {
        (0..3).any(|axis| {
            let mut longer = *cuboid;
            longer.sides[axis] += 1;
            let mut lower = longer;
            lower.base[axis] = lower.base[axis].wrapping_sub(1);
            is_free(&longer) || (longer.base[axis] > 0 && is_free(&lower))
        })
    };
    let [w, d, h] = grid.sides();
    let mut boxes = Vec::new();
    for c in 1..=h {
        for b in 1..=d {
            for sides in (1..=w).map(|a| [a, b, c]) {
                let all = Scan::default().bases(grid, sides).map(|base| Cuboid::new(base, sides));
                boxes.extend(all.filter(|cuboid| is_free(cuboid) && !extends(cuboid)));
            }
        }
    }
    boxes
}

/// Returns the coordinate just past a box on an axis.
pub(crate) fn end(of: &Cuboid, axis: usize) -> u16 {
    of.base[axis] + of.sides[axis]
}

/// Returns true if two boxes overlap on a mesh.
pub(crate) fn meets(a: &Cuboid, b: &Cuboid) -> bool {
    (0..3).all(|axis| a.base[axis] < end(b, axis) && b.base[axis] < end(a, axis))
}

/// Returns true if `outer` contains all of `inner` on a mesh.
pub(crate) fn holds(outer: &Cuboid, inner: &Cuboid) -> bool {
    (0..3).all(|axis| outer.base[axis] <= inner.base[axis] && end(inner, axis) <= end(outer, axis))
}

/// Returns the parts of `of` that lie outside the overlapping box `hole`, as at most two slabs per
/// axis, each as large as possible.
pub(crate) fn slabs<'a>(of: &'a Cuboid, hole: &'a Cuboid) -> impl Iterator<Item = Cuboid> + 'a {
    (0..3).flat_map(move |axis| {
        let (mut low, mut high) = (*of, *of);
        low.sides[axis] = hole.base[axis].saturating_sub(of.base[axis]);
        let from = end(hole, axis);
        high.base[axis] = from;
        high.sides[axis] = end(of, axis).saturating_sub(from);
        [low, high].into_iter().filter(move |slab| slab.sides[axis] > 0)
    })
}

/// Returns the box that spans two boxes along one axis and, on every other axis, the range that
/// both share. Returns `None` if the boxes neither touch nor overlap along that axis, or if one of
/// them contains the result.
pub(crate) fn join(p: &Cuboid, q: &Cuboid, axis: usize) -> Option<Cuboid> {
    let mut joined = *p;
    for other in 0..3 {
        let (low, high) = if other == axis {
            (p.base[axis].min(q.base[axis]), end(p, axis).max(end(q, axis)))
        } else {
            (p.base[other].max(q.base[other]), end(p, other).min(end(q, other)))
        };
        if low >= high {
            return None;
        }
        joined.base[other] = low;
        joined.sides[other] = high - low;
    }
    let touch = p.base[axis] <= end(q, axis) && q.base[axis] <= end(p, axis);
    let longer = joined.sides[axis] > p.sides[axis].max(q.sides[axis]);
    (touch && longer).then_some(joined)
}

/// Returns a box extended by one node on every side, ignoring the ends of axes.
fn halo(of: &Cuboid) -> Cuboid {
    let base = of.base.map(|at| at.saturating_sub(1));
    let sides: [u16; 3] = std::array::from_fn(|axis| end(of, axis).saturating_add(1) - base[axis]);
    Cuboid::new(base, sides)
}
