//! The writer thread, which makes groups of decisions durable.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::RwLock;

use super::handle::{
    AnswerSender, CallerCommand, CommandAnswer, RefusalInState, Task, Unavailable, WriterHandle,
};
use super::recent::Recent;
use super::snapshots::Snapshots;
use crate::clock::ServiceClock;
use crate::core::{
    Caller, ClockRule, IdempotencyKey, ServiceLimits, ServiceRecord, ServiceState, StateView,
};
use crate::storage::{RecordStore, StoreError};

/// The idle time before the store performs maintenance.
pub(super) const IDLE_TIME: Duration = Duration::from_millis(50);
/// The maximum number of commands that are made durable together.
const MAX_GROUP: usize = 1024;
/// The maximum time for adding commands to a group, in microseconds.
const MAX_GROUP_US: u64 = 20_000;
const HAS_STATE: &str = "without a state, the service is unavailable";

/// The writer's queue sizes, and the amount of history to retain.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// The maximum number of commands that may wait for the writer.
    pub queue: usize,
    /// The number of records between snapshots.
    pub snapshot_every: u64,
    /// The minimum number of records to retain before the last snapshot, unless their total size
    /// exceeds `history_bytes`.
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
            snapshot_every: 100_000,
            history: 1_000_000,
            history_bytes: 1 << 30,
            clock: ClockRule::default(),
        }
    }
}

/// The components from which a writer is built.
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
    /// The writer's queue sizes, and the amount of history to retain.
    pub tuning: Tuning,
    /// The reason why the writer cannot make decisions yet; `None` if it can.
    pub unavailable: Option<Unavailable>,
}

/// Starts the writer's thread.
///
/// # Errors
/// Returns an error if the system cannot create a thread.
pub fn start(parts: WriterParts) -> io::Result<(WriterHandle, JoinHandle<()>)> {
    let (queue, inbox) = sync_channel(parts.tuning.queue);
    let mut writer = Writer::new(parts, queue);
    let handle = writer.handle.clone();
    // `/readyz` must report any doubt about the clock from the very start.
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
    pub(super) limits: ServiceLimits,
    pub(super) seed: u64,
    pub(super) tuning: Tuning,
    pub(super) handle: WriterHandle,
    /// The records of the current group.
    pub(super) records: Vec<ServiceRecord>,
    /// The last view, which is current until records are added to the state.
    pub(super) view: Option<Arc<StateView>>,
    pub(super) snapshots: Snapshots,
    /// The time of the next attempt to write after a failure.
    pub(super) retry_ms: u64,
    /// True once this server has set its clock.
    pub(super) is_clock_set: bool,
}

/// A decided command, to be answered once the decision is durable.
struct Decided {
    answer: CommandAnswer,
    /// True if the answer depends on records in this group.
    is_recorded: bool,
    sender: AnswerSender,
}

impl Writer {
    pub(super) fn new(parts: WriterParts, queue: SyncSender<Task>) -> Writer {
        let WriterParts { clock, state, store, limits, seed, tuning, unavailable } = parts;
        let view = Arc::new(state.view());
        let handle = WriterHandle {
            queue: Arc::new(RwLock::new(Some(queue))),
            durable: Arc::new(RwLock::new(view.clone())),
            claim: store.claim(),
            unavailable: Arc::new(RwLock::new(unavailable)),
            doubt: Arc::default(),
            counters: Arc::default(),
            recent: Arc::new(Recent::new(state.seq())),
            history: store.history(),
            clock,
        };
        Writer {
            snapshots: Snapshots::new(state.seq()),
            state: Some(state),
            store,
            limits,
            seed,
            tuning,
            handle,
            records: Vec::new(),
            view: Some(view),
            retry_ms: 0,
            is_clock_set: false,
        }
    }

    fn run(mut self, inbox: &Receiver<Task>) {
        loop {
            let first = match inbox.recv_timeout(self.pause()) {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = self.store.idle() {
                        self.fail(&error);
                    }
                    None
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            self.run_group(first, inbox);
            self.store.end_decisions();
            self.save_snapshot();
        }
        self.store.close();
        self.snapshots.finish();
    }

    /// Returns the time until the next lease expires or maintenance is due, whichever is sooner. No
    /// lease expires while decisions cannot be made.
    pub(super) fn pause(&self) -> Duration {
        if self.handle.unavailable().is_some() {
            return IDLE_TIME;
        }
        let now = self.handle.clock.now_ms();
        let expiry = self.state.as_ref().and_then(ServiceState::next_expiry_ms);
        let until = expiry.map_or(IDLE_TIME, |at| Duration::from_millis(at.saturating_sub(now)));
        until.min(IDLE_TIME)
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
            let is_open = pending.len() < MAX_GROUP && self.handle.clock.micros() < until;
            next = is_open.then(|| inbox.try_recv().ok()).flatten();
        }
        if let Some(command) = own_command {
            self.decide(now_ms, CallerCommand { caller: Caller::OPERATOR, key: None, command });
        }
        let Err(error) = self.commit() else {
            return pending.into_iter().for_each(|decided| decided.sender.send(Ok(decided.answer)));
        };
        self.answer_failed(pending, &error);
    }

    /// Restores the durable state after a failed write, and reports the failure to the callers.
    fn answer_failed(&mut self, pending: Vec<Decided>, error: &StoreError) {
        let unavailable = self.fail(error);
        let is_unknown = matches!(error, StoreError::Unknown(_));
        for Decided { is_recorded, sender, .. } in pending {
            sender.send(Err(if is_unknown && is_recorded {
                Unavailable::Unknown(error.to_string())
            } else {
                unavailable.clone()
            }));
        }
    }

    /// Decides a command and notes whether its answer depends on records in this group.
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
        self.store.begin_decision();
        let state = self.state.as_mut().expect(HAS_STATE);
        let records = &mut self.records;
        let decision = state.decide(now_ms, &caller, key.as_ref(), command, records);
        let refusal = decision.refused.map(|refused| RefusalInState { refused, view: self.view() });
        CommandAnswer { reply: decision.reply, refusal }
    }

    fn view(&mut self) -> Arc<StateView> {
        let state = self.state.as_ref().expect(HAS_STATE);
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
        self.handle.recent.add(&mut self.records);
        Ok(())
    }
}
