//! M1 and M4: the worked examples, Tables I to V row by row, and what follows from them.

use pavior_allocation::explain::{State, answer, index};
use pavior_allocation::{MfaCandidate, MfaVerdict, mfa_candidates};
use pavior_mesh::{Cuboid, Grid, JobId, Point, Request, Sides};

use super::super::Statement;
use super::{EXAMPLES, MESH};
use crate::still::boxes;

const TASK: Sides = [3, 2, 1];

/// A table: its example, the number of its busy submesh in the list, and its rows: side, base, index
/// (or `earlier`), and the nodes that count, busy ones and own ones on the border. Where the print
/// does not follow from the definitions the row is the corrected one, and what is printed stands
/// behind the bar.
const TABLES: [(&str, usize, usize, &str); 5] = [
    (
        "I",
        0,
        0,
        "R 5,1 3  7,1 7,2 4,2
         R 5,2 4  7,2 7,3 4,2 4,3
         R 5,3 6  7,3 7,4 4,3 4,4 5,5 6,5 | 4, from <7,3> <7,4> <4,3> <4,4>: it misses <5,5> and \
         <6,5>, two nodes of the submesh above
         R 5,4 -1
         T 4,5 -1
         T 3,5 -1
         T 2,5 10 1,5 1,6 2,4 3,4 4,4 5,5 5,6 2,7 3,7 4,7",
    ),
    (
        "II",
        1,
        0,
        "R 4,0 5  3,0 3,1 4,0 5,0 6,0
         R 4,1 2  3,1 3,2
         R 4,2 1  3,2
         T 3,3 2  3,2 5,5
         T 2,3 2  2,2 3,2 | 2, from <3,1> <3,2>; <3,1> is not adjacent
         T 1,3 4  1,5 1,2 2,2 3,2
         T 0,3 7  0,3 0,4 0,2 1,2 2,2 0,5 1,5 | 7, from the ten nodes of Table I's last row",
    ),
    (
        "III",
        1,
        1,
        "R 7,4 -1
         R 7,5 -1
         R 7,6 -1
         T 6,7 -1
         T 5,7 -1
         T 4,7 -1
         T 3,7 -1
         L 2,6 -1
         L 2,5 7  2,7 3,7 4,7 1,6 1,5 5,5 5,6
         L 2,4 2  1,5 5,5
         B 3,3 earlier
         B 4,3 2  5,5 6,5
         B 5,3 4  5,5 6,5 7,4 7,3
         B 6,3 -1",
    ),
    (
        "IV",
        1,
        2,
        "R 2,4 earlier
         R 2,5 earlier
         R 2,6 -1
         T 1,7 -1
         T 0,7 -1
         B 0,3 earlier
         B 1,3 earlier",
    ),
    (
        "V",
        1,
        3,
        "R 5,6 -1 | computed earlier; it never was
         R 5,7 -1 | computed earlier; it never was
         B 0,5 -1 | a row of the right side
         B 1,5 -1
         B 2,5 earlier | -1; its index 7 stands in Table III
         B 3,5 -1 | computed earlier; it never was
         B 4,5 -1 | computed earlier; it never was",
    ),
];

fn state(example: usize) -> State {
    let grid: Grid = MESH.parse().expect("a machine");
    let mut state = State::new(grid);
    for (job, held) in (1..).zip(boxes(EXAMPLES[example]).expect("the examples are written right"))
    {
        state.hold(JobId(job), &[held]).expect("the submeshes of the examples are apart");
    }
    state
}

/// M1: the answers of the two examples.
pub(super) fn answers() -> Vec<Statement> {
    [(0, [2, 5, 0], 10), (1, [0, 3, 0], 7)]
        .map(|(example, base, printed)| one(example, base, printed))
        .into()
}

fn one(example: usize, base: Point, printed: i64) -> Statement {
    let mfa = "mfa".parse().expect("a strategy");
    let found = answer(&state(example), &mfa, &Request::shape(TASK), 1);
    let choice = found.expect("MFA works on a mesh").outcome.ok();
    let part = choice.as_ref().map(|choice| choice.placement.parts()[0]);
    let ours = choice.map(|choice| choice.index());
    let holds = part == Some(Cuboid::new(base, TASK)) && ours == Some(printed);
    let chosen = part.map_or("nothing".into(), |part| place(part.base));
    Statement::counted(
        format!("M1@{}", example + 1),
        format!("{} with index {printed}", place(base)),
        ours.map(|ours| ours as f64),
        holds,
    )
    .note(format!("what MFA chooses for a task of 3x2 in Example {}: {chosen}", example + 1))
}

