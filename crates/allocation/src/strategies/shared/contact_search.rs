//! The search for the free placement with the most or least contact. BF, WF, ADJ and MFA use it as
//! their engine.
//!
//! The set of all bases has one bit per base ([`BaseSet`]). A placement's face touches something if
//! and only if the next base on that side is not in the set. Shifting the set therefore finds, for
//! 64 bases at once, the faces that touch something. These faces bound each base's contact, so the
//! actual contact is counted only at bases with a high bound:
//!
//! ```text
//!   . b b b #      bases of 1x1 between busy nodes #. The second b touches nothing on its left
//!   # b b b b      or right, so only its lower and upper faces can count. Bases that touch
//!   . # b . .      something on every axis (corners) are counted first, and the others only if
//!                  their bound is not below the best so far
//! ```
//!
//! Invariant: a base whose contact is not counted has no more contact than the best base so far.
//!
//! Cost: O(N/64 log(side)) for the set, and O(surface) for each base counted.

use pavior_mesh::{BaseSet, Cuboid, Grid, Occupancy, Sides};

use crate::Work;
use crate::contiguous::Scored;
use crate::strategies::shared::bit_set::ones;
use crate::strategies::shared::contact::{most_contact, slab};

#[derive(Clone)]
pub(crate) struct ContactSearch {
    grid: Grid,
    bases: BaseSet,
    /// The bases at which a face touches something, by axis and then by side (low, high).
    edges: [[Vec<u64>; 2]; 3],
    /// The axes on which the current shape has faces, with the area per face.
    faces: Vec<(usize, i64)>,
    /// The number of bases whose contact was counted.
    counted: u64,
}

/// A free placement and its contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touching {
    pub(crate) at: Cuboid,
    /// The placement's contact with busy nodes and the border.
    pub(crate) contact: i64,
    /// True if the placement touches at least one busy node.
    pub(crate) is_beside: bool,
}

impl ContactSearch {
    pub(crate) fn new(grid: Grid) -> ContactSearch {
        let edges = Default::default();
        ContactSearch { grid, bases: BaseSet::new(grid), edges, faces: Vec::new(), counted: 0 }
    }

    /// Loads a state. Must be called before any search in that state.
    pub(crate) fn load(&mut self, free: &Occupancy) {
        self.bases.load(free);
    }

    /// Returns the number of bases whose contact was counted, plus the number of words read.
    pub(crate) fn work(&self) -> Work {
        Work::of_boxes(self.counted) + Work::of_words(self.bases.words_touched())
    }

    /// Returns the placement with the most contact. Ties go to the first one in row-major order.
    pub(crate) fn most(&mut self, shape: Sides) -> Option<Scored> {
        let mut best: Option<Scored> = None;
        let key = |at: &Cuboid| [at.base[2], at.base[1], at.base[0]];
        self.descend(shape, true, |found| {
            let better = best.is_none_or(|best| {
                found.contact > best.score
                    || (found.contact == best.score && key(&found.at) < key(&best.at))
            });
            if better {
                best = Some(Scored { score: found.contact, at: found.at });
            }
            best.map_or(-1, |best| best.score)
        });
        best
    }

    /// Calls `see` with placements that may have the most contact. `see` returns the minimum
    /// contact still of interest; placements with less contact are skipped. If `first` is true, the
    /// search stops after the first placement with the maximum possible contact.
    pub(crate) fn descend(
        &mut self,
        shape: Sides,
        first: bool,
        mut see: impl FnMut(Touching) -> i64,
    ) {
        if !self.compute(shape) {
            return;
        }
        let perfect = most_contact(&self.grid, shape);
        let mut least = -1;
        // Bases that touch something on every axis come first: only they can have maximum contact.
        for word in 0..self.bases.words().len() {
            for bit in ones(self.corners(word)) {
                let Some(found) = self.count_at_least(word, bit, least, perfect) else { continue };
                least = see(found);
                if first && found.contact == perfect {
                    return;
                }
            }
        }
        for word in 0..self.bases.words().len() {
            for bit in ones(self.bases.words()[word] & !self.corners(word)) {
                if self.bound(word, bit) >= least
                    && let Some(found) = self.count_at_least(word, bit, least, perfect)
                {
                    least = see(found);
                }
            }
        }
    }

    /// Returns the placement with the least contact. Ties go to the first one in row-major order.
    pub(crate) fn least(&mut self, shape: Sides) -> Option<Scored> {
        if !self.compute(shape) {
            return None;
        }
        let words = self.bases.words();
        let apart = |word: usize| words[word] & !self.anywhere(word);
        if let Some(word) = (0..words.len()).find(|&word| apart(word) != 0) {
            let base = self.bases.point(word, apart(word).trailing_zeros());
            return Some(Scored { score: 0, at: Cuboid::new(base, shape) });
        }
        let mut best: Option<(i64, Cuboid)> = None;
        for word in 0..self.bases.words().len() {
            for bit in ones(self.bases.words()[word]) {
                let below = best.map_or(i64::MAX, |(contact, _)| contact);
                best = self.count_below(word, bit, below).or(best);
            }
        }
        best.map(|(contact, at)| Scored { score: -contact, at })
    }

