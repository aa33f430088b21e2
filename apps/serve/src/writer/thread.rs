//! The writer thread: groups of decisions, durable writes, and recovery after failures.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::RwLock;

use super::handle::{
    AnswerSender, CallerCommand, CommandAnswer, Counters, RefusalInState, Task, Unavailable,
    WriterHandle,
};
use super::recent::Recent;
use super::recover::recover;
use super::snapshots::Snapshots;
use crate::clock::ServiceClock;
use crate::core::{
    Caller, ClockRule, IdempotencyKey, ServiceLimits, ServiceRecord, ServiceState, StateView,
};
use crate::storage::{RecordStore, StoreError};

/// The idle time before the store performs maintenance.
const IDLE_TIME: Duration = Duration::from_millis(50);
/// The time before a failed write or snapshot is retried, in milliseconds.
pub(super) const RETRY_MS: u64 = 500;
/// The time limit for adding commands to a group, in microseconds.
const MAX_GROUP_US: u64 = 20_000;

/// Sizes of the writer's queues, and the amount of history retained.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// The number of commands that may wait for the writer.
    pub queue: usize,
    /// The maximum number of commands made durable together.
    pub group: usize,
    /// The number of records between snapshots.
    pub snapshot_every: u64,
    /// The approximate size of the records between snapshots, in bytes.
    pub snapshot_bytes: u64,
    /// The minimum number of records to retain before the last snapshot, unless they exceed
    /// `history_bytes`.
    pub history: u64,
    /// The maximum size of the records retained before the last snapshot, in bytes.
    pub history_bytes: u64,
    /// The conditions for trusting the wall clock.
    pub clock: ClockRule,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            queue: 4096,
            group: 1024,
            snapshot_every: 100_000,
            snapshot_bytes: 64 << 20,
            history: 1_000_000,
            history_bytes: 1 << 30,
            clock: ClockRule::default(),
        }
    }
}

/// The parts of a writer.
pub struct WriterParts {
    /// The clock that determines when leases expire.
    pub clock: ServiceClock,
    /// The state recovered from the store.
    pub state: ServiceState,
    /// The store.
    pub store: Box<dyn RecordStore>,
    /// The limits on tenants and on memory.
    pub limits: ServiceLimits,
    /// The seed for strategies that use random numbers.
    pub seed: u64,
    /// The sizes of the writer's queues, and the amount of history retained.
    pub tuning: Tuning,
    /// The reason why the writer cannot make decisions yet, if it cannot.
    pub unavailable: Option<Unavailable>,
}

/// Starts the writer's thread.
///
/// # Errors
/// Returns an error if the system cannot create a thread.
pub fn start(parts: WriterParts) -> io::Result<(WriterHandle, JoinHandle<()>)> {
    let WriterParts { clock, state, store, limits, seed, tuning, unavailable } = parts;
    let (queue, inbox) = sync_channel(tuning.queue);
    let counters = Arc::new(Counters::default());
    counters.seq.store(state.seq(), Ordering::Release);
    let view = Arc::new(state.view());
    let handle = WriterHandle {
        queue: Arc::new(RwLock::new(Some(queue))),
        durable: Arc::new(RwLock::new(view.clone())),
        claim: store.claim(),
        unavailable: Arc::new(RwLock::new(unavailable)),
        doubt: Arc::default(),
        counters,
        recent: Arc::new(Recent::new(state.seq())),
        history: store.history(),
        clock,
    };
    let mut writer = Writer {
        snapshots: Snapshots::new(state.seq()),
        state: Some(state),
        store,
        limits,
        seed,
        tuning,
        handle: handle.clone(),
        records: Vec::new(),
        view: Some(view),
        retry_ms: 0,
        is_clock_set: false,
    };
    // `/readyz` must report doubt about the clock from the start.
    if handle.unavailable().is_none()
        && let Err(error) = writer.lead()
    {
        writer.fail(&error);
    }
    let thread = std::thread::Builder::new().name("writer".into());
    let run = move || {
        let _guard = PanicGuard(writer.handle.clone());
        writer.run(&inbox);
    };
    Ok((handle, thread.spawn(run)?))
}

