//! Errors as RFC 9457 problems, with their statuses.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::form::MAX_BODY_BYTES;
use super::reply::to_json;
use crate::core::{FormattedReply, Problem, Reason, Reply};
use crate::diagnose::Diagnosis;
use crate::writer::Unavailable;

/// The problem details of a failed request (RFC 9457).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemReply {
    /// `urn:pavior:problem:` followed by `reason`.
    r#type: String,
    title: &'static str,
    pub(crate) status: u16,
    /// The reason as a sentence.
    pub(crate) detail: String,
    /// A machine-readable code, such as `no-free-submesh` or `stale-epoch`.
    reason: &'static str,
    /// The diagnosis, if the request was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diagnosis: Option<Diagnosis>,
    /// The tenant's quota in nodes, if the request would exceed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    quota: Option<u64>,
    /// The number of nodes that already count toward the quota.
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<u64>,
    /// The number of the last removed record, if the requested records have been removed. The
    /// oldest record that can still be read is the one after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) oldest: Option<u64>,
}

impl From<&Problem> for ProblemReply {
    fn from(Problem { reason, detail, quota }: &Problem) -> ProblemReply {
        let status = status_of_reason(*reason);
        ProblemReply {
            quota: quota.map(|quota| quota.quota),
            used: quota.map(|quota| quota.used),
            ..ProblemReply::new(status, reason.word(), reason.title(), detail.clone())
        }
    }
}

impl ProblemReply {
    fn new(status: u16, reason: &'static str, title: &'static str, detail: String) -> ProblemReply {
        let r#type = format!("urn:pavior:problem:{reason}");
        let (diagnosis, quota, used, oldest) = (None, None, None, None);
        ProblemReply { r#type, title, status, detail, reason, diagnosis, quota, used, oldest }
    }
}

pub(super) fn status_of_reason(reason: Reason) -> u16 {
    match reason {
        Reason::NoScheduler | Reason::BadValue => 400,
        Reason::OperatorOnly | Reason::OtherTenant => 403,
        Reason::UnknownLease
        | Reason::UnknownReservation
        | Reason::UnknownMachine
        | Reason::UnknownNode
        | Reason::UnknownStrategy => 404,
        Reason::Refused(_)
        | Reason::Reserved
        | Reason::OverQuota
        | Reason::NotFree
        | Reason::StaleEpoch
        | Reason::LeaseEnded
        | Reason::StillWaiting
        | Reason::RepeatedJob => 409,
        Reason::TooLarge => 413,
        Reason::KeyReused => 422,
        Reason::LostReply | Reason::NoEpochs | Reason::BadStrategy => 500,
        Reason::QueueFull | Reason::NotYet => 503,
    }
}

/// The failure of a request, caused either by its command or by the service.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) problem: Box<ProblemReply>,
    /// The time to wait before retrying, in seconds. The default depends on the status.
    retry_after: Option<u32>,
}

impl Fault {
    /// Returns the fault for a request that failed before it was decided. The reason must differ
    /// from those of [`Reason`], which have their own titles.
    pub(crate) fn new(
        status: StatusCode,
        reason: &'static str,
        detail: impl Into<String>,
    ) -> Fault {
        let is_owned = |owned: Reason| owned.word() == reason;
        debug_assert!(![Reason::BadValue, Reason::TooLarge].into_iter().any(is_owned), "{reason}");
        let title = status.canonical_reason().unwrap_or_default();
        let problem = ProblemReply::new(status.as_u16(), reason, title, detail.into());
        Fault { problem: Box::new(problem), retry_after: None }
    }

    /// Sets the time to wait before retrying, in seconds.
    pub(crate) fn with_retry_after(self, seconds: u32) -> Fault {
        Fault { retry_after: Some(seconds), ..self }
    }

    pub(crate) fn large_body() -> Fault {
        let detail = format!("the request body must not exceed {MAX_BODY_BYTES} bytes");
        Problem::new(Reason::TooLarge, detail).into()
    }

    /// Logs an internal error and returns a fault that hides its details.
    pub(crate) fn internal(error: &impl std::fmt::Display) -> Fault {
        tracing::error!(%error, "a request failed");
        Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "see the service log")
    }

    /// Returns the reply in its stored form.
    pub(crate) fn format_reply(&self) -> FormattedReply {
        FormattedReply { status: self.problem.status, body: to_json(&self.problem) }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Fault {
        Fault { problem: Box::new(ProblemReply::from(&problem)), retry_after: None }
    }
}

impl From<Unavailable> for Fault {
    fn from(unavailable: Unavailable) -> Fault {
        let (reason, detail) = match unavailable {
            Unavailable::Busy => {
                ("busy", "too many requests are waiting; try again later".to_string())
            }
            Unavailable::ReadOnly(reason) => ("read-only", reason),
            Unavailable::Standby(reason) => {
                ("standby", format!("this server cannot act as the leader: {reason}"))
            }
            Unavailable::Unknown(reason) => (
                "outcome-unknown",
                format!("the command may have been carried out: {reason}; retry with the same key"),
            ),
            Unavailable::Stopping => ("stopping", "the service is shutting down".to_string()),
        };
        Fault::new(StatusCode::SERVICE_UNAVAILABLE, reason, detail)
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = Reply::Stored(self.format_reply()).into_response();
        if response.status() == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
