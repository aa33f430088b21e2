//! The handle through which the rest of the service uses the writer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use parking_lot::RwLock;
use tokio::sync::{oneshot, watch};

use super::recent::{Next, Recent};
use crate::clock::ServiceClock;
use crate::core::{Caller, Command, IdempotencyKey, RefusedRequest, Reply, StateView};
use crate::storage::{Claim, History};

/// The time limit for confirming this server's claim.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(2);

/// A command with its caller and its idempotency key.
#[derive(Clone, Debug)]
pub struct CallerCommand {
    /// The sender.
    pub caller: Caller,
    /// The key chosen by the client.
    pub key: Option<IdempotencyKey>,
    /// The command.
    pub command: Command,
}

/// A refused request and the state in which it was refused.
#[derive(Clone, Debug)]
pub struct RefusalInState {
    /// The refused request.
    pub refused: RefusedRequest,
    /// The state.
    pub view: Arc<StateView>,
}

/// The answer to a command, sent once the decision is durable.
#[derive(Clone, Debug)]
pub struct CommandAnswer {
    /// The reply to the caller.
    pub reply: Reply,
    /// The refusal, if any, to be diagnosed.
    pub refusal: Option<RefusalInState>,
}

/// A reason why a command or question cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The command queue is full.
    Busy,
    /// Records cannot be stored, for the given reason.
    ReadOnly(String),
    /// This server cannot act as the leader, for the given reason.
    Standby(String),
    /// A write failed for the given reason, and its outcome is unknown.
    Unknown(String),
    /// The service is stopping.
    Stopping,
}

/// The reason for doubting a clock that is far ahead of the last record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockDoubt {
    /// The time of the last record, in milliseconds since 1970.
    pub last_ms: u64,
    /// The time shown by the clock.
    pub wall_ms: u64,
}

impl ClockDoubt {
    /// Describes the doubt and how to resolve it.
    pub fn sentence(&self) -> String {
        let date = |ms: u64| pavior::time::Date(Duration::from_millis(ms));
        format!(
            "the clock shows {}, long after the last record ({}), so leases do not expire. If the \
             service was down that long, confirm the clock with POST /v1/clock/confirm or start \
             with --confirm-clock; otherwise correct the clock and restart",
            date(self.wall_ms),
            date(self.last_ms)
        )
    }
}

type Outcome = Result<CommandAnswer, Unavailable>;

/// The channel for an answer. If it is dropped before an answer is sent, it sends an error instead.
pub(super) struct AnswerSender {
    sender: Option<oneshot::Sender<Outcome>>,
    /// True once the writer has started processing the command.
    is_started: bool,
    counters: Arc<Counters>,
}

impl AnswerSender {
    fn new(counters: &Arc<Counters>) -> (AnswerSender, oneshot::Receiver<Outcome>) {
        let (sender, receiver) = oneshot::channel();
        counters.waiting.fetch_add(1, Ordering::Relaxed);
        let counters = counters.clone();
        (AnswerSender { sender: Some(sender), is_started: false, counters }, receiver)
    }

