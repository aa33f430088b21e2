//! Extractors for handlers. On failure, they return problems.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::HeaderValue;
use axum::http::request::Parts;
use futures_util::StreamExt;
use pavior::text::message;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use utoipa::IntoParams;

use super::body::parse;
use super::form::MAX_BODY_BYTES;
use super::reply::format_reply;
use super::{App, Fault};
use crate::core::{Caller, Command, IdempotencyKey, LeaseRequest, Problem, Reply};
use crate::diagnose::Diagnosis;
use crate::storage::frame::sum;
use crate::writer::{CallerCommand, CommandAnswer, RefusalInState};

/// The query parameters in a URL.
pub(crate) struct QueryParams<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<QueryParams<T>, Fault> {
        Query::try_from_uri(&parts.uri)
            .map(|Query(query)| QueryParams(query))
            .map_err(|rejection| Problem::bad(message(&rejection.body_text())).into())
    }
}

/// Parses a number in a query. As stated in the OpenAPI document, the maximum is 2^63 - 1.
pub(crate) fn query_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let number = Option::<u64>::deserialize(from)?;
    match number.filter(|&number| i64::try_from(number).is_err()) {
        Some(_) => Err(serde::de::Error::custom("the number must be at most 2^63 - 1")),
        None => Ok(number),
    }
}

/// A read-only request with a body, and its caller.
pub(crate) struct Question<T> {
    pub(super) app: Arc<App>,
    pub(super) caller: Caller,
    pub(super) body: T,
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Question<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Question<T>, Fault> {
        let caller = caller_of(&request)?;
        let bytes = read_body(request).await?;
        Ok(Question { app: app.clone(), caller, body: parse(&bytes)? })
    }
}

fn caller_of(request: &Request) -> Result<Caller, Fault> {
    let caller = request.extensions().get::<Caller>().cloned();
    caller.ok_or_else(|| Fault::internal(&"the route has no authentication layer"))
}

/// Reads a body into one buffer, because a list of small chunks would take much more memory.
async fn read_body(request: Request) -> Result<Bytes, Fault> {
    let (mut chunks, mut body) = (request.into_body().into_data_stream(), Vec::new());
    while let Some(chunk) = chunks.next().await {
        let chunk =
            chunk.map_err(|_| Problem::bad("the request body could not be read completely"))?;
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(Fault::large_body());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.into())
}

/// The header that prevents a retried request from being executed twice.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "used only as a description")]
pub(crate) struct ChangeHeaders {
    /// A key for retries: a request repeated with the same key gets the original reply.
    #[param(rename = "Idempotency-Key", min_length = 1, max_length = 255, pattern = "^[!-~]+$")]
    idempotency_key: Option<String>,
}

/// A request that changes something, with its caller, key and body.
pub(crate) struct Change {
    caller: Caller,
    key: Option<HeaderValue>,
    query: Option<String>,
    bytes: Bytes,
    /// True if a refusal should be diagnosed.
    pub(super) is_diagnosed: bool,
}

impl FromRequest<Arc<App>> for Change {
    type Rejection = Fault;

    async fn from_request(request: Request, _: &Arc<App>) -> Result<Change, Fault> {
        let caller = caller_of(&request)?;
        let mut keys = request.headers().get_all("idempotency-key").iter();
        let key = keys.next().cloned();
        if keys.next().is_some() {
            let detail = "a request may have only one Idempotency-Key header";
            return Err(Problem::bad(detail).into());
        }
        let query = request.uri().query().filter(|query| !query.is_empty()).map(str::to_string);
        let bytes = read_body(request).await?;
        Ok(Change { caller, key, query, bytes, is_diagnosed: true })
    }
}

