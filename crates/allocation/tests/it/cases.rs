//! Tests of the drawn cases in `cases/*.toml`: worked examples from the papers, pitfalls and
//! regressions.
//!
//! A case has a machine, one or more strategies, an initial state and steps. The initial state is
//! either drawn (`busy`, with the highest y first and planes in order from z = 0) or consists of
//! boxes in a given order (`grants`). A step requests a `shape`, a number of `nodes`, or both. It
//! expects `parts` (which then remain allocated), a `refused` reason, or just `granted = true`.
//! Alternatively, a step has `release`, the number (counting from 0) of the step whose job ends.
//! With `missed = true`, each step must be refused even though the oracle finds enough free nodes
//! or a free box with the requested shape (rotated if the strategy allows it).

use pavior_allocation::claim::{BoxGroup, Claim, Question, Recognition};
use pavior_allocation::{Machine, Placement, Registry, Selection, oracle};
use pavior_mesh::{Cuboid, Grid, JobId, Request, Scan, orientations, picture};
use serde::Deserialize;

use crate::common::busy_nodes;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    source: Option<String>,
    machine: String,
    strategies: Vec<String>,
    busy: Option<String>,
    #[serde(default)]
    grants: Vec<Box>,
    #[serde(default)]
    missed: bool,
    step: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Box {
    base: Vec<u16>,
    sides: Vec<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    shape: Option<Vec<u16>>,
    nodes: Option<u32>,
    parts: Option<Vec<Box>>,
    refused: Option<String>,
    granted: Option<bool>,
    release: Option<u64>,
}

fn triple(values: &[u16], fill: u16) -> [u16; 3] {
    std::array::from_fn(|axis| values.get(axis).copied().unwrap_or(fill))
}

impl Box {
    fn cuboid(&self) -> Cuboid {
        Cuboid::new(triple(&self.base, 0), triple(&self.sides, 1))
    }
}

impl Step {
    fn request(&self) -> Request {
        match (&self.shape, self.nodes) {
            (Some(shape), None) => Request::shape(triple(shape, 1)),
            (Some(shape), Some(nodes)) => Request::hinted(nodes, triple(shape, 1)),
            (None, Some(nodes)) => Request::nodes(nodes),
            (None, None) => panic!("a step asks for a shape or for nodes"),
        }
    }
}

fn files() -> Vec<(String, File)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            (name.clone(), toml::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}")))
        })
        .collect()
}

fn run(case: &Case, strategy: &str, place: &str) {
    let selection: Selection = strategy.parse().unwrap_or_else(|e| panic!("{place}: {e}"));
    let grid: Grid = case.machine.parse().unwrap();
    let mut machine = Machine::with_seed(grid, &selection, 1).unwrap();
    let mut before = 1_000_000..;
    let mut take = |machine: &mut Machine, cuboid| {
        let job = JobId(before.next().unwrap());
        machine
            .allocate_at(job, Placement::Whole(cuboid))
            .unwrap_or_else(|e| panic!("{place}: {e}"));
    };
    if let Some(busy) = &case.busy {
        let drawn = picture::parse(grid, busy).unwrap_or_else(|e| panic!("{place}: {e}"));
        busy_nodes(&drawn).for_each(|node| take(&mut machine, node));
    }
    for grant in &case.grants {
        take(&mut machine, grant.cuboid());
    }
    for (index, step) in case.step.iter().enumerate() {
        let place = format!("{place}, step {index}");
        if let Some(of) = step.release {
            machine.release(JobId(of)).unwrap_or_else(|e| panic!("{place}: {e}"));
            continue;
        }
        let request = step.request();
        if case.missed {
            assert!(findable(&selection, &machine, &request), "{place}: nothing is missed here");
        }
        let answer = machine.allocate(JobId(index as u64), &request).cloned();
        match (&step.parts, &step.refused, step.granted) {
            (Some(parts), None, None) => {
                let expected: Vec<Cuboid> = parts.iter().map(Box::cuboid).collect();
                let given = answer.as_ref().map(Placement::parts);
                assert_eq!(given, Ok(&expected[..]), "{place}\n{}", picture::draw(machine.free()));
            }
            (None, Some(reason), None) => {
                let given =
                    answer.as_ref().map_err(|error| error.refusal().expect("a refusal").word());
                assert_eq!(given, Err(reason.as_str()), "{place}");
            }
            (None, None, Some(true)) => assert!(answer.is_ok(), "{place}: {answer:?}"),
            _ if case.missed => assert!(answer.is_err(), "{place}: {answer:?} is not missed"),
            _ => panic!("{place}: a step expects parts, a refusal or granted = true"),
        }
        machine.validate();
    }
}

/// Returns true if the oracle finds a placement that a partial strategy may miss.
fn findable(selection: &Selection, machine: &Machine, request: &Request) -> bool {
    match Claim::of(selection).recognition {
        Recognition::Partial(Question::Count) => request.nodes <= machine.free().count(),
        Recognition::Partial(Question::Boxes) => {
            let turns = if selection.entry.does.turns { 6 } else { 1 };
            let shapes: Vec<BoxGroup> = orientations(request.shape.expect("asks for a box"))
                .take(turns)
                .map(BoxGroup::cuboid)
                .collect();
            oracle::first(machine.free(), &shapes, Scan::default()).is_some()
        }
        _ => false,
    }
}

#[test]
fn drawn_cases() {
    let mut count = 0;
    for (file, cases) in files() {
        for case in &cases.case {
            for strategy in &case.strategies {
                let source = case.source.as_deref().unwrap_or("ours");
                run(case, strategy, &format!("{file}: {} ({source}), {strategy}", case.name));
                count += 1;
            }
        }
    }
    assert!(count > 0, "no cases found");
}

#[test]
fn every_partial_claim_has_a_case_that_it_misses() {
    let files = files();
    for selection in Registry::new().entries().flat_map(Selection::variants) {
        if !matches!(Claim::of(&selection).recognition, Recognition::Partial(_)) {
            continue;
        }
        let name = selection.to_string();
        let canonical = |text: &String| text.parse::<Selection>().unwrap().to_string() == name;
        let shown = files
            .iter()
            .flat_map(|(_, file)| &file.case)
            .any(|case| case.missed && case.strategies.iter().any(canonical));
        assert!(shown, "{name} claims to miss some requests; a case must show one");
    }
}
