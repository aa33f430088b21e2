//! What a waiting request waits for: the scheduler's own reason, or the machine's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pavior_allocation::{Answers, Machine, Placement};
use pavior_kernel::{Time, shown};
use pavior_mesh::{Grid, JobId, Request};
use pavior_scheduling::{Calendar, Kept, Reserved, Standing};

use crate::core::reply::{Other, WaitsFor, WaitsForKind};
use crate::core::{BoardView, Caller, Instant, StateView, WaitingRequest};
use crate::diagnose::{self, Changes};

/// The most questions to the strategy for one answer about a queue, each of another request.
const MOST_QUESTIONS: usize = 512;
/// The most reservations that are looked at for one answer about a queue.
const MOST_LOOKED_AT: usize = 1 << 20;
/// A reservation that ends later than so is of a job without an estimate: 50 years, in ms.
const ENDLESS_MS: u64 = 50 * 365 * 24 * 3600 * 1000;

/// Why a request does not start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Fewer nodes are free than it needs.
    Nodes,
    /// As many are free, but the strategy finds no place among them.
    Place,
    /// It could be placed now, but on nodes that are reserved for another request.
    Reservation {
        /// The request that has the reservation.
        by: u64,
        /// When the reservation begins, and ends, in milliseconds since 1970.
        from_ms: u64,
        until_ms: u64,
    },
    /// It could be placed now, but would run into a reservation ahead.
    Ahead {
        /// Its number.
        reservation: u64,
        /// When it begins, and ends, in milliseconds since 1970.
        from_ms: u64,
        until_ms: u64,
    },
    /// Another request must start before; `None`: the scheduler does not look at this one yet.
    Turn { behind: Option<u64> },
    /// The scheduler keeps it waiting, and does not say more.
    Scheduler,
}

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) cause: Cause,
    /// The nodes that must be free for it.
    pub(crate) needed: u64,
    /// Those that are.
    pub(crate) free: u32,
    /// When the scheduler plans to start it.
    pub(crate) planned_ms: Option<u64>,
}

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
pub(crate) type Waits = HashMap<u64, Wait>;

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

/// The waiting requests by number.
pub(crate) type Waiting<'a> = HashMap<u64, &'a WaitingRequest>;

/// The waiting requests of a view by number.
pub(crate) fn by_number(view: &StateView) -> Waiting<'_> {
    view.waiting.iter().map(|one| (one.id, &**one)).collect()
}

/// A machine whose queue is asked about.
struct Asking<'a> {
    grid: &'a Grid,
    machine: Machine,
    free: u32,
    now_ms: u64,
    standing: Option<&'a (Standing, bool)>,
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
        let strategy = board.spec.strategy.parse();
        let strategy = strategy.map_err(|error: pavior_kernel::BadName| error.reason)?;
        let mut calendar = Calendar::default();
        for reservation in view.reservations.iter().filter(|one| one.machine == board.spec.name) {
            calendar.add(reservation.ahead(&board.grid)?);
        }
        Ok(Asking {
            grid: &board.grid,
            machine: state.machine(&strategy, seed).map_err(|error| error.to_string())?,
            free: board.free.count(),
            now_ms,
            standing: board.standing.as_ref(),
            calendar,
            plan: Plan::of(board.standing.as_ref().map(|(standing, _)| standing)),
            known: HashMap::new(),
            left: MOST_LOOKED_AT,
        })
    }

    fn wait(&mut self, place: usize, one: &WaitingRequest) -> Wait {
        let request = one.request();
        let needed = self.machine.needed(&request);
        let planned = self.plan.own(one.id).map(|reserved| millis(reserved.from));
        let kept = self.standing.and_then(|(standing, _)| standing.kept.get(place).copied());
        Wait {
            cause: self.cause(kept, &request, needed, one),
            needed,
            free: self.free,
            planned_ms: planned.filter(|&at| at > self.now_ms),
        }
    }

    fn cause(
        &mut self,
        kept: Option<Kept>,
        request: &Request,
        needed: u64,
        one: &WaitingRequest,
    ) -> Cause {
        if let Some(Kept::ByOrder(behind)) = kept {
            return Cause::Turn { behind: behind.map(|JobId(id)| id) };
        }
        if needed > u64::from(self.free) {
            return Cause::Nodes;
        }
        if let Some(ahead) = self.ahead(request, one) {
            return ahead;
        }
        // The scheduler has asked the machine for it in this very state, and was refused.
        let is_refused = kept == Some(Kept::ByMachine)
            && self.standing.is_some_and(|(_, asked_now)| *asked_now)
            && self.machine.answers(request) != Answers::Count;
        if is_refused {
            return Cause::Place;
        }
        let Some(placed) = self.placed(request) else { return Cause::Scheduler };
        let Some(placement) = placed else { return Cause::Place };
        if kept != Some(Kept::ByReservations) {
            return Cause::Scheduler;
        }
        let until = Time(self.now_ms.saturating_mul(1000)).saturating_add(one.estimate());
        let asked = Asked { id: one.id, placement: &placement, needed, until };
        let blocking = self.plan.blocking(&asked, self.grid, self.free, &mut self.left);
        blocking.map_or(Cause::Scheduler, |reserved| Cause::Reservation {
            by: reserved.job.0,
            from_ms: millis(reserved.from),
            until_ms: millis(reserved.to),
        })
    }
}

