//! The waiting job with the least key.

use std::collections::BTreeSet;

use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

use crate::{MachineView, Queue, Start};

/// Picks the waiting job with the least key, ties by arrival. It keeps the waiting jobs by key, and
/// follows the queue: O(log q) for each job that arrives or that it starts, for q waiting jobs; O(q
/// log q) after any other change.
pub(crate) struct Least<K> {
    key: Box<dyn Fn(&Job) -> K + Send + Sync>,
    waiting: BTreeSet<(K, Time, JobId)>,
    /// The youngest job looked at: those that are younger are new.
    youngest: Option<(Time, JobId)>,
    /// The job that was last said to start.
    started: Option<(K, Time, JobId)>,
    /// The jobs that had been put back into the queue when it was last looked at.
    returns: u64,
}

impl<K: Ord + Copy> Least<K> {
    pub(crate) fn new(key: impl Fn(&Job) -> K + Send + Sync + 'static) -> Least<K> {
        Least {
            key: Box::new(key),
            waiting: BTreeSet::new(),
            youngest: None,
            started: None,
            returns: 0,
        }
    }

    /// Starts the least job if it can start; a least job that cannot blocks all others.
    pub(crate) fn start(&mut self, queue: &Queue, view: &mut MachineView<'_>) -> Option<Start> {
        let index = self.find(queue)?;
        view.can_start(&queue.get(index)?.request).ok()?;
        self.started = self.waiting.first().copied();
        Some(Start::at(index))
    }

    /// The least job, as of the last question.
    pub(crate) fn first(&self) -> Option<JobId> {
        self.waiting.first().map(|&(_, _, job)| job)
    }

    fn find(&mut self, queue: &Queue) -> Option<usize> {
        self.follow(queue);
        self.place_of_least(queue).or_else(|| {
            self.look_at_all(queue);
            self.place_of_least(queue)
        })
    }

    fn place_of_least(&self, queue: &Queue) -> Option<usize> {
        self.waiting.first().and_then(|&(_, arrival, id)| queue.place_of(arrival, id))
    }

    /// Takes out the job that was started, and adds those that have arrived. Any other change shows
    /// in the numbers.
    fn follow(&mut self, queue: &Queue) {
        if let Some(started) = self.started.take()
            && queue.place_of(started.1, started.2).is_none()
        {
            self.waiting.remove(&started);
        }
        let known = self.youngest;
        let fresh = queue.iter().rev().take_while(|job| Some((job.arrival, job.id)) > known);
        self.waiting.extend(fresh.map(|job| ((self.key)(job), job.arrival, job.id)));
        self.note_youngest(queue);
        if self.waiting.len() != queue.len() || self.returns != queue.returns() {
            self.look_at_all(queue);
        }
    }

    fn look_at_all(&mut self, queue: &Queue) {
        self.waiting.clear();
        self.waiting.extend(queue.iter().map(|job| ((self.key)(job), job.arrival, job.id)));
        self.youngest = None;
        self.note_youngest(queue);
        self.returns = queue.returns();
    }

    fn note_youngest(&mut self, queue: &Queue) {
        let youngest = queue.iter().next_back().map(|job| (job.arrival, job.id));
        self.youngest = self.youngest.max(youngest);
    }
}
