//! Priority by a function of the job: the waiting job with the least key first, ties by arrival.
//!
//! The key of a job is asked for once, when the job first waits, and again if it waits anew after a
//! failure of a node. It therefore cannot change with time; a rule that does is a [`Scheduler`] of
//! its own. A least job that does not fit blocks all others; with `backfill` the others are tried
//! in the order of their keys, and then jobs with large keys may wait without bound. O(log q) a
//! decision for q waiting jobs; with `backfill` O(q) after a change of the machine, where each
//! request is asked about once.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

use pavior_allocation::Machine;
use pavior_kernel::{CallerError, Time};
use pavior_mesh::JobId;
use pavior_workload::Job;

use crate::shared::refused::Refused;
use crate::{MachineView, Queue, Running, Scheduler, Standing, Start};

/// Gives a job its key, or says why it cannot.
pub type KeyFunction = dyn FnMut(&Job) -> Result<f64, CallerError> + Send + Sync;

/// A scheduler made of a function that gives each job a key.
///
/// ```
/// use pavior_scheduling::{Priority, Registry, entry};
/// let build = || Priority::new(Box::new(|job| Ok(f64::from(job.request.nodes))), false);
/// let mut registry = Registry::new();
/// registry.add(entry("smallest", build))?;
/// assert!(registry.select("smallest").is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Priority {
    key: Box<KeyFunction>,
    backfill: bool,
    /// The waiting jobs.
    order: BTreeSet<Place>,
    /// The youngest job seen.
    newest: Option<JobId>,
    /// The health of the machine when it was last looked at: failures make jobs wait anew.
    health: u64,
    /// The state of the machine in which all waiting jobs but those in `fresh` are known to be
    /// refused.
    passed: Option<u64>,
    fresh: BTreeSet<Place>,
    refused: Refused,
    /// The jobs that had been withdrawn when the queue was last looked at.
    withdrawals: u64,
    error: Option<CallerError>,
}

/// A waiting job's place in the order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    key: Key,
    arrival: Time,
    job: JobId,
}

/// A key, which is a number.
#[derive(Clone, Copy)]
struct Key(f64);

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl Priority {
    /// A scheduler that starts the job with the least key; with `backfill`, the one with the least
    /// key of those that fit. A key that is not a number is an error, which stops the run.
    pub fn new(key: Box<KeyFunction>, backfill: bool) -> Priority {
        Priority {
            key,
            backfill,
            order: BTreeSet::new(),
            newest: None,
            health: 0,
            passed: None,
            fresh: BTreeSet::new(),
            refused: Refused::default(),
            withdrawals: 0,
            error: None,
        }
    }

    fn add(&mut self, job: &Job) -> Result<(), CallerError> {
        let key = (self.key)(job)?;
        if key.is_nan() {
            return Err(CallerError::new(format!("the key of job {} is not a number", job.number)));
        }
        // Negative zero would come before zero.
        let place = Place { key: Key(key + 0.0), arrival: job.arrival, job: job.id };
        self.order.insert(place);
        self.fresh.insert(place);
        Ok(())
    }

    /// Sees who waits that did not, and who has been withdrawn. Else jobs leave the queue only by
    /// starting; they come at its end, or anywhere after a failure.
    fn arrivals(&mut self, queue: &Queue, health: u64) -> Result<(), CallerError> {
        if self.withdrawals != queue.withdrawals() {
            self.withdrawals = queue.withdrawals();
            let waits = |place: &Place| queue.place_of(place.arrival, place.job).is_some();
            self.order.retain(waits);
            self.fresh.retain(waits);
        }
        if self.health != health {
            self.health = health;
            let known: HashSet<JobId> = self.order.iter().map(|place| place.job).collect();
            let newest = self.newest;
            let anew = queue.iter().filter(|job| Some(job.id) <= newest);
            for job in anew.filter(|job| !known.contains(&job.id)) {
                self.add(job)?;
            }
        }
        let fresh = queue.iter().rev().take_while(|job| Some(job.id) > self.newest).count();
        for job in queue.iter().skip(queue.len() - fresh) {
            self.add(job)?;
            self.newest = Some(job.id);
        }
        Ok(())
    }

    /// The least job, if it fits.
    fn least(&self, queue: &Queue, view: &mut MachineView<'_>) -> Option<(Place, usize)> {
        let place = *self.order.first()?;
        let index = queue.place_of(place.arrival, place.job)?;
        view.can_start(&queue.get(index)?.request).ok().map(|()| (place, index))
    }

    /// The least of the jobs that fit.
    fn fitting(&mut self, queue: &Queue, view: &mut MachineView<'_>) -> Option<(Place, usize)> {
        let state = view.machine().state();
        self.refused.in_state(state);
        let open = if self.passed == Some(state) { &self.fresh } else { &self.order };
        for place in open {
            let index = queue.place_of(place.arrival, place.job)?;
            let ask = |request: &_| view.can_start(request).ok();
            if self.refused.ask(&queue.get(index)?.request, ask).is_some() {
                return Some((*place, index));
            }
        }
        self.passed = Some(state);
        self.fresh.clear();
        None
    }
}

impl Scheduler for Priority {
    fn next(
        &mut self,
        _: Time,
        queue: &Queue,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        if self.error.is_none() {
            self.error = self.arrivals(queue, view.machine().health()).err();
        }
        if self.error.is_some() {
            return None;
        }
        let (place, index) = if self.backfill {
            self.fitting(queue, view)?
        } else {
            self.fresh.clear();
            self.least(queue, view)?
        };
        self.order.remove(&place);
        self.fresh.remove(&place);
        Some(Start::at(index))
    }

    fn standing(&self, _: Time, queue: &Queue, _: &Machine) -> Option<Standing> {
        if self.error.is_some() {
            return None;
        }
        if self.backfill {
            return Some(Standing::free(queue));
        }
        Some(Standing::strict(queue, self.order.first()?.job))
    }

    fn error(&self) -> Option<CallerError> {
        self.error.clone()
    }
}
