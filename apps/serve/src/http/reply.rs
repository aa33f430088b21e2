//! Formats replies to commands as HTTP statuses and JSON.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::problem::{ProblemReply, status_of_reason};
use crate::core::{FormattedReply, Reply};

/// The delay, in seconds, before a client should retry a request answered with 503.
const RETRY_AFTER_S: u32 = 1;

/// The replies to a batch.
#[derive(Serialize, ToSchema)]
#[schema(as = Answers)]
pub(crate) struct BatchReply<'a> {
    answers: Vec<CommandReply<'a>>,
}

/// The reply to a command in a batch.
#[derive(Serialize, ToSchema)]
#[schema(as = Answer)]
pub(crate) struct CommandReply<'a> {
    status: u16,
    #[schema(value_type = Object)]
    body: ReplyBody<'a>,
}

/// A reply's body.
struct ReplyBody<'a>(&'a Reply);

impl Serialize for ReplyBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Reply::Granted(lease) | Reply::Renewed(lease) => lease.serialize(serializer),
            Reply::Waiting(waiting) => waiting.serialize(serializer),
            Reply::Ended(ended) => ended.serialize(serializer),
            Reply::Node(node) => node.serialize(serializer),
            Reply::Reserved(reservation) | Reply::Unreserved(reservation) => {
                reservation.serialize(serializer)
            }
            Reply::Clock(clock) => clock.serialize(serializer),
            Reply::Batch(replies) => {
                let answers = replies.iter().map(CommandReply::of).collect();
                BatchReply { answers }.serialize(serializer)
            }
            Reply::Done => serializer.serialize_map(Some(0))?.end(),
            Reply::Problem(problem) => ProblemReply::from(problem).serialize(serializer),
            Reply::Stored(_) => {
                unreachable!("a stored reply is already formatted and is never part of a batch")
            }
        }
    }
}

impl CommandReply<'_> {
    fn of(reply: &Reply) -> CommandReply<'_> {
        CommandReply { status: status(reply), body: ReplyBody(reply) }
    }
}

fn status(reply: &Reply) -> u16 {
    match reply {
        Reply::Granted(_) | Reply::Reserved(_) => 201,
        Reply::Waiting(_) => 202,
        Reply::Problem(problem) => status_of_reason(problem.reason),
        Reply::Stored(stored) => stored.status,
        Reply::Renewed(_)
        | Reply::Ended(_)
        | Reply::Node(_)
        | Reply::Unreserved(_)
        | Reply::Clock(_)
        | Reply::Batch(_)
        | Reply::Done => 200,
    }
}

/// Formats a reply for the client, and for storage in case the client retries.
pub fn format_reply(reply: &Reply) -> FormattedReply {
    match reply {
        Reply::Stored(stored) => stored.clone(),
        reply => FormattedReply { status: status(reply), body: to_json(&ReplyBody(reply)) },
    }
}

/// Formats a reply's body.
pub(super) fn to_json(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("keys in replies are strings")
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let FormattedReply { status, body } = match self {
            Reply::Stored(stored) => stored,
            reply => format_reply(&reply),
        };
        let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = if status >= 400 { "application/problem+json" } else { "application/json" };
        let mut response = (code, [(header::CONTENT_TYPE, kind)], body).into_response();
        if code == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER_S.into());
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Problem, Reason};
    use crate::http::Fault;

    #[test]
    fn every_503_reply_says_when_to_try_again() {
        for reason in [Reason::QueueFull, Reason::NotYet] {
            let problem = Problem::new(reason, "");
            let fault = Fault::from(problem.clone());
            for response in [Reply::Problem(problem).into_response(), fault.into_response()] {
                assert_eq!(response.status(), 503);
                assert_eq!(response.headers()[header::RETRY_AFTER], "1", "{reason:?}");
            }
        }
    }
}
