//! HTTP replies: statuses, JSON, and errors as RFC 9457 problems.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use crate::core::{Reason, Reply, Written, problem};
use crate::diagnose::Diagnosis;
use crate::writer::Unavailable;

/// The reason why a request was not carried out (RFC 9457).
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// `urn:pavior:problem:` followed by `reason`.
    r#type: String,
    title: &'static str,
    pub(crate) status: u16,
    /// The reason as a sentence.
    pub(crate) detail: String,
    /// A machine-readable word, such as `no-free-submesh` or `stale-epoch`.
    reason: &'static str,
    /// The diagnosis of a refused request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diagnosis: Option<Diagnosis>,
    /// The exceeded quota and its current use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    quota: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    used: Option<u64>,
    /// The last removed record, if the requested records have been removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub(crate) oldest: Option<u64>,
}

impl From<&problem::Problem> for Problem {
    fn from(problem: &problem::Problem) -> Problem {
        let problem::Problem { reason, detail, quota } = problem;
        let (word, title) = (reason.word(), reason.title());
        let (quota, used) = quota.map(|of| (of.quota, of.used)).unzip();
        Problem { quota, used, ..Problem::new(status(*reason), word, title, detail.clone()) }
    }
}

impl Problem {
    fn new(status: u16, word: &'static str, title: &'static str, detail: String) -> Problem {
        let r#type = format!("urn:pavior:problem:{word}");
        let (diagnosis, quota, used, oldest) = (None, None, None, None);
        Problem { r#type, title, status, detail, reason: word, diagnosis, quota, used, oldest }
    }
}

fn status(reason: Reason) -> u16 {
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

/// The answers to a batch.
#[derive(Serialize, ToSchema)]
pub(crate) struct Answers<'a> {
    answers: Vec<Answer<'a>>,
}

/// The answer to a command in a batch.
#[derive(Serialize, ToSchema)]
pub(crate) struct Answer<'a> {
    status: u16,
    #[schema(value_type = Object)]
    body: Body<'a>,
}

/// The body of a reply.
struct Body<'a>(&'a Reply);

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Reply::Granted(lease) | Reply::Renewed(lease) => lease.serialize(serializer),
            Reply::Waiting(waiting) => waiting.serialize(serializer),
            Reply::Ended(ended) => ended.serialize(serializer),
            Reply::Node(node) => node.serialize(serializer),
            Reply::Reserved(one) | Reply::Unreserved(one) => one.serialize(serializer),
            Reply::Clock(clock) => clock.serialize(serializer),
            Reply::Batch(replies) => {
                let answer = |reply| Answer { status: status_of(reply), body: Body(reply) };
                Answers { answers: replies.iter().map(answer).collect() }.serialize(serializer)
            }
            Reply::Done => serializer.serialize_map(Some(0))?.end(),
            Reply::Problem(problem) => Problem::from(problem).serialize(serializer),
            Reply::Kept(_) => {
                unreachable!("it is written, and the commands of a batch have no key")
            }
        }
    }
}

fn status_of(reply: &Reply) -> u16 {
    match reply {
        Reply::Granted(_) | Reply::Reserved(_) => 201,
        Reply::Waiting(_) => 202,
        Reply::Problem(problem) => status(problem.reason),
        Reply::Kept(written) => written.status,
        _ => 200,
    }
}

/// Formats a reply for the client, which is also stored in case the client retries.
pub fn written(reply: &Reply) -> Written {
    match reply {
        Reply::Kept(written) => written.clone(),
        reply => Written { status: status_of(reply), body: text(&Body(reply)) },
    }
}

fn text(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("keys in replies are strings")
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let Written { status, body } = match self {
            Reply::Kept(written) => written,
            reply => written(&reply),
        };
        let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = if status >= 400 { "application/problem+json" } else { "application/json" };
        (code, [(header::CONTENT_TYPE, kind)], body).into_response()
    }
}

/// The failure of a request, because of its command or because of the service.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) problem: Box<Problem>,
    /// The time to wait before trying again, in seconds.
    pub(crate) retry_after: Option<u32>,
}

impl Fault {
    /// Returns the fault of a request that did not reach a decision.
    pub(crate) fn new(status: StatusCode, word: &'static str, detail: impl Into<String>) -> Fault {
        let title = status.canonical_reason().unwrap_or_default();
        let problem = Problem::new(status.as_u16(), word, title, detail.into());
        Fault { problem: Box::new(problem), retry_after: None }
    }

    pub(crate) fn large_body(most: usize) -> Fault {
        let detail = format!("a body may have at most {most} bytes");
        Fault::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail)
    }

    /// Logs an internal error and returns a fault without its details.
    pub(crate) fn internal(error: &impl std::fmt::Display) -> Fault {
        tracing::error!(%error, "a request failed");
        Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "see the service's log")
    }

    /// Returns the reply, to be stored.
    pub(crate) fn written(&self) -> Written {
        Written { status: self.problem.status, body: text(&self.problem) }
    }
}

impl From<problem::Problem> for Fault {
    fn from(problem: problem::Problem) -> Fault {
        Fault { problem: Box::new(Problem::from(&problem)), retry_after: None }
    }
}

impl From<Unavailable> for Fault {
    fn from(unavailable: Unavailable) -> Fault {
        let (word, detail) = match unavailable {
            Unavailable::Busy => {
                ("busy", "too many requests are waiting; try again later".to_string())
            }
            Unavailable::ReadOnly(reason) => ("read-only", reason),
            Unavailable::Standby(by) => ("standby", format!("another server is the leader: {by}")),
            Unavailable::Unknown(reason) => (
                "outcome-unknown",
                format!("the command may have been carried out; repeat it with its key: {reason}"),
            ),
            Unavailable::Stopping => ("stopping", "the service is stopping".to_string()),
        };
        let fault = Fault::new(StatusCode::SERVICE_UNAVAILABLE, word, detail);
        Fault { retry_after: Some(1), ..fault }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = Reply::Kept(self.written()).into_response();
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