    /// Returns the contact of a placement that has the most recently searched shape, or `None` if
    /// the placement is not free.
    pub(crate) fn at(&mut self, at: &Cuboid) -> Option<i64> {
        self.bases.contains(at.base).then(|| {
            let every =
                self.faces.iter().flat_map(|&(axis, area)| [(axis, area, 0), (axis, area, 1)]);
            every.map(|face| self.touched(at, face).0).sum()
        })
    }

    /// Computes a shape's bases and, for each face, the bases at which it touches something.
    /// Returns false if there are no bases.
    fn compute(&mut self, shape: Sides) -> bool {
        self.faces.clear();
        if !self.bases.compute_loaded(shape) || !self.bases.any() {
            return false;
        }
        for axis in 0..3 {
            if self.bases.has_faces(axis) {
                let [low, high] = &mut self.edges[axis];
                self.bases.edges(axis, [low, high]);
                let area = pavior_mesh::volume(shape) / u64::from(shape[axis]);
                self.faces.push((axis, area as i64));
            }
        }
        true
    }

    /// Returns the bases in a word that touch something on every axis.
    #[inline]
    fn corners(&self, word: usize) -> u64 {
        let both = |axis: usize| self.edges[axis][0][word] | self.edges[axis][1][word];
        self.faces.iter().fold(self.bases.words()[word], |all, &(axis, _)| all & both(axis))
    }

    /// Returns the bases in a word that touch something on some axis.
    #[inline]
    fn anywhere(&self, word: usize) -> u64 {
        let both = |axis: usize| self.edges[axis][0][word] | self.edges[axis][1][word];
        self.faces.iter().fold(0, |any, &(axis, _)| any | both(axis))
    }

    /// Returns true if a base's face on one side of an axis touches something.
    #[inline]
    fn touches(&self, axis: usize, side: usize, word: usize, bit: u32) -> bool {
        self.edges[axis][side][word] >> bit & 1 == 1
    }

    /// Returns an upper bound on a base's contact: the total area of the faces that touch
    /// something.
    #[inline]
    fn bound(&self, word: usize, bit: u32) -> i64 {
        let of = |axis, side| i64::from(self.touches(axis, side, word, bit));
        self.faces.iter().map(|&(axis, area)| area * (of(axis, 0) + of(axis, 1))).sum()
    }

    /// Counts a base's contact if it is at least `least`. Counts down from `most`, one face at a
    /// time, and stops as soon as the count falls below `least`.
    fn count_at_least(&mut self, word: usize, bit: u32, least: i64, most: i64) -> Option<Touching> {
        self.counted += 1;
        let at = Cuboid::new(self.bases.point(word, bit), self.bases.shape());
        let (mut contact, mut is_beside) = (most, false);
        for &(axis, area) in &self.faces {
            for side in 0..2 {
                if self.touches(axis, side, word, bit) {
                    let (touched, busy) = self.touched(&at, (axis, area, side));
                    contact += touched;
                    is_beside |= busy;
                }
                contact -= area;
                if contact < least {
                    return None;
                }
            }
        }
        Some(Touching { at, contact, is_beside })
    }

    /// Counts a base's contact if it is less than `below`. Counts up from a lower bound: a face
    /// that touches something counts as one node, and a face on the border counts in full.
    fn count_below(&mut self, word: usize, bit: u32, below: i64) -> Option<(i64, Cuboid)> {
        let at = Cuboid::new(self.bases.point(word, bit), self.bases.shape());
        let mut least = 0;
        for &(axis, area) in &self.faces {
            for side in 0..2 {
                if self.touches(axis, side, word, bit) {
                    least += if is_at_border(&self.grid, &at, axis, side) { area } else { 1 };
                }
            }
        }
        if least >= below {
            return None;
        }
        self.counted += 1;
        for &(axis, area) in &self.faces {
            for side in 0..2 {
                if self.touches(axis, side, word, bit) && !is_at_border(&self.grid, &at, axis, side)
                {
                    least += self.touched(&at, (axis, area, side)).0 - 1;
                    if least >= below {
                        return None;
                    }
                }
            }
        }
        Some((least, at))
    }

    /// Returns a face's contact, and whether the face touches a busy node.
    fn touched(&self, at: &Cuboid, (axis, area, side): (usize, i64, usize)) -> (i64, bool) {
        match slab(&self.grid, at, axis, side) {
            None => (area, false),
            Some(slab) => {
                let busy = self.bases.busy_in(&slab);
                (i64::from(busy), busy > 0)
            }
        }
    }
}

/// Returns true if a placement's face is on the border of a mesh.
#[inline]
fn is_at_border(grid: &Grid, at: &Cuboid, axis: usize, side: usize) -> bool {
    let border = if side == 0 { 0 } else { grid.side(axis) - at.sides[axis] };
    !grid.wraps(axis) && at.base[axis] == border
}