/// M1: the tables.
pub(super) fn rows() -> Vec<Statement> {
    let mut all = Vec::new();
    for (name, example, submesh, text) in TABLES {
        let state = state(example);
        let mut found = mfa_candidates(state.free(), &state.busy_list(), TASK, false)
            .into_iter()
            .filter(|candidate| candidate.around.is_some_and(|(number, _)| number == submesh));
        all.extend(text.lines().map(|line| row(name, line, found.next(), &state)));
    }
    all
}

/// A row of a table beside ours, which must be the next candidate, and as much worth, for the same
/// nodes.
fn row(table: &str, line: &str, found: Option<MfaCandidate>, state: &State) -> Statement {
    let (row, printed) = line.split_once('|').map_or((line, None), |(row, note)| (row, Some(note)));
    let words: Vec<&str> = row.split_whitespace().collect();
    let [side, base, worth, nodes @ ..] = &words[..] else { panic!("a row of a table: {line}") };
    let mut nodes: Vec<String> = nodes.iter().map(|node| format!("<{node}>")).collect();
    nodes.sort();
    let (holds, ours, words) = match found {
        None => (false, None, "not looked at".to_string()),
        Some(candidate) => {
            let seen = candidate.around.map_or(String::new(), |(_, side)| side.to_string());
            let mut touched = Vec::new();
            let (verdict, ours, words) = match candidate.verdict {
                MfaVerdict::Index(index) => {
                    touched = touches(state, candidate.base);
                    (index.to_string(), Some(index as f64), format!("from {}", touched.join(" ")))
                }
                MfaVerdict::Inadmissible => ("-1".into(), Some(-1.0), "inadmissible".into()),
                MfaVerdict::ComputedEarlier => ("earlier".into(), None, "computed earlier".into()),
            };
            let same = (seen.as_str(), place(candidate.base)) == (*side, format!("<{base}>"));
            (same && verdict == *worth && touched == nodes, ours, words)
        }
    };
    let worth = if *worth == "earlier" { "computed earlier" } else { worth };
    let note = match printed {
        None => words,
        Some(printed) => {
            format!("{words}; judged against the corrected row; printed: {}", printed.trim())
        }
    };
    let id = format!("M1@{table}-{}", base.replace(',', "-"));
    Statement::counted(id, format!("Table {table}, {side} <{base}>: {worth}"), ours, holds)
        .note(note)
}

fn place(point: Point) -> String {
    format!("<{},{}>", point[0], point[1])
}

/// What counts for the index of the task at a base: busy neighbours, and own nodes on the border.
fn touches(state: &State, base: Point) -> Vec<String> {
    let grid = state.grid();
    let placed = Cuboid::new(base, TASK);
    let mut all = Vec::new();
    for node in placed.nodes(grid).map(|node| grid.point(node)) {
        for (x, y) in [(1, 0), (0, 1), (-1, 0), (0, -1)] {
            let at = |axis: usize, step: i32| {
                let moved = i32::from(node[axis]) + step;
                u16::try_from(moved).ok().filter(|&moved| moved < grid.side(axis))
            };
            match at(0, x).zip(at(1, y)) {
                None => all.push(place(node)),
                Some((x, y)) => {
                    let beside = [x, y, 0];
                    let inside = Cuboid::node(beside).intersects(grid, &placed);
                    if !inside && !state.free().is_free(&Cuboid::node(beside)) {
                        all.push(place(beside));
                    }
                }
            }
        }
    }
    all.sort();
    all
}

/// M4: the mean size of the busy submeshes, and the index of Figure 2's allocation.
pub(super) fn sizes() -> Vec<Statement> {
    let mut all: Vec<Statement> = [0, 1]
        .map(|example| {
            let sizes: Vec<u32> = state(example).busy_list().iter().map(Cuboid::volume).collect();
            let nodes: u32 = sizes.iter().sum();
            let mean = f64::from(nodes) / sizes.len() as f64;
            let holds = nodes as usize * 100 == 575 * sizes.len();
            Statement::counted(format!("M4@K-{}", example + 1), "5.75", Some(mean), holds).note(
                format!("mean size of the busy submeshes of Example {}: {sizes:?}", example + 1),
            )
        })
        .into();
    // Four busy neighbours and two nodes on the border, as the figure is described.
    let state = state(0);
    let ours = index(state.free(), &Cuboid::new([5, 3, 0], TASK));
    let touched = touches(&state, [5, 3, 0]);
    let border = touched.iter().filter(|node| node.starts_with("<7,")).count();
    let busy = touched.len() - border;
    all.push(
        Statement::counted("M4@figure-2", "index 6", Some(ours as f64), ours == 6 && busy == 4)
            .note(format!(
                "the drawing is not in the text, which says four busy neighbours and two nodes on the \
                 border; so has <5,3> in Example 1: {busy} and {border}, {}",
                touched.join(" ")
            )),
    );
    all
}
