//! The TBL paper's subtraction table (Figure 2) and Detect procedure (Figure 3) as printed,
//! including their errors. The table and the procedure miss placements or return overlapping ones,
//! so they exist only in this test and are not an option of `tbl`.

use pavior_allocation::claim::BoxGroup;
use pavior_allocation::oracle;
use pavior_mesh::{Cuboid, Grid, Occupancy, Scan};

/// A closed interval of coordinates.
type Interval = (i32, i32);

/// A rectangle in a plane of constant x, spanning y1..y2 by z1..z2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    y: Interval,
    z: Interval,
}

impl Piece {
    fn nodes(self) -> impl Iterator<Item = (i32, i32)> {
        (self.z.0..=self.z.1).flat_map(move |z| (self.y.0..=self.y.1).map(move |y| (y, z)))
    }

    fn holds(self, (y, z): (i32, i32)) -> bool {
        self.y.0 <= y && y <= self.y.1 && self.z.0 <= z && z <= self.z.1
    }
}

fn piece(y1: i32, z1: i32, y2: i32, z2: i32) -> Piece {
    Piece { y: (y1, y2), z: (z1, z2) }
}

/// Returns true if a plane and a region satisfy the condition of a case in Figure 2. `inside` is
/// true if the plane's x is in the region (u1 <= x <= u2).
fn matches(case: u8, inside: bool, plane: Piece, region: Piece) -> bool {
    let ((y1, y2), (z1, z2)) = (plane.y, plane.z);
    let ((v1, v2), (w1, w2)) = (region.y, region.z);
    let within = |low: i32, at: i32, high: i32| low <= at && at <= high;
    let (y1_in, y2_in) = (within(v1, y1, v2), within(v1, y2, v2));
    let over_both = y2 > v2 && y1 < v1;
    let over_left = y2_in && y1 < v1;
    let over_right = y1_in && y2 > v2;
    let holds = match case {
        1 => return !inside || z2 < w1 || z1 > w2 || y2 < v1 || y1 > v2,
        2 => y2 == v1 && y1 < v1 && within(w1, z2, w2) && z1 < w1,
        3 => y2 > v2 && y1 == v2 && within(w1, z2, w2) && z1 < w1,
        4 => y1_in && y2_in && z1 == w2 && z2 > w2,
        5 => over_right && z1 == w2 && z2 > w2,
        6 => over_left && z1 == w2 && z2 > w2,
        7 => y1_in && y2_in && z2 == w1 && z1 < w1,
        8 => over_right && z2 == w1 && z1 < w1,
        9 => over_left && z2 == w1 && z1 < w1,
        10 => y1_in && y2_in && w1 < z2 && z2 <= w2 && z1 < w1,
        11 => over_right && w1 < z2 && z2 <= w2 && z1 < w1,
        12 => over_left && w1 < z2 && z2 <= w2 && z1 < w1,
        13 => y1_in && y2_in && within(w1, z1, w2) && z2 > w2,
        14 => over_right && within(w1, z1, w2) && z2 > w2,
        15 => over_left && within(w1, z1, w2) && z2 > w2,
        16 => y1_in && y2_in && z1 < w1 && z2 > w2,
        17 => over_right && z1 < w1 && z2 > w2,
        18 => over_left && z1 < w1 && z2 > w2,
        19 => over_both && z1 < w1 && z2 > w2,
        20 => over_both && z1 < w1 && z2 == w2,
        21 => over_both && z1 == w1 && z2 > w2,
        22 => over_both && z1 == w1 && z2 == w2,
        23 => over_both && z1 == w1 && z2 < w2,
        24 => over_both && z1 > w1 && z2 == w2,
        25 => over_both && z1 < w1 && w1 <= z2 && z2 < w2,
        26 => over_both && z2 > w2 && w1 <= z1 && z1 < w2,
        27 => y1_in && within(w1, z1, w2) && within(w1, z2, w2),
        28 => over_right && within(w1, z1, w2) && within(w1, z2, w2),
        29 => over_left && within(w1, z1, w2) && within(w1, z2, w2),
        _ => unreachable!("29 cases are printed"),
    };
    inside && holds
}

