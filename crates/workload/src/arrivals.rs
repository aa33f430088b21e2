//! The order in which jobs are submitted: as listed, or as their dependencies permit.
//!
//! ```text
//!   jobs --> held: predecessors left --started/ended--> ready, by time --> submitted
//!              ^ no predecessors left: ready immediately     (id: 0, 1, 2, ...)
//! ```
//!
//! A job is held until each of its predecessors has started or ended. It becomes ready at its own
//! submit time or, if later, when the think time of every link has passed since that link's event.
//! Ready jobs are submitted and numbered in time order (ties in list order), so a scheduler cannot
//! tell the stream from one without dependencies.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::Peekable;

use pavior_kernel::Time;
use pavior_mesh::JobId;

use crate::Job;
use crate::traces::{Event, Link};

/// Jobs that have not been submitted yet.
pub struct Arrivals<'i>(Source<'i>);

enum Source<'i> {
    Listed(Peekable<Box<dyn Iterator<Item = Job> + Send + 'i>>),
    Feedback(Feedback),
}

struct Feedback {
    /// The jobs by index. Jobs that were already submitted are `None`.
    jobs: Vec<Option<Job>>,
    /// For each job, the number of events it is still waiting for.
    open: Vec<u32>,
    /// For each job, two flags: whether it has started and whether it has ended.
    passed: Vec<[bool; 2]>,
    /// The links, sorted by predecessor.
    links: Vec<Link>,
    ready: BinaryHeap<Reverse<(Time, u32)>>,
    submitted: u64,
}

impl<'i> Arrivals<'i> {
    /// Creates a stream of independent jobs from a list that is in arrival order.
    pub fn listed(jobs: Box<dyn Iterator<Item = Job> + Send + 'i>) -> Arrivals<'i> {
        Arrivals(Source::Listed(jobs.peekable()))
    }

    /// Creates a stream of jobs with dependencies, given as sorted links between job indices. Jobs
    /// do not wait for predecessors for which `fits` is false, because such predecessors will be
    /// rejected. Also returns the number of links from rejected jobs. Takes O(jobs + links) time
    /// and memory.
    ///
    /// Links to nonexistent indices are ignored. Links should not form cycles, because a job on a
    /// cycle is never submitted.
    pub fn with_feedback(
        jobs: impl Iterator<Item = Job>,
        links: &[Link],
        mut fits: impl FnMut(&Job) -> bool,
    ) -> (Arrivals<'i>, u64) {
        let numbered = jobs.zip(0..).map(|(job, index)| Some(Job { index, ..job }));
        let jobs: Vec<Option<Job>> = numbered.collect();
        let mut followed: Vec<Link> = Vec::with_capacity(links.len());
        let mut rejected = 0;
        for group in links.chunk_by(|a, b| a.predecessor == b.predecessor) {
            let predecessor = jobs.get(group[0].predecessor as usize).and_then(Option::as_ref);
            let Some(predecessor) = predecessor else { continue };
            let present = group.iter().filter(|link| (link.follower as usize) < jobs.len());
            if fits(predecessor) {
                followed.extend(present);
            } else {
                rejected += present.count() as u64;
            }
        }
        let mut open = vec![0; jobs.len()];
        for link in &followed {
            open[link.follower as usize] += 1;
        }
        let ready = jobs.iter().flatten().zip(&open).filter(|(_, open)| **open == 0);
        let ready = ready.map(|(job, _)| Reverse((job.arrival, job.index as u32))).collect();
        let passed = vec![[false; 2]; jobs.len()];
        let feedback = Feedback { jobs, open, passed, links: followed, ready, submitted: 0 };
        (Arrivals(Source::Feedback(feedback)), rejected)
    }

    /// Returns the next job, if it is already known.
    pub fn peek(&mut self) -> Option<&Job> {
        match &mut self.0 {
            Source::Listed(jobs) => jobs.peek(),
            Source::Feedback(feedback) => {
                let Reverse((_, index)) = feedback.ready.peek()?;
                feedback.jobs[*index as usize].as_ref()
            }
        }
    }

    /// Removes and returns the next job if it is submitted at `now`.
    pub fn next_at(&mut self, now: Time) -> Option<Job> {
        match &mut self.0 {
            Source::Listed(jobs) => jobs.next_if(|job| job.arrival == now),
            Source::Feedback(feedback) => {
                feedback.ready.peek().filter(|Reverse((at, _))| *at == now)?;
                let Reverse((_, index)) = feedback.ready.pop()?;
                let job = feedback.jobs[index as usize].take()?;
                let id = JobId(feedback.submitted);
                feedback.submitted += 1;
                Some(Job { id, ..job })
            }
        }
    }

    /// Records that the job with the given index has started. Only the job's first start counts.
    pub fn started(&mut self, index: u64, now: Time) {
        if let Source::Feedback(feedback) = &mut self.0 {
            feedback.happened(index, Event::Start, now);
        }
    }

    /// Records that the job with the given index was rejected or has ended and will not restart.
    pub fn ended(&mut self, index: u64, now: Time) {
        if let Source::Feedback(feedback) = &mut self.0 {
            feedback.happened(index, Event::Start, now);
            feedback.happened(index, Event::End, now);
        }
    }
}

impl Feedback {
    fn happened(&mut self, index: u64, event: Event, now: Time) {
        let passed = self.passed.get_mut(index as usize).map(|both| &mut both[event as usize]);
        if passed.is_none_or(|passed| std::mem::replace(passed, true)) {
            return;
        }
        let key = |link: &Link| (u64::from(link.predecessor), link.event);
        let first = self.links.partition_point(|link| key(link) < (index, event));
        let Feedback { jobs, open, links, ready, .. } = self;
        for link in links[first..].iter().take_while(|link| key(link) == (index, event)) {
            let follower = link.follower as usize;
            let Some(job) = &mut jobs[follower] else { continue };
            job.arrival = job.arrival.max(now.saturating_add(link.think));
            open[follower] -= 1;
            if open[follower] == 0 {
                ready.push(Reverse((job.arrival, link.follower)));
            }
        }
    }
}
