//! Answers questions about a shape, either in a run's current state or in a state sent by the page.

use pavior::answers::json::Place;
use pavior::answers::{Demand, Question, SearchLimits, Shape, SlotsAnswer, Snapshot, Words, why};
use pavior::draw::explanation;
use pavior::strategies::explain::{State, answer, perfect_index, words};
use pavior::workload::{Ask, Selection, ShapeRule, Shaper};
use pavior::{Cuboid, Grid, JobId, Request, Time};
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
        lines.extend(slots.lines(shape, |time| session.in_words(time)).into_iter().take(1));
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
    /// Converts this part to a box. If the number of coordinates is wrong, the sides are zero.
    fn cuboid(&self, grid: &Grid) -> Cuboid {
        let is_known = [&self.base, &self.sides].iter().all(|all| all.len() == grid.axes());
        let three = |all: &[u16], fill| -> [u16; 3] {
            std::array::from_fn(|axis| *all.get(axis).unwrap_or(&fill))
        };
        Cuboid::new(three(&self.base, 0), if is_known { three(&self.sides, 1) } else { [0; 3] })
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

/// Returns the same answer as `pavior explain`: a drawing of the candidates with their indices, the
/// chosen parts, and an explanation. Randomized strategies use seed 1.
pub(crate) fn explain(scene: &Scene) -> Result<Value, Fault> {
    let grid: Grid = scene.machine.parse().map_err(Fault::of)?;
    let selection = scene.strategy.parse().map_err(Fault::of)?;
    let mut state = State::new(grid);
    for (job, parts) in (1..).zip(&scene.jobs) {
        let parts: Vec<Cuboid> = parts.iter().map(|part| part.cuboid(&grid)).collect();
        state.hold(JobId(job), &parts).map_err(Fault::of)?;
    }
    let ask = match scene.request.parse() {
        Ok(nodes) if grid.axes() > 1 => Ask::typed(None, Some(nodes), &grid),
        _ => Ask::typed(Some(&scene.request), None, &grid),
    };
    let request = match ask.map_err(Fault::of)? {
        Ask::Nodes(nodes) => Request::nodes(nodes),
        shape => request(shape, &grid)?,
    };
    let answers = [answer(&state, &selection, &request, 1).map_err(Fault::of)?];
    let mut machine = state.machine(&selection, 1).map_err(Fault::of)?;
    let (demand, snapshot) = (Demand::of(&mut machine, &request), Snapshot::of(&machine));
    let limits = SearchLimits::jobs(MAX_MOVED_JOBS);
    let why = why(&snapshot, &Question { limits, ..Question::new(&demand, &|_| None) });
    let (lines, parts) = match &answers[0].outcome {
        Ok(choice) => {
            let parts = choice.placement.parts();
            let places: Vec<String> = parts.iter().map(|part| words(&grid, part)).collect();
            let perfect = request.shape.and_then(|shape| perfect_index(&state, shape));
            let most = perfect.filter(|_| parts.len() == 1);
            let most =
                most.map_or(String::new(), |most| format!(" (maximum for a single box: {most})"));
            let (places, index) = (places.join("; "), choice.index());
            (vec![format!("{selection} chooses {places}, with an index of {index}{most}.")], parts)
        }
        Err(refusal) => {
            let words = Words {
                grid: &grid,
                job: &|job| format!("job {}", job.0),
                time: &|_| String::new(),
                strategy: &selection.to_string(),
                scheduler: "",
            };
            let mut lines = vec![format!("{selection} refuses the request: {refusal}.")];
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