/// Returns the pieces of a plane that a case in Figure 2, as printed, leaves.
fn leaves(case: u8, plane: Piece, region: Piece) -> Vec<Piece> {
    let ((y1, y2), (z1, z2)) = (plane.y, plane.z);
    let ((v1, v2), (w1, w2)) = (region.y, region.z);
    let left = piece(y1, z1, v1 - 1, z2);
    let right = piece(v2 + 1, z1, y2, z2);
    let below = piece(y1, z1, y2, w1 - 1);
    let above = piece(y1, w2 + 1, y2, z2);
    match case {
        1 => vec![plane],
        2 => vec![below, left],
        3 | 8 | 11 => vec![below, piece(v2 + 1, w1, y2, z2)],
        4 | 13 => vec![above],
        5 => vec![above, piece(v2 + 1, z1, y2, w2)],
        6 => vec![above, piece(y1, z1, v1 - 1, w2)],
        7 | 10 => vec![below],
        9 | 12 => vec![below, piece(y1, w1, v1 - 1, z2)],
        14 => vec![piece(v2 + 1, z1, y2, w2), above],
        15 => vec![piece(y1, z1, v1 - 1, w2), above],
        16 => vec![below, above],
        17 => vec![below, right, piece(y1, w2 + 1, v2, z2)],
        18 => vec![left, piece(v1, z1, y2, w1 - 1), piece(v1, w2 + 1, y2, z2)],
        19 => vec![left, right, piece(v1, z1, v2, w1 - 1), piece(v1, w2 + 1, v2, z2)],
        20 | 25 => vec![left, right, piece(v1, z1, v2, w1 - 1)],
        21 | 26 => vec![left, right, piece(v1, w2 + 1, v2, z2)],
        22..=24 => vec![left, right],
        27 => Vec::new(),
        28 => vec![right],
        29 => vec![left],
        _ => unreachable!("29 cases are printed"),
    }
}

/// Returns the cases whose conditions a plane and a region satisfy.
fn matching(inside: bool, plane: Piece, region: Piece) -> Vec<u8> {
    (1..=29).filter(|&case| matches(case, inside, plane, region)).collect()
}

/// Applies the repaired table. Case 27 applies only if the plane does not overhang (the paper
/// prints case 28 for planes that do), and the two missing positions are added.
fn repaired(inside: bool, plane: Piece, region: Piece) -> Vec<Piece> {
    let cases = matching(inside, plane, region);
    match cases.iter().find(|&&case| case != 27 || !cases.contains(&28)) {
        Some(&case) => leaves(case, plane, region),
        None if plane.z.1 > region.z.1 => leaves(26, plane, region),
        None => leaves(22, plane, region),
    }
}

/// Returns the nodes of a plane that are actually outside a region.
fn truth(plane: Piece, region: Piece) -> Vec<(i32, i32)> {
    plane.nodes().filter(|&node| !region.holds(node)).collect()
}

/// Returns the distinct nodes in the pieces, and true if any two pieces overlap.
fn union(pieces: &[Piece]) -> (Vec<(i32, i32)>, bool) {
    let mut nodes: Vec<_> = pieces.iter().flat_map(|piece| piece.nodes()).collect();
    nodes.sort_by_key(|&(y, z)| (z, y));
    let all = nodes.len();
    nodes.dedup();
    let twice = nodes.len() < all;
    (nodes, twice)
}

/// Returns all 50,625 pairs of rectangles on a 5x5 plane.
fn positions() -> impl Iterator<Item = (Piece, Piece)> {
    let intervals = || (0..5).flat_map(|low| (low..5).map(move |high| (low, high)));
    let pieces = move || intervals().flat_map(move |y| intervals().map(move |z| Piece { y, z }));
    pieces().flat_map(move |plane| pieces().map(move |region| (plane, region)))
}

/// Returns true if the relative position is one of the two missing from Figure 2.
fn lacking(plane: Piece, region: Piece) -> bool {
    let over_both = plane.y.0 < region.y.0 && plane.y.1 > region.y.1;
    let strictly_inside = plane.z.0 > region.z.0 && plane.z.1 < region.z.1;
    let on_the_last_row =
        plane.z.0 == region.z.1 && plane.z.0 > region.z.0 && plane.z.1 > region.z.1;
    over_both && (strictly_inside || on_the_last_row)
}

#[test]
fn two_cases_more_and_one_condition_more_make_the_table_right() {
    for (plane, region) in positions() {
        let (nodes, _) = union(&repaired(true, plane, region));
        assert_eq!(nodes, truth(plane, region), "{plane:?} {region:?}");
        assert_eq!(repaired(false, plane, region), [plane]);
    }
}

