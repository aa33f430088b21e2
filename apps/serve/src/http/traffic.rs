//! Limits on how long a request body may take to arrive, and on memory for bodies and replies.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Error;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use futures_util::stream::unfold;
use parking_lot::Mutex;
use tokio::time::sleep;

use super::Fault;
use super::permits::Party;
use crate::core::Caller;
use crate::core::shares::Shares;

/// The time limit for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);
/// The maximum total size of all bodies being received or processed, in bytes.
const MAX_BODIES_BYTES: usize = 128 << 20;
/// The maximum total size of all unsent replies, in bytes.
const MAX_REPLIES_BYTES: usize = 256 << 20;

/// The number of bytes per body or reply that are not counted. The connection limit bounds the
/// total of these bytes.
const UNCOUNTED_BYTES: usize = 16 << 10;

/// A memory limit shared by all callers. A tenant may use a quarter of it, and all tenants together
/// seven eighths. A body or reply that exceeds the limit is allowed if it is the only one.
struct Budget {
    max: usize,
    used: Mutex<Shares<Party, (), 1>>,
}

/// Memory charged to a caller until this value is dropped.
struct Charge {
    budget: Arc<Budget>,
    party: Party,
    bytes: usize,
    /// The number of its entry, which is replaced when the charge grows; 0 for an empty charge.
    entry: u64,
}

impl Budget {
    fn new(max: usize) -> Arc<Budget> {
        Arc::new(Budget { max, used: Mutex::default() })
    }

    /// Returns an empty charge.
    fn charge(self: &Arc<Budget>, caller: &Caller) -> Charge {
        Charge { budget: self.clone(), party: Party::of(caller), bytes: 0, entry: 0 }
    }

    /// Returns true if a caller may use more memory.
    fn is_open(&self, caller: &Caller) -> bool {
        self.fits(&self.used.lock(), &Party::of(caller), 1)
    }

    fn fits(&self, used: &Shares<Party, (), 1>, party: &Party, bytes: usize) -> bool {
        let ([of_party], [total]) = (used.of(party), used.total());
        let (max_of_party, max_total) = match party {
            Party::Operator => (self.max, self.max),
            _ => (self.max / 4, self.max / 8 * 7),
        };
        (of_party == 0 || of_party + bytes <= max_of_party)
            && (total == 0 || total + bytes <= max_total)
    }
}

impl Charge {
    /// Adds bytes to the charge if they fit, and returns true if they do.
    fn try_add(&mut self, bytes: usize) -> bool {
        let budget = self.budget.clone();
        let mut used = budget.used.lock();
        let fits = budget.fits(&used, &self.party, bytes);
        if fits {
            self.grow(&mut used, bytes);
        }
        fits
    }

    /// Adds bytes to the charge even if they exceed the limit.
    fn add(&mut self, bytes: usize) {
        let budget = self.budget.clone();
        self.grow(&mut budget.used.lock(), bytes);
    }

    fn grow(&mut self, used: &mut Shares<Party, (), 1>, bytes: usize) {
        used.remove(self.entry);
        self.bytes += bytes;
        self.entry = used.add(self.party.clone(), [self.bytes], ());
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.used.lock().remove(self.entry);
    }
}

/// The memory limits for bodies and for replies.
pub(crate) struct Traffic {
    bodies: Arc<Budget>,
    replies: Arc<Budget>,
}

/// A request that may change something or has a body.
pub(super) struct Received {
    charge: Mutex<Charge>,
    is_change: bool,
    /// The reason why the body could not be read completely.
    fault: OnceLock<Fault>,
}

impl Traffic {
    pub(crate) fn new() -> Traffic {
        Traffic { bodies: Budget::new(MAX_BODIES_BYTES), replies: Budget::new(MAX_REPLIES_BYTES) }
    }

    /// Limits the time and memory for a request's body. Dropping the returned value frees the
    /// memory.
    ///
    /// # Errors
    /// Returns an error if the caller has too many unread replies. A change is thus rejected before
    /// it is executed.
    pub(super) fn receive(
        &self,
        caller: &Caller,
        request: Request,
    ) -> Result<(Request, Option<Arc<Received>>), Fault> {
        let is_empty = request.body().is_end_stream();
        let is_change = !request.method().is_safe();
        if is_empty && !is_change {
            return Ok((request, None));
        }
        if is_change && !self.replies.is_open(caller) {
            return Err(busy("too many earlier replies have not been read yet"));
        }
        let charge = Mutex::new(self.bodies.charge(caller));
        let received = Arc::new(Received { charge, is_change, fault: OnceLock::new() });
        let limit = |body| if is_empty { body } else { limit_body(body, received.clone()) };
        Ok((request.map(limit), Some(received)))
    }

