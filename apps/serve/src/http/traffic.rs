//! How long the bodies of requests may take, and what memory they and their replies may.

use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Error;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use super::Fault;
use super::budget::{Budget, Charge, FREE};
use super::guarded_body::ChargedBytes;
use crate::core::Caller;

/// How long a body may take to come.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of bodies that are on their way, or are being read.
const BODIES: usize = 128 << 20;
/// Bytes of replies that are not sent yet.
const REPLIES: usize = 256 << 20;

/// What is on its way, in both directions.
pub(crate) struct Traffic {
    bodies: Arc<Budget>,
    replies: Arc<Budget>,
}

/// What is known of a body while its request is carried out.
pub(super) struct Received {
    charge: Mutex<Charge>,
    /// Why it was not read to its end.
    refused: OnceLock<Fault>,
}

impl Traffic {
    pub(crate) fn new() -> Traffic {
        Traffic { bodies: Budget::new(BODIES), replies: Budget::new(REPLIES) }
    }

    /// Lets the body of a request come within bounds. What it takes is given back with what is
    /// known of it.
    ///
    /// # Errors
    /// If earlier replies to the caller wait to be read, so that there is no room for this one. A
    /// change is refused before it is carried out.
    pub(super) fn receive(
        &self,
        caller: &Caller,
        request: Request,
    ) -> Result<(Request, Option<Arc<Received>>), Fault> {
        if request.body().is_end_stream() {
            return Ok((request, None));
        }
        if !self.replies.is_open(caller) {
            return Err(busy("replies to earlier requests have not been read"));
        }
        let charge = Mutex::new(self.bodies.charge(caller));
        let received = Arc::new(Received { charge, refused: OnceLock::new() });
        let bounded = |body| Bounded { body, seen: 0, late: None, received: received.clone() };
        Ok((request.map(|body| Body::new(bounded(body))), Some(received)))
    }

    /// Lets a reply go within bounds. One that says what was done goes in any case.
    pub(super) async fn send(
        &self,
        caller: &Caller,
        response: Response,
        received: Option<Arc<Received>>,
    ) -> Response {
        if let Some(fault) = received.as_ref().and_then(|received| received.refused.get()) {
            return fault.clone().into_response();
        }
        let Some(length) = response.body().size_hint().exact() else { return response };
        if length <= FREE as u64 {
            return response;
        }
        let (head, body) = response.into_parts();
        let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
            return Fault::internal(&"a reply ended early").into_response();
        };
        let mut charge = self.replies.charge(caller);
        if received.is_some() {
            charge.add(bytes.len());
        } else if !charge.try_add(bytes.len()) {
            return busy("replies to earlier requests have not been read").into_response();
        }
        let bytes = Bytes::from_owner(ChargedBytes { bytes, _charge: charge });
        Response::from_parts(head, Body::from(bytes))
    }
}

/// More is on its way than may be.
fn busy(detail: &str) -> Fault {
    let mut fault = Fault::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail);
    fault.retry_after = Some(1);
    fault
}

/// A body that has to come in time.
struct Bounded {
    body: Body,
    seen: usize,
    late: Option<Pin<Box<Sleep>>>,
    received: Arc<Received>,
}

impl Bounded {
    fn refuse(&self, fault: Fault) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let error = Error::new(fault.problem.detail.clone());
        let _ = self.received.refused.set(fault);
        Poll::Ready(Some(Err(error)))
    }
}

impl HttpBody for Bounded {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Pending => {
                let late = self.late.get_or_insert_with(|| Box::pin(sleep(PATIENCE)));
                if late.as_mut().poll(context).is_pending() {
                    return polled;
                }
                let detail = format!("a body has to come within {} s", PATIENCE.as_secs());
                self.refuse(Fault::new(StatusCode::REQUEST_TIMEOUT, "slow-body", detail))
            }
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                let free = FREE.saturating_sub(self.seen).min(bytes);
                self.seen += bytes;
                let fits = bytes == free || {
                    let charge = self.received.charge.lock();
                    charge.unwrap_or_else(PoisonError::into_inner).try_add(bytes - free)
                };
                if fits { polled } else { self.refuse(busy("too many bodies are on their way")) }
            }
            Poll::Ready(_) => polled,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
