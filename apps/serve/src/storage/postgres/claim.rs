//! A server's claim to be the writer, renewed and checked on a separate thread. A decision may take
//! longer than other servers wait for a heartbeat, so this thread sends the heartbeats on its own
//! connection. It stops sending them when a decision takes longer than [`ClaimTimeouts::hang`];
//! another server then takes over.
#![allow(clippy::disallowed_methods, reason = "heartbeats are not decisions")]

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;
use postgres::{Client, Config};
use tokio::sync::oneshot;

use super::{ANOTHER_EPOCH, HEARTBEAT, connect, describe};
use crate::storage::{Claim, StoreError};

/// The interval between heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);

/// The SQL statement that checks the claim without renewing it.
const CHECK: &str = "SELECT FROM pavior_leader WHERE epoch = $1";

/// Timeouts for silent servers and long decisions.
#[derive(Clone, Copy, Debug)]
pub struct ClaimTimeouts {
    /// The time without a heartbeat after which another server takes over.
    pub silence: Duration,
    /// The duration after which a decision is considered hung.
    pub hang: Duration,
}

/// The state of a claim, shared by the writer and the heartbeat thread.
#[derive(Default)]
struct ClaimState {
    /// The epoch that this server uses for writing.
    epoch: Option<i64>,
    /// The reason why the last epoch was lost. Set once the thread has noticed the loss.
    lost: Option<String>,
    /// The start of the writer's current decision.
    decision_start: Option<Instant>,
    /// True once the store is closed.
    is_closed: bool,
}

/// The channel for the result of a check made on behalf of a reader.
type ClaimCheck = oneshot::Sender<Result<(), String>>;

/// A server's claim.
pub(super) struct ServerClaim {
    state: Mutex<ClaimState>,
    checks: Sender<ClaimCheck>,
}

impl ServerClaim {
    /// Starts the heartbeat thread, which runs until [`ServerClaim::close`].
    pub(super) fn start(
        config: Config,
        timeouts: ClaimTimeouts,
    ) -> Result<Arc<ServerClaim>, StoreError> {
        let (checks, inbox) = channel();
        let claim = Arc::new(ServerClaim { state: Mutex::default(), checks });
        let weak = Arc::downgrade(&claim);
        let thread = std::thread::Builder::new().name("claim".into());
        let run = move || {
            let mut renewal = Renewal { config, timeouts, client: None, failing_since: None };
            let mut at = Instant::now();
            while let Some(checks) = next(&inbox, at) {
                let open = weak.upgrade().filter(|claim| !claim.state.lock().is_closed);
                let Some(claim) = open else { return };
                let is_due = Instant::now() >= at;
                renewal.answer(&claim, checks, is_due);
                if is_due {
                    at = Instant::now() + HEARTBEAT_INTERVAL;
                }
            }
        };
        thread.spawn(run).map_err(|error| StoreError::Failed(error.to_string()))?;
        Ok(claim)
    }

    /// Sets the epoch that this server uses for writing from now on.
    pub(super) fn set_epoch(&self, epoch: Option<i64>) {
        let mut state = self.state.lock();
        (state.epoch, state.lost) = (epoch, None);
    }

    /// Ends the claim to an epoch, for the given reason. Has no effect if the writer has taken over
    /// again in the meantime.
    fn end(&self, epoch: i64, reason: &str) {
        let mut state = self.state.lock();
        if state.epoch == Some(epoch) {
            (state.epoch, state.lost) = (None, Some(reason.to_string()));
        }
    }

    /// Returns the reason why this server may no longer write, if the thread has found one.
    pub(super) fn lost(&self) -> Option<String> {
        self.state.lock().lost.clone()
    }

    /// Records the start of a decision.
    pub(super) fn begin_decision(&self) {
        self.state.lock().decision_start = Some(Instant::now());
    }

    /// Records the end of a group of decisions.
    pub(super) fn end_decisions(&self) {
        self.state.lock().decision_start = None;
    }

    /// Stops sending heartbeats.
    pub(super) fn close(&self) {
        self.state.lock().is_closed = true;
    }
}

impl Claim for ServerClaim {
    fn check(&self) -> BoxFuture<'static, Result<(), String>> {
        let (sender, reply) = oneshot::channel();
        // If the thread has ended, the sender is dropped.
        let _ = self.checks.send(sender);
        let stopped = || Err("this server has stopped".to_string());
        async move { reply.await.unwrap_or_else(|_| stopped()) }.boxed()
    }
}

/// Waits for checks until the given time. Returns `None` once all senders have been dropped.
fn next(inbox: &Receiver<ClaimCheck>, at: Instant) -> Option<Vec<ClaimCheck>> {
    match inbox.recv_timeout(at.saturating_duration_since(Instant::now())) {
        Ok(first) => Some(std::iter::once(first).chain(inbox.try_iter()).collect()),
        Err(RecvTimeoutError::Timeout) => Some(Vec::new()),
        Err(RecvTimeoutError::Disconnected) => None,
    }
}

/// The state that only the heartbeat thread uses.
struct Renewal {
    config: Config,
    timeouts: ClaimTimeouts,
    client: Option<Client>,
    /// The time of the first failure since the database was last reachable.
    failing_since: Option<Instant>,
}

impl Renewal {
    /// Renews the claim if a renewal is due, and tells the readers whether the claim is still
    /// valid.
    fn answer(&mut self, claim: &ServerClaim, checks: Vec<ClaimCheck>, is_due: bool) {
        let (epoch, decision_start) = {
            let state = claim.state.lock();
            (state.epoch, state.decision_start)
        };
        let hangs = decision_start.is_some_and(|start| start.elapsed() > self.timeouts.hang);
        let statement = match (is_due && !hangs, checks.is_empty()) {
            (true, _) => HEARTBEAT,
            (false, false) => CHECK,
            (false, true) => return,
        };
        let result = match epoch {
            None => Err(claim.lost().unwrap_or_else(|| "it is a standby".to_string())),
            Some(epoch) => self.renew(claim, statement, epoch),
        };
        for check in checks {
            let _ = check.send(result.clone());
        }
    }

    /// Executes a statement that renews or checks the claim. If the database is unreachable, the
    /// claim may still be valid. It then ends only once heartbeats have been missing for so long
    /// that another server may take over.
    fn renew(&mut self, claim: &ServerClaim, statement: &str, epoch: i64) -> Result<(), String> {
        let began = Instant::now();
        // The connection may have been lost, so try the statement once more.
        let done = self.execute(statement, epoch).or_else(|_| self.execute(statement, epoch));
        self.failing_since = done.is_err().then(|| self.failing_since.unwrap_or(began));
        let one_row = |rows| if rows == 1 { Ok(()) } else { Err(ANOTHER_EPOCH.to_string()) };
        let result = done.map_err(|error| error.to_string()).and_then(one_row);
        let may_end = |since: Instant| since.elapsed() > self.timeouts.silence;
        if let Err(reason) = &result
            && self.failing_since.is_none_or(may_end)
        {
            self.failing_since = None;
            claim.end(epoch, reason);
        }
        result
    }

    fn execute(&mut self, statement: &str, epoch: i64) -> Result<u64, StoreError> {
        let client = match self.client.take() {
            Some(client) => client,
            None => connect(&self.config)?,
        };
        let client = self.client.insert(client);
        client.execute(statement, &[&epoch]).map_err(|error| {
            self.client = None;
            StoreError::Failed(describe(&error))
        })
    }
}
