//! The writer's thread: groups of decisions, durable writes, recovery after failures, and
//! snapshots.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::RwLock;

use super::handle::{
    Answer, CommandAnswer, Counters, Do, RefusalInState, Task, Unavailable, WriterHandle,
};
use super::recent::Recent;
use super::recover::recover;
use crate::clock::ServiceClock;
use crate::core::{
    Caller, ClockRule, IdempotencyKey, ServiceLimits, ServiceRecord, ServiceState, StateView,
};
use crate::storage::{RecordStore, StoreError};

/// The idle time before the store performs maintenance.
const IDLE: Duration = Duration::from_millis(50);
/// The time before a failed write or snapshot is retried, in milliseconds.
const RETRY_MS: u64 = 500;
/// The time limit for adding commands to a group, in microseconds.
const GROUP_US: u64 = 20_000;

/// Sizes of the writer's queues and the amount of history retained.
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

/// Starts the writer's thread with a recovered state. `unavailable` is the reason if the writer
/// cannot make decisions yet.
///
/// # Panics
/// Panics if the system cannot create a thread.
pub fn start(
    clock: ServiceClock,
    state: ServiceState,
    store: Box<dyn RecordStore>,
    limits: ServiceLimits,
    seed: u64,
    tuning: Tuning,
    unavailable: Option<Unavailable>,
) -> (WriterHandle, JoinHandle<()>) {
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
        saved: state.seq(),
        state: Some(state),
        store,
        limits,
        seed,
        tuning,
        handle: handle.clone(),
        records: Vec::new(),
        view: Some(view),
        saving: None,
        retry_ms: 0,
        save_ms: 0,
        timed: false,
    };
    // `/readyz` must report doubt about the clock from the start.
    if handle.unavailable().is_none()
        && let Err(error) = writer.lead()
    {
        writer.fail(&error);
    }
    let thread = std::thread::Builder::new().name("writer".into());
    let run = move || {
        let _told = TellsOfPanic(writer.handle.clone());
        writer.run(&inbox);
    };
    let thread = thread.spawn(run).expect("the system can create threads");
    (handle, thread)
}

/// Makes the service read-only if the writer's thread panics.
struct TellsOfPanic(WriterHandle);

impl Drop for TellsOfPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let reason = "the writer has failed: see the log".to_string();
            self.0.set_unavailable(Some(Unavailable::ReadOnly(reason)));
        }
    }
}

pub(super) struct Writer {
    /// The state; `None` if it could not be read back after a failed write.
    pub(super) state: Option<ServiceState>,
    store: Box<dyn RecordStore>,
    limits: ServiceLimits,
    seed: u64,
    pub(super) tuning: Tuning,
    pub(super) handle: WriterHandle,
    /// The records of the current group.
    pub(super) records: Vec<ServiceRecord>,
    /// The last view, which is current until the state has further records.
    pub(super) view: Option<Arc<StateView>>,
    /// The number of the last snapshot, and the thread that is saving one.
    saved: u64,
    saving: Option<JoinHandle<bool>>,
    /// The time of the next write attempt after the disk was full.
    retry_ms: u64,
    /// The time of the next attempt to start a snapshot after a failure.
    save_ms: u64,
    /// True once this server has set its clock.
    pub(super) timed: bool,
}

/// A decided command, to be answered after its decision is durable.
struct Decided {
    answer: CommandAnswer,
    /// True if the answer depends on this group's records.
    recorded: bool,
    to: Answer,
}

