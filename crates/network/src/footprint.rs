//! A job's footprint: the links that its messages can use, and the arrangement of its nodes.

use pavior_mesh::{Coordinates, Grid, NodeId};

/// The links that messages within a set of nodes can use under dimension-order routing, and the
/// relative positions of the nodes.
///
/// If the footprints of two jobs share no link, the jobs never contend on the network, whatever
/// they send. If two jobs have the same [`relative_layout`](Footprint::relative_layout) and contend
/// with no other job, the same events happen at the same times relative to each job's start.
///
/// Each phase of a route is a straight run. The links used on any line of the grid are therefore
/// determined by the lowest and highest positions at which messages enter and leave the line:
///
/// ```text
///   nodes o      x: from each row to all columns    y: from each plane to the nodes of each column
///     . . . .
///     o . . .          o<->.<->.                        o   .   .
///     o o o .          o<->o<->o                        o   o   o
///
///     (y: the links of one row up and down in the columns 0, 1 and 2)
/// ```
///
/// On axes that do not wrap, and on rings where all nodes are within one half, these are exactly
/// the links that an all-to-all uses. On any other ring, all links are included.
///
/// ```
/// # mod pavior { pub use pavior_network as network; pub use pavior_mesh::*; }
/// use pavior::network::Footprint;
/// use pavior::{Grid, NodeId};
/// let grid = Grid::mesh(&[8, 8])?;
/// let pair = |from, to| Footprint::of(&grid, &[NodeId(from), NodeId(to)], 64).unwrap();
/// // (0,0) and (1,0) use one link in each direction, and (4,3) and (5,3) use another pair.
/// assert_eq!(pair(0, 1).links().len(), 2);
/// assert_eq!(pair(0, 1).relative_layout(), pair(28, 29).relative_layout());
/// assert!(pair(0, 1).links().iter().all(|link| !pair(28, 29).links().contains(link)));
/// # Ok::<(), pavior::GridError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    links: Vec<u32>,
    relative_layout: Vec<u32>,
}

impl Footprint {
    /// The number of link numbers reserved for each node: two per axis.
    const LINKS: u32 = 6;

    /// Returns the exclusive upper bound on a grid's link numbers.
    pub fn bound(grid: &Grid) -> usize {
        grid.nodes() as usize * Self::LINKS as usize
    }

    /// Computes the footprint of messages between `nodes`, which are in rank order. Returns `None`
    /// if the smallest box around the nodes has more than `most` nodes.
    ///
    /// Cost: O(number of nodes + volume of that box + longest side).
    pub fn of(grid: &Grid, nodes: &[NodeId], most: u64) -> Option<Footprint> {
        let points: Vec<Coordinates> = nodes.iter().map(|&node| grid.point(node)).collect();
        let arcs = [0, 1, 2].map(|axis| Arc::around(grid, axis, &points));
        let volume: u64 = arcs.iter().map(|arc| u64::from(arc.length)).product();
        if volume > most {
            return None;
        }
        let mut places: Vec<Coordinates> = points;
        for point in &mut places {
            *point = place(&arcs, *point);
        }
        let relative_layout = relative_layout(arcs, &places);
        Some(Footprint { links: Links::of(grid, &arcs, &places), relative_layout })
    }

    /// Computes only a footprint's [`relative_layout`](Footprint::relative_layout), without
    /// limiting the size of the box around the nodes.
    ///
    /// Cost: O(nodes + longest side).
    pub fn relative_layout_of(grid: &Grid, nodes: &[NodeId]) -> Vec<u32> {
        let mut points: Vec<Coordinates> = nodes.iter().map(|&node| grid.point(node)).collect();
        let arcs = [0, 1, 2].map(|axis| Arc::around(grid, axis, &points));
        for point in &mut points {
            *point = place(&arcs, *point);
        }
        relative_layout(arcs, &points)
    }

    /// Returns the link numbers without duplicates, in no particular order. Each node has 6
    /// numbers, and a link's virtual channels share one number.
    pub fn links(&self) -> &[u32] {
        &self.links
    }

    /// Consumes the footprint and returns its [`links`](Footprint::links).
    pub fn into_links(self) -> Vec<u32> {
        self.links
    }

    /// Returns the nodes' relative positions in rank order. Moving all nodes along an axis changes
    /// these positions only if the nodes then cross a ring's wrap at a different point.
    pub fn relative_layout(&self) -> &[u32] {
        &self.relative_layout
    }
}

/// Returns a point's position relative to the start of the arc on each axis.
fn place(arcs: &[Arc; 3], point: Coordinates) -> Coordinates {
    [0, 1, 2].map(|axis| arcs[axis].place(point[axis]))
}

fn relative_layout(arcs: [Arc; 3], places: &[Coordinates]) -> Vec<u32> {
    let [width, height, _] = arcs.each_ref().map(|arc| u32::from(arc.length));
    let numbers = places.iter().map(|place| {
        let [x, y, z] = place.map(u32::from);
        x + width * (y + height * z)
    });
    arcs.into_iter().flat_map(Arc::relative_layout).chain(numbers).collect()
}

/// The part of a line or ring that starts at `start` and contains all nodes along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arc {
    side: u16,
    start: u16,
    length: u16,
    /// True if messages may go all the way around the ring. The arc is then the whole ring,
    /// starting at 0.
    whole: bool,
}

