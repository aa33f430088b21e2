//! The route that plans how to free nodes by a deadline.

use axum::Json;
use pavior::answers::json::Place;
use pavior::answers::{DelayedJob, Room, RoomBy, RoomQuestion, SearchLimits};
use pavior::scheduling::Selection;
use pavior::{Grid, JobId, NodeId, Time};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Fault;
use super::body::{instant, millis, request_body};
use super::extract::Question;
use super::questions::Moment;
use super::statuses::{Missing, Questioned};
use crate::core::{Instant, Problem, micros, node_coordinates, schema};
use crate::plan;

/// The maximum number of nodes to drain.
const MAX_DRAINED: usize = 4096;

request_body! {
    /// The box or the set of nodes to free by a deadline.
    RoomBody(BoxFreedom) {
        /// The nodes to free, instead of a box.
        #[schema(max_items = 4096)]
        drain: Option<Vec<Vec<u64>>>,
        /// The deadline for freeing the nodes (RFC 3339 in UTC).
        #[schema(value_type = String, format = DateTime, example = "2026-11-24T09:00:00Z")]
        by: String,
        /// The time in seconds for which the nodes will be used; affects only the delays [default:
        /// 0.001].
        #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
        for_s: Option<f64>,
        /// The maximum number of leases to move or requeue [default: 2].
        #[schema(maximum = 4)]
        max_jobs: Option<u32>,
        /// True if leases may also be requeued instead of moved.
        #[serde(default)]
        requeue: bool,
    }
}

/// A plan to free nodes by a deadline.
#[derive(Serialize, ToSchema)]
pub(crate) struct RoomAnswer {
    /// True if there is a plan.
    found: bool,
    /// True if it is proven that the plan loses the least work or, if there is no plan, that no
    /// plan with at most `max_jobs` leases exists.
    proven: bool,
    /// The box to be freed; null if individual nodes are drained.
    #[schema(value_type = Option<schema::Part>)]
    placement: Option<Place>,
    /// The leases to end now, whose requests return to the queue.
    requeued: Vec<u64>,
    /// The work lost by requeuing leases, in node-seconds.
    lost_node_s: Option<f64>,
    /// The total number of nodes in the leases to move.
    cost: Option<u64>,
    /// The moves, in a feasible order.
    moves: Vec<RoomMove>,
    /// The leases that hold nodes to be freed but are expected to end before the deadline.
    awaited: Vec<u64>,
    /// The requests that the plan delays, assuming that all jobs run as long as estimated.
    delayed: Vec<Delayed>,
}

/// A planned move of a lease.
#[derive(Serialize, ToSchema)]
pub(crate) struct RoomMove {
    lease: u64,
    #[schema(value_type = Vec<schema::Part>)]
    from: Vec<Place>,
    #[schema(value_type = Vec<schema::Part>)]
    to: Vec<Place>,
    /// The time by which the target nodes will be free of other leases; null means now.
    #[schema(value_type = Option<String>, format = DateTime)]
    ready: Option<Instant>,
}

/// A delayed request.
#[derive(Serialize, ToSchema)]
pub(crate) struct Delayed {
    /// The number of the waiting request or requeued lease.
    id: u64,
    /// The expected start without the plan or, for a requeued lease, the time when it actually
    /// started.
    #[schema(value_type = String, format = DateTime)]
    before: Instant,
    /// The start time under the plan; null if the request would never start.
    #[schema(value_type = Option<String>, format = DateTime)]
    planned: Option<Instant>,
    /// The delay in seconds; null if the request would never start.
    by_s: Option<f64>,
}

/// Plans how to free a box or a set of nodes by a deadline (operator only). The plan states which
/// leases to move or requeue, how much work is lost, and which requests are delayed. It loses the
/// least work possible with at most `max_jobs` leases. Among such plans, it moves the fewest nodes.
/// The expected end of a lease is based on its `estimate_s` or `ttl_s`. Changes nothing.
#[utoipa::path(
    post, path = "/v1/room", tag = "machines",
    request_body = RoomBody,
    responses((status = 200, description = "the plan", body = RoomAnswer), Questioned, Missing)
)]
pub(crate) async fn room(question: Question<RoomBody>) -> Result<Json<RoomAnswer>, Fault> {
    question.caller.may_see_moves()?;
    question.answer(|moment, body| plan_room(moment, &body)).await
}