    pub(super) fn start(&mut self) {
        self.is_started = true;
        self.counters.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn send(mut self, answer: Outcome) {
        if let Some(sender) = self.sender.take() {
            // The caller may have disconnected.
            let _ = sender.send(answer);
        }
    }
}

impl Drop for AnswerSender {
    fn drop(&mut self) {
        if !self.is_started {
            self.counters.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        let Some(sender) = self.sender.take() else { return };
        let _ = sender.send(Err(if self.is_started {
            Unavailable::Unknown("the writer has failed".to_string())
        } else {
            Unavailable::Stopping
        }));
    }
}

/// A command for the writer and the channel for its answer.
pub(super) struct Task {
    pub(super) command: CallerCommand,
    pub(super) answer: AnswerSender,
}

/// The writer's counters, for metrics.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Commands waiting for the writer.
    waiting: AtomicUsize,
    /// Durable groups.
    pub(crate) commits: AtomicU64,
    /// Durable records.
    pub(crate) records: AtomicU64,
    /// Time spent making groups durable, in microseconds.
    pub(crate) commit_us: AtomicU64,
    /// Saved snapshots.
    pub(crate) snapshots: AtomicU64,
}

/// A cheaply clonable handle to the writer.
#[derive(Clone)]
pub struct WriterHandle {
    /// The bounded channel to the writer; `None` once it is closed.
    pub(super) queue: Arc<RwLock<Option<SyncSender<Task>>>>,
    pub(super) unavailable: Arc<RwLock<Option<Unavailable>>>,
    /// The last durable state. The writer updates this state before sending a group's replies.
    pub(super) durable: Arc<RwLock<Arc<StateView>>>,
    /// This server's claim, if several servers share the store.
    pub(super) claim: Option<Arc<dyn Claim>>,
    pub(super) doubt: Arc<RwLock<Option<ClockDoubt>>>,
    pub(crate) counters: Arc<Counters>,
    pub(super) recent: Arc<Recent>,
    pub(super) history: Arc<dyn History>,
    /// The clock that determines when leases expire.
    pub clock: ServiceClock,
}

impl WriterHandle {
    /// Executes a command.
    ///
    /// # Errors
    /// Returns an error if the command was not executed, or if its outcome might not be durable.
    pub async fn carry_out(&self, command: CallerCommand) -> Result<CommandAnswer, Unavailable> {
        let (sender, answer) = AnswerSender::new(&self.counters);
        let closed = || self.unavailable().unwrap_or(Unavailable::Stopping);
        let queue = self.queue.read().clone();
        let sent = queue.ok_or_else(closed)?.try_send(Task { command, answer: sender });
        sent.map_err(|error| match error {
            TrySendError::Full(_) => Unavailable::Busy,
            TrySendError::Disconnected(_) => closed(),
        })?;
        answer.await.unwrap_or(Err(Unavailable::Stopping))
    }

    /// Returns the last durable state, which includes every command answered before the call. Does
    /// not wait for the writer.
    ///
    /// # Errors
    /// Returns an error if another server may have made newer decisions.
    pub async fn view(&self) -> Result<Arc<StateView>, Unavailable> {
        // Stored records remain readable even if no new records can be stored.
        match self.unavailable() {
            None | Some(Unavailable::ReadOnly(_)) => {}
            Some(why) => return Err(why),
        }
        let view = self.durable.read().clone();
        self.confirm().await?;
        Ok(view)
    }

    /// Checks that no other server had taken over when this call began.
    ///
    /// # Errors
    /// Returns an error if another server may have taken over.
    pub(crate) async fn confirm(&self) -> Result<(), Unavailable> {
        let Some(claim) = &self.claim else { return Ok(()) };
        let checked = tokio::time::timeout(CONFIRM_TIMEOUT, claim.check()).await;
        let silent = || "the database is not responding".to_string();
        match checked.unwrap_or_else(|_| Err(silent())) {
            Ok(()) => Ok(()),
            Err(reason) => Err(Unavailable::Standby(reason)),
        }
    }

    /// Returns a channel that holds the number of the last durable record. Records are retained as
    /// long as the channel is open.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.recent.watch()
    }

    /// Returns the records after `seq`, if they are retained for watchers.
    pub(crate) fn after(&self, seq: u64) -> Next {
        self.recent.after(seq)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.counters.waiting.load(Ordering::Relaxed)
    }

    /// Returns the stored records.
    pub fn history(&self) -> &Arc<dyn History> {
        &self.history
    }

    /// Returns the number of the last durable record.
    pub fn seq(&self) -> u64 {
        self.recent.last()
    }

    /// Returns the reason why decisions cannot be made, if any.
    pub fn unavailable(&self) -> Option<Unavailable> {
        self.unavailable.read().clone()
    }

    pub(super) fn set_unavailable(&self, now: Option<Unavailable>) {
        *self.unavailable.write() = now;
    }

    /// Returns the reason to doubt the clock, if any. No lease expires while the clock is in doubt.
    pub fn clock_doubt(&self) -> Option<ClockDoubt> {
        *self.doubt.read()
    }

    /// Stops the writer once it has executed the commands that are already waiting.
    pub fn stop(&self) {
        *self.queue.write() = None;
    }
}