/// A guard that makes the service read-only if the writer thread panics.
struct PanicGuard(WriterHandle);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let reason = "the writer has failed; see the log".to_string();
            self.0.set_unavailable(Some(Unavailable::ReadOnly(reason)));
        }
    }
}

pub(super) struct Writer {
    /// The state; `None` if it could not be read back after a failed write.
    pub(super) state: Option<ServiceState>,
    pub(super) store: Box<dyn RecordStore>,
    limits: ServiceLimits,
    seed: u64,
    pub(super) tuning: Tuning,
    pub(super) handle: WriterHandle,
    /// The records of the current group.
    pub(super) records: Vec<ServiceRecord>,
    /// The last view, which is current until the state gains more records.
    pub(super) view: Option<Arc<StateView>>,
    pub(super) snapshots: Snapshots,
    /// The time of the next attempt to write after the disk was full.
    retry_ms: u64,
    /// True once this server has set its clock.
    pub(super) is_clock_set: bool,
}

/// A decided command, to be answered once the decision is durable.
struct Decided {
    answer: CommandAnswer,
    /// True if the answer depends on this group's records.
    is_recorded: bool,
    sender: AnswerSender,
}

impl Writer {
    fn run(mut self, inbox: &Receiver<Task>) {
        loop {
            let first = match inbox.recv_timeout(self.pause()) {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => {
                    self.maintain();
                    None
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            self.run_group(first, inbox);
            self.store.note_decision(false);
            self.save_snapshot();
        }
        self.store.close();
        self.snapshots.finish();
    }

    /// Returns the time until the next lease expires or maintenance is due.
    fn pause(&self) -> Duration {
        let now = self.handle.clock.now_ms();
        let expiry = self.state.as_ref().and_then(ServiceState::next_expiry_ms);
        let until = expiry.map_or(IDLE_TIME, |at| Duration::from_millis(at.saturating_sub(now)));
        until.min(IDLE_TIME)
    }

    fn maintain(&mut self) {
        if let Err(error) = self.store.idle() {
            self.fail(&error);
        }
    }

    /// Decides the waiting commands for a limited time, then makes the group durable and replies.
    fn run_group(&mut self, first: Option<Task>, inbox: &Receiver<Task>) {
        let now_ms = self.handle.clock.now_ms();
        if let Some(unavailable) = self.unavailable(now_ms) {
            if let Some(Task { answer, .. }) = first {
                answer.send(Err(unavailable));
            }
            return;
        }
        let own_command = self.own_command(now_ms);
        if first.is_none() && own_command.is_none() {
            return;
        }
        let until = self.handle.clock.micros() + MAX_GROUP_US;
        let (mut pending, mut next) = (Vec::new(), first);
        while let Some(task) = next {
            pending.push(self.decide_task(task));
            let is_open = pending.len() < self.tuning.group && self.handle.clock.micros() < until;
            next = is_open.then(|| inbox.try_recv().ok()).flatten();
        }
        if let Some(command) = own_command {
            self.decide(now_ms, CallerCommand { caller: Caller::OPERATOR, key: None, command });
        }
        let Err(error) = self.commit() else {
            return pending.into_iter().for_each(|decided| decided.sender.send(Ok(decided.answer)));
        };
        let unavailable = self.fail(&error);
        let is_unknown = matches!(error, StoreError::Unknown(_));
        for Decided { is_recorded, sender, .. } in pending {
            sender.send(Err(if is_unknown && is_recorded {
                Unavailable::Unknown(error.to_string())
            } else {
                unavailable.clone()
            }));
        }
    }

    /// Decides a command, noting whether its answer depends on this group's records.
    fn decide_task(&mut self, task: Task) -> Decided {
        let Task { command, answer: mut sender } = task;
        sender.start();
        let first = self.records.len();
        // A reply stored under the same key earlier in this group is not durable yet.
        let tenant = command.caller.tenant.clone().unwrap_or_default();
        let is_used = |key: &IdempotencyKey| {
            let mut stored = self.records.iter().filter_map(|record| record.kept.as_ref());
            stored.any(|reply| reply.tenant == tenant && reply.key == key.key)
        };
        let is_repeated = command.key.as_ref().is_some_and(is_used);
        let now_ms = self.time_of(&command, self.handle.clock.now_ms());
        let answer = self.decide(now_ms, command);
        self.publish_doubt();
        Decided { answer, is_recorded: is_repeated || self.records.len() > first, sender }
    }

    fn decide(&mut self, now_ms: u64, command: CallerCommand) -> CommandAnswer {
        let CallerCommand { caller, key, command } = command;
        self.store.note_decision(true);
        let state = self.state.as_mut().expect("without a state the service is unavailable");
        let records = &mut self.records;
        let decision = state.decide(now_ms, &caller, key.as_ref(), command, records);
        let refusal = decision.refused.map(|refused| RefusalInState { refused, view: self.view() });
        CommandAnswer { reply: decision.reply, refusal }
    }

    fn view(&mut self) -> Arc<StateView> {
        let state = self.state.as_ref().expect("without a state the service is unavailable");
        match &self.view {
            Some(view) if view.seq == state.seq() => view.clone(),
            _ => {
                let view = Arc::new(state.view());
                self.view = Some(view.clone());
                view
            }
        }
    }

    /// Makes the durable state visible to readers.
    pub(super) fn publish(&mut self) {
        let view = self.view();
        *self.handle.durable.write() = view;
    }

    /// Makes the group's records durable, and publishes them to readers and watchers.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        if self.records.is_empty() {
            return self.store.confirm();
        }
        let start = self.handle.clock.micros();
        self.store.append(&self.records)?;
        let took = self.handle.clock.micros() - start;
        self.publish();
        let counters = &self.handle.counters;
        counters.commit_us.fetch_add(took, Ordering::Relaxed);
        counters.commits.fetch_add(1, Ordering::Relaxed);
        counters.records.fetch_add(self.records.len() as u64, Ordering::Relaxed);
        let last = self.records.last().map_or(0, |record| record.seq);
        counters.seq.store(last, Ordering::Release);
        self.handle.recent.add(&mut self.records);
        Ok(())
    }