fn plan_room(moment: &Moment, body: &RoomBody) -> Result<RoomAnswer, Problem> {
    let (now_ms, board) = (moment.now_ms, moment.board(body.machine.as_deref())?);
    let max_jobs = body.max_jobs.unwrap_or(2);
    if max_jobs > 4 {
        return Err(Problem::bad("\"max_jobs\" must be from 0 to 4"));
    }
    let (by_ms, for_ms) = (instant("by", &body.by)?, millis("for_s", body.for_s)?.unwrap_or(1));
    if by_ms < now_ms {
        return Err(Problem::bad("\"by\" must not be in the past"));
    }
    let machine = moment.machine(board)?;
    let (nodes, shapes);
    let room = match &body.drain {
        Some(_) if body.shape.is_some() || body.nodes.is_some() => {
            let detail = "\"drain\" cannot be combined with \"shape\" or \"nodes\"";
            return Err(Problem::bad(detail));
        }
        Some(list) => {
            nodes = drained_nodes(list, &board.grid)?;
            Room::Nodes(&nodes)
        }
        None => {
            let request = moment.request(board, body)?;
            shapes = plan::shapes(machine.machine(), &request, true).map_err(Problem::bad)?;
            Room::Box(&shapes)
        }
    };
    let (dispatcher, now) = (machine.dispatcher(), micros(now_ms));
    let question = RoomQuestion {
        room,
        by: micros(by_ms),
        length: micros(for_ms),
        // Lost work is measured in node-milliseconds.
        requeue: body.requeue.then_some(micros(1)),
        limits: SearchLimits::jobs(max_jobs as usize),
    };
    let answer = question.plan(dispatcher, now);
    let delayed = match (&answer.plan, &board.spec.scheduler) {
        (Some(plan), Some(name)) => {
            const IS_VALID: &str = "it was parsed when the machine was created";
            let scheduler =
                || name.parse::<Selection>().expect(IS_VALID).build(()).expect(IS_VALID);
            let delayed = question.delayed(plan, dispatcher, now, scheduler);
            delayed.map_err(|error| Problem::bad(error.to_string()))?
        }
        _ => Vec::new(),
    };
    Ok(RoomAnswer::of(&board.grid, &answer, &delayed))
}

impl RoomAnswer {
    fn of(grid: &Grid, RoomBy { plan, proven }: &RoomBy, delayed: &[DelayedJob]) -> RoomAnswer {
        let plan = plan.as_ref();
        let ids = |jobs: &[JobId]| jobs.iter().map(|job| job.0).collect::<Vec<u64>>();
        let moves = plan.iter().flat_map(|plan| plan.moves.moves.iter().zip(&plan.ready));
        let moves = moves.map(|(step, ready)| RoomMove {
            lease: step.job.0,
            from: Place::all(grid, &step.from),
            to: Place::all(grid, &step.to),
            ready: (*ready > Time::ZERO).then_some(Instant::from(*ready)),
        });
        let place = plan.and_then(|plan| plan.moves.boxes.first());
        RoomAnswer {
            found: plan.is_some(),
            proven: *proven,
            placement: place.map(|at| Place::of(grid, at)),
            requeued: plan.map_or(Vec::new(), |plan| ids(&plan.requeued)),
            lost_node_s: plan.map(|plan| plan.lost as f64 / 1000.0),
            cost: plan.map(|plan| plan.moves.cost),
            moves: moves.collect(),
            awaited: plan.map_or(Vec::new(), |plan| ids(&plan.awaited)),
            delayed: delayed.iter().map(Delayed::of).collect(),
        }
    }
}

impl Delayed {
    fn of(job: &DelayedJob) -> Delayed {
        Delayed {
            id: job.job.0,
            before: Instant::from(job.before),
            planned: job.planned.map(Instant::from),
            by_s: job.delay().map(|delay| delay.0 as f64 / 1e6),
        }
    }
}

fn drained_nodes(nodes: &[Vec<u64>], grid: &Grid) -> Result<Vec<NodeId>, Problem> {
    if !(1..=MAX_DRAINED).contains(&nodes.len()) {
        return Err(Problem::bad(format!("\"drain\" must list 1 to {MAX_DRAINED} nodes")));
    }
    nodes.iter().map(|node| node_coordinates(node, grid).map(|point| grid.id(point))).collect()
}