impl Arc {
    /// Finds the shortest arc that contains the nodes.
    pub(crate) fn around(grid: &Grid, axis: usize, points: &[Coordinates]) -> Arc {
        let side = grid.side(axis);
        let mut used = vec![false; usize::from(side)];
        for point in points {
            used[usize::from(point[axis])] = true;
        }
        let places: Vec<u16> = (0..side).filter(|&at| used[usize::from(at)]).collect();
        let (first, last) = (places[0], places[places.len() - 1]);
        let (mut start, mut length) = (first, last - first + 1);
        if !(grid.wraps(axis) && side > 2) {
            return Arc { side, start, length, whole: false };
        }
        // The arc leaves out the longest gap between consecutive nodes on the ring.
        for pair in places.windows(2) {
            let rest = side - (pair[1] - pair[0]) + 1;
            if rest < length {
                (start, length) = (pair[1], rest);
            }
        }
        // A message that goes exactly halfway around goes toward larger coordinates and may leave
        // the arc.
        let whole = 2 * u32::from(length - 1) >= u32::from(side);
        if whole {
            Arc { side, start: 0, length: side, whole }
        } else {
            Arc { side, start, length, whole }
        }
    }

    /// Returns a coordinate's position on the arc.
    pub(crate) fn place(self, at: u16) -> u16 {
        if at >= self.start { at - self.start } else { at + (self.side - self.start) }
    }

    /// Returns the coordinate at a position on the arc.
    fn coordinate(self, place: u16) -> u16 {
        let to_the_end = self.side - self.start;
        if place < to_the_end { self.start + place } else { place - to_the_end }
    }

    /// Returns the properties of the arc that can affect message timing: its length, and the
    /// position of its wrap link, where messages switch virtual channels.
    fn relative_layout(self) -> [u32; 2] {
        let before_wrap = self.side - self.start;
        let wrap = if before_wrap < self.length { before_wrap } else { 0 };
        [u32::from(self.length), u32::from(wrap)]
    }
}

/// A range of positions on an axis, initially empty.
#[derive(Clone, Copy, Debug)]
struct PlaceRange {
    least: u16,
    greatest: u16,
}

impl PlaceRange {
    const NOWHERE: PlaceRange = PlaceRange { least: u16::MAX, greatest: 0 };

    fn widen(&mut self, place: u16) {
        self.least = self.least.min(place);
        self.greatest = self.greatest.max(place);
    }

    fn is_nowhere(self) -> bool {
        self.least > self.greatest
    }
}

/// A collector for the links in a footprint.
struct Links<'a> {
    arcs: &'a [Arc; 3],
    /// The contribution of each position on each axis to a node number.
    shares: [Vec<u32>; 3],
    list: Vec<u32>,
}

impl Links<'_> {
    fn of(grid: &Grid, arcs: &[Arc; 3], places: &[Coordinates]) -> Vec<u32> {
        let [x, y, z] = arcs.each_ref().map(|arc| usize::from(arc.length));
        // The range of positions that the nodes occupy in each row, plane, slice and column.
        let mut rows = vec![PlaceRange::NOWHERE; y * z];
        let mut planes = vec![PlaceRange::NOWHERE; z];
        let mut slices = vec![PlaceRange::NOWHERE; x];
        let mut columns = vec![PlaceRange::NOWHERE; x * y];
        for &[px, py, pz] in places {
            let [ux, uy, uz] = [px, py, pz].map(usize::from);
            rows[uz * y + uy].widen(px);
            planes[uz].widen(py);
            slices[ux].widen(py);
            columns[uy * x + ux].widen(pz);
        }
        let strides =
            [1, u32::from(grid.side(0)), u32::from(grid.side(0)) * u32::from(grid.side(1))];
        let shares = [0, 1, 2].map(|axis: usize| {
            let arc = arcs[axis];
            (0..arc.length).map(|place| u32::from(arc.coordinate(place)) * strides[axis]).collect()
        });
        let mut links = Links { arcs, shares, list: Vec::with_capacity(places.len() * 6) };
        let all = |length: usize| PlaceRange { least: 0, greatest: length as u16 - 1 };
        for pz in 0..z {
            for py in 0..y {
                links.line(0, [0, py, pz], rows[pz * y + py], all(x));
            }
            for (px, &slice) in slices.iter().enumerate() {
                links.line(1, [px, 0, pz], planes[pz], slice);
            }
        }
        for py in 0..y {
            for px in 0..x {
                links.line(2, [px, py, 0], all(z), columns[py * x + px]);
            }
        }
        links.list
    }

    /// Adds the links used on one line of the grid by messages that enter the line within `from`
    /// and leave it within `to`.
    fn line(&mut self, axis: usize, through: [usize; 3], from: PlaceRange, to: PlaceRange) {
        if from.is_nowhere() || to.is_nowhere() {
            return;
        }
        let arc = self.arcs[axis];
        let (up, down) = if arc.whole && arc.length > 1 {
            (0..arc.length, 0..arc.length)
        } else {
            (from.least..to.greatest, to.least + 1..from.greatest + 1)
        };
        let mut base = 0;
        for other in (0..3).filter(|&other| other != axis) {
            base += self.shares[other][through[other]];
        }
        let slot = axis as u32 * 2;
        for (range, slot) in [(up, slot), (down, slot + 1)] {
            let shares = range.map(|place| self.shares[axis][usize::from(place)]);
            self.list.extend(shares.map(|share| (base + share) * Footprint::LINKS + slot));
        }
    }
}