impl Change {
    /// Executes the command in the body and, if the command is refused, adds a diagnosis. `route`
    /// represents the method and path in the idempotency key's digest.
    pub(crate) async fn carry_out(
        self,
        app: &App,
        route: &str,
        command: impl FnOnce(&Bytes) -> Result<Command, Problem>,
    ) -> Result<Reply, Fault> {
        let (key, command) = (self.key(route)?, command(&self.bytes)?);
        let Change { caller, is_diagnosed, .. } = self;
        if let Command::Batch(operations) = &command {
            // The first operation was charged when the request arrived.
            app.charge(&caller, (operations.len() as u64).saturating_sub(1), 1)?;
        }
        let requests = lease_requests(&command);
        let attempt = CallerCommand { caller: caller.clone(), key: key.clone(), command };
        let CommandAnswer { reply, refusal } = app.writer.carry_out(attempt).await?;
        app.refusals.record(app, &caller, &reply, requests);
        let Some(refusal) = refusal else { return Ok(reply) };
        let mut fault = match reply {
            Reply::Problem(problem) => Fault::from(problem),
            reply => return Ok(reply),
        };
        if is_diagnosed {
            // The decision stands even if its diagnosis takes too long.
            fault.problem.diagnosis = diagnosis(app, &caller, refusal).await.ok();
        }
        if key.is_none() {
            return Err(fault);
        }
        // If another request has used the key in the meantime, this request gets that request's
        // reply, too.
        let command = Command::StoreReply(fault.format_reply());
        Ok(app.writer.carry_out(CallerCommand { caller, key, command }).await?.reply)
    }

    /// Returns the idempotency key, with a digest of the request.
    fn key(&self, route: &str) -> Result<Option<IdempotencyKey>, Problem> {
        let Some(value) = &self.key else { return Ok(None) };
        let is_key = |text: &&str| {
            (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let text = value.to_str().ok().filter(is_key);
        let Some(text) = text else {
            let detail = "an Idempotency-Key must consist of 1 to 255 visible ASCII characters, \
                          without spaces";
            return Err(Problem::bad(detail));
        };
        // Separate the body with a line break, which a query cannot contain. A route with a line
        // break in its id is refused before the digest is used.
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        let digest = sum(&[route.as_bytes(), query.as_bytes(), b"\n", &self.bytes].concat());
        Ok(Some(IdempotencyKey { key: text.to_string(), digest, write: format_reply }))
    }
}

/// Copies a command's lease requests, because the command is consumed when it is decided. For a
/// batch, the result has one entry per command.
fn lease_requests(command: &Command) -> Vec<Option<LeaseRequest>> {
    let commands = match command {
        Command::Batch(commands) => &commands[..],
        command => std::slice::from_ref(command),
    };
    let request = |command: &Command| match command {
        Command::Lease(request) => Some(request.clone()),
        _ => None,
    };
    commands.iter().map(request).collect()
}

/// Diagnoses a request in the state in which it was refused.
async fn diagnosis(
    app: &App,
    caller: &Caller,
    refusal: RefusalInState,
) -> Result<Diagnosis, Fault> {
    if let Some(diagnosis) = app.diagnoses.cached(caller, &refusal) {
        return Ok(diagnosis);
    }
    let (diagnoses, reader) = (app.diagnoses.clone(), caller.clone());
    app.diagnosis_queue.run(caller, move |_| diagnoses.diagnosis(&reader, &refusal)).await
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures_util::FutureExt;
    use futures_util::stream::repeat;

    use super::*;

    #[test]
    fn a_body_in_many_chunks_is_read_up_to_the_limit() {
        let read = |chunks| {
            let chunk = Ok::<_, std::convert::Infallible>(Bytes::from_static(&[b'x'; 1024]));
            let body = Body::from_stream(repeat(chunk).take(chunks));
            read_body(Request::new(body)).now_or_never().unwrap()
        };
        let most = MAX_BODY_BYTES / 1024;
        assert_eq!(read(most).unwrap().len(), MAX_BODY_BYTES);
        assert_eq!(read(most + 1).unwrap_err().problem.status, 413);
    }
}
