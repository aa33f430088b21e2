//! Finds out why each job in a queue is waiting. The reason comes from the scheduler or is derived
//! from the machine's state.

use std::collections::HashMap;

use pavior_allocation::{Answers, Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{Grid, JobId, Request};
use pavior_scheduling::{Calendar, Dispatcher, Kept, Reserved, Standing};
use pavior_workload::Job;

use crate::{Cause, PlannedStart, Queued, Why};

/// The maximum number of distinct placement queries to the strategy per queue.
const MOST_QUESTIONS: usize = 512;
/// The maximum number of reservations to examine per queue.
const MOST_EXAMINED: usize = 1 << 20;

/// Explains why each job in a dispatcher's queue is waiting, in queue order.
///
/// `standing` is the scheduler's plan for this state, if available ([`Dispatcher::standing`]).
/// `endless` is the duration assumed for jobs without a known end. Times that are at least this far
/// in the future are not reported.
///
/// The strategy is asked about at most 512 distinct requests, and at most 2^20 reservations are
/// examined. Beyond these limits, a job that could be placed is reported as kept waiting by the
/// scheduler ([`Queued::Kept`]). Cost: these queries and examinations, a copy of the machine, and
/// O(q log q) for q waiting jobs.
pub fn waits(
    dispatcher: &Dispatcher,
    standing: Option<&Standing>,
    (now, endless): (Time, Time),
) -> Vec<(JobId, Why)> {
    let mut search = Search {
        machine: dispatcher.machine().clone(),
        calendar: dispatcher.calendar(),
        now,
        endless,
        plan: Plan::of(standing),
        known: HashMap::new(),
        left: MOST_EXAMINED,
    };
    let kept = |place: usize| standing.and_then(|standing| standing.kept.get(place).copied());
    let jobs = dispatcher.queue().iter().enumerate();
    jobs.map(|(place, job)| (job.id, search.reason(kept(place), job))).collect()
}

impl Queued {
    /// Returns a job's state in the queue. `reason` is the reason that the job is waiting
    /// ([`waits`]), or `None` if the job is not in the queue.
    pub fn of(reason: Option<&Why>) -> Queued {
        match reason.map(|why| why.cause) {
            Some(Cause::Queue(queued)) => queued,
            Some(_) => Queued::Kept,
            None => Queued::First,
        }
    }
}

struct Search<'a> {
    machine: Machine,
    calendar: &'a Calendar,
    now: Time,
    endless: Time,
    plan: Plan<'a>,
    /// The strategy's placements for the requests examined so far.
    known: HashMap<Request, Option<Placement>>,
    /// The number of reservations that may still be examined.
    left: usize,
}

impl Search<'_> {
    fn reason(&mut self, kept: Option<Kept>, job: &Job) -> Why {
        let (needed, free) = (self.machine.needed(&job.request), self.machine.free().count());
        let cause = self.cause(kept, (needed, free), job);
        let is_told = |at: Time| at > self.now && at.since(self.now) < self.endless;
        let planned = self.plan.own(job.id).map(PlannedStart::reserved);
        let planned = planned.filter(|planned| is_told(planned.at));
        // Without a search for a place, the answer is cheap even for many jobs.
        let (free, place, blocked, enough) = (free.into(), Vec::new(), None, None);
        Why { cause, needed, free, planned, place, blocked, enough }
    }

    fn cause(&mut self, kept: Option<Kept>, (needed, free): (u64, u32), job: &Job) -> Cause {
        if let Some(Kept::ByOrder(behind)) = kept {
            return Cause::Queue(Queued::Behind(behind));
        }
        if needed > u64::from(free) {
            return Cause::Nodes;
        }
        if let Some(ahead) = self.ahead(job) {
            return Cause::Queue(ahead);
        }
        // True if, in this state, the scheduler has already asked the machine to place this job and
        // the machine refused.
        let is_refused =
            kept == Some(Kept::ByMachine) && self.machine.answers(&job.request) != Answers::Count;
        if is_refused {
            return Cause::Place;
        }
        let placement = match self.placed(&job.request) {
            Err(TooManyQuestions) => return Cause::Queue(Queued::Kept),
            Ok(None) => return Cause::Place,
            Ok(Some(placement)) => placement,
        };
        if kept != Some(Kept::ByReservations) {
            return Cause::Queue(Queued::Kept);
        }
        let until = self.now.saturating_add(job.estimate);
        let asked = Candidate { id: job.id, placement: &placement, needed, until };
        let blocking = self.plan.blocking(&asked, self.machine.grid(), free, &mut self.left);
        Cause::Queue(blocking.map_or(Queued::Kept, |reserved| Queued::Reserved {
            by: reserved.job,
            from: reserved.from,
            until: Some(reserved.to).filter(|&to| to < reserved.from.saturating_add(self.endless)),
        }))
    }

    /// Asks the strategy for a placement, once per distinct request.
    fn placed(&mut self, request: &Request) -> Result<Option<Placement>, TooManyQuestions> {
        if self.known.len() >= MOST_QUESTIONS && !self.known.contains_key(request) {
            return Err(TooManyQuestions);
        }
        let machine = &mut self.machine;
        let placed = self.known.entry(*request).or_insert_with(|| machine.probe(request).ok());
        Ok(placed.clone())
    }

    /// Returns the advance reservation that a job would overlap if it started now.
    fn ahead(&mut self, job: &Job) -> Option<Queued> {
        let (calendar, now) = (self.calendar, self.now);
        calendar.reserved(now, job.estimate)?;
        let placement = self.placed(&job.request).ok()??;
        let met = calendar.in_the_way(now, job.estimate, &placement)?;
        Some(Queued::Ahead { reservation: met.number(), from: met.from(), until: met.to() })
    }
}

