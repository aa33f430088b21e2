//! Computes the overlapping jobs and weights for all positions of a box in a single pass.
//!
//! The bases at which a window overlaps a box themselves form a box. On a mesh, the sides of this
//! box are window + box - 1, clipped at the border. A difference array adds a job's weight to all
//! of these bases: the weight is entered at the corners, and prefix sums are computed along each
//! axis. A job with several boxes counts once if the window overlaps any of them. For such a job,
//! the union of the bases is marked in a bit set, and the weight is added to each maximal run of
//! bases along x.
//!
//! ```text
//!   window of 3, job at 4 and 5 of a row of 9     weight 2
//!   overlapping bases: 2 to 5                      difference  . . +2 . . . -2
//!                                                  prefix sum  0 0  2 2 2 2  0
//! ```
//!
//! The bases are visited layer by layer, along the last axis that has several bases; on a plane, a
//! layer is a row. Only one layer's differences are stored. Each box is added in the layer where it
//! begins and subtracted where it ends. If no box begins or ends in a layer, the sums are the same
//! as in the previous layer. If none ends in a layer, no sum is smaller than in the previous layer.
//!
//! Cost: O(jobs + bases in the visited layers) for jobs with one part. Each job with several parts
//! adds O(bases / 64), counting only the bases from its first base to its last.

use pavior_mesh::{Coordinates, Cuboid, Grid, NodeId, Occupancy, Sides};

use crate::Snapshot;

/// The canonical bases of a box, as a grid.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    grid: Grid,
    sides: Sides,
    pub(crate) bases: Grid,
}

impl Places {
    /// Creates the set of bases for a box that fits the grid without rotation.
    pub(crate) fn of(grid: &Grid, sides: Sides) -> Places {
        let starts: Sides = std::array::from_fn(|axis| grid.starts(axis, sides[axis]));
        let wraps: [bool; 3] =
            std::array::from_fn(|axis| grid.wraps(axis) && starts[axis] == grid.side(axis));
        let axes = grid.axes();
        let bases = Grid::new(&starts[..axes], &wraps[..axes]);
        Places { grid: *grid, sides, bases: bases.expect("the box fits the grid") }
    }

    pub(crate) fn at(&self, base: Coordinates) -> Cuboid {
        Cuboid::new(base, self.sides)
    }

    /// Calls `see` with disjoint, non-wrapping boxes that together contain all bases at which the
    /// box overlaps `part`.
    pub(crate) fn meeting(&self, part: &Cuboid, mut see: impl FnMut(Cuboid)) {
        let (mut base, mut sides) = ([0; 3], [1; 3]);
        for axis in 0..3 {
            let (n, starts) = (u32::from(self.grid.side(axis)), self.bases.side(axis));
            let (at, length) = (u32::from(part.base[axis]), u32::from(part.sides[axis]));
            let reach = u32::from(self.sides[axis]) - 1;
            (base[axis], sides[axis]) = if starts == 1 {
                (0, 1)
            } else if self.grid.wraps(axis) {
                (((at + n - reach) % n) as u16, (length + reach).min(n) as u16)
            } else {
                let first = at.saturating_sub(reach);
                let last = (at + length - 1).min(u32::from(starts) - 1);
                (first as u16, (last - first + 1) as u16)
            };
        }
        let met = Cuboid::new(base, sides);
        if self.bases.has_wrap() {
            met.unwrapped(&self.bases).for_each(see);
        } else {
            see(met);
        }
    }
}

/// The cost of clearing a box. The high half is the number of unavailable nodes and the low half is
/// the total weight of the jobs, so costs are compared by nodes first, then by weight.
pub(crate) type Cost = u128;

/// The layers of bases to visit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layers {
    /// The first layer and every layer in which some cost may be lower than in the previous layer.
    Falling,
    /// The first layer and every layer whose costs or jobs may differ from the previous layer's.
    Changed,
}

/// A cost added to all bases in a box that does not wrap.
struct Piece {
    bases: Cuboid,
    lost: u32,
    weight: u64,
}

