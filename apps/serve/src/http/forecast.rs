//! The route that forecasts when a hypothetical request would start.

use axum::Json;
use pavior::answers::forecasts::StartJson;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Fault;
use super::body::{millis, request_body};
use super::extract::Question;
use super::questions::Moment;
use super::statuses::{Conflict, Missing, Questioned};
use crate::core::schema;
use crate::forecasts::ForecastRequest;

request_body! {
    /// A hypothetical request.
    ForecastBody(Freedom) {
        /// The estimated run time in seconds.
        #[schema(exclusive_minimum = 0, maximum = 3.2e9, example = 3600.0)]
        estimate_s: Option<f64>,
        /// The time to live in seconds, used if there is no estimate.
        #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
        ttl_s: Option<f64>,
    }
}

/// The predicted start of a hypothetical request.
#[derive(Serialize, ToSchema)]
#[schema(as = ForecastReply)]
pub(crate) struct ForecastReply {
    machine: String,
    #[schema(value_type = schema::Forecast)]
    forecast: StartJson,
}

/// Forecasts when a request made now would start. The forecast is an interval that is expected to
/// contain the actual start of nine out of ten requests. Changes nothing.
#[utoipa::path(
    post, path = "/v1/forecast", tag = "machines",
    request_body = ForecastBody,
    responses(
        (
            status = 200, body = ForecastReply,
            description = "the earliest, median and latest start, or the reason there is none"
        ),
        Questioned, Missing, Conflict
    )
)]
pub(crate) async fn forecast(
    Question { app, caller, body }: Question<ForecastBody>,
) -> Result<Json<ForecastReply>, Fault> {
    let shared = app.clone();
    let answer = move |moment: &Moment| {
        let index = moment.view.find_board(body.machine.as_deref())?;
        let board = &moment.view.boards[index];
        let request = moment.request(board, &body)?;
        let stated_ms = millis("estimate_s", body.estimate_s)?.or(millis("ttl_s", body.ttl_s)?);
        let tenant = moment.caller.tenant.clone().unwrap_or_default();
        let request = ForecastRequest { board: index, request, tenant, stated_ms };
        let (forecasts, writer) = (&shared.forecasts, &shared.writer);
        let forecast = forecasts.forecast_request(&request, writer, shared.seed, &moment.stop)?;
        Ok(ForecastReply { machine: board.spec.name.clone(), forecast })
    };
    app.answer_question(&app.forecast_queue, &caller, answer).await
}
