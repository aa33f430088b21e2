//! Tests of the MFA paper's examples, row by row. Coordinates and tables are as in the paper.
//! Wherever a row differs from the printed one, a comment explains the correction.

use pavior_allocation::{
    AllocateError, Machine, MfaCandidate, MfaVerdict, Refusal, mfa_candidates,
};
use pavior_mesh::{Coordinates, Cuboid, Grid, JobId, Occupancy, Request, Scan};

use crate::common::busy_machine;

/// Returns the submesh with the given lower left and upper right nodes.
fn submesh(from: [u16; 2], to: [u16; 2]) -> Cuboid {
    let side = |axis: usize| to[axis] - from[axis] + 1;
    Cuboid::new([from[0], from[1], 0], [side(0), side(1), 1])
}

/// Returns the state of Figures 1 and 4.
fn example_1() -> [Cuboid; 4] {
    let [_, rest @ ..] = example_2();
    let [b2, b3, b4] = rest;
    [submesh([1, 2], [4, 4]), b2, b3, b4]
}

/// Returns the state of Figure 5.
fn example_2() -> [Cuboid; 4] {
    [
        submesh([0, 0], [3, 2]),
        submesh([5, 5], [6, 6]),
        submesh([0, 5], [1, 6]),
        submesh([2, 7], [4, 7]),
    ]
}

const TASK: [u16; 3] = [3, 2, 1];

fn state(busy: &[Cuboid]) -> Occupancy {
    let mut free = Occupancy::all_free(Grid::mesh(&[8, 8]).unwrap());
    for held in busy {
        free.take(held).unwrap();
    }
    free
}

/// Returns the rows of the table for one submesh, each consisting of the side, the base, and the
/// index (or `-1` or `earlier`).
fn rows(busy: &[Cuboid], number: usize) -> Vec<(String, [u16; 2], String)> {
    let row = |candidate: MfaCandidate| {
        let (submesh, side) = candidate.around?;
        let verdict = match candidate.verdict {
            MfaVerdict::Index(index) => index.to_string(),
            MfaVerdict::Inadmissible => "-1".into(),
            MfaVerdict::ComputedEarlier => "earlier".into(),
        };
        let base = [candidate.base[0], candidate.base[1]];
        (submesh == number).then(|| (side.to_string(), base, verdict))
    };
    mfa_candidates(&state(busy), busy, TASK, false).into_iter().filter_map(row).collect()
}