/// The cost of clearing a box at each of its bases.
pub(crate) struct Costs {
    bases: Grid,
    /// The axes along a row, across the rows of a layer, and across layers.
    axes: [usize; 3],
    pieces: Vec<Piece>,
}

impl Costs {
    /// Computes the costs. Each job that the box overlaps adds its weight, and each unavailable
    /// node costs more than all jobs combined.
    pub(crate) fn of(
        snapshot: &Snapshot,
        places: &Places,
        available: &Occupancy,
        weight: impl Fn(usize) -> u64,
    ) -> Costs {
        let (bases, grid) = (places.bases, places.grid);
        let axes = if bases.side(2) == 1 { [0, 2, 1] } else { [0, 1, 2] };
        let mut pieces = Vec::with_capacity(snapshot.jobs.len());
        let mut union = Union::new(&bases);
        for (job, (_, parts)) in snapshot.jobs().enumerate() {
            let weight = weight(job);
            union.meeting(places, parts, |bases| pieces.push(Piece { bases, lost: 0, weight }));
        }
        if available.count() < grid.nodes() {
            let mut lost = Occupancy::all_free(grid);
            lost.take_set(available).expect("all nodes are free in it");
            for node in lost.iter() {
                places.meeting(&Cuboid::node(grid.point(node)), |bases| {
                    pieces.push(Piece { bases, lost: 1, weight: 0 });
                });
            }
        }
        Costs { bases, axes, pieces }
    }

    /// Calls `see` with the cost at each base in the visited layers, in row-major order.
    pub(crate) fn each(&self, look: Layers, mut see: impl FnMut(Cost, Coordinates)) {
        let [width, rows, layers] = self.axes.map(|axis| usize::from(self.bases.side(axis)));
        let events = Events::of(&self.pieces, self.axes[2], layers);
        // A row has one more element than it has bases, so that every corner is in bounds.
        let stride = width + 1;
        let mut steps: Vec<Cost> = vec![0; stride * rows];
        let mut sums: Vec<Cost> = vec![0; if rows == 1 { 0 } else { width }];
        for layer in 0..layers {
            let (mut changed, mut falls) = (layer == 0, layer == 0);
            for &Event { piece, ends } in events.at(layer) {
                (changed, falls) = (true, falls || ends);
                self.step(&self.pieces[piece as usize], ends, stride, &mut steps);
            }
            if !(if look == Layers::Falling { falls } else { changed }) {
                continue;
            }
            sums.fill(0);
            for (row, steps) in steps.chunks_exact(stride).enumerate() {
                // In a layer with a single row, differences are needed only along the row.
                let along = if rows == 1 {
                    steps
                } else {
                    let pairs = sums.iter_mut().zip(steps);
                    pairs.for_each(|(sum, step)| *sum = sum.wrapping_add(*step));
                    &sums
                };
                let (mut base, mut cost) = ([0; 3], 0 as Cost);
                (base[self.axes[1]], base[self.axes[2]]) = (row as u16, layer as u16);
                for (x, step) in along[..width].iter().enumerate() {
                    cost = cost.wrapping_add(*step);
                    base[0] = x as u16;
                    see(cost, base);
                }
            }
        }
    }

    /// Adds a piece to a layer's differences, or subtracts it from them. Sums below 2^128 are
    /// exact, because intermediate overflows cancel out.
    fn step(&self, piece: &Piece, ends: bool, stride: usize, steps: &mut [Cost]) {
        let Piece { bases, lost, weight } = piece;
        let value = Cost::from(*lost) << 64 | Cost::from(*weight);
        let (plus, minus) = (value, value.wrapping_neg());
        let [plus, minus] = if ends { [minus, plus] } else { [plus, minus] };
        let from = usize::from(bases.base[0]);
        let behind = from + usize::from(bases.sides[0]);
        let row = usize::from(bases.base[self.axes[1]]) * stride;
        let below = row + usize::from(bases.sides[self.axes[1]]) * stride;
        let is_last = below == steps.len();
        let mut add = |at: usize, value: Cost| steps[at] = steps[at].wrapping_add(value);
        add(row + from, plus);
        add(row + behind, minus);
        if !is_last {
            add(below + from, minus);
            add(below + behind, plus);
        }
    }
}