    /// Limits the memory for a reply. The reply to a change is always sent.
    pub(super) async fn send(
        &self,
        caller: &Caller,
        response: Response,
        received: Option<Arc<Received>>,
    ) -> Response {
        if let Some(fault) = received.as_ref().and_then(|received| received.fault.get()) {
            return fault.clone().into_response();
        }
        let Some(length) = response.body().size_hint().exact() else { return response };
        if length <= UNCOUNTED_BYTES as u64 {
            return response;
        }
        let (head, body) = response.into_parts();
        let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
            return Fault::internal(&"a reply ended early").into_response();
        };
        let mut charge = self.replies.charge(caller);
        if received.is_some_and(|received| received.is_change) {
            charge.add(bytes.len());
        } else if !charge.try_add(bytes.len()) {
            return busy("too many earlier replies have not been read yet").into_response();
        }
        let bytes = Bytes::from_owner(ChargedBytes { bytes, _charge: charge });
        Response::from_parts(head, Body::from(bytes))
    }
}

fn busy(detail: &str) -> Fault {
    Fault::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail)
}

fn slow() -> Fault {
    let detail = format!("the request body must arrive within {} s", BODY_TIMEOUT.as_secs());
    Fault::new(StatusCode::REQUEST_TIMEOUT, "slow-body", detail)
}

/// Makes a body fail if it arrives too slowly or exceeds the memory limit.
fn limit_body(body: Body, received: Arc<Received>) -> Body {
    let unread =
        (body.into_data_stream(), UNCOUNTED_BYTES, received, Box::pin(sleep(BODY_TIMEOUT)));
    Body::from_stream(unfold(unread, async |(mut parts, uncounted, received, mut timeout)| {
        let part = tokio::select! {
            biased;
            part = parts.next() => part?,
            () = &mut timeout => Err(received.refuse(slow())),
        };
        let part = part.and_then(|bytes| received.charge(bytes, uncounted));
        let uncounted = uncounted.saturating_sub(part.as_ref().map_or(0, Bytes::len));
        Some((part, (parts, uncounted, received, timeout)))
    }))
}

impl Received {
    /// Charges for the bytes of a chunk, except for the first `uncounted` bytes.
    fn charge(&self, bytes: Bytes, uncounted: usize) -> Result<Bytes, Error> {
        let counted = bytes.len().saturating_sub(uncounted);
        if counted == 0 || self.charge.lock().try_add(counted) {
            return Ok(bytes);
        }
        Err(self.refuse(busy("too many request bodies are being received at once")))
    }

    fn refuse(&self, fault: Fault) -> Error {
        let error = Error::new(fault.problem.detail.clone());
        let _ = self.fault.set(fault);
        error
    }
}

/// Bytes that are charged until the last reference to them, such as a write buffer, is dropped.
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
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_tenant_may_use_a_quarter_and_the_operator_everything() {
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
        assert_eq!(budget.used.lock().total(), [0]);
        assert!(budget.used.lock().parties().next().is_none());
        // A body larger than the whole budget is allowed if it is the only one.
        let mut large = budget.charge(&of("a"));
        assert!(large.try_add(5000) && !large.try_add(1));
        assert!(!budget.charge(&of("b")).try_add(1));
    }

    #[tokio::test]
    async fn a_change_without_a_body_is_rejected_before_it_is_executed_or_is_answered() {
        let (traffic, tenant) = (Traffic::new(), Caller { tenant: Some("a".to_string()) });
        let request = |method, body: &'static str| {
            Request::builder().method(method).body(Body::from(body)).unwrap()
        };
        let (_, received) = traffic.receive(&tenant, request("POST", "")).unwrap();
        let mut unread = traffic.replies.charge(&tenant);
        assert!(unread.try_add(MAX_REPLIES_BYTES / 4));
        let status = |received| {
            let reply = Response::new(Body::from(vec![0; 2 * UNCOUNTED_BYTES]));
            traffic.send(&tenant, reply, received).now_or_never().unwrap().status()
        };
        assert_eq!(status(received), StatusCode::OK);
        assert!(traffic.receive(&tenant, request("POST", "")).is_err());
        // A body does not turn a read into a change.
        for body in ["", "{}"] {
            let (_, received) = traffic.receive(&tenant, request("GET", body)).unwrap();
            assert_eq!(status(received), StatusCode::SERVICE_UNAVAILABLE);
        }
    }

    #[tokio::test]
    async fn a_body_in_many_chunks_is_charged_as_one_entry() {
        let traffic = Traffic::new();
        let chunk = Ok::<_, std::convert::Infallible>(Bytes::from_static(b"x"));
        let chunks = futures_util::stream::repeat(chunk).take(UNCOUNTED_BYTES + 100);
        let request = Request::new(Body::from_stream(chunks));
        let (request, received) = traffic.receive(&Caller::OPERATOR, request).unwrap();
        axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
        assert_eq!(traffic.bodies.used.lock().iter().count(), 1);
        assert_eq!(traffic.bodies.used.lock().total(), [100]);
        drop(received);
        assert_eq!(traffic.bodies.used.lock().total(), [0]);
    }
}