#[test]
fn every_case_but_27_is_the_plane_without_the_region() {
    let (mut count, mut wrong) = (0, [0; 30]);
    for (plane, region) in positions() {
        count += 1;
        for case in matching(true, plane, region) {
            let (nodes, _) = union(&leaves(case, plane, region));
            wrong[usize::from(case)] += u32::from(nodes != truth(plane, region));
        }
    }
    assert_eq!(count, 50_625);
    assert_eq!(wrong[27], 2_450);
    assert!((1..30).all(|case| case == 27 || wrong[case] == 0), "{wrong:?}");
}

#[test]
fn case_27_fires_with_every_instance_of_case_28_and_375_positions_match_nothing() {
    let (mut both, mut all_28, mut none) = (0, 0, 0);
    for (plane, region) in positions() {
        let cases = matching(true, plane, region);
        all_28 += u32::from(cases.contains(&28));
        both += u32::from(cases.contains(&27) && cases.contains(&28));
        none += u32::from(cases.is_empty());
        assert_eq!(cases.is_empty(), lacking(plane, region), "{plane:?} {region:?}");
    }
    assert_eq!((both, all_28, none), (2_450, 2_450, 375));
}

#[test]
fn other_double_matches_agree_and_two_cases_leave_overlapping_pieces() {
    let mut pairs = std::collections::BTreeSet::new();
    let mut doubled = [[0; 2]; 30];
    for (plane, region) in positions() {
        let cases = matching(true, plane, region);
        for (index, &case) in cases.iter().enumerate() {
            pairs.extend(cases[index + 1..].iter().map(|&other| (case, other)));
            let (_, twice) = union(&leaves(case, plane, region));
            doubled[usize::from(case)][usize::from(twice)] += 1;
        }
    }
    let listed = [(2, 9), (2, 12), (3, 8), (3, 11), (4, 13), (5, 14), (6, 15), (21, 26), (27, 28)];
    assert_eq!(pairs.into_iter().collect::<Vec<_>>(), listed);
    for (case, [once, twice]) in doubled.into_iter().enumerate() {
        let always = [2, 17].contains(&case);
        assert_eq!((twice > 0, always && once > 0), (always, false), "case {case}");
    }
}

/// The Detect procedure, with each of its printed errors either kept or repaired.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "one flag per error, either printed or repaired")]
struct Detect {
    /// True if cases 1, 4 and 13 accept a plane before all regions have been subtracted.
    early: bool,
    /// True if the busy list is sorted by descending z2, which the paper never requires.
    sorted: bool,
    /// True if a plane is rejected only when it lies completely inside an automatic prohibited
    /// region, and is never clipped to the border of such a region.
    unclipped: bool,
    /// True if planes left after the last region are not recorded.
    forgets: bool,
    /// True if case 27 abandons the plane along with all of its other pieces.
    abandons: bool,
    /// True if the printed table is used: the first matching case applies, and if no case matches,
    /// the plane is left unchanged. Otherwise, the repaired table is used.
    table: bool,
}

const REPAIRED: Detect = Detect {
    early: false,
    sorted: false,
    unclipped: false,
    forgets: false,
    abandons: false,
    table: false,
};

/// A box, given by its lowest and highest corners, as in the paper.
#[derive(Clone, Copy)]
struct Corners {
    low: [i32; 3],
    high: [i32; 3],
}

impl Corners {
    fn of(cuboid: &Cuboid) -> Corners {
        let low = cuboid.base.map(i32::from);
        let high = std::array::from_fn(|axis| low[axis] + i32::from(cuboid.sides[axis]) - 1);
        Corners { low, high }
    }

    /// Returns the box's prohibited region: the bases at which a job would overlap the box.
    fn region(&self, job: [i32; 3]) -> Corners {
        let low = std::array::from_fn(|axis| (self.low[axis] - job[axis] + 1).max(0));
        Corners { low, high: self.high }
    }

    fn plane(&self) -> Piece {
        piece(self.low[1], self.low[2], self.high[1], self.high[2])
    }
}

/// The result of subtracting one region from the pieces of a plane.
enum After {
    Pieces(Vec<Piece>),
    Accepted(Piece),
    Abandoned,
}