/// The error returned once the limit of [`MOST_QUESTIONS`] queries has been reached.
struct TooManyQuestions;

/// The scheduler's reservations.
struct Plan<'a> {
    /// The reservations, sorted by start time.
    reserved: Vec<&'a Reserved>,
    places: HashMap<JobId, usize>,
    /// The changes in the number of free nodes, sorted by time. Empty unless reservations are node
    /// counts.
    changes: Vec<Change<'a>>,
}

/// A change in the number of free nodes.
struct Change<'a> {
    at: Time,
    /// The number of nodes that become free, which is negative if nodes are taken.
    nodes: i128,
    /// The reservation that begins or ends, or `None` if a running job ends.
    reserved: Option<&'a Reserved>,
}

/// A waiting job that could be placed now.
struct Candidate<'a> {
    id: JobId,
    placement: &'a Placement,
    needed: u64,
    /// The time at which the job would end if it started now.
    until: Time,
}

impl<'a> Plan<'a> {
    fn of(standing: Option<&'a Standing>) -> Plan<'a> {
        let all = standing.map_or(&[][..], |standing| &standing.reserved);
        let mut reserved: Vec<&Reserved> = all.iter().collect();
        reserved.sort_by_key(|one| one.from);
        let places = reserved.iter().enumerate().map(|(place, one)| (one.job, place)).collect();
        let ends = standing.map_or(&[][..], |standing| &standing.ends);
        let end = |&(at, nodes): &(Time, u64)| Change { at, nodes: nodes.into(), reserved: None };
        let mut changes: Vec<Change<'_>> = ends.iter().map(end).collect();
        for &one in reserved.iter().filter(|one| one.placement.is_none()) {
            let nodes = i128::from(one.nodes);
            changes.push(Change { at: one.from, nodes: -nodes, reserved: Some(one) });
            changes.push(Change { at: one.to, nodes, reserved: Some(one) });
        }
        changes.sort_by_key(|change| change.at);
        Plan { reserved, places, changes }
    }

    fn own(&self, id: JobId) -> Option<&'a Reserved> {
        self.places.get(&id).map(|&place| self.reserved[place])
    }

    /// Finds the first reservation of another job that the candidate would interfere with.
    fn blocking(
        &self,
        asked: &Candidate<'_>,
        grid: &Grid,
        free: u32,
        left: &mut usize,
    ) -> Option<&'a Reserved> {
        let others = || self.reserved.iter().copied().filter(|other| other.job != asked.id);
        if let [only] = self.reserved[..]
            && only.job != asked.id
        {
            // The only reservation belongs to the job at the head of the queue.
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

    /// Finds the first reservation that would not get enough nodes if the candidate started.
    fn lacking(&self, asked: &Candidate<'_>, free: u32, left: &mut usize) -> Option<&'a Reserved> {
        let mut free = i128::from(free);
        let own = |change: &Change<'_>| change.reserved.is_some_and(|one| one.job == asked.id);
        for group in self.changes.chunk_by(|a, b| a.at == b.at) {
            *left = left.saturating_sub(group.len());
            if group[0].at >= asked.until || *left == 0 {
                return None;
            }
            let others = || group.iter().filter(|change| !own(change));
            free += others().map(|change| change.nodes).sum::<i128>();
            let begins = others().find(|change| change.nodes < 0);
            if let Some(begins) = begins.filter(|_| free < i128::from(asked.needed)) {
                return begins.reserved;
            }
        }
        None
    }
}
