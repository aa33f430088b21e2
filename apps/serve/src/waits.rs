//! What a waiting request waits for: the scheduler's own reason, or the machine's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pavior_allocation::{Answers, Machine, Placement};
use pavior_answers::{Cause, PlannedStart, Queued, Why, Words};
use pavior_kernel::{Time, shown};
use pavior_mesh::{Grid, JobId, Request};
use pavior_scheduling::{Calendar, Kept, Reserved, Standing};

use crate::core::reply::{Other, WaitsFor, WaitsForKind};
use crate::core::{BoardView, Caller, StateView, WaitingRequest, micros};
use crate::diagnose::{self, Changes, instant};

/// The most questions to the strategy for one answer about a queue, each of another request.
const MOST_QUESTIONS: usize = 512;
/// The most reservations that are looked at for one answer about a queue.
const MOST_LOOKED_AT: usize = 1 << 20;
/// A reservation that lasts longer than so is of a job without an estimate: 50 years.
const ENDLESS: Time = Time(50 * 365 * 24 * 3600 * 1_000_000);

/// What the requests wait for that wait for a machine. At most [`MOST_QUESTIONS`] questions are
/// put to its strategy, and the rest is O(n log n); of requests beyond that no more is said than
/// that the scheduler keeps them waiting.
///
/// # Errors
/// If the strategy cannot be built.
pub(crate) fn waits(
    view: &StateView,
    board: &BoardView,
    now_ms: u64,
    seed: u64,
) -> Result<Waits, String> {
    let here = |one: &&Arc<WaitingRequest>| one.machine == board.spec.name;
    let waiting: Vec<_> = view.waiting.iter().filter(here).collect();
    if waiting.is_empty() {
        return Ok(HashMap::new());
    }
    let mut asking = Asking::new(view, board, now_ms, seed)?;
    let answers = waiting.iter().enumerate().map(|(place, one)| (one.id, asking.wait(place, one)));
    Ok(answers.collect())
}

/// What the requests of a machine wait for, by their numbers.
pub(crate) type Waits = HashMap<u64, Why>;

/// The last answers, machine by machine: readers that ask in the same state share one.
#[derive(Default)]
pub(crate) struct WaitsCache(Mutex<HashMap<String, Answer>>);

/// An answer: the record after which it holds, and when it was given.
struct Answer {
    seq: u64,
    at_ms: u64,
    waits: Arc<Waits>,
}

impl WaitsCache {
    /// How long an answer holds in one state: what is planned comes nearer.
    const HOLDS_MS: u64 = 1000;

    /// As [`waits`].
    pub(crate) fn of(
        &self,
        view: &StateView,
        board: &BoardView,
        now_ms: u64,
        seed: u64,
    ) -> Result<Arc<Waits>, String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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

/// What jobs and times are called in replies to a caller: names of other tenants' are left out.
pub(crate) struct Names<'a> {
    view: &'a StateView,
    board: &'a BoardView,
    caller: &'a Caller,
    waiting: HashMap<u64, &'a WaitingRequest>,
}

impl<'a> Names<'a> {
    /// O(waiting requests).
    pub(crate) fn of(view: &'a StateView, board: &'a BoardView, caller: &'a Caller) -> Names<'a> {
        let here = view.waiting.iter().filter(|one| one.machine == board.spec.name);
        let waiting = here.map(|one| (one.id, &**one)).collect();
        Names { view, board, caller, waiting }
    }

    /// A waiting request by its number, if the caller may see it.
    fn waiting(&self, JobId(id): JobId) -> Option<&'a WaitingRequest> {
        let found = self.waiting.get(&id).copied();
        found.filter(|one| self.caller.may_touch(&one.tenant))
    }

    /// What a lease or a request is called in a sentence.
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

    /// An answer in sentences.
    pub(crate) fn lines(&self, why: &Why) -> Vec<String> {
        self.words(|words| why.lines(words))
    }

