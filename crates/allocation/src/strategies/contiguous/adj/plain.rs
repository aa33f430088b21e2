//! Adjacency's plain search, which uses lists of boxes and tries every corner of the busy boxes.

use pavior_mesh::{Cuboid, Grid, Sides, volume};

use crate::Work;
use crate::contiguous::{BoxRule, Scored, View};
use crate::strategies::shared::contact::most_contact;

#[derive(Clone)]
pub(super) struct Adjacency {
    grid: Grid,
    /// Scratch space for the candidate coordinates on each axis, in ascending order.
    candidates: [Vec<u16>; 3],
    /// Scratch lists of the boxes that can affect any candidate, any candidate at the current z,
    /// and any candidate at the current z and y, respectively.
    near: [Vec<Near>; 3],
    /// The number of placements tested, plus the number of boxes compared with a coordinate or a
    /// placement.
    tested: u64,
}

/// The relation between a placement and a busy box along the axes considered so far.
#[derive(Clone, Copy)]
struct Near {
    held: Cuboid,
    /// The number of nodes that the placement shares with the box.
    shared: i64,
    /// The number of the placement's node faces that touch the box.
    touching: i64,
}

impl Near {
    /// Adds an axis. On this axis, the placement and the box share `shares` coordinates, and the
    /// box contains `touches` of the placement's two outer neighbors.
    fn along(self, shares: i64, touches: i64) -> Near {
        let touching = self.shared * touches + self.touching * shares;
        Near { shared: self.shared * shares, touching, ..self }
    }
}

impl Adjacency {
    pub(super) fn new(grid: Grid) -> Adjacency {
        let (candidates, near) = Default::default();
        Adjacency { grid, candidates, near, tested: 0 }
    }

    /// Returns true if trying all candidates for this many boxes is cheaper than visiting all
    /// nodes.
    pub(super) fn is_short(grid: &Grid, boxes: usize) -> bool {
        let candidates: usize =
            (0..3).map(|axis| (4 * boxes + 2).min(usize::from(grid.side(axis)))).product();
        candidates * (boxes + 1) <= grid.nodes() as usize / 16
    }

    /// Finds the best free placement of a shape that fits the grid. Ties go to the first one in
    /// scan order.
    fn best_of(&mut self, busy: &[Cuboid], shape: Sides) -> Option<(i64, Cuboid)> {
        for (axis, &side) in shape.iter().enumerate() {
            self.list_candidates(busy, axis, side);
        }
        let all = busy.iter();
        self.near[0].clear();
        self.near[0].extend(all.map(|&held| Near { held, shared: 1, touching: 0 }));
        let most = most_contact(&self.grid, shape);
        let mut best: Option<(i64, Cuboid)> = None;
        for z in 0..self.candidates[2].len() {
            let z = self.candidates[2][z];
            self.narrow(0, 2, z, shape[2]);
            for y in 0..self.candidates[1].len() {
                let y = self.candidates[1][y];
                self.narrow(1, 1, y, shape[1]);
                for x in 0..self.candidates[0].len() {
                    let at = Cuboid::new([self.candidates[0][x], y, z], shape);
                    let Some(score) = self.score(&at) else { continue };
                    if best.is_none_or(|(highest, _)| score > highest) {
                        best = Some((score, at));
                    }
                    if score == most {
                        return best;
                    }
                }
            }
        }
        best
    }

    /// Lists the coordinates at which a placement touches or is flush with a busy box or the
    /// border.
    fn list_candidates(&mut self, busy: &[Cuboid], axis: usize, side: u16) {
        let (n, starts) = (i32::from(self.grid.side(axis)), self.grid.starts(axis, side));
        let ring = self.grid.wraps(axis) && i32::from(side) < n;
        self.tested += busy.len() as u64;
        let list = &mut self.candidates[axis];
        list.clear();
        list.push(0);
        list.push(if ring { 0 } else { starts - 1 });
        for held in busy {
            let (low, end) = (
                i32::from(held.base[axis]),
                i32::from(held.base[axis]) + i32::from(held.sides[axis]),
            );
            for at in [end, low - i32::from(side), low, end - i32::from(side)] {
                let at = if ring { at.rem_euclid(n) } else { at };
                if (0..i32::from(starts)).contains(&at) {
                    list.push(at as u16);
                }
            }
        }
        list.sort_unstable();
        list.dedup();
    }

    /// Narrows a level's boxes to those that a placement at coordinate `at` on the axis may overlap
    /// or touch.
    fn narrow(&mut self, level: usize, axis: usize, at: u16, side: u16) {
        let (from, to) = self.near.split_at_mut(level + 1);
        to[0].clear();
        self.tested += from[level].len() as u64;
        for near in &from[level] {
            let next = relate(&self.grid, axis, &near.held, at, side);
            let next = near.along(next.0, next.1);
            if next.shared > 0 || next.touching > 0 {
                to[0].push(next);
            }
        }
    }

    /// Returns a placement's boundary value, or `None` if the placement is not free.
    fn score(&mut self, at: &Cuboid) -> Option<i64> {
        let mut score = border(&self.grid, at);
        self.tested += 1;
        for near in &self.near[2] {
            self.tested += 1;
            let (shares, touches) = relate(&self.grid, 0, &near.held, at.base[0], at.sides[0]);
            let near = near.along(shares, touches);
            if near.shared > 0 {
                return None;
            }
            score += near.touching;
        }
        Some(score)
    }
}

/// Compares a placement with a box along one axis. Returns the number of shared coordinates and the
/// number of the placement's two outer neighbors that are in the box.
fn relate(grid: &Grid, axis: usize, held: &Cuboid, at: u16, side: u16) -> (i64, i64) {
    let n = i64::from(grid.side(axis));
    let (low, end) = (i64::from(at), i64::from(at) + i64::from(side));
    let (held_low, held_end) =
        (i64::from(held.base[axis]), i64::from(held.base[axis]) + i64::from(held.sides[axis]));
    let common = |shift: i64| (end.min(held_end + shift) - low.max(held_low + shift)).max(0);
    if !grid.wraps(axis) {
        let inside = |at: i64| i64::from(held_low <= at && at < held_end);
        return (common(0), inside(low - 1) + inside(end));
    }
    let shares = common(-n) + common(0) + common(n);
    if i64::from(side) == n {
        return (shares, 0);
    }
    let inside = |at: i64| i64::from((at - held_low).rem_euclid(n) < held_end - held_low);
    (shares, inside(low - 1) + inside(end))
}

/// Counts the node faces of a placement that are on the border.
fn border(grid: &Grid, at: &Cuboid) -> i64 {
    let mut faces = 0;
    for axis in (0..3).filter(|&axis| grid.side(axis) > 1 && !grid.wraps(axis)) {
        let ends = i64::from(at.base[axis] == 0)
            + i64::from(
                u32::from(at.base[axis]) + u32::from(at.sides[axis]) == u32::from(grid.side(axis)),
            );
        faces += ends * (volume(at.sides) as i64 / i64::from(at.sides[axis]));
    }
    faces
}

impl BoxRule for Adjacency {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        self.best_of(view.busy(), shape).map(|(score, at)| Scored { score, at })
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested)
    }
}
