//! Reasons why requests are waiting, including only the names and times the caller may see.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use pavior::answers::{self, Cause, Queued, Why, Words};
use pavior::text::shown;
use pavior::{JobId, Time};

use crate::core::reply::{Other, WaitsFor, WaitsForKind};
use crate::core::{
    BoardView, Caller, Instant, ServedMachine, StateView, UNLIMITED, WaitingRequest, micros,
};
use crate::diagnose;

/// The threshold for times: a time above it means that the job has no estimate.
const ENDLESS: Time = Time(UNLIMITED.0 / 2);

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
    if view.waiting_on(board).next().is_none() {
        return Ok(HashMap::new());
    }
    let machine = ServedMachine::of(view, board, seed)?;
    let (standing, times) = (board.standing.as_ref(), (micros(now_ms), ENDLESS));
    let waits = answers::waits(machine.dispatcher(), standing, times);
    Ok(waits.into_iter().map(|(job, why)| (job.0, why)).collect())
}

/// Reasons why a machine's requests are waiting, by request number.
pub(crate) type Waits = HashMap<u64, Why>;

/// The latest [`Waits`] of each machine, shared by all readers of the same state.
#[derive(Default)]
pub(crate) struct WaitsCache(Mutex<HashMap<String, CachedWaits>>);

/// The reasons computed after record `seq` at time `at_ms`.
struct CachedWaits {
    seq: u64,
    at_ms: u64,
    waits: Arc<Waits>,
}

impl WaitsCache {
    /// The maximum age of cached reasons, which depend on the time as well as on the state.
    const MAX_AGE_MS: u64 = 1000;

    /// Returns the cached result of [`waits`], or computes it.
    pub(crate) fn of(
        &self,
        view: &StateView,
        board: &BoardView,
        now_ms: u64,
        seed: u64,
    ) -> Result<Arc<Waits>, String> {
        let mut cache = self.0.lock();
        if let Some(cached) = cache.get(&board.spec.name)
            && cached.seq == view.seq
            && now_ms.abs_diff(cached.at_ms) < Self::MAX_AGE_MS
        {
            return Ok(cached.waits.clone());
        }
        let waits = Arc::new(waits(view, board, now_ms, seed)?);
        let cached = CachedWaits { seq: view.seq, at_ms: now_ms, waits: waits.clone() };
        cache.insert(board.spec.name.clone(), cached);
        Ok(waits)
    }
}

/// The job names and times that a caller may see. Other tenants' jobs are anonymous.
pub(crate) struct Names<'a> {
    view: &'a StateView,
    board: &'a BoardView,
    caller: &'a Caller,
    waiting: HashMap<u64, &'a WaitingRequest>,
}

impl<'a> Names<'a> {
    /// Collects a machine's waiting requests in time proportional to the number of all waiting
    /// requests.
    pub(crate) fn of(view: &'a StateView, board: &'a BoardView, caller: &'a Caller) -> Names<'a> {
        let waiting = view.waiting_on(board).map(|request| (request.id, &**request)).collect();
        Names { view, board, caller, waiting }
    }

    /// Returns the waiting request with the given number if the caller may see it.
    fn waiting(&self, JobId(id): JobId) -> Option<&'a WaitingRequest> {
        let request = self.waiting.get(&id).copied();
        request.filter(|request| self.caller.may_touch(&request.tenant))
    }

    /// Returns a phrase that names a lease or a request.
    fn job(&self, job: JobId) -> String {
        let waiting = self.waiting(job).map(|request| &request.job);
        let name = waiting
            .or_else(|| diagnose::lease(self.view, self.caller, job).map(|lease| &lease.job));
        match name {
            Some(Some(name)) => format!("job {}", shown(&name.to_string())),
            Some(None) if self.waiting.contains_key(&job.0) => format!("request {}", job.0),
            Some(None) => format!("lease {}", job.0),
            None => "another tenant's job".to_string(),
        }
    }

    fn with_words<T>(&self, format: impl FnOnce(&Words<'_>) -> T) -> T {
        format(&Words {
            grid: &self.board.grid,
            job: &|job| self.job(job),
            time: &|time| Instant::from(time).to_string(),
            strategy: &self.board.spec.strategy,
            scheduler: self.board.spec.scheduler.as_deref().unwrap_or_default(),
        })
    }

    /// Returns the explanation as sentences.
    pub(crate) fn lines(&self, why: &Why) -> Vec<String> {
        self.with_words(|words| why.lines(words))
    }

    /// Returns the reason why a request is waiting, showing only what the caller may see.
    pub(crate) fn waits_for(&self, why: &Why) -> WaitsFor {
        let by = |id: JobId| {
            let request = self.waiting(id);
            let job = request.and_then(|request| request.job.clone());
            Some(Other { id: request.map(|request| request.id), job })
        };
        let (by, from, until) = match why.cause {
            Cause::Queue(Queued::Reserved { by: id, from, until }) => (by(id), Some(from), until),
            Cause::Queue(Queued::Behind(Some(id))) => (by(id), None, None),
            Cause::Queue(Queued::Ahead { from, until, .. }) => (None, Some(from), Some(until)),
            _ => (None, None, None),
        };
        WaitsFor {
            kind: kind(why.cause),
            sentence: self.with_words(|words| why.sentence(words)),
            needed: why.needed,
            free: why.free,
            by,
            from: from.map(Instant::from),
            until: until.map(Instant::from),
            planned: why.planned.map(|planned| planned.at.into()),
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