fn table(text: &str) -> Vec<(String, [u16; 2], String)> {
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let side = words.next()?.to_string();
        let base = words.next()?.split(',').map(|n| n.parse().unwrap()).collect::<Vec<u16>>();
        Some((side, [base[0], base[1]], words.next()?.to_string()))
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn table_1() {
    // The paper prints 4 for <5,3>, because its list of neighbors omits <5,5> and <6,5>, two nodes
    // of beta 2 that touch the top of the task.
    let expected = table(
        "R 5,1 3
         R 5,2 4
         R 5,3 6
         R 5,4 -1
         T 4,5 -1
         T 3,5 -1
         T 2,5 10",
    );
    assert_eq!(rows(&example_1(), 0)[..7], expected);
}

#[test]
fn table_2() {
    // All indices are as printed. The ten nodes printed beside <0,3> belong to the last row of
    // Table I. The correct seven nodes are <0,3> and <0,4>, which are on the border, and <0,2>,
    // <1,2>, <2,2>, <0,5> and <1,5>, which are busy. <2,3> touches <2,2> and <3,2>, not <3,1> and
    // <3,2>.
    let expected = table(
        "R 4,0 5
         R 4,1 2
         R 4,2 1
         T 3,3 2
         T 2,3 2
         T 1,3 4
         T 0,3 7",
    );
    assert_eq!(rows(&example_2(), 0), expected);
}

#[test]
fn table_3() {
    // All rows are as printed. The text above the table says that the bottom side ends at <5,3>,
    // but according to the formula and the table, it ends at <6,3>.
    let expected = table(
        "R 7,4 -1
         R 7,5 -1
         R 7,6 -1
         T 6,7 -1
         T 5,7 -1
         T 4,7 -1
         T 3,7 -1
         L 2,6 -1
         L 2,5 7
         L 2,4 2
         B 3,3 earlier
         B 4,3 2
         B 5,3 4
         B 6,3 -1",
    );
    assert_eq!(rows(&example_2(), 1), expected);
}

#[test]
fn table_4() {
    let expected = table(
        "R 2,4 earlier
         R 2,5 earlier
         R 2,6 -1
         T 1,7 -1
         T 0,7 -1
         B 0,3 earlier
         B 1,3 earlier",
    );
    assert_eq!(rows(&example_2(), 2), expected);
}

#[test]
fn table_5() {
    // The paper lists <5,6>, <5,7>, <3,5> and <4,5> as computed earlier, although they were not
    // computed and are inadmissible. It prints -1 for <2,5>, although that base was computed
    // earlier. It lists <0,5> under the right side instead of under the bottom.
    let expected = table(
        "R 5,6 -1
         R 5,7 -1
         B 0,5 -1
         B 1,5 -1
         B 2,5 earlier
         B 3,5 -1
         B 4,5 -1",
    );
    assert_eq!(rows(&example_2(), 3), expected);
}

fn machine(strategy: &str, busy: &[Cuboid]) -> Machine {
    busy_machine(Grid::mesh(&[8, 8]).unwrap(), strategy, busy.iter().copied())
}

fn answer(strategy: &str, busy: &[Cuboid]) -> Result<Coordinates, AllocateError> {
    let placement = machine(strategy, busy).allocate(JobId(1), &Request::shape(TASK))?.clone();
    assert_eq!(placement.parts()[0].sides, TASK, "{strategy}: the given orientation fits");
    Ok(placement.parts()[0].base)
}

#[test]
fn the_examples_answers() {
    for strategy in ["mfa", "mfa:corners=all", "mfa:turn=best", "mfa:turn=none"] {
        assert_eq!(answer(strategy, &example_1()), Ok([2, 5, 0]), "{strategy}");
        // <2,5> also has index 7. The base that is visited first wins.
        assert_eq!(answer(strategy, &example_2()), Ok([0, 3, 0]), "{strategy}");
    }
}

#[test]
fn the_printed_loop_forgets_the_first_orientation() {
    // A perfect index ends the search at once, so the printed algorithm gets example 1 right.
    assert_eq!(answer("mfa:printed", &example_1()), Ok([2, 5, 0]));
    // In example 2, the best index, 7, is found and then forgotten. For the rotated task, the best
    // index is 5, which does not exceed p + q = 5, and <0,0> is busy. The printed algorithm
    // therefore refuses the paper's own second example.
    assert_eq!(answer("mfa:printed", &example_2()), Err(Refusal::NoFreeSubmesh.into()));
    assert_eq!(answer("mfa:printed:turn=none", &example_2()), Ok([0, 3, 0]));
    let busy = example_2();
    let turned = mfa_candidates(&state(&busy), &busy, [2, 3, 1], true);
    assert_eq!(turned.iter().filter_map(index).max(), Some(5));
}

fn index(candidate: &MfaCandidate) -> Option<i64> {
    match candidate.verdict {
        MfaVerdict::Index(index) => Some(index),
        _ => None,
    }
}

/// Follows `weight()` as printed, which returns -1 as soon as a perimeter node is in the coverage
/// set or the reject set.
#[test]
fn the_printed_weight_makes_every_row_minus_one() {
    for busy in [example_1(), example_2()] {
        let free = state(&busy);
        let barred =
            |[x, y, _]: Coordinates| x + 3 > 8 || y + 2 > 8 || !free.is_free(&at([x, y, 0]));
        let scored: Vec<MfaCandidate> =
            mfa_candidates(&free, &busy, TASK, false).into_iter().filter(around).collect();
        let scored: Vec<&MfaCandidate> =
            scored.iter().filter(|candidate| index(candidate).is_some()).collect();
        assert!(scored.len() >= 8);
        for candidate in scored {
            // In a 3x2 task, all nodes are perimeter nodes.
            let mut nodes = at(candidate.base).nodes(free.grid());
            assert!(nodes.any(|node| barred(free.grid().point(node))), "{candidate:?}");
        }
    }
}

fn around(candidate: &MfaCandidate) -> bool {
    candidate.around.is_some()
}

fn at(base: Coordinates) -> Cuboid {
    Cuboid::new(base, TASK)
}

#[test]
fn the_threshold_refuses_what_fits() {
    let grid = Grid::mesh(&[6, 7]).unwrap();
    let busy = Cuboid::node([1, 1, 0]);
    let mut free = Occupancy::all_free(grid);
    free.take(&busy).unwrap();
    // No index exceeds 5 + 4, and <0,0> is covered. Without rotation, the request is therefore
    // refused, although two rows of bases are free.
    let rows = mfa_candidates(&free, &[busy], [5, 4, 1], true);
    assert_eq!(rows.iter().filter_map(index).max(), Some(9));
    let answer = |strategy: &str| {
        busy_machine(grid, strategy, [busy]).allocate(JobId(1), &Request::shape([5, 4, 1])).cloned()
    };
    assert_eq!(answer("mfa:printed:turn=none"), Err(Refusal::NoFreeSubmesh.into()));
    assert!(answer("mfa:turn=none").is_ok());
}

#[test]
fn the_coverage_of_beta_4_begins_a_row_lower_than_printed() {
    // The example for Definition 3 prints <0,7>, <4,7>, but a task two rows high overlaps beta 4
    // from row 6 onward.
    let free = state(&example_1());
    let covered = |x: u16, y: u16| !free.is_free(&Cuboid::new([x, y, 0], TASK));
    assert!((0..5).all(|x| covered(x, 6)));
    let [_, b2, b3, b4] = example_1();
    // Base <2,6> is covered only by beta 4.
    let base = Cuboid::new([2, 6, 0], TASK);
    assert!(state(&[example_1()[0], b2, b3]).is_free(&base));
    assert!(base.intersects(free.grid(), &b4));
}

#[test]
fn figure_7_counts_5_75_nodes_a_submesh() {
    for busy in [example_1(), example_2()] {
        let nodes: u32 = busy.iter().map(Cuboid::volume).sum();
        assert_eq!(nodes * 100 / 4, 575);
    }
}

#[test]
fn figure_2_is_the_row_that_table_1_has_wrong() {
    // The allocation in Figure 2 touches four busy nodes and two border nodes. In the mesh of
    // Figure 1, this is true only of the candidate base <5,3>.
    let free = state(&example_1());
    let six = |base: &Coordinates| {
        let rows = mfa_candidates(&free, &example_1(), TASK, true);
        let row = rows.iter().find(|row| row.base == *base && index(row) == Some(6));
        let border = base[0] + 3 == 8 && base[1] > 0 && base[1] + 2 < 8;
        row.is_some() && border
    };
    let bases: Vec<Coordinates> = Scan::default().bases(*free.grid(), TASK).filter(six).collect();
    assert_eq!(bases, [[5, 3, 0]]);
}

/// On a mesh, the best placement is not always among the paper's candidates.
#[test]
fn all_corners_can_be_better_than_the_origin() {
    let grid = Grid::mesh(&[7, 7]).unwrap();
    let place = |strategy: &str| {
        let mut machine = busy_machine(grid, strategy, [Cuboid::node([1, 1, 0])]);
        machine.allocate(JobId(1), &Request::shape([3, 3, 1])).unwrap().parts()[0].base
    };
    // Among the bases adjacent to the busy node, the best one touches that node and one border.
    assert_eq!(place("mfa"), [2, 0, 0]);
    assert_eq!(place("mfa:corners=all"), [4, 0, 0]);
}
