//! Work that takes a processor for a while: a few pieces at a time, one of a caller, and callers
//! in turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use super::Fault;
use crate::core::Caller;
use crate::writer::Unavailable;

/// From so many callers on, those who ask for nothing are forgotten.
const SOME: usize = 64;

/// The queue for such work. A caller has one place in it: with many requests of its own it waits
/// for itself, before it stands behind one request of each other caller.
pub(crate) struct FairQueue {
    turns: Arc<Semaphore>,
    own: Mutex<HashMap<Option<String>, Arc<Semaphore>>>,
}

impl FairQueue {
    /// A queue for so many pieces of work at a time.
    pub(crate) fn new(at_once: usize) -> FairQueue {
        FairQueue { turns: Arc::new(Semaphore::new(at_once)), own: Mutex::default() }
    }

    /// Does the work of a caller when it is its turn. Where the caller leaves meanwhile, what has
    /// begun keeps its turn to the end.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        caller: &Caller,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let own = self.own(caller).acquire_owned().await.map_err(|_| Unavailable::Stopping)?;
        let turn = self.turns.clone().acquire_owned().await.map_err(|_| Unavailable::Stopping)?;
        let done = tokio::task::spawn_blocking(move || {
            let _turn = (own, turn);
            work()
        });
        done.await.map_err(|error| Fault::internal(&error))
    }

    fn own(&self, caller: &Caller) -> Arc<Semaphore> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.len() >= SOME {
            own.retain(|_, turn| Arc::strong_count(turn) > 1);
        }
        own.entry(caller.tenant.clone()).or_insert_with(|| Arc::new(Semaphore::new(1))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_with_many_requests_does_not_hold_up_another() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let queue = FairQueue::new(1);
        let order = Mutex::new(Vec::new());
        let order: &'static Mutex<Vec<&str>> = Box::leak(Box::new(order));
        let of = async |name: &'static str| {
            let caller = Caller { tenant: Some(name.to_string()) };
            queue.run(&caller, move || order.lock().unwrap().push(name)).await.unwrap();
        };
        runtime.block_on(async {
            // No work ends before all have asked.
            let held = order.lock().unwrap();
            let all_have_asked = async move { drop(held) };
            tokio::join!(of("a"), of("a"), of("a"), of("a"), of("b"), all_have_asked);
        });
        assert_eq!(*order.lock().unwrap(), ["a", "b", "a", "a", "a"]);
    }
}
