//! Leases: asked for, held, prolonged, ended.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use utoipa::IntoParams;

use super::body::{EndBody, HoldBody, LeaseBody, RenewBody, millis, read};
use super::openapi::{EndedDocument, LeaseDocument, ProblemDocument, WaitingDocument};
use super::{App, Fault};
use crate::core::{Caller, Command, IdempotencyKey, Problem, Reason, Reply};
use crate::diagnose::{self, Changes};
use crate::engine::{Answer, Do, Refusal};
use crate::storage::frame::sum;

/// What an address may say about a request for nodes.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CreateQuery {
    /// Waits in the queue if it cannot start now; the same as in the body.
    wait: Option<bool>,
}

/// Asks for nodes.
///
/// The reply is the lease, or the reason and a diagnosis. With `wait` a request that cannot start
/// now waits in the queue: the reply is 202, and `/v1/watch` tells when its lease begins. A request
/// without `wait` takes what is free now, whatever waits.
#[utoipa::path(post, path = "/v1/leases", tag = "leases", request_body = LeaseBody,
    params(CreateQuery, ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$",
        description = "sending the same request again with the same key gives the same reply")),
    responses(
        (status = 201, description = "the lease", body = LeaseDocument),
        (status = 202, description = "the request waits", body = WaitingDocument),
        (status = 409, description = "refused, with reason and diagnosis", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "the key was used for another request", body = ProblemDocument, content_type = "application/problem+json"),
        (status = "default", description = "not carried out", body = ProblemDocument, content_type = "application/problem+json"),
    ))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<CreateQuery>, axum::extract::rejection::QueryRejection>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Reply, Fault> {
    let Ok(Query(query)) = query else { return Ok(bad_query()) };
    let key = match key(&headers, "lease", &bytes) {
        Ok(key) => key,
        Err(problem) => return Ok(problem.reply()),
    };
    let request = read::<LeaseBody>(&bytes).and_then(|mut body| {
        body.wait |= query.wait.unwrap_or(false);
        let grid = *app.grid(body.machine.as_deref());
        body.request(&grid)
    });
    match request {
        Err(problem) => Ok(problem.reply()),
        Ok(request) => act(&app, caller, key, Command::Lease(request)).await,
    }
}

/// Ends a lease, or takes a waiting request out of the queue.
#[utoipa::path(post, path = "/v1/leases/{id}/end", tag = "leases", request_body = Option<EndBody>,
    params(("id" = u64, Path, description = "the lease")),
    responses(
        (status = 200, description = "it has ended", body = EndedDocument),
        (status = 404, description = "no such lease", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, description = "a stale epoch, or it had ended", body = ProblemDocument, content_type = "application/problem+json"),
        (status = "default", description = "not carried out", body = ProblemDocument, content_type = "application/problem+json"),
    ))]
pub(crate) async fn end(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Reply, Fault> {
    let key = key(&headers, &format!("end/{id}"), &bytes);
    let body = if bytes.is_empty() { Ok(EndBody::default()) } else { read::<EndBody>(&bytes) };
    match (key, number(&id), body) {
        (Err(problem), ..) | (_, Err(problem), _) | (.., Err(problem)) => Ok(problem.reply()),
        (Ok(key), Ok(id), Ok(EndBody { epoch })) => {
            act(&app, caller, key, Command::End { id, epoch }).await
        }
    }
}

/// Prolongs a lease from now.
#[utoipa::path(post, path = "/v1/leases/{id}/renew", tag = "leases", request_body = RenewBody,
    params(("id" = u64, Path, description = "the lease")),
    responses(
        (status = 200, description = "the lease as it is now", body = LeaseDocument),
        (status = 404, description = "no such lease", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, description = "a stale epoch, or it has ended", body = ProblemDocument, content_type = "application/problem+json"),
        (status = "default", description = "not carried out", body = ProblemDocument, content_type = "application/problem+json"),
    ))]
