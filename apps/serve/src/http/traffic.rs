//! Limits on how long a request body may take to arrive, and on buffered bodies and replies.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
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
use crate::core::Caller;

/// The time limit for a body to arrive.
const PATIENCE: Duration = Duration::from_secs(20);
/// The maximum number of bytes in bodies that are arriving or being processed.
const BODIES: usize = 128 << 20;
/// The maximum number of bytes in replies that have not been sent yet.
const REPLIES: usize = 256 << 20;

/// The number of bytes per body or reply that are not counted. The uncounted total is at most this
/// number times the number of connections.
const FREE: usize = 16 << 10;

/// A number of bytes shared by all callers. A tenant may use a quarter, and all tenants together
/// seven eighths. A body or reply larger than that is let through if it is the only one.
struct Budget {
    most: usize,
    used: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    all: usize,
    by: HashMap<Option<String>, usize>,
}

/// Bytes in use, until this is dropped.
struct Charge {
    budget: Arc<Budget>,
    caller: Caller,
    bytes: usize,
}

impl Budget {
    fn new(most: usize) -> Arc<Budget> {
        Arc::new(Budget { most, used: Mutex::new(Used::default()) })
    }

    /// Returns a charge to a caller, initially of zero bytes.
    fn charge(self: &Arc<Budget>, caller: &Caller) -> Charge {
        Charge { budget: self.clone(), caller: caller.clone(), bytes: 0 }
    }

    /// Returns true if a caller may use more.
    fn is_open(&self, caller: &Caller) -> bool {
        self.fits(&self.lock(), caller, 1)
    }

    fn fits(&self, used: &Used, caller: &Caller, bytes: usize) -> bool {
        let own = used.by.get(&caller.tenant).copied().unwrap_or(0);
        let (share, together) = match caller.tenant {
            None => (self.most, self.most),
            Some(_) => (self.most / 4, self.most / 8 * 7),
        };
        (own == 0 || own + bytes <= share) && (used.all == 0 || used.all + bytes <= together)
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Charge {
    /// Adds bytes to the charge, if the caller may use more.
    fn try_add(&mut self, bytes: usize) -> bool {
        let mut used = self.budget.lock();
        let fits = self.budget.fits(&used, &self.caller, bytes);
        if fits {
            used.add(&self.caller, bytes);
            self.bytes += bytes;
        }
        fits
    }

    /// Adds bytes to the charge, regardless of the limit.
    fn add(&mut self, bytes: usize) {
        self.budget.lock().add(&self.caller, bytes);
        self.bytes += bytes;
    }
}

impl Used {
    fn add(&mut self, caller: &Caller, bytes: usize) {
        self.all += bytes;
        *self.by.entry(caller.tenant.clone()).or_default() += bytes;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut used = self.budget.lock();
        used.all -= self.bytes;
        if let Some(own) = used.by.get_mut(&self.caller.tenant) {
            *own -= self.bytes;
            if *own == 0 {
                used.by.remove(&self.caller.tenant);
            }
        }
    }
}

/// The buffered bytes in both directions.
pub(crate) struct Traffic {
    bodies: Arc<Budget>,
    replies: Arc<Budget>,
}

/// The state of a body while its request is carried out.
pub(super) struct Received {
    charge: Mutex<Charge>,
    /// The reason for not reading the body to its end.
    refused: OnceLock<Fault>,
}

impl Traffic {
    pub(crate) fn new() -> Traffic {
        Traffic { bodies: Budget::new(BODIES), replies: Budget::new(REPLIES) }
    }

    /// Limits the time and memory for a request's body. The memory is released when the returned
    /// state is dropped.
    ///
    /// # Errors
    /// Returns an error if too many earlier replies to the caller are unread. A change is refused
    /// before it is carried out.
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

    /// Limits the memory of a reply. A reply that reports a change is always sent.
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

/// Returns the problem for too much traffic.
fn busy(detail: &str) -> Fault {
    let mut fault = Fault::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail);
    fault.retry_after = Some(1);
    fault
}

/// A body with a deadline for its arrival.
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
                let detail = format!("a body must arrive within {} s", PATIENCE.as_secs());
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
                if fits { polled } else { self.refuse(busy("too many bodies are being received")) }
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

/// Bytes that are charged as long as anything refers to them, such as a write buffer.
struct ChargedBytes {
    bytes: Bytes,
    _charge: Charge,
}

impl AsRef<[u8]> for ChargedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_has_a_quarter_and_the_operator_the_rest() {
        let budget = Budget::new(800);
        let of = |name: &str| Caller { tenant: Some(name.to_string()) };
        let mut a = budget.charge(&of("a"));
        assert!(a.try_add(150) && !a.try_add(51) && a.try_add(50) && !budget.is_open(&of("a")));
        let others: Vec<_> = ["b", "c", "d"]
            .iter()
            .map(|name| {
                let mut charge = budget.charge(&of(name));
                (charge.try_add(180), charge)
            })
            .collect();
        assert_eq!(others.iter().filter(|(fits, _)| *fits).count(), 2);
        let mut operator = budget.charge(&Caller::OPERATOR);
        assert!(operator.try_add(240) && !operator.try_add(1));
        drop(a);
        assert!(budget.is_open(&of("a")));
        drop((others, operator));
        assert!(budget.lock().by.is_empty() && budget.lock().all == 0);
        // A body larger than the whole budget is let through if it is the only one.
        let mut large = budget.charge(&of("a"));
        assert!(large.try_add(5000) && !large.try_add(1));
        assert!(!budget.charge(&of("b")).try_add(1));
    }
}
