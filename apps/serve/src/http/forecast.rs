//! Forecasts of a hypothetical request's start.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use pavior::answers::forecasts::StartJson;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::body::millis;
use super::extract::InBody;
use super::questions::Moment;
use super::statuses::{Conflict, Missing, Questioned};
use super::{App, Fault};
use crate::core::schema;
use crate::core::{Caller, Problem, Reason};
use crate::forecasts::{Asks, Unforeseen};

/// A hypothetical request.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForecastBody {
    /// The sides of the box, one per axis of the machine.
    #[schema(example = json!([2, 3]), min_items = 1, max_items = 3)]
    shape: Option<Vec<u64>>,
    /// The number of nodes, instead of a shape.
    #[schema(minimum = 1)]
    nodes: Option<u64>,
    /// The freedom in placing it; by default, the strategy decides.
    #[schema(value_type = Option<schema::Freedom>)]
    freedom: Option<String>,
    /// The estimated run time in seconds.
    #[schema(exclusive_minimum = 0, maximum = 3.2e9, example = 3600.0)]
    estimate_s: Option<f64>,
    /// The time to live in seconds, used if there is no estimate.
    #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
    ttl_s: Option<f64>,
    /// The machine; by default the first one.
    machine: Option<String>,
}

/// The predicted start of a hypothetical request.
#[derive(Serialize, ToSchema)]
#[schema(as = ForecastReply)]
pub(crate) struct ForecastReply {
    machine: String,
    #[schema(value_type = schema::Forecast)]
    forecast: StartJson,
}

/// Forecasts the start of a request made now, as an interval that is correct for nine out of ten
/// requests, without changing anything.
#[utoipa::path(
    post, path = "/v1/forecast", tag = "machines",
    request_body = ForecastBody,
    responses(
        (
            status = 200, body = ForecastReply,
            description = "earliest, median and latest start, or the reason why there is none"
        ),
        Questioned, Missing, Conflict
    )
)]
pub(crate) async fn forecast(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InBody(body): InBody<ForecastBody>,
) -> Result<Json<ForecastReply>, Fault> {
    let shared = app.clone();
    let answer = move |moment: &Moment| {
        let board = moment.board(body.machine.as_deref())?;
        let index = moment.view.board_index(Some(&board.spec.name)).unwrap_or(0);
        let asked = (body.shape.as_deref(), body.nodes);
        let request = moment.request(board, asked, body.freedom.as_deref())?;
        let said_ms = millis("estimate_s", body.estimate_s)?.or(millis("ttl_s", body.ttl_s)?);
        let asks = Asks { tenant: moment.caller.tenant.clone().unwrap_or_default(), said_ms };
        let state = (&shared.writer, shared.seed);
        let forecast = shared.forecasts.of_request(index, request, &asks, state, &moment.stop);
        let forecast = forecast.map_err(problem)?;
        Ok(ForecastReply { machine: board.spec.name.clone(), forecast })
    };
    app.answer(&app.forecast_queue, &caller, answer).await
}

fn problem(unforeseen: Unforeseen) -> Problem {
    match unforeseen {
        Unforeseen::Never(refusal) => {
            Problem::new(Reason::Refused(refusal), "this machine can never grant the request")
        }
        Unforeseen::NoQueue => {
            Problem::new(Reason::NoScheduler, "requests cannot wait for this machine")
        }
        Unforeseen::NotYet => Problem::new(Reason::NotYet, "try again in a few seconds"),
        Unforeseen::Failed(reason) => Problem::new(Reason::BadStrategy, reason),
    }
}
