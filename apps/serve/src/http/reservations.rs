//! Routes for advance reservations.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, Path, State};
use axum::response::Response;
use pavior::{Cuboid, Grid};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::body::{self, BoxBody, MAX_NAME_BYTES, instant, objects, parse};
use super::changes::parse_id;
use super::extract::{Change, ChangeHeaders, QueryParams};
use super::statuses::{Guarded, Missing, Named};
use super::{App, Fault};
use crate::core::reply::ReservationReply;
use crate::core::{
    Caller, Command, Problem, Reason, Reply, ReservationRequest, StateView, node_coordinates,
};

/// The maximum total number of boxes and single nodes in a reservation.
const MAX_PARTS: usize = 4096;

/// Nodes to reserve in advance, as boxes, single nodes or both.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReservationBody {
    /// The boxes, which may overlap.
    #[serde(default, deserialize_with = "objects")]
    #[schema(max_items = 4096)]
    parts: Vec<BoxBody>,
    /// Single nodes, each with one coordinate per axis of the machine.
    #[serde(default)]
    #[schema(max_items = 4096)]
    nodes: Vec<Vec<u64>>,
    /// The start of the reservation (RFC 3339 in UTC). Defaults to now.
    #[schema(value_type = Option<String>, format = DateTime)]
    from: Option<String>,
    /// The end of the reservation, after which jobs may run on the nodes again.
    #[schema(value_type = String, format = DateTime, example = "2026-11-24T09:00:00Z")]
    to: String,
    /// The reservation's name, at most 255 bytes long in UTF-8.
    #[schema(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// The machine's name. Defaults to the first machine.
    machine: Option<String>,
}

/// The query parameters that select reservations.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReservationsQuery {
    /// The machine's name. Defaults to all machines.
    machine: Option<String>,
}

/// Advance reservations.
#[derive(Serialize, ToSchema)]
pub(crate) struct Reservations {
    /// The number of the last record that the reply reflects.
    seq: u64,
    /// Current and future reservations, by number.
    reservations: Vec<ReservationReply>,
}

/// Returns the advance reservations.
#[utoipa::path(
    get, path = "/v1/reservations", tag = "reservations", params(ReservationsQuery),
    responses(
        (status = 200, description = "the reservations", body = Reservations),
        Guarded, Missing
    )
)]
pub(crate) async fn reservations(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    QueryParams(query): QueryParams<ReservationsQuery>,
) -> Result<Response, Fault> {
    let view = app.writer.view().await?;
    view.find_board(query.machine.as_deref())?;
    let (shared, owner) = (app.clone(), caller.clone());
    app.describe(&caller, move || Reservations::of(&shared, &view, &owner, &query)).await
}

impl Reservations {
    /// Describes the selected reservations. Compares each box of a reservation with each box of the
    /// visible leases.
    fn of(app: &App, view: &StateView, caller: &Caller, query: &ReservationsQuery) -> Reservations {
        let visible = || {
            let leases = view.leases.values().map(|lease| &**lease);
            leases.filter(|lease| caller.may_touch(&lease.tenant))
        };
        let (machine, now_ms) = (query.machine.as_deref(), app.writer.clock.now_ms());
        let reservations = view.reservations.iter();
        let reservations = reservations
            .filter(|reservation| machine.is_none_or(|name| reservation.machine == name))
            .map(|reservation| {
                let grid = app.grid(Some(&reservation.machine));
                ReservationReply::of(grid, reservation, now_ms, visible())
            })
            .collect();
        Reservations { seq: view.seq, reservations }
    }
}

/// Reserves nodes in advance (operator only). A job may not start on these nodes if it is expected
/// to still be running when the reservation starts. Existing leases keep their nodes, but once such
/// a lease ends, its reserved nodes stay free. A lease with neither `estimate_s` nor `ttl_s` is
/// expected to run forever. The reservation ends at `to`.
#[utoipa::path(
    post, path = "/v1/reservations", tag = "reservations",
    request_body = ReservationBody, params(ChangeHeaders),
    responses((status = 201, description = "the reservation", body = ReservationReply), Named)
)]
pub(crate) async fn reserve(State(app): State<Arc<App>>, change: Change) -> Result<Reply, Fault> {
    let command = |bytes: &Bytes| {
        let body: ReservationBody = parse(bytes)?;
        let grid = *app.named_grid(body.machine.as_deref())?;
        body.request(&grid).map(Command::Reserve)
    };
    change.carry_out(&app, "reserve", command).await
}

/// Cancels a reservation (operator only).
#[utoipa::path(
    post, path = "/v1/reservations/{id}/cancel", operation_id = "give_up", tag = "reservations",
    params(("id" = u64, Path, description = "the reservation"), ChangeHeaders),
    responses(
        (status = 200, description = "the canceled reservation", body = ReservationReply), Named
    )
)]
pub(crate) async fn unreserve(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    change: Change,
) -> Result<Reply, Fault> {
    let command = |bytes: &Bytes| {
        body::check_empty(bytes)?;
        let id = parse_id(&id, "reservation", Reason::UnknownReservation)?;
        Ok(Command::Unreserve { id })
    };
    change.carry_out(&app, &format!("unreserve/{id}"), command).await
}

impl ReservationBody {
    fn request(self, grid: &Grid) -> Result<ReservationRequest, Problem> {
        if self.parts.len() + self.nodes.len() > MAX_PARTS {
            return Err(Problem::bad(format!(
                "\"parts\" and \"nodes\" may contain at most {MAX_PARTS} elements in total"
            )));
        }
        if self.name.as_ref().is_some_and(|name| name.is_empty() || name.len() > MAX_NAME_BYTES) {
            return Err(Problem::bad(format!("\"name\" must be 1 to {MAX_NAME_BYTES} bytes long")));
        }
        let boxes = self.parts.iter().map(|part| part.cuboid(grid));
        let nodes = self.nodes.iter().map(|node| node_coordinates(node, grid).map(Cuboid::node));
        let parts = boxes.chain(nodes).collect::<Result<_, _>>()?;
        Ok(ReservationRequest {
            machine: self.machine,
            parts,
            from_ms: self.from.as_deref().map(|text| instant("from", text)).transpose()?,
            to_ms: instant("to", &self.to)?,
            name: self.name,
        })
    }
}