pub(crate) async fn renew(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Reply, Fault> {
    let key = key(&headers, &format!("renew/{id}"), &bytes);
    let body =
        read::<RenewBody>(&bytes).and_then(|body| Ok((body.epoch, millis("ttl_s", body.ttl_s)?)));
    match (key, number(&id), body) {
        (Err(problem), ..) | (_, Err(problem), _) | (.., Err(problem)) => Ok(problem.reply()),
        (Ok(key), Ok(id), Ok((epoch, ttl_ms))) => {
            act(&app, caller, key, Command::Renew { id, epoch, ttl_ms }).await
        }
    }
}

/// Takes over nodes that are in use already.
#[utoipa::path(post, path = "/v1/hold", tag = "leases", request_body = HoldBody,
    responses(
        (status = 201, description = "the lease", body = LeaseDocument),
        (status = 409, description = "some of the nodes are not free", body = ProblemDocument, content_type = "application/problem+json"),
        (status = "default", description = "not carried out", body = ProblemDocument, content_type = "application/problem+json"),
    ))]
pub(crate) async fn hold(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Reply, Fault> {
    let request = read::<HoldBody>(&bytes).and_then(|body| {
        let grid = *app.grid(body.machine.as_deref());
        body.request(&grid)
    });
    match (key(&headers, "hold", &bytes), request) {
        (Err(problem), _) | (_, Err(problem)) => Ok(problem.reply()),
        (Ok(key), Ok((request, parts))) => {
            act(&app, caller, key, Command::Hold { request, parts }).await
        }
    }
}

/// Carries out a command, and adds a diagnosis to a refusal.
pub(crate) async fn act(
    app: &App,
    caller: Caller,
    key: Option<IdempotencyKey>,
    command: Command,
) -> Result<Reply, Fault> {
    let what = Do { caller: caller.clone(), key: key.clone(), command };
    let Answer { reply, refusal } = app.engine.carry_out(what).await?;
    let Some(refusal) = refusal else { return Ok(reply) };
    let reply = diagnosed(app, &caller, refusal).await?;
    if key.is_none() {
        return Ok(reply);
    }
    // Another request may have used the key meanwhile: then both get the reply of that one.
    let command = Command::Keep { status: reply.status, body: reply.body.to_string() };
    Ok(app.engine.carry_out(Do { caller, key, command }).await?.reply)
}

/// A refusal with what stands in the way.
pub(crate) async fn diagnosed(
    app: &App,
    caller: &Caller,
    Refusal { refused, view }: Refusal,
) -> Result<Reply, Fault> {
    let caller = caller.clone();
    let _one = app.explaining.acquire().await.map_err(|_| crate::engine::Unavailable::Stopping)?;
    let work = tokio::task::spawn_blocking(move || {
        let board = &view.boards[refused.board];
        let state = diagnose::state(&view, board, &Changes::default());
        diagnose::diagnosis(&view, board, &state, refused.shape, &caller)
    });
    let diagnosis = work.await.map_err(|error| internal(&error))?;
    let meaning = refused.refusal.meaning();
    let problem = Problem::new(Reason::Refused(refused.refusal), meaning);
    Ok(problem.with("diagnosis", diagnosis).reply())
}

pub(crate) fn internal(error: &impl std::fmt::Display) -> Fault {
    tracing::error!(%error, "a request failed");
    Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "see the service's log")
}

pub(crate) fn bad_query() -> Reply {
    Problem::new(Reason::BadValue, "the query cannot be read").reply()
}

/// The number of a lease in an address.
pub(crate) fn number(id: &str) -> Result<u64, Problem> {
    let unknown = || Problem::new(Reason::UnknownLease, format!("there is no lease `{id}`"));
    id.parse().map_err(|_| unknown())
}

/// The key of a request, with a digest of what it asks for.
pub(crate) fn key(
    headers: &HeaderMap,
    what: &str,
    body: &[u8],
) -> Result<Option<IdempotencyKey>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| (1..=255).contains(&text.len()));
    let Some(text) = text else {
        let detail = "an Idempotency-Key has 1 to 255 visible ASCII characters";
        return Err(Problem::new(Reason::BadValue, detail));
    };
    let digest = sum(&[what.as_bytes(), b"\n", body].concat());
    Ok(Some(IdempotencyKey { key: text.to_string(), digest }))
}
