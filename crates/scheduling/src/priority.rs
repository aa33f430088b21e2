//! Priority scheduling by a key that is computed for each job. The waiting job with the smallest
//! key starts first, and ties go to the earliest arrival.
//!
//! A job's key is computed when the job is queued, and again if it is requeued after a failure. A
//! rule whose keys change over time must be a separate [`Scheduler`]. If the job with the smallest
//! key does not fit, it blocks all others. With `backfill`, the others are tried in key order, and
//! jobs with large keys may wait indefinitely. A decision takes O(log q) time for q waiting jobs.
//! With `backfill`, it takes O(q) time after each change to the machine, with one query per
//! distinct request.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

use pavior_allocation::Machine;
use pavior_kernel::{CallerError, Time};
use pavior_mesh::JobId;
use pavior_workload::Job;

use crate::shared::refused::Refused;
use crate::{MachineView, Queue, Running, Scheduler, Standing, Start};

/// A function that returns a job's key or an error.
pub type KeyFunction = dyn FnMut(&Job) -> Result<f64, CallerError> + Send + Sync;

/// A function that returns a key of any type, or an error.
type Key<K> = dyn FnMut(&Job) -> Result<K, CallerError> + Send + Sync;

/// A scheduler that starts jobs in order of a key that a function computes.
///
/// ```
/// # mod pavior { pub use pavior_scheduling as scheduling; }
/// use pavior::scheduling::{Priority, Registry, entry};
/// let build = || Priority::new(Box::new(|job| Ok(f64::from(job.request.nodes))), false);
/// let mut registry = Registry::new();
/// registry.add(entry("smallest", build))?;
/// assert!(registry.select("smallest").is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Priority(LeastFirst<Number>);

impl Priority {
    /// Creates a scheduler that starts the job with the smallest key or, with `backfill`, the job
    /// with the smallest key among those that fit. A NaN key is an error that stops the run.
    pub fn new(mut key: Box<KeyFunction>, backfill: bool) -> Priority {
        let number = move |job: &Job| {
            let key = key(job)?;
            if key.is_nan() {
                let reason = format!("the key of job {} is NaN", job.number);
                return Err(CallerError::new(reason));
            }
            // Otherwise, negative zero would come before zero.
            Ok(Number(key + 0.0))
        };
        Priority(LeastFirst::fallible(Box::new(number), backfill))
    }
}

impl Scheduler for Priority {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        self.0.next(now, queue, running, view)
    }

    fn standing(&self, now: Time, queue: &Queue, machine: &Machine) -> Option<Standing> {
        self.0.standing(now, queue, machine)
    }

    fn error(&self) -> Option<CallerError> {
        self.0.error()
    }
}

/// A number with a total order.
#[derive(Clone, Copy)]
struct Number(f64);

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

/// A scheduler like [`Priority`], but with keys of any type.
pub(crate) struct LeastFirst<K> {
    key: Box<Key<K>>,
    backfill: bool,
    /// The waiting jobs, in key order.
    order: BTreeSet<Place<K>>,
    /// The youngest job seen so far. Any job younger than this one is new.
    youngest: Option<(Time, JobId)>,
    /// The values of [`Queue::returns`] and [`Queue::withdrawals`] when the queue was last read.
    returns: u64,
    withdrawals: u64,
    /// The machine's state when all waiting jobs except those in `fresh` were last refused and, if
    /// answers depend on the time, the time of that refusal. Used only with `backfill`.
    passed: Option<(u64, Time)>,
    fresh: BTreeSet<Place<K>>,
    refused: Refused,
    error: Option<CallerError>,
}

/// A waiting job's position in key order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place<K> {
    key: K,
    arrival: Time,
    job: JobId,
}

impl<K: Ord + Copy> LeastFirst<K> {
    /// Creates a scheduler that starts the job with the smallest key. If that job does not fit, it
    /// blocks all others.
    pub(crate) fn new(key: impl Fn(&Job) -> K + Send + Sync + 'static) -> LeastFirst<K> {
        LeastFirst::fallible(Box::new(move |job| Ok(key(job))), false)
    }

    fn fallible(key: Box<Key<K>>, backfill: bool) -> LeastFirst<K> {
        LeastFirst {
            key,
            backfill,
            order: BTreeSet::new(),
            youngest: None,
            returns: 0,
            withdrawals: 0,
            passed: None,
            fresh: BTreeSet::new(),
            refused: Refused::default(),
            error: None,
        }
    }

    fn add(&mut self, job: &Job) -> Result<(), CallerError> {
        let place = Place { key: (self.key)(job)?, arrival: job.arrival, job: job.id };
        self.order.insert(place);
        if self.backfill {
            self.fresh.insert(place);
        }
        Ok(())
    }

    /// Adds new arrivals. Rereads the whole queue if any job has been requeued or withdrawn.
    fn follow(&mut self, queue: &Queue) -> Result<(), CallerError> {
        let age = |job: &Job| Some((job.arrival, job.id));
        let fresh = queue.iter().rev().take_while(|job| age(job) > self.youngest).count();
        for job in queue.iter().skip(queue.len() - fresh) {
            self.add(job)?;
            self.youngest = age(job);
        }
        let changes = (queue.returns(), queue.withdrawals());
        if (self.returns, self.withdrawals) != changes || self.order.len() != queue.len() {
            (self.returns, self.withdrawals) = changes;
            let waits = |place: &Place<K>| queue.place_of(place.arrival, place.job).is_some();
            self.order.retain(waits);
            self.fresh.retain(waits);
            let known: HashSet<JobId> = self.order.iter().map(|place| place.job).collect();
            for job in queue.iter().filter(|job| !known.contains(&job.id)) {
                self.add(job)?;
            }
        }
        Ok(())
    }

    /// Returns the job with the smallest key and its queue index, or `None` if it does not fit.
    fn least(&self, queue: &Queue, view: &mut MachineView<'_>) -> Option<(Place<K>, usize)> {
        let place = *self.order.first()?;
        let index = queue.place_of(place.arrival, place.job)?;
        view.can_start(queue.get(index)?).ok().map(|()| (place, index))
    }

    /// Returns the job with the smallest key among those that fit, and its index.
    fn least_that_fits(
        &mut self,
        queue: &Queue,
        view: &mut MachineView<'_>,
    ) -> Option<(Place<K>, usize)> {
        let moment = view.moment();
        self.refused.in_state(moment.0);
        let open = if self.passed == Some(moment) { &self.fresh } else { &self.order };
        for place in open {
            let index = queue.place_of(place.arrival, place.job)?;
            if self.refused.can_start(queue.get(index)?, view) {
                return Some((*place, index));
            }
        }
        self.passed = Some(moment);
        self.fresh.clear();
        None
    }
}

impl<K: Ord + Copy + Send + Sync> Scheduler for LeastFirst<K> {
    fn next(
        &mut self,
        _: Time,
        queue: &Queue,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        if self.error.is_none() {
            self.error = self.follow(queue).err();
        }
        if self.error.is_some() {
            return None;
        }
        let (place, index) = if self.backfill {
            self.least_that_fits(queue, view)?
        } else {
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
