//! A server's claim to write, renewed and checked on a separate thread. A decision may take longer
//! than other servers wait for a heartbeat, so this thread sends the heartbeats on its own
//! connection. It stops when a decision has taken longer than [`Patience::hang`]; another server
//! then takes over.
#![allow(clippy::disallowed_methods, reason = "heartbeats are not decisions")]

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;
use postgres::{Client, Config};
use tokio::sync::oneshot;

use super::postgres::{BEAT, connect, describe};
use super::{Claim, StoreError};

/// The interval between heartbeats.
const EVERY: Duration = Duration::from_millis(500);

const CHECK: &str = "SELECT FROM pavior_leader WHERE epoch = $1";

/// Timeouts for silent servers and long decisions.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The time without a heartbeat after which another server takes over.
    pub silence: Duration,
    /// The duration of a decision after which the writer is considered hung.
    pub hang: Duration,
}

/// The state of a claim, shared by the writer and the thread.
#[derive(Default)]
struct Known {
    /// The epoch that this server uses for writing.
    epoch: Option<i64>,
    /// The reason why the last epoch was lost, if the thread has noticed that.
    lost: Option<String>,
    /// The start of the writer's current decision.
    decides: Option<Instant>,
    /// True once the store is closed.
    ended: bool,
}

/// A reader's question whether the claim still holds.
type Ask = oneshot::Sender<Result<(), String>>;

/// A server's claim.
pub(super) struct Keeper {
    known: Mutex<Known>,
    asks: Sender<Ask>,
}

impl Keeper {
    /// Starts the thread, which runs until [`Keeper::end`].
    pub(super) fn start(config: Config, patience: Patience) -> Arc<Keeper> {
        let (asks, asked) = channel();
        let keeper = Arc::new(Keeper { known: Mutex::default(), asks });
        let kept = Arc::downgrade(&keeper);
        let thread = std::thread::Builder::new().name("claim".into());
        let run = move || {
            let mut thread = Renewal { config, hang: patience.hang, client: None };
            let mut at = Instant::now();
            while let Some(asks) = next(&asked, at) {
                let Some(keeper) = kept.upgrade().filter(|keeper| !keeper.known.lock().ended)
                else {
                    return;
                };
                let is_due = Instant::now() >= at;
                thread.answer(&keeper, asks, is_due);
                if is_due {
                    at = Instant::now() + EVERY;
                }
            }
        };
        thread.spawn(run).expect("the system can create threads");
        keeper
    }

    /// Sets the epoch that this server uses for writing from now on.
    pub(super) fn hold(&self, epoch: Option<i64>) {
        let mut known = self.known.lock();
        (known.epoch, known.lost) = (epoch, None);
    }

    /// Returns the reason why this server may no longer write, if the thread has noticed that.
    pub(super) fn lost(&self) -> Option<String> {
        self.known.lock().lost.clone()
    }

    /// Records that the writer begins or has finished a decision.
    pub(super) fn decides(&self, begins: bool) {
        self.known.lock().decides = begins.then(Instant::now);
    }

    /// Stops sending heartbeats.
    pub(super) fn end(&self) {
        self.known.lock().ended = true;
    }
}

impl Claim for Keeper {
    fn ask(&self) -> BoxFuture<'static, Result<(), String>> {
        let (reply, answer) = oneshot::channel();
        // A thread that has ended drops the question.
        let _ = self.asks.send(reply);
        let ended = || Err("this server has stopped".to_string());
        async move { answer.await.unwrap_or_else(|_| ended()) }.boxed()
    }
}

/// Waits for questions until the given time; returns `None` once no one can ask any more.
fn next(asked: &Receiver<Ask>, at: Instant) -> Option<Vec<Ask>> {
    match asked.recv_timeout(at.saturating_duration_since(Instant::now())) {
        Ok(first) => Some(std::iter::once(first).chain(asked.try_iter()).collect()),
        Err(RecvTimeoutError::Timeout) => Some(Vec::new()),
        Err(RecvTimeoutError::Disconnected) => None,
    }
}

/// The thread's own state.
struct Renewal {
    config: Config,
    hang: Duration,
    client: Option<Client>,
}

impl Renewal {
    /// Renews the claim if due, and tells the readers whether it still holds.
    fn answer(&mut self, keeper: &Keeper, asks: Vec<Ask>, is_due: bool) {
        let (epoch, decides) = {
            let known = keeper.known.lock();
            (known.epoch, known.decides)
        };
        let hangs = decides.is_some_and(|since| since.elapsed() > self.hang);
        let statement = match (is_due && !hangs, asks.is_empty()) {
            (true, _) => BEAT,
            (false, false) => CHECK,
            (false, true) => return,
        };
        let told = match epoch {
            None => Err("this server is a standby".to_string()),
            // A lost connection does not end the claim, so it is tried once more.
            Some(epoch) => match self.execute(statement, epoch) {
                Err(_) => self.execute(statement, epoch),
                told => told,
            }
            .map_err(|error| error.to_string())
            .and_then(|rows| if rows == 1 { Ok(()) } else { Err(PASSED.to_string()) }),
        };
        if let Err(reason) = &told {
            let mut known = keeper.known.lock();
            // The writer may have taken over again in the meantime.
            if known.epoch.is_some() && known.epoch == epoch {
                (known.epoch, known.lost) = (None, Some(reason.clone()));
            }
        }
        for ask in asks {
            let _ = ask.send(told.clone());
        }
    }

    fn execute(&mut self, statement: &str, epoch: i64) -> Result<u64, StoreError> {
        let client = match self.client.take() {
            Some(client) => client,
            None => connect(&self.config)?,
        };
        let client = self.client.insert(client);
        let done = client.execute(statement, &[&epoch]);
        done.map_err(|error| {
            self.client = None;
            StoreError::Failed(describe(&error))
        })
    }
}

/// The reason for losing a claim when the leader's row contains another epoch.
pub(super) const PASSED: &str = "this server's epoch has ended";
