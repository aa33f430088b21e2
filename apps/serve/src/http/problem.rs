//! Errors as RFC 9457 problems.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::core::{Problem, Reply};
use crate::writer::Unavailable;

/// A problem of the service itself, rather than of a command.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    pub(crate) word: &'static str,
    pub(crate) detail: String,
    /// The record up to which the journal is compacted, where that is what is wrong.
    pub(crate) oldest: Option<u64>,
    /// Seconds after which to try again.
    pub(crate) retry_after: Option<u32>,
}

impl Fault {
    pub(crate) fn new(status: StatusCode, word: &'static str, detail: impl Into<String>) -> Fault {
        Fault { status, word, detail: detail.into(), oldest: None, retry_after: None }
    }

    /// A mistake of the service, told in its log alone.
    pub(crate) fn internal(error: &impl std::fmt::Display) -> Fault {
        tracing::error!(%error, "a request failed");
        Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "see the service's log")
    }
}

impl From<Unavailable> for Fault {
    fn from(unavailable: Unavailable) -> Fault {
        let (word, detail) = match unavailable {
            Unavailable::Busy => ("busy", "more requests wait than the service takes".to_string()),
            Unavailable::ReadOnly(reason) => ("read-only", reason),
            Unavailable::Standby(by) => ("standby", format!("another server decides: {by}")),
            Unavailable::Unknown(reason) => (
                "outcome-unknown",
                format!("it may have been carried out; ask again with its key: {reason}"),
            ),
            Unavailable::Stopping => ("stopping", "the service stops".to_string()),
        };
        let mut fault = Fault::new(StatusCode::SERVICE_UNAVAILABLE, word, detail);
        fault.retry_after = Some(1);
        fault
    }
}

impl From<Fault> for Reply {
    fn from(fault: Fault) -> Reply {
        let mut body = json!({
            "type": format!("urn:pavior:problem:{}", fault.word),
            "title": fault.status.canonical_reason(),
            "status": fault.status.as_u16(),
            "detail": fault.detail,
            "reason": fault.word,
        });
        if let Some(oldest) = fault.oldest {
            body["oldest"] = oldest.into();
        }
        Reply::new(fault.status.as_u16(), &body)
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let (retry_after, status) = (self.retry_after, self.status);
        let mut response = Reply::from(self).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.reply().into_response()
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = if self.status >= 400 { "application/problem+json" } else { "application/json" };
        (status, [(header::CONTENT_TYPE, kind)], self.body).into_response()
    }
}