impl Detect {
    /// Returns the base that Detect offers, which is the first node of the first plane that it
    /// records.
    fn offer(self, grid: &Grid, busy: &[Cuboid], job: [u16; 3]) -> Option<[i32; 3]> {
        let job = job.map(i32::from);
        let ends: [i32; 3] = std::array::from_fn(|axis| i32::from(grid.side(axis)) - job[axis]);
        let mut list: Vec<Corners> = busy.iter().map(Corners::of).collect();
        if self.sorted {
            list.sort_by_key(|held| std::cmp::Reverse(held.high[2]));
        }
        let sides = grid.sides().map(i32::from);
        let face = Corners { low: [-1, 0, 0], high: [-1, sides[1] - 1, sides[2] - 1] };
        let first = std::iter::once(&face).chain(&list);
        first.into_iter().find_map(|held| self.on_plane(held, &list, job, ends))
    }

    fn on_plane(
        self,
        held: &Corners,
        list: &[Corners],
        job: [i32; 3],
        ends: [i32; 3],
    ) -> Option<[i32; 3]> {
        let x = held.high[0] + 1;
        let mut plane = held.region(job).plane();
        if self.unclipped {
            if x > ends[0] || plane.y.0 > ends[1] || plane.z.0 > ends[2] {
                return None;
            }
        } else {
            (plane.y.1, plane.z.1) = (plane.y.1.min(ends[1]), plane.z.1.min(ends[2]));
            if x > ends[0] || plane.y.0 > plane.y.1 || plane.z.0 > plane.z.1 {
                return None;
            }
        }
        let mut pieces = vec![plane];
        for other in list {
            match self.subtract(pieces, x, &other.region(job)) {
                After::Pieces(rest) => pieces = rest,
                After::Accepted(piece) => return Some([x, piece.y.0, piece.z.0]),
                After::Abandoned => return None,
            }
        }
        let left = pieces.first().filter(|_| !self.forgets)?;
        Some([x, left.y.0, left.z.0])
    }

    fn subtract(self, pieces: Vec<Piece>, x: i32, region: &Corners) -> After {
        let inside = region.low[0] <= x && x <= region.high[0];
        let region = region.plane();
        let mut rest = Vec::new();
        for plane in pieces {
            let case = matching(inside, plane, region).first().copied();
            let accepts = match case {
                Some(1) => plane.z.0 > region.z.1,
                Some(4 | 13) => true,
                _ => false,
            };
            let left = match case {
                Some(case) if self.table => leaves(case, plane, region),
                None if self.table => vec![plane],
                _ => repaired(inside, plane, region),
            };
            if self.early && accepts {
                return After::Accepted(left[0]);
            }
            if self.abandons && left.is_empty() {
                return After::Abandoned;
            }
            rest.extend(left);
        }
        After::Pieces(rest)
    }
}

/// Counts of the errors that a variant of Detect makes over a set of states.
#[derive(Debug, Default, PartialEq, Eq)]
struct Faults {
    /// The number of times that Detect finds no base although one is free.
    missed: u32,
    /// The number of offered bases at which the job would overlap a busy box.
    overlapping: u32,
    /// The number of offered bases at which the job would extend beyond the machine.
    outside: u32,
}

fn every_box(grid: &Grid) -> Vec<Cuboid> {
    let mut boxes = Vec::new();
    for sides in every_shape(grid) {
        boxes.extend(Scan::default().bases(*grid, sides).map(|base| Cuboid::new(base, sides)));
    }
    boxes
}

fn every_shape(grid: &Grid) -> Vec<[u16; 3]> {
    let [w, d, h] = grid.sides();
    let mut shapes = Vec::new();
    for c in 1..=h {
        for b in 1..=d {
            shapes.extend((1..=w).map(|a| [a, b, c]));
        }
    }
    shapes
}

impl Faults {
    const NONE: Faults = Faults { missed: 0, overlapping: 0, outside: 0 };

    /// Counts the errors for every job in one state.
    fn count(&mut self, detect: Detect, grid: &Grid, busy: &[Cuboid]) {
        let mut free = Occupancy::all_free(*grid);
        for held in busy {
            free.take(held).unwrap();
        }
        for job in every_shape(grid) {
            let feasible =
                oracle::first(&free, &[BoxGroup::cuboid(job)], Scan::default()).is_some();
            match detect.offer(grid, busy, job) {
                None => self.missed += u32::from(feasible),
                Some(base) => {
                    let placed = Cuboid::new(base.map(|at| at as u16), job);
                    if !placed.lies_on(grid) {
                        self.outside += 1;
                    } else if !free.is_free(&placed) {
                        self.overlapping += 1;
                    }
                }
            }
        }
    }
}