impl Writer {
    fn run(mut self, inbox: &Receiver<Task>) {
        loop {
            let first = match inbox.recv_timeout(self.pause()) {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => {
                    self.rest();
                    None
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            self.group(first, inbox);
            self.store.decides(false);
            self.save();
        }
        self.store.close();
        if let Some(saving) = self.saving.take() {
            let _ = saving.join();
        }
    }

    /// Returns the time until the next lease expires or maintenance is due.
    fn pause(&self) -> Duration {
        let now = self.handle.clock.now_ms();
        let expiry = self.state.as_ref().and_then(ServiceState::next_expiry_ms);
        let until = expiry.map_or(IDLE, |at| Duration::from_millis(at.saturating_sub(now)));
        until.min(IDLE)
    }

    fn rest(&mut self) {
        if let Err(error) = self.store.idle() {
            self.fail(&error);
        }
    }

    /// Decides the waiting commands for a limited time, then makes the group durable and replies.
    fn group(&mut self, first: Option<Task>, inbox: &Receiver<Task>) {
        let now_ms = self.handle.clock.now_ms();
        if let Some(unavailable) = self.unavailable(now_ms) {
            if let Some(Task { to, .. }) = first {
                to.send(Err(unavailable));
            }
            return;
        }
        let due = self.due(now_ms);
        if first.is_none() && due.is_none() {
            return;
        }
        let until = self.handle.clock.micros() + GROUP_US;
        let (mut pending, mut next) = (Vec::new(), first);
        while let Some(Task { what, to }) = next {
            pending.push(self.decide_for(what, to));
            let is_open = pending.len() < self.tuning.group && self.handle.clock.micros() < until;
            next = is_open.then(|| inbox.try_recv().ok()).flatten();
        }
        if let Some(command) = due {
            self.decide(now_ms, Do { caller: Caller::OPERATOR, key: None, command });
        }
        match self.commit() {
            Ok(()) => pending.into_iter().for_each(|one| one.to.send(Ok(one.answer))),
            Err(error) => {
                let unavailable = self.fail(&error);
                let unknown = matches!(error, StoreError::Unknown(_));
                for Decided { recorded, to, .. } in pending {
                    let why = if unknown && recorded {
                        Unavailable::Unknown(error.to_string())
                    } else {
                        unavailable.clone()
                    };
                    to.send(Err(why));
                }
            }
        }
    }

    /// Decides a command, noting whether its answer depends on this group's records.
    fn decide_for(&mut self, what: Do, mut to: Answer) -> Decided {
        to.begin();
        let first = self.records.len();
        // A reply stored under the same key earlier in this group is not durable yet.
        let whose = what.caller.tenant.clone().unwrap_or_default();
        let used = |key: &IdempotencyKey| {
            let kept = self.records.iter().filter_map(|record| record.kept.as_ref());
            kept.into_iter().any(|kept| kept.tenant == whose && kept.key == key.key)
        };
        let again = what.key.as_ref().is_some_and(used);
        let now_ms = self.time_of(&what, self.handle.clock.now_ms());
        let answer = self.decide(now_ms, what);
        self.note_doubt();
        Decided { answer, recorded: again || self.records.len() > first, to }
    }

    fn decide(&mut self, now_ms: u64, what: Do) -> CommandAnswer {
        let Do { caller, key, command } = what;
        self.store.decides(true);
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
        let began = self.handle.clock.micros();
        self.store.append(&self.records)?;
        let took = self.handle.clock.micros() - began;
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

    /// Resets the state to the durable records after a failed write. Returns the reason.
    fn fail(&mut self, error: &StoreError) -> Unavailable {
        tracing::error!(%error, "cannot store records");
        self.records.clear();
        self.retry_ms = self.handle.clock.now_ms() + RETRY_MS;
        self.read_back(self.handle.seq());
        let behind = if let StoreError::Unknown(behind) = error { behind } else { error };
        let unavailable = match behind {
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

    /// Returns the reason if no decision can be made now. From time to time, a command triggers
    /// another attempt.
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

    /// Once there are enough new records, saves a snapshot and removes old records on another
    /// thread.
    fn save(&mut self) {
        if let Some(saving) = self.saving.take_if(|saving| saving.is_finished()) {
            if saving.join().is_ok_and(|saved| saved) {
                self.handle.counters.snapshots.fetch_add(1, Ordering::Relaxed);
            } else {
                // Retry soon, because the next startup reads all records after the last snapshot.
                self.save_ms = self.handle.clock.now_ms() + RETRY_MS;
                self.saved = self.saved.saturating_sub(self.tuning.snapshot_every);
            }
        }
        let Some(state) = &self.state else { return };
        let ready = self.handle.unavailable().is_none();
        let many = state.seq() >= self.saved + self.tuning.snapshot_every;
        // Even a short history consists of several files.
        let piece = self.tuning.snapshot_bytes.min(self.tuning.history_bytes / 4).max(1 << 16);
        let large = self.store.size() >= piece && state.seq() > self.saved;
        if !ready || self.saving.is_some() || !(many || large) {
            return;
        }
        let now_ms = self.handle.clock.now_ms();
        if now_ms < self.save_ms {
            return;
        }
        match self.store.rotate() {
            Ok(true) => {}
            // Without a free file descriptor, records continue in the current file.
            Ok(false) => {
                self.save_ms = now_ms + RETRY_MS;
                return;
            }
            Err(error) => {
                self.fail(&error);
                return;
            }
        }
        let Some(snapshot) = self.state.as_ref().map(ServiceState::snapshot) else { return };
        self.saved = snapshot.seq;
        let (history, tuning) = (self.handle.history.clone(), self.tuning.clone());
        self.saving = Some(std::thread::spawn(move || {
            let oldest = snapshot.seq.saturating_sub(tuning.history);
            let done = history.save(&snapshot).and_then(|()| {
                let within = history.within(tuning.history_bytes)?;
                history.compact(oldest.max(within.min(snapshot.seq)))
            });
            if let Err(error) = &done {
                tracing::error!(%error, seq = snapshot.seq, "cannot save a snapshot");
            }
            done.is_ok()
        }));
    }
}
