//! Answers questions about a shape, either in a run's current state or in a state sent by the page.

use pavior::answers::json::Place;
use pavior::answers::{Demand, Question, SearchLimits, Shape, SlotsAnswer, Snapshot, Words, why};
use pavior::draw::explanation;
use pavior::strategies::explain::{Choice, State, answer, perfect_index, words};
use pavior::workload::{Ask, Selection, ShapeRule, Shaper};
use pavior::{Cuboid, Grid, JobId, Request, Sides, Time};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::session::{MAX_SEARCHED_NODES, Session};

/// The maximum number of jobs that a plan may move.
const MAX_MOVED_JOBS: usize = 3;

/// Reports whether a box of this shape fits now, and how many fit at once. If none fits, also
/// reports which jobs block the location that will be free first, and which moves would make room.
pub(crate) fn shape(session: &Session, shape: &str) -> Result<Value, Fault> {
    let (run, grid) = (session.run(), session.grid());
    let ask = Ask::typed(Some(shape), None, grid).map_err(Fault::of)?;
    let request = request(ask, grid)?;
    // Query a copy of the machine so that the strategy's random number stream does not advance.
    let selection = run.machine().selection();
    let mut machine = State::of(run.machine()).machine(selection, 1).map_err(Fault::of)?;
    let (demand, snapshot) = (Demand::of(&mut machine, &request), Snapshot::of(&machine));
    let end = |job: JobId| -> Option<Time> {
        run.running().get(job).map(|running| running.expected_end(run.now()))
    };
    let is_searched = grid.nodes() <= MAX_SEARCHED_NODES;
    let limits = SearchLimits::jobs(if is_searched { MAX_MOVED_JOBS } else { 0 });
    let answer = why(&snapshot, &Question { limits, ..Question::new(&demand, &end) });
    let words = Words {
        grid,
        job: &|job| format!("job {}", job.0),
        time: &|time| session.in_words(time),
        strategy: &selection.to_string(),
        scheduler: session.scheduler(),
    };
    let mut lines = answer.lines(&words);
    if let Ask::Shape(sides) = ask
        && is_searched
    {
        let shapes = [Shape::new(sides)];
        let slots = SlotsAnswer::of(&snapshot, &shapes, end, SearchLimits::BUDGET, None);
        let words = slots.lines(&format!("size {shape}"), |time| session.in_words(time));
        lines.extend(words.into_iter().take(1));
    }
    let blocked = answer.blocked.as_ref();
    let moves = blocked.and_then(|blocked| blocked.moves.as_ref());
    let moves = moves.iter().flat_map(|plan| &plan.moves).flat_map(|one| {
        let pairs = one.from.iter().zip(&one.to);
        pairs.map(|(from, to)| json!({ "from": Place::of(grid, from), "to": Place::of(grid, to) }))
    });
    Ok(json!({
        "lines": lines,
        "fits": blocked.is_none() && !answer.place.is_empty(),
        "places": Place::all(grid, &answer.places()),
        "moves": moves.collect::<Vec<_>>(),
    }))
}

/// Converts a question into a request. For a number of nodes, requests the most compact box.
fn request(ask: Ask, grid: &Grid) -> Result<Request, Fault> {
    let rule: Selection<ShapeRule> = "compact".parse().map_err(Fault::of)?;
    Ok(ask.request(&mut Shaper::new(&rule, grid, 1, 0)))
}

/// A box occupied by a job, given by a base coordinate and a side length for each axis.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    base: Vec<u16>,
    sides: Vec<u16>,
}

impl Part {
    fn cuboid(&self, grid: &Grid) -> Result<Cuboid, Fault> {
        let three = |all: &[u16], fill| -> Result<[u16; 3], Fault> {
            if all.len() != grid.axes() {
                return Err(format!("expected {} numbers, but found {all:?}", grid.axes()).into());
            }
            Ok(std::array::from_fn(|axis| all.get(axis).copied().unwrap_or(fill)))
        };
        Ok(Cuboid::new(three(&self.base, 0)?, three(&self.sides, 1)?))
    }
}