    /// What a request waits for, as the caller may see it.
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

/// What a queue says of a request, as [`waits`] has found.
pub(crate) fn queued(why: Option<&Why>) -> Queued {
    match why.map(|why| why.cause) {
        Some(Cause::Queue(queued)) => queued,
        Some(_) => Queued::Kept,
        None => Queued::First,
    }
}

/// A machine whose queue is asked about.
struct Asking<'a> {
    grid: &'a Grid,
    machine: Machine,
    free: u32,
    now_ms: u64,
    standing: Option<&'a Standing>,
    /// What is reserved ahead.
    calendar: Calendar,
    plan: Plan<'a>,
    /// Where the strategy would place a request, for each that was asked about.
    known: HashMap<Request, Option<Placement>>,
    /// How many reservations may still be looked at.
    left: usize,
}

impl<'a> Asking<'a> {
    fn new(
        view: &StateView,
        board: &'a BoardView,
        now_ms: u64,
        seed: u64,
    ) -> Result<Asking<'a>, String> {
        let state = diagnose::state(view, board, &Changes::default());
        let mut calendar = Calendar::default();
        for reservation in view.reservations_on(board) {
            calendar.add(reservation.ahead(&board.grid)?);
        }
        Ok(Asking {
            grid: &board.grid,
            machine: diagnose::machine(&state, &board.spec.strategy, seed)?,
            free: board.free.count(),
            now_ms,
            standing: board.standing.as_ref(),
            calendar,
            plan: Plan::of(board.standing.as_ref()),
            known: HashMap::new(),
            left: MOST_LOOKED_AT,
        })
    }

    fn wait(&mut self, place: usize, one: &WaitingRequest) -> Why {
        let request = one.request();
        let needed = self.machine.needed(&request);
        let planned = self.plan.own(one.id).map(PlannedStart::reserved);
        let kept = self.standing.and_then(|standing| standing.kept.get(place).copied());
        let cause = self.cause(kept, &request, needed, one);
        let now = micros(self.now_ms);
        let is_told = |at: Time| at > now && at.since(now) < ENDLESS;
        let planned = planned.filter(|planned| is_told(planned.at));
        Why::cause_alone(cause, needed, self.free.into(), planned)
    }

    fn cause(
        &mut self,
        kept: Option<Kept>,
        request: &Request,
        needed: u64,
        one: &WaitingRequest,
    ) -> Cause {
        if let Some(Kept::ByOrder(behind)) = kept {
            return Cause::Queue(Queued::Behind(behind));
        }
        if needed > u64::from(self.free) {
            return Cause::Nodes;
        }
        if let Some(ahead) = self.ahead(request, one) {
            return Cause::Queue(ahead);
        }
        // The scheduler has asked the machine for it in this very state, and was refused.
        let is_refused =
            kept == Some(Kept::ByMachine) && self.machine.answers(request) != Answers::Count;
        if is_refused {
            return Cause::Place;
        }
        let placement = match self.placed(request) {
            Err(TooManyQuestions) => return Cause::Queue(Queued::Kept),
            Ok(None) => return Cause::Place,
            Ok(Some(placement)) => placement,
        };
        if kept != Some(Kept::ByReservations) {
            return Cause::Queue(Queued::Kept);
        }
        let until = micros(self.now_ms).saturating_add(one.estimate());
        let asked = Asked { id: one.id, placement: &placement, needed, until };
        let blocking = self.plan.blocking(&asked, self.grid, self.free, &mut self.left);
        Cause::Queue(blocking.map_or(Queued::Kept, |reserved| Queued::Reserved {
            by: reserved.job,
            from: reserved.from,
            until: Some(reserved.to).filter(|&to| to < reserved.from.saturating_add(ENDLESS)),
        }))
    }

    /// Where the strategy would place a request, if anywhere.
    fn placed(&mut self, request: &Request) -> Result<Option<Placement>, TooManyQuestions> {
        if self.known.len() >= MOST_QUESTIONS && !self.known.contains_key(request) {
            return Err(TooManyQuestions);
        }
        let machine = &mut self.machine;
        let placed = self.known.entry(*request).or_insert_with(|| machine.probe(request).ok());
        Ok(placed.clone())
    }

    /// The reservation ahead that a request would run into if it were placed now.
    fn ahead(&mut self, request: &Request, one: &WaitingRequest) -> Option<Queued> {
        let now = micros(self.now_ms);
        self.calendar.reserved(now, one.estimate())?;
        let placement = self.placed(request).ok()??;
        let met = self.calendar.in_the_way(now, one.estimate(), &placement)?;
        Some(Queued::Ahead { reservation: met.number(), from: met.from(), until: met.to() })
    }
}

