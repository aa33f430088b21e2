//! Questions about a shape in the state of a run.

use pavior::answers::{Demand, Question, SearchLimits, Shape, SlotsAnswer, Snapshot, Words, why};
use pavior::strategies::explain::State;
use pavior::workload::{Ask, Selection, ShapeRule, Shaper};
use pavior::{JobId, Time};
use serde_json::{Value, json};

use crate::engine::Fault;
use crate::session::{Session, boxed};

/// The maximum number of jobs that a plan moves.
const MOVED: usize = 3;
/// The size of the largest machine for which moves and counts are computed while a reader waits.
const SEARCHED: u32 = 40_000;

/// Reports whether a shape fits now. If not, also reports which jobs occupy the place that becomes
/// free first, which jobs would have to move, and how many boxes of the shape are free.
pub(crate) fn shape(session: &Session, shape: &str) -> Result<Value, Fault> {
    let (run, grid) = (session.run(), session.grid());
    let ask = Ask::typed(Some(shape), None, grid).map_err(Fault::of)?;
    let rule: Selection<ShapeRule> = "compact".parse().map_err(Fault::of)?;
    let request = ask.request(&mut Shaper::new(&rule, grid, 1, 0));
    // A copy is asked, because the question must not consume random numbers of the strategy.
    let selection = run.machine().selection();
    let mut machine = State::of(run.machine()).machine(selection, 1).map_err(Fault::of)?;
    let (demand, snapshot) = (Demand::of(&mut machine, &request), Snapshot::of(&machine));
    let end = |job: JobId| -> Option<Time> {
        run.running().get(job).map(|running| running.expected_end(run.now()))
    };
    let is_searched = grid.nodes() <= SEARCHED;
    let limits = SearchLimits::jobs(if is_searched { MOVED } else { 0 });
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
        lines.push(count(slots.now.boxes.len(), slots.now.bound as usize, shape));
    }
    let blocked = answer.blocked.as_ref();
    let moves = blocked.and_then(|blocked| blocked.moves.as_ref());
    let moves = moves.iter().flat_map(|plan| &plan.moves).flat_map(|one| {
        let pairs = one.from.iter().zip(&one.to);
        pairs.map(|(from, to)| json!({ "from": boxed(grid, from), "to": boxed(grid, to) }))
    });
    Ok(json!({
        "lines": lines,
        "fits": blocked.is_none() && !answer.place.is_empty(),
        "places": answer.places().iter().map(|part| boxed(grid, part)).collect::<Vec<_>>(),
        "moves": moves.collect::<Vec<_>>(),
    }))
}

/// Reports how many boxes of a shape fit at the same time.
fn count(found: usize, bound: usize, shape: &str) -> String {
    match (found, bound) {
        (0, 0) => format!("No box of {shape} is free now."),
        (1, 1) => format!("1 box of {shape} is free now."),
        (found, bound) if found == bound => {
            format!("{found} boxes of {shape} fit side by side now.")
        }
        (found, bound) => format!("{found} to {bound} boxes of {shape} fit side by side now."),
    }
}