impl Asking<'_> {
    /// Where the strategy would place a request; `None` if it was asked too much.
    fn placed(&mut self, request: &Request) -> Option<Option<Placement>> {
        if self.known.len() >= MOST_QUESTIONS && !self.known.contains_key(request) {
            return None;
        }
        let machine = &mut self.machine;
        let placed = self.known.entry(*request).or_insert_with(|| machine.probe(request).ok());
        Some(placed.clone())
    }

    /// The reservation ahead that a request would run into if it were placed now.
    fn ahead(&mut self, request: &Request, one: &WaitingRequest) -> Option<Cause> {
        let now = Time(self.now_ms.saturating_mul(1000));
        self.calendar.reserved(now, one.estimate())?;
        let placement = self.placed(request)??;
        let met = self.calendar.in_the_way(now, one.estimate(), &placement)?;
        let (from_ms, until_ms) = (millis(met.from()), millis(met.to()));
        Some(Cause::Ahead { reservation: met.number(), from_ms, until_ms })
    }
}

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

fn millis(time: Time) -> u64 {
    time.0 / 1000
}

impl Wait {
    /// The answer as a caller may see it: names of other tenants' requests are left out.
    pub(crate) fn shown(
        &self,
        board: &BoardView,
        waiting: &Waiting<'_>,
        caller: &Caller,
    ) -> WaitsFor {
        let seen = |id: u64| {
            let found = waiting.get(&id).copied();
            found.filter(|one| caller.may_touch(&one.tenant))
        };
        let by = |id: u64| {
            let one = seen(id);
            Some(Other { id: one.map(|one| one.id), job: one.and_then(|one| one.job.clone()) })
        };
        let named = |id| seen(id).map_or_else(|| "another tenant's job".to_string(), name);
        let (by, from, until) = match self.cause {
            Cause::Reservation { by: id, from_ms, until_ms } => {
                let until =
                    Some(until_ms).filter(|&until| until < from_ms.saturating_add(ENDLESS_MS));
                (by(id), Some(from_ms), until)
            }
            Cause::Ahead { from_ms, until_ms, .. } => (None, Some(from_ms), Some(until_ms)),
            Cause::Turn { behind: Some(id) } => (by(id), None, None),
            _ => (None, None, None),
        };
        WaitsFor {
            kind: self.cause.kind(),
            sentence: self.sentence(board, named, until),
            needed: self.needed,
            free: self.free.into(),
            by,
            from: from.map(Instant),
            until: until.map(Instant),
            planned: self.planned_ms.map(Instant),
        }
    }

    /// One sentence.
    fn sentence(
        &self,
        board: &BoardView,
        named: impl Fn(u64) -> String,
        until: Option<u64>,
    ) -> String {
        let Wait { needed, free, .. } = self;
        let strategy = &board.spec.strategy;
        let scheduler = board.spec.scheduler.as_deref().unwrap_or_default();
        let text = match self.cause {
            Cause::Nodes => format!("It needs {needed} nodes, and {free} are free"),
            Cause::Place => format!(
                "It needs {needed} nodes, and {free} are free, but `{strategy}` finds no place for \
                 it among them"
            ),
            Cause::Reservation { by, from_ms, .. } => {
                let from =
                    if from_ms > 0 { format!(" from {}", Instant(from_ms)) } else { String::new() };
                let until = until.map_or_else(String::new, |at| format!(" until {}", Instant(at)));
                format!(
                    "It would fit now, but {} has nodes reserved{from}{until}, and it would not \
                     end before",
                    named(by)
                )
            }
            Cause::Ahead { reservation, from_ms, until_ms } => format!(
                "It would fit now, but nodes are reserved ahead from {} until {} (reservation \
                 {reservation}), and it would not end before",
                Instant(from_ms),
                Instant(until_ms)
            ),
            Cause::Turn { behind: Some(id) } => {
                format!("It waits for its turn: by `{scheduler}`, {} starts before it", named(id))
            }
            Cause::Turn { behind: None } => {
                format!("It waits for its turn: `{scheduler}` does not look at it yet")
            }
            Cause::Scheduler => format!("The scheduler `{scheduler}` keeps it waiting"),
        };
        match self.planned_ms {
            Some(at) => format!("{text}; it is planned to start at {}.", Instant(at)),
            None => format!("{text}."),
        }
    }
}

impl Cause {
    fn kind(self) -> WaitsForKind {
        match self {
            Cause::Nodes => WaitsForKind::Nodes,
            Cause::Place => WaitsForKind::Place,
            Cause::Reservation { .. } | Cause::Ahead { .. } => WaitsForKind::Reservation,
            Cause::Turn { .. } => WaitsForKind::Turn,
            Cause::Scheduler => WaitsForKind::Scheduler,
        }
    }
}

/// What a request is called in a sentence.
fn name(one: &WaitingRequest) -> String {
    match &one.job {
        Some(job) => format!("job {}", shown(&job.to_string())),
        None => format!("request {}", one.id),
    }
}

#[cfg(test)]
mod attack;