/// The strategy was asked as often as it may be for one answer.
struct TooManyQuestions;

/// The reservations of a scheduler.
struct Plan<'a> {
    /// In the order in which they begin.
    reserved: Vec<&'a Reserved>,
    places: HashMap<u64, usize>,
    /// When numbers of nodes become free or are taken: the time, the change, and whose.
    changes: Vec<(Time, i128, Option<&'a Reserved>)>,
}

/// A request that could be placed now.
struct Asked<'a> {
    id: u64,
    placement: &'a Placement,
    needed: u64,
    /// When it would end.
    until: Time,
}

impl<'a> Plan<'a> {
    fn of(standing: Option<&'a Standing>) -> Plan<'a> {
        let all = standing.map_or(&[][..], |standing| &standing.reserved);
        let mut reserved: Vec<&Reserved> = all.iter().collect();
        reserved.sort_by_key(|one| one.from);
        let places = reserved.iter().enumerate().map(|(place, one)| (one.job.0, place)).collect();
        let ends = standing.map_or(&[][..], |standing| &standing.ends);
        let mut changes: Vec<_> =
            ends.iter().map(|&(at, nodes)| (at, i128::from(nodes), None)).collect();
        for &one in reserved.iter().filter(|one| one.placement.is_none()) {
            changes.push((one.from, -i128::from(one.nodes), Some(one)));
            changes.push((one.to, i128::from(one.nodes), Some(one)));
        }
        changes.sort_by_key(|change| change.0);
        Plan { reserved, places, changes }
    }

    /// The reservation of a request.
    fn own(&self, id: u64) -> Option<&'a Reserved> {
        self.places.get(&id).map(|&place| self.reserved[place])
    }

    /// The first reservation of another request that this one would run into.
    fn blocking(
        &self,
        asked: &Asked<'_>,
        grid: &Grid,
        free: u32,
        left: &mut usize,
    ) -> Option<&'a Reserved> {
        let others = || self.reserved.iter().copied().filter(|other| other.job.0 != asked.id);
        if let [only] = self.reserved[..] {
            // The head's.
            return Some(only);
        }
        if !self.changes.is_empty() && others().all(|other| other.placement.is_none()) {
            return self.lacking(asked, free, left);
        }
        others().take_while(|other| other.from < asked.until).find(|other| {
            *left = left.saturating_sub(1);
            let parts = other.placement.as_ref().map_or(&[][..], Placement::parts);
            let meets = |part| asked.placement.parts().iter().any(|own| own.intersects(grid, part));
            *left > 0 && parts.iter().any(meets)
        })
    }

    /// The first reservation beside which too few nodes would be left.
    fn lacking(&self, asked: &Asked<'_>, free: u32, left: &mut usize) -> Option<&'a Reserved> {
        let mut free = i128::from(free);
        let own = |whose: Option<&Reserved>| whose.is_some_and(|one| one.job.0 == asked.id);
        for group in self.changes.chunk_by(|a, b| a.0 == b.0) {
            *left = left.saturating_sub(group.len());
            if group[0].0 >= asked.until || *left == 0 {
                return None;
            }
            free +=
                group.iter().filter(|change| !own(change.2)).map(|change| change.1).sum::<i128>();
            let begins = group.iter().find(|change| change.1 < 0 && !own(change.2));
            if let Some(begins) = begins.filter(|_| free < i128::from(asked.needed)) {
                return begins.2;
            }
        }
        None
    }
}

#[cfg(test)]
mod attack;
