//! Placements on a machine where nodes reserved in advance count as taken.
//!
//! The strategy is queried on a fork in which every node closed to the job is marked as taken. Jobs
//! with the same reach share a fork.
//!
//! Invariant: the same query returns the same answer until the machine or the calendar changes.
//!
//! Cost per state: one fork per reach and one search per distinct request.

use pavior_allocation::{Fork, Machine, Placement, Refusal};
use pavior_kernel::Time;
use pavior_mesh::Request;
use pavior_workload::Job;
use rustc_hash::FxHashMap;

use crate::calendar::{Calendar, Reach};

/// Cached answers for one state of the machine and the calendar.
#[derive(Default)]
pub(crate) struct BesideCalendar {
    state: u64,
    reaches: Vec<Reached>,
}

/// Cached answers for jobs with the same reach.
struct Reached {
    reach: Reach,
    fork: Fork,
    answers: FxHashMap<Request, Result<Placement, Refusal>>,
}

impl BesideCalendar {
    /// Returns the strategy's placement for a job with a nonempty reach, and the number of nodes
    /// open to the job.
    pub(crate) fn place(
        &mut self,
        machine: &mut Machine,
        calendar: &Calendar,
        (now, reach): (Time, Reach),
        job: &Job,
    ) -> (Result<Placement, Refusal>, u32) {
        let state = machine.state() + calendar.state();
        if self.state != state {
            self.state = state;
            self.reaches.clear();
        }
        let known = self.reaches.iter().position(|known| known.reach == reach);
        let place = known.unwrap_or_else(|| {
            let mut fork = machine.fork();
            if let Some(reserved) = calendar.reserved(now, job.estimate) {
                fork.take_free(&reserved);
            }
            self.reaches.push(Reached { reach, fork, answers: FxHashMap::default() });
            self.reaches.len() - 1
        });
        let Reached { fork, answers, .. } = &mut self.reaches[place];
        let answer = answers.entry(job.request).or_insert_with(|| {
            let found = fork.find(&job.request);
            // If the request can never be granted, return the reason for that instead.
            found.or_else(|refusal| machine.could_ever_fit(&job.request).and(Err(refusal)))
        });
        (answer.clone(), fork.free().count())
    }
}