    /// Restores the durable state after a failed write. Returns the error for callers.
    pub(super) fn fail(&mut self, error: &StoreError) -> Unavailable {
        tracing::error!(%error, "cannot store records");
        self.records.clear();
        self.retry_ms = self.handle.clock.now_ms() + RETRY_MS;
        self.read_back(self.handle.seq());
        let cause = if let StoreError::Unknown(cause) = error { cause } else { error };
        let unavailable = match cause {
            StoreError::Fenced(by) => Unavailable::Standby(by.clone()),
            other => Unavailable::ReadOnly(other.to_string()),
        };
        self.handle.set_unavailable(Some(unavailable.clone()));
        unavailable
    }

    /// Rereads the state up to a record.
    fn read_back(&mut self, until: u64) {
        self.view = None;
        let history = self.handle.history.clone();
        self.state = match recover(&*history, until, &self.limits, self.seed) {
            Ok(state) => Some(state),
            Err(error) => {
                tracing::error!(%error, "cannot reread the stored state");
                None
            }
        };
    }

    /// Returns the reason why no decision can be made now, if any. From time to time, a command
    /// triggers another attempt to write.
    fn unavailable(&mut self, now_ms: u64) -> Option<Unavailable> {
        let unavailable = self.handle.unavailable()?;
        if now_ms < self.retry_ms {
            return Some(unavailable);
        }
        if let Err(error) = self.store.retry() {
            self.retry_ms = now_ms + RETRY_MS;
            if let StoreError::Fenced(by) = error {
                self.handle.set_unavailable(Some(Unavailable::Standby(by)));
            }
            return Some(unavailable);
        }
        // The stored records are authoritative, not this server's state.
        self.read_back(u64::MAX);
        let Some(state) = &self.state else {
            self.retry_ms = now_ms + RETRY_MS;
            return Some(unavailable);
        };
        self.handle.counters.seq.store(state.seq(), Ordering::Release);
        if let Err(error) = self.lead() {
            self.fail(&error);
            return Some(unavailable);
        }
        tracing::info!(seq = self.handle.seq(), "records can be stored again");
        self.handle.set_unavailable(None);
        None
    }
}
