//! Middleware for all requests: authentication, rate limits and metrics.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Extension, MatchedPath, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::permits::{Party, Permit};
use super::{App, Fault, Peer, form};
use crate::core::{Caller, Problem, Reason};

const PROBLEM: &str = "application/problem+json";
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Admits authenticated callers within their rate limits.
pub(crate) async fn authenticate(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    Extension(permit): Extension<Arc<Permit>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Fault> {
    if matches!(peer, Peer::Tcp(_)) && !app.access.requires_authentication() {
        same_origin(request.headers())?;
    }
    let caller = app.access.caller(&peer, request.headers())?;
    permit.set_party(&Party::of(&caller));
    app.charge(&caller, 1, 0)?;
    request.extensions_mut().insert(caller.clone());
    let (request, received) = app.traffic.receive(&caller, request)?;
    let response = next.run(request).await;
    Ok(app.traffic.send(&caller, response, received).await)
}

impl App {
    /// Charges a caller for `count` requests, in addition to `paid` requests already charged.
    ///
    /// # Errors
    /// Returns an error if the caller would exceed its rate limit.
    pub(crate) fn charge(&self, caller: &Caller, count: u64, paid: u64) -> Result<(), Fault> {
        let (Some(tenant), Some(rates)) = (&caller.tenant, &self.rates) else { return Ok(()) };
        rates.charge(tenant, count, paid, || self.writer.clock.micros()).map_err(|wait| {
            let rate = self.bounds.rate.unwrap_or_default();
            let detail = format!("the rate limit of {rate} requests per second has been exceeded");
            Fault::new(StatusCode::TOO_MANY_REQUESTS, "too-many-requests", detail)
                .with_retry_after(wait.as_secs_f64().ceil() as u32)
        })
    }
}

/// Rejects requests for another host or from another origin, so that another site's page cannot
/// reach the service through a browser on this machine. Callers with a token are exempt.
fn same_origin(headers: &HeaderMap) -> Result<(), Fault> {
    // A non-ASCII header cannot name this host.
    let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or("?"));
    let host = text(header::HOST).unwrap_or_default();
    let is_loopback = |authority: Authority| {
        let name = authority.host().trim_start_matches('[').trim_end_matches(']');
        name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    // `Authority::host` skips user information.
    let is_here = host.is_empty() || !host.contains('@') && host.parse().is_ok_and(is_loopback);
    let is_same = |origin: &str| origin.split_once("://").is_some_and(|(_, rest)| rest == host);
    let origins = headers.get_all(header::ORIGIN).iter().count();
    if is_here && origins < 2 && text(header::ORIGIN).is_none_or(is_same) {
        return Ok(());
    }
    let detail = "requests that name another host or origin require a token (see --token-file)";
    Err(Fault::new(StatusCode::FORBIDDEN, "other-origin", detail))
}

/// Rejects malformed heads, records metrics for every request, copies `traceparent` to the reply
/// and the log, and adds the common headers to the reply.
pub(crate) async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = app.writer.clock.micros();
    let trace = request.headers().get(TRACEPARENT).cloned();
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_string());
    let path = path.unwrap_or_else(|| "other".to_string());
    let method = request.method().clone();
    let mut response = match form::check_head(&request) {
        Ok(()) => as_problem(next.run(request).await),
        Err(fault) => fault.into_response(),
    };
    let seconds = (app.writer.clock.micros() - began) as f64 * 1e-6;
    let status = response.status().as_u16();
    app.metrics.count_request(&path, status, seconds);
    let traceparent = trace.as_ref().and_then(|trace| trace.to_str().ok());
    tracing::debug!(%method, path, status, seconds, traceparent, "request");
    if let Some(trace) = trace {
        response.headers_mut().insert(TRACEPARENT, trace);
    }
    response.headers_mut().extend(form::REPLY_HEADERS);
    response
}

/// Converts the framework's errors, such as the error for an oversized body, to problems.
fn as_problem(response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    if status.as_u16() < 400 || kind.is_some_and(|kind| kind == PROBLEM) {
        return response;
    }
    let detail = "the request cannot be read";
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        return Fault::from(Problem::new(Reason::TooLarge, detail)).into_response();
    }
    Fault::new(status, "bad-request", detail).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_other_sites_are_rejected() {
        let headers = |host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            headers
        };
        for host in ["127.0.0.1:8080", "127.9.9.9", "[::1]", "[::1]:8080", "localhost", ""] {
            assert!(same_origin(&headers(host, None)).is_ok(), "{host}");
        }
        for host in
            ["192.0.2.1", "[::2]", "[::evil", "localhost.evil.example", "evil.example@localhost"]
        {
            assert!(same_origin(&headers(host, None)).is_err(), "{host}");
        }
        assert!(same_origin(&headers("localhost:8080", Some("http://localhost:8080"))).is_ok());
        assert!(same_origin(&headers("localhost:8080", Some("http://evil.example"))).is_err());
        assert!(same_origin(&headers("evil.example:8080", None)).is_err());
        let mut foreign = headers("127.0.0.1:8080", None);
        foreign
            .insert(header::ORIGIN, HeaderValue::from_bytes(b"http://127.0.0.1:8080\xe9").unwrap());
        assert!(same_origin(&foreign).is_err());
        let mut foreign = headers("127.0.0.1:8080", Some("http://127.0.0.1:8080"));
        foreign.append(header::ORIGIN, "http://evil.example".parse().unwrap());
        assert!(same_origin(&foreign).is_err());
    }
}
