//! The machine beside the reservations ahead: the nodes that they hold are taken.
//!
//! The strategy is asked on a fork in which the free nodes are taken that are not open to the job.
//! All jobs of one reach have the same fork.
//!
//! Invariant: one question has one answer as long as machine and calendar stay as they are.
//!
//! Cost: a fork for each reach that is asked about in a state, then a search for each request.

use pavior_allocation::{Fork, Machine, Placement, Refusal};
use pavior_kernel::Time;
use pavior_mesh::Request;
use pavior_workload::Job;
use rustc_hash::FxHashMap;

use crate::calendar::{Calendar, Reach};

/// The answers in one state of machine and calendar.
#[derive(Default)]
pub(crate) struct BesideCalendar {
    state: u64,
    reaches: Vec<Reached>,
}

/// What jobs of one reach are answered.
struct Reached {
    reach: Reach,
    fork: Fork,
    answers: FxHashMap<Request, Result<Placement, Refusal>>,
}

impl BesideCalendar {
    /// Where the strategy would put a job now, whose reach is not none; and the number of nodes
    /// that are open to it.
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
            // A request that is never granted is refused for that reason.
            found.or_else(|refusal| machine.could_ever_fit(&job.request).and(Err(refusal)))
        });
        (answer.clone(), fork.free().count())
    }
}