/// Counts errors for every job in every state with at most two busy boxes, in both grant orders.
fn faults(detect: Detect, grid: &Grid) -> Faults {
    let boxes = every_box(grid);
    let mut faults = Faults::default();
    faults.count(detect, grid, &[]);
    for &first in &boxes {
        faults.count(detect, grid, &[first]);
        for &second in boxes.iter().filter(|second| !first.intersects(grid, second)) {
            faults.count(detect, grid, &[first, second]);
        }
    }
    faults
}

fn on(machine: &str, detect: Detect) -> Faults {
    faults(detect, &machine.parse().unwrap())
}

const SMALL: [&str; 2] = ["mesh:3x2x2", "mesh:2x3x3"];

fn missed(missed: u32) -> Faults {
    Faults { missed, ..Faults::NONE }
}

fn overlapping(overlapping: u32) -> Faults {
    Faults { overlapping, ..Faults::NONE }
}

fn outside(outside: u32) -> Faults {
    Faults { outside, ..Faults::NONE }
}

#[test]
fn with_every_repair_detect_neither_misses_nor_overlaps() {
    assert_eq!(SMALL.map(|machine| on(machine, REPAIRED)), [Faults::NONE, Faults::NONE]);
}

#[test]
fn early_acceptance_overlaps_unless_the_list_is_sorted_by_z2() {
    let early = Detect { early: true, ..REPAIRED };
    let expected = [overlapping(1_036), overlapping(6_102)];
    assert_eq!(SMALL.map(|machine| on(machine, early)), expected);
    let sorted = Detect { sorted: true, ..early };
    assert_eq!(SMALL.map(|machine| on(machine, sorted)), [Faults::NONE, Faults::NONE]);
}

#[test]
fn without_the_automatic_regions_jobs_leave_the_machine() {
    let detect = Detect { unclipped: true, ..REPAIRED };
    assert_eq!(SMALL.map(|machine| on(machine, detect)), [outside(5_569), outside(46_893)]);
}

#[test]
fn planes_left_at_the_end_are_forgotten_so_that_an_empty_machine_refuses() {
    let detect = Detect { early: true, sorted: true, forgets: true, ..REPAIRED };
    let grid = Grid::mesh(&[4, 4, 4]).unwrap();
    assert_eq!(detect.offer(&grid, &[], [1, 1, 1]), None);
    assert_eq!(REPAIRED.offer(&grid, &[], [1, 1, 1]), Some([0, 0, 0]));
    assert_eq!(SMALL.map(|machine| on(machine, detect)), [missed(8_044), missed(51_089)]);
}

#[test]
fn case_27_abandons_the_other_pieces_of_its_plane() {
    let detect = Detect { abandons: true, ..REPAIRED };
    assert_eq!(SMALL.map(|machine| on(machine, detect)), [missed(619), missed(6_750)]);
}

#[test]
fn the_first_match_in_the_printed_table_misses() {
    let detect = Detect { table: true, ..REPAIRED };
    assert_eq!(SMALL.map(|machine| on(machine, detect)), [missed(1_204), missed(9_466)]);
    // Case 27 removes the node at y = 1 together with the node that the region covers.
    let grid = Grid::mesh(&[1, 2, 1]).unwrap();
    let busy = [Cuboid::node([0, 0, 0])];
    assert_eq!(detect.offer(&grid, &busy, [1, 1, 1]), None);
    assert_eq!(REPAIRED.offer(&grid, &busy, [1, 1, 1]), Some([0, 1, 0]));
}

#[test]
fn a_position_without_a_case_overlaps() {
    let detect = Detect { table: true, ..REPAIRED };
    let grid = Grid::mesh(&[3, 3, 4]).unwrap();
    let busy = [
        Cuboid::new([1, 1, 0], [2, 2, 1]),
        Cuboid::new([0, 1, 0], [1, 1, 2]),
        Cuboid::new([1, 0, 0], [1, 1, 3]),
    ];
    let mut faults = Faults::default();
    faults.count(detect, &grid, &busy);
    assert!(faults.overlapping > 0, "{faults:?}");
    let mut faults = Faults::default();
    faults.count(REPAIRED, &grid, &busy);
    assert_eq!(faults, Faults::NONE);
}

#[test]
fn as_printed_detect_does_everything_wrong() {
    let printed = Detect {
        early: true,
        sorted: false,
        unclipped: true,
        forgets: true,
        abandons: true,
        table: true,
    };
    let expected = Faults { missed: 8_175, overlapping: 728, outside: 2_641 };
    assert_eq!(on("mesh:3x2x2", printed), expected);
}
