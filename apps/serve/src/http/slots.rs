//! Counts how many boxes of a shape fit on a machine simultaneously.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use parking_lot::Mutex;
use pavior::answers::json::{NextSlotJson, Place, Point, SlotsAfterJson};
use pavior::answers::{SearchLimits, Shape, SlotsAnswer, Snapshot, slots};
use pavior::workload::Ask;
use pavior::{JobId, Occupancy, Sides};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::extract::{QueryParams, query_number};
use super::questions::Moment;
use super::statuses::{Guarded, Missing};
use super::{App, Fault};
use crate::core::reply::Instant;
use crate::core::{BoardView, Caller, JobName, Problem};
use crate::diagnose;
use crate::plan::Move;

/// The maximum number of bit-set words examined per request.
const WORK_LIMIT: u64 = 4_000_000;
/// The maximum number of bit-set words examined per shape when metrics are scraped.
const SCRAPE_WORK_LIMIT: u64 = 400_000;
/// The maximum number of moves in a plan.
const MAX_MOVES: u64 = 4;

/// The query parameters that select the boxes to count.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SlotsQuery {
    /// The sides, one per axis of the machine, such as `4x4x4`. Boxes may be rotated.
    #[param(pattern = r"^[1-9][0-9]{0,4}(x[1-9][0-9]{0,4}){0,2}$")]
    shape: String,
    /// The machine's name. Defaults to the first machine.
    machine: Option<String>,
    /// The maximum number of leases to move before the boxes are counted again (operator only).
    #[param(minimum = 0, maximum = 4)]
    #[serde(default, deserialize_with = "query_number")]
    moves: Option<u64>,
}

/// The number of boxes of a shape that fit simultaneously.
#[derive(Serialize, ToSchema)]
pub(crate) struct SlotsReply {
    seq: u64,
    machine: String,
    #[schema(value_type = Vec<u16>)]
    shape: Point,
    /// The number of boxes.
    slots: u64,
    /// A proven upper bound on the number of boxes.
    bound: u64,
    /// True if it has been proven that no more boxes fit.
    proven: bool,
    #[schema(value_type = Vec<crate::core::schema::Part>)]
    boxes: Vec<Place>,
    /// The time at which more boxes will next fit, based on the expected ends of leases; null if
    /// unknown or if the caller is a tenant.
    next: Option<NextSlots>,
    /// The boxes that fit after some leases have moved; null if not requested.
    after: Option<SlotsAfter>,
}

/// The next time when more boxes fit.
#[derive(Serialize, ToSchema)]
pub(crate) struct NextSlots {
    /// The time when a lease is expected to end and make room for more boxes.
    #[schema(value_type = String, format = DateTime)]
    at: Instant,
    /// The number of boxes at that time.
    slots: u64,
    /// True if it has been proven that no more boxes fit before that time.
    proven: bool,
}

/// The boxes that fit after some leases have moved.
#[derive(Serialize, ToSchema)]
pub(crate) struct SlotsAfter {
    slots: u64,
    /// An upper bound on the number of boxes that fit after this many moves.
    bound: u64,
    /// True if it has been proven that no more boxes fit after this many moves.
    proven: bool,
    #[schema(value_type = Vec<crate::core::schema::Part>)]
    boxes: Vec<Place>,
    /// The moves, in a feasible order.
    #[schema(value_type = Vec<crate::core::schema::Move>)]
    moves: Vec<Move>,
}

/// Counts how many boxes of a shape fit simultaneously on the free nodes, regardless of the
/// strategy. Changes nothing.
#[utoipa::path(
    get, path = "/v1/slots", operation_id = "slots", tag = "machines", params(SlotsQuery),
    responses((status = 200, description = "the boxes", body = SlotsReply), Guarded, Missing)
)]
pub(crate) async fn slots_of(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    QueryParams(query): QueryParams<SlotsQuery>,
) -> Result<Json<SlotsReply>, Fault> {
    let moves = query.moves.unwrap_or(0);
    if moves > 0 {
        caller.may_see_moves()?;
    }
    if moves > MAX_MOVES {
        return Err(Problem::bad(format!("\"moves\" must be from 0 to {MAX_MOVES}")).into());
    }
    app.answer_question(&app.questions, &caller, move |moment| count_slots(moment, &query)).await
}

fn count_slots(moment: &Moment, query: &SlotsQuery) -> Result<SlotsReply, Problem> {
    let (view, board) = (&moment.view, moment.board(query.machine.as_deref())?);
    let grid = &board.grid;
    let ask = Ask::typed(Some(&query.shape), None, grid);
    let Ask::Shape(sides) = ask.map_err(|fault| Problem::bad(fault.to_string()))? else {
        return Err(Problem::bad("a side is too long for any machine"));
    };
    let shape = Shape::new(sides);
    let snapshot = Snapshot::of(moment.machine(board)?.machine());
    let is_operator = moment.caller.tenant.is_none();
    let end = |job: JobId| is_operator.then(|| diagnose::end(view, job)).flatten();
    let limits = query.moves.map(|moves| SearchLimits::jobs(moves as usize));
    let answer = SlotsAnswer::of(&snapshot, &[shape], end, WORK_LIMIT, limits);
    let answer = answer.json(grid, |JobId(id)| JobName::Large(id), Instant::from);
    let next = |NextSlotJson { at, slots, proven }| NextSlots { at, slots: slots as u64, proven };
    Ok(SlotsReply {
        seq: view.seq,
        machine: board.spec.name.clone(),
        shape: Point::of(grid, sides),
        slots: answer.now.slots as u64,
        bound: answer.now.bound.into(),
        proven: answer.now.proven,
        boxes: answer.now.boxes,
        next: answer.next.map(next),
        after: answer.after.map(|SlotsAfterJson { slots, moves }| SlotsAfter {
            slots: slots.slots as u64,
            bound: slots.bound.into(),
            proven: slots.proven,
            boxes: slots.boxes,
            moves,
        }),
    })
}

/// The latest box counts by machine and shape, each with the nodes that were free at the time.
#[derive(Default)]
pub(crate) struct SlotCounts(Mutex<HashMap<(String, Sides), (Occupancy, SlotCount)>>);

/// The number of boxes that fit simultaneously.
#[derive(Clone, Copy)]
pub(crate) struct SlotCount {
    pub(crate) slots: u64,
    /// An upper bound on the number of boxes.
    pub(crate) bound: u64,
}

impl SlotCounts {
    /// Returns the cached count if the free nodes have not changed. Otherwise, counts again, which
    /// takes about a millisecond.
    pub(crate) fn count(&self, board: &BoardView, sides: Sides) -> SlotCount {
        let mut counts = self.0.lock();
        let key = (board.spec.name.clone(), sides);
        if let Some((free, count)) = counts.get(&key)
            && *free == board.free
        {
            return *count;
        }
        let found = slots(&board.free, &[Shape::new(sides)], SCRAPE_WORK_LIMIT);
        let count = SlotCount { slots: found.boxes.len() as u64, bound: found.bound.into() };
        counts.insert(key, (board.free.clone(), count));
        count
    }
}