/// The beginning or the end of a piece in a layer.
#[derive(Clone, Copy, Default)]
struct Event {
    piece: u32,
    ends: bool,
}

/// All events, grouped by layer.
struct Events {
    /// The index of each layer's first event, followed by the total number of events.
    from: Vec<usize>,
    all: Vec<Event>,
}

impl Events {
    fn of(pieces: &[Piece], axis: usize, layers: usize) -> Events {
        let span = |piece: &Piece| {
            let begin = usize::from(piece.bases.base[axis]);
            [begin, begin + usize::from(piece.bases.sides[axis])]
        };
        // Events after the last layer are ignored.
        let mut from = vec![0; layers + 2];
        for at in pieces.iter().flat_map(span) {
            from[at + 1] += 1;
        }
        for layer in 0..=layers {
            from[layer + 1] += from[layer];
        }
        let (mut next, mut all) = (from.clone(), vec![Event::default(); 2 * pieces.len()]);
        for (index, piece) in pieces.iter().enumerate() {
            for (at, ends) in span(piece).into_iter().zip([false, true]) {
                all[next[at]] = Event { piece: index as u32, ends };
                next[at] += 1;
            }
        }
        Events { from, all }
    }

    fn at(&self, layer: usize) -> &[Event] {
        &self.all[self.from[layer]..self.from[layer + 1]]
    }
}

/// A set of bases: the union of the bases for all of a job's parts.
pub(crate) struct Union {
    bases: Grid,
    words: Vec<u64>,
    /// The range of words that may contain marks.
    marked: std::ops::Range<usize>,
}

impl Union {
    pub(crate) fn new(bases: &Grid) -> Union {
        let words = vec![0; (bases.nodes() as usize).div_ceil(64)];
        Union { bases: *bases, words, marked: 0..0 }
    }

    fn mark(&mut self, cuboid: &Cuboid) {
        let [x, y, z] = cuboid.base;
        let [a, b, c] = cuboid.sides;
        for (j, k) in (0..c).flat_map(|k| (0..b).map(move |j| (j, k))) {
            let (mut at, end) = {
                let first = self.bases.id([x, y + j, z + k]).index();
                (first, first + usize::from(a))
            };
            let marked = &mut self.marked;
            if marked.start == marked.end {
                *marked = at / 64..end.div_ceil(64);
            }
            *marked = marked.start.min(at / 64)..marked.end.max(end.div_ceil(64));
            while at < end {
                let count = (64 - at % 64).min(end - at);
                self.words[at / 64] |= (u64::MAX >> (64 - count)) << (at % 64);
                at += count;
            }
        }
    }

    /// Calls `see` with disjoint boxes that make up the bases at which a box overlaps any of these
    /// parts. The union must be empty before the call and is empty again afterward.
    pub(crate) fn meeting(
        &mut self,
        places: &Places,
        parts: &[Cuboid],
        mut see: impl FnMut(Cuboid),
    ) {
        if let [part] = parts {
            return places.meeting(part, see);
        }
        for part in parts {
            places.meeting(part, |piece| self.mark(&piece));
        }
        let mut run: Option<Cuboid> = None;
        let (mut last, side) = (usize::MAX - 1, usize::from(self.bases.side(0)));
        for index in std::mem::take(&mut self.marked) {
            let mut bits = std::mem::take(&mut self.words[index]);
            while bits != 0 {
                let bit = index * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                match &mut run {
                    Some(run) if bit == last + 1 && bit % side > 0 => run.sides[0] += 1,
                    _ => {
                        let first = Cuboid::node(self.bases.point(NodeId(bit as u32)));
                        run.replace(first).into_iter().for_each(&mut see);
                    }
                }
                last = bit;
            }
        }
        run.into_iter().for_each(see);
    }
}