/// A machine, its jobs (numbered from 1), a strategy, and a request for a shape such as `3x2` or
/// for a number of nodes.
#[derive(Deserialize)]
pub(crate) struct Scene {
    machine: String,
    jobs: Vec<Vec<Part>>,
    strategy: String,
    request: String,
}

impl Scene {
    fn state(&self, grid: Grid) -> Result<State, Fault> {
        let mut state = State::new(grid);
        for (job, parts) in (1..).zip(&self.jobs) {
            let parts = parts.iter().map(|part| part.cuboid(&grid));
            state.hold(JobId(job), &parts.collect::<Result<Vec<_>, _>>()?).map_err(Fault::of)?;
        }
        Ok(state)
    }

    /// Parses the request. On a machine with one axis, a number is a shape.
    fn request(&self, grid: &Grid) -> Result<Request, Fault> {
        let ask = match self.request.parse() {
            Ok(nodes) if grid.axes() > 1 => Ask::typed(None, Some(nodes), grid),
            _ => Ask::typed(Some(&self.request), None, grid),
        };
        match ask.map_err(Fault::of)? {
            Ask::Nodes(nodes) => Ok(Request::nodes(nodes)),
            shape => request(shape, grid),
        }
    }
}

/// Returns the same answer as `pavior explain`: a drawing of the candidates with their indices, the
/// chosen parts, and an explanation. Randomized strategies use seed 1.
pub(crate) fn explain(scene: &Scene) -> Result<Value, Fault> {
    let grid: Grid = scene.machine.parse().map_err(Fault::of)?;
    let selection = scene.strategy.parse().map_err(Fault::of)?;
    let (state, request) = (scene.state(grid)?, scene.request(&grid)?);
    let answers = [answer(&state, &selection, &request, 1).map_err(Fault::of)?];
    let mut machine = state.machine(&selection, 1).map_err(Fault::of)?;
    let (demand, snapshot) = (Demand::of(&mut machine, &request), Snapshot::of(&machine));
    let limits = SearchLimits::jobs(MAX_MOVED_JOBS);
    let why = why(&snapshot, &Question { limits, ..Question::new(&demand, &|_| None) });
    let strategy = selection.to_string();
    let (lines, parts) = match &answers[0].outcome {
        Ok(choice) => {
            let chosen = describe(choice, &state, request.shape);
            (vec![format!("{strategy} chooses {chosen}.")], choice.placement.parts())
        }
        Err(refusal) => {
            let words = Words {
                grid: &grid,
                job: &|job| format!("job {}", job.0),
                time: &|_| String::new(),
                strategy: &strategy,
                scheduler: "",
            };
            let mut lines = vec![format!("{strategy} refuses the request: {refusal}.")];
            lines.extend(why.lines(&words));
            (lines, &[][..])
        }
    };
    let freed = why.blocked.as_ref().map(|blocked| blocked.at);
    let name = |job: JobId| job.0.to_string();
    Ok(json!({
        "svg": explanation(&state, &request, &answers, freed.as_ref(), &name),
        "lines": lines,
        "parts": Place::all(&grid, parts),
    }))
}

/// Describes the chosen parts and their index. For a single box, adds the highest possible index.
fn describe(choice: &Choice, state: &State, shape: Option<Sides>) -> String {
    let parts = choice.placement.parts();
    let places: Vec<String> = parts.iter().map(|part| words(state.grid(), part)).collect();
    let most = shape.filter(|_| parts.len() == 1).and_then(|shape| perfect_index(state, shape));
    let most = most.map_or(String::new(), |most| format!(" (maximum for a single box: {most})"));
    format!("{}, with an index of {}{most}", places.join("; "), choice.index())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_have_one_number_per_axis() {
        let scene = json!({
            "machine": "mesh:4x4", "jobs": [[{ "base": [0, 0, 0], "sides": [1, 1] }]],
            "strategy": "ff", "request": "1x1",
        });
        let fault = explain(&serde_json::from_value(scene).unwrap()).unwrap_err();
        assert_eq!(fault.reason, "expected 2 numbers, but found [0, 0, 0]");
    }
}
