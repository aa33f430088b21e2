//! Reasons why requests are waiting, with the names and times that a caller may see.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use pavior::answers::{self, Cause, Queued, Why, Words};
use pavior::text::shown;
use pavior::{JobId, Time};

use crate::core::reply::{Other, WaitsFor, WaitsForKind};
use crate::core::{BoardView, Caller, ServedMachine, StateView, WaitingRequest, micros};
use crate::diagnose::{self, instant};

/// The duration assumed for a job without an estimate: 50 years.
const ENDLESS: Time = Time(50 * 365 * 24 * 3600 * 1_000_000);

/// Explains why the requests in a machine's queue are waiting ([`answers::waits`]).
///
/// # Errors
/// Returns an error if the strategy cannot be built.
pub(crate) fn waits(
    view: &StateView,
    board: &BoardView,
    now_ms: u64,
    seed: u64,
) -> Result<Waits, String> {
    if !view.waiting.iter().any(|one| one.machine == board.spec.name) {
        return Ok(HashMap::new());
    }
    let machine = ServedMachine::of(view, board, seed)?;
    let (standing, times) = (board.standing.as_ref(), (micros(now_ms), ENDLESS));
    let found = answers::waits(machine.dispatcher(), standing, times);
    Ok(found.into_iter().map(|(job, why)| (job.0, why)).collect())
}

/// Reasons why a machine's requests are waiting, by request number.
pub(crate) type Waits = HashMap<u64, Why>;

/// The latest [`Waits`] of each machine, shared by all readers of the same state.
#[derive(Default)]
pub(crate) struct WaitsCache(Mutex<HashMap<String, Answer>>);

/// The reasons computed after record `seq` at time `at_ms`.
struct Answer {
    seq: u64,
    at_ms: u64,
    waits: Arc<Waits>,
}

impl WaitsCache {
    /// The maximum age of an answer even in an unchanged state, because it depends on the time.
    const HOLDS_MS: u64 = 1000;

    /// Returns the cached result of [`waits`], or computes it.
    pub(crate) fn of(
        &self,
        view: &StateView,
        board: &BoardView,
        now_ms: u64,
        seed: u64,
    ) -> Result<Arc<Waits>, String> {
        let mut known = self.0.lock();
        if let Some(answer) = known.get(&board.spec.name)
            && answer.seq == view.seq
            && now_ms.abs_diff(answer.at_ms) < Self::HOLDS_MS
        {
            return Ok(answer.waits.clone());
        }
        let found = Arc::new(waits(view, board, now_ms, seed)?);
        let answer = Answer { seq: view.seq, at_ms: now_ms, waits: found.clone() };
        known.insert(board.spec.name.clone(), answer);
        Ok(found)
    }
}

/// Formats jobs and times for a caller. Other tenants' names are omitted.
pub(crate) struct Names<'a> {
    view: &'a StateView,
    board: &'a BoardView,
    caller: &'a Caller,
    waiting: HashMap<u64, &'a WaitingRequest>,
}

impl<'a> Names<'a> {
    /// Collects the names on a machine, in O(waiting requests).
    pub(crate) fn of(view: &'a StateView, board: &'a BoardView, caller: &'a Caller) -> Names<'a> {
        let here = view.waiting.iter().filter(|one| one.machine == board.spec.name);
        let waiting = here.map(|one| (one.id, &**one)).collect();
        Names { view, board, caller, waiting }
    }

    /// Returns a waiting request by its number, if the caller may see it.
    fn waiting(&self, JobId(id): JobId) -> Option<&'a WaitingRequest> {
        let found = self.waiting.get(&id).copied();
        found.filter(|one| self.caller.may_touch(&one.tenant))
    }

    /// Names a lease or a request within a sentence.
    fn job(&self, job: JobId) -> String {
        let waiting = self.waiting(job).map(|one| &one.job);
        let name = waiting
            .or_else(|| diagnose::lease(self.view, self.caller, job).map(|lease| &lease.job));
        match name {
            Some(Some(name)) => format!("job {}", shown(&name.to_string())),
            Some(None) if self.waiting.contains_key(&job.0) => format!("request {}", job.0),
            Some(None) => format!("lease {}", job.0),
            None => "another tenant's job".to_string(),
        }
    }

    fn words<T>(&self, tell: impl FnOnce(&Words<'_>) -> T) -> T {
        tell(&Words {
            grid: &self.board.grid,
            job: &|job| self.job(job),
            time: &|time| instant(time).to_string(),
            strategy: &self.board.spec.strategy,
            scheduler: self.board.spec.scheduler.as_deref().unwrap_or_default(),
        })
    }

    /// Returns the explanation as sentences.
    pub(crate) fn lines(&self, why: &Why) -> Vec<String> {
        self.words(|words| why.lines(words))
    }

    /// Returns the reason why a request is waiting, limited to what the caller may see.
    pub(crate) fn shown(&self, why: &Why) -> WaitsFor {
        let by = |id: JobId| {
            let one = self.waiting(id);
            Some(Other { id: one.map(|one| one.id), job: one.and_then(|one| one.job.clone()) })
        };
        let (by, from, until) = match why.cause {
            Cause::Queue(Queued::Reserved { by: id, from, until }) => (by(id), Some(from), until),
            Cause::Queue(Queued::Behind(Some(id))) => (by(id), None, None),
            Cause::Queue(Queued::Ahead { from, until, .. }) => (None, Some(from), Some(until)),
            _ => (None, None, None),
        };
        WaitsFor {
            kind: kind(why.cause),
            sentence: self.words(|words| why.sentence(words)),
            needed: why.needed,
            free: why.free,
            by,
            from: from.map(instant),
            until: until.map(instant),
            planned: why.planned.map(|planned| instant(planned.at)),
        }
    }
}

fn kind(cause: Cause) -> WaitsForKind {
    match cause {
        Cause::Nodes | Cause::Never => WaitsForKind::Nodes,
        Cause::Place | Cause::Strategy => WaitsForKind::Place,
        Cause::Queue(Queued::Reserved { .. } | Queued::Ahead { .. }) => WaitsForKind::Reservation,
        Cause::Queue(Queued::Behind(_)) => WaitsForKind::Turn,
        Cause::Fits | Cause::Queue(_) => WaitsForKind::Scheduler,
    }
}
