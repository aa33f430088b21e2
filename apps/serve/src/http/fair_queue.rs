//! A queue for expensive computations, in which callers take turns.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::Fault;
use super::permits::Party;
use crate::core::Caller;

/// The number of callers at which idle callers are removed.
const CLEANUP_AT: usize = 64;

/// A queue that runs a few computations at a time, but only one per caller. A request first waits
/// for its caller's earlier requests and then for at most one request from every other caller.
/// There is no limit on the wait, which grows linearly with the number of earlier requests from the
/// same caller. The wait ends if the caller disconnects.
pub(crate) struct FairQueue {
    turns: Arc<Semaphore>,
    /// One semaphore per caller, with a single permit.
    caller_turns: Mutex<HashMap<Party, Arc<Semaphore>>>,
    timeout: Duration,
}

/// A flag that is set once no one is waiting for the result of a computation.
pub(crate) type StopFlag = Arc<AtomicBool>;

/// A guard that sets a flag when it is dropped.
struct StopOnDrop(StopFlag);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl FairQueue {
    /// Returns a queue that runs `concurrent` computations at a time, each for at most `timeout`.
    pub(crate) fn new(concurrent: usize, timeout: Duration) -> FairQueue {
        let turns = Arc::new(Semaphore::new(concurrent));
        FairQueue { turns, caller_turns: Mutex::default(), timeout }
    }

    /// Runs a caller's computation when the caller's turn comes. Sets the stop flag if the caller
    /// disconnects or the computation times out. A computation that ignores the flag still holds
    /// the caller's turn until it ends.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        caller: &Caller,
        work: impl FnOnce(&StopFlag) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        const NOT_CLOSED: &str = "the queue is never closed";
        let caller_turn = self.caller_turn(caller).acquire_owned().await.expect(NOT_CLOSED);
        let turn = self.turns.clone().acquire_owned().await.expect(NOT_CLOSED);
        let stop = StopOnDrop(StopFlag::default());
        let flag = stop.0.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _turns = (caller_turn, turn);
            work(&flag)
        });
        if let Ok(done) = tokio::time::timeout(self.timeout, done).await {
            return done.map_err(|error| Fault::internal(&error));
        }
        let detail = format!("the computation took longer than {} s", self.timeout.as_secs());
        Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, "too-much-work", detail))
    }

    fn caller_turn(&self, caller: &Caller) -> Arc<Semaphore> {
        let mut turns = self.caller_turns.lock();
        if turns.len() >= CLEANUP_AT {
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        }
        turns.entry(Party::of(caller)).or_insert_with(|| Arc::new(Semaphore::new(1))).clone()
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;

    use super::*;

    #[test]
    fn a_computation_stops_when_its_caller_disconnects_or_it_takes_too_long() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let run = |timeout: u64, patience: u64| {
            let queue = FairQueue::new(1, Duration::from_millis(timeout));
            let (ended, has_ended) = std::sync::mpsc::channel();
            let work = move |stop: &StopFlag| {
                while !stop.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                ended.send(()).unwrap();
            };
            let work = async { queue.run(&Caller::OPERATOR, work).await };
            let patience = Duration::from_millis(patience);
            let result = runtime.block_on(async { tokio::time::timeout(patience, work).await });
            has_ended.recv_timeout(Duration::from_mins(1)).expect("the computation has stopped");
            result.ok()
        };
        assert!(run(60_000, 50).is_none(), "the caller has disconnected");
        let fault = run(50, 60_000).expect("the caller gets an answer").unwrap_err();
        let response = fault.into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["retry-after"], "1");
    }

    #[test]
    fn a_caller_with_many_requests_does_not_delay_another() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let queue = FairQueue::new(1, Duration::from_mins(1));
        let order = Arc::new(Mutex::new(Vec::new()));
        let run = async |name: &'static str| {
            let caller = Caller { tenant: Some(name.to_string()) };
            let order = order.clone();
            queue.run(&caller, move |_| order.lock().push(name)).await.unwrap();
        };
        runtime.block_on(async {
            // Block the first computation until all callers have entered the queue.
            let guard = order.lock();
            let release = async move { drop(guard) };
            tokio::join!(run("a"), run("a"), run("a"), run("a"), run("b"), release);
        });
        assert_eq!(*order.lock(), ["a", "b", "a", "a", "a"]);
    }
}
