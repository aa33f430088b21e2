//! Plans to move leases, in the form shown to callers.

use pavior::answers::json::{MoveJson, Place};
use pavior::answers::{self, Planned, SearchLimits, Shape, Snapshot, Weights};
use pavior::{Freedom, Grid, JobId, Machine, Request};
use serde::Serialize;

use crate::core::JobName;

/// Returns the boxes that a request may use: all that its freedom allows. Without a freedom, the
/// request may use only a box with the requested sides, rotated if `turn` is true.
///
/// # Errors
/// Returns an error if the freedom allows nodes that do not form a box.
pub(crate) fn shapes(
    machine: &Machine,
    request: &Request,
    turn: bool,
) -> Result<Vec<Shape>, String> {
    Shape::all_for(request, machine, turn).ok_or_else(|| {
        let words = [Freedom::Box, Freedom::Turned, Freedom::AnyBox].map(Freedom::word);
        let (known, freedom) = (words.join(", "), request.freedom.map_or("", Freedom::word));
        format!("plans are limited to boxes: \"freedom\" must be one of {known}, not {freedom}")
    })
}

/// Returns the cheapest plan that makes room for a request in any of its [`shapes`]. The cost of
/// moving a job is the job's number of nodes. In a tie, the first box is chosen.
///
/// # Errors
/// Fails like [`shapes`].
pub(crate) fn unblocked(
    machine: &Machine,
    request: &Request,
    limits: &SearchLimits,
) -> Result<Planned, String> {
    let shapes = shapes(machine, request, limits.turn)?;
    let snapshot = Snapshot::of(machine);
    Ok(answers::unblock_any(&snapshot, &shapes, &Weights::nodes(&snapshot), limits))
}

/// A plan that makes room for a request by moving leases.
#[derive(Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub(crate) struct Plan {
    /// True if the request already fits.
    pub(crate) fits: bool,
    /// The box that the request would get.
    #[cfg_attr(feature = "http", schema(value_type = Option<crate::core::schema::Part>))]
    pub(crate) placement: Option<Place>,
    /// True if it is proven that the plan is the cheapest or, without a plan, that none exists.
    pub(crate) proven: bool,
    /// The total number of nodes in the leases to move.
    pub(crate) cost: Option<u64>,
    /// The leases to move; null if there is no plan.
    #[cfg_attr(feature = "http", schema(value_type = Option<Vec<u64>>))]
    pub(crate) jobs: Option<Vec<JobName>>,
    /// The moves, in a feasible order.
    #[cfg_attr(feature = "http", schema(value_type = Vec<crate::core::schema::Move>))]
    pub(crate) moves: Vec<Move>,
}

pub(crate) type Move = MoveJson<JobName>;

impl Plan {
    /// Converts a search result to a plan. `name` returns the caller's name for a job.
    pub(crate) fn of(grid: &Grid, answer: &Planned, name: impl Fn(JobId) -> JobName) -> Plan {
        let plan = answer.plan.as_ref();
        Plan {
            fits: plan.is_some_and(|plan| plan.jobs.is_empty()),
            placement: plan.and_then(|plan| plan.boxes.first()).map(|at| Place::of(grid, at)),
            proven: answer.proven,
            cost: plan.map(|plan| plan.cost),
            jobs: plan.map(|plan| plan.jobs.iter().map(|&job| name(job)).collect()),
            moves: MoveJson::all(grid, plan.map_or(&[], |plan| &plan.moves), name),
        }
    }
}
