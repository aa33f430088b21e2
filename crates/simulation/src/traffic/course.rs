//! Jobs that alternate between computation and iterations of a communication pattern.
//!
//! A job with run time R communicates for a share of R. If an iteration takes time T in the
//! requested box on an otherwise empty machine, the job runs k = share x R / T iterations, rounded
//! down. It computes for the rest of R, in k equal pauses, one after each iteration. The remainder
//! of the division is added at the end. Jobs that only send messages have no pauses. On other
//! nodes, or on shared links, iterations take a different time, but the pauses stay the same:
//!
//! ```text
//!   in the requested box   |--T--|pause|--T--|pause|--T--|pause|rest|   = R
//!   elsewhere, or shared   |----T'---|pause|---T''--|pause|----T'''---|pause|rest|
//! ```
//!
//! Invariant: k (T + pause) + rest = R.
//!
//! Cost: O(1), plus one simulation of an exchange without other jobs. [`Trials`] caches its result.

use pavior_allocation::Placement;
use pavior_kernel::{Stream, Time};
use pavior_network::{Communication, Deadlock, JobTraffic, Layout, TrafficPlan};
use pavior_workload::{Job, Service};

use super::histories::History;
use super::iterations::Trials;

/// The communication that a computing job performs between two pauses.
pub(super) const ITERATION: Communication = Communication::Iterations(1);

/// The execution of a job, as a sequence of exchanges and pauses.
pub(super) struct Course {
    pub(super) layout: Layout,
    /// The random number stream for patterns. The stream starts over for each exchange.
    draw: Stream,
    /// The messages sent before each pause: one iteration, or all messages.
    exchange: Communication,
    /// The history of an exchange while the job is alone. Simulated on first use.
    exchange_alone: Option<History>,
    /// The number of exchanges left, including the current one.
    pub(super) exchanges_left: u64,
    /// The computation time after each exchange.
    pub(super) pause: Time,
    /// The computation time after the last pause.
    pub(super) rest: Time,
}

impl Course {
    /// Sets up the execution of a job on its nodes. If the job also computes, first simulates one
    /// iteration in the job's requested box, without other jobs. Returns `None` if the job
    /// communicates too little for even one iteration. `draw` is the job's random number stream.
    pub(super) fn new(
        trials: &mut Trials,
        job: &Job,
        placement: &Placement,
        draw: &Stream,
    ) -> Result<Option<Course>, Deadlock> {
        let (exchange, exchanges_left) = match job.service {
            Service::Run(_) => return Ok(None),
            Service::Messages(count) => (Communication::Messages(count), 1),
            Service::Iterations(count) => (ITERATION, count),
            // The number of exchanges is computed below.
            Service::Partly { .. } => (ITERATION, 0),
        };
        let layout = trials.layouts.granted(placement.parts(), &job.request, draw);
        let (draw, exchange_alone, pause, rest) = (draw.clone(), None, Time::ZERO, Time::ZERO);
        let mut course =
            Course { layout, draw, exchange, exchange_alone, exchanges_left, pause, rest };
        // The iteration time without other jobs determines the number of exchanges and the pauses.
        if let Service::Partly { compute, communicate } = job.service {
            let asked = trials.layouts.asked(&job.request, &course.draw);
            let asked = asked.as_ref().unwrap_or(&course.layout);
            let Some(iteration) = trials.history(asked, ITERATION, &course.draw)? else {
                return Ok(None);
            };
            course.exchanges_left = communicate.0 / iteration.length.0;
            if course.exchanges_left == 0 {
                return Ok(None);
            }
            // Communication time that does not suffice for another iteration is spent computing.
            let computes = compute.0 + communicate.0 % iteration.length.0;
            course.pause = Time(computes / course.exchanges_left);
            course.rest = Time(computes % course.exchanges_left);
        }
        Ok(Some(course))
    }

    /// Returns the messages in the next exchange.
    pub(super) fn traffic(&self, slot: u32, plan: &TrafficPlan) -> JobTraffic {
        JobTraffic::new(slot, self.layout.clone(), plan, self.exchange, &mut self.draw.clone())
    }

    /// Returns the history of an exchange while the job is alone.
    pub(super) fn exchange_alone(
        &mut self,
        trials: &mut Trials,
    ) -> Result<Option<History>, Deadlock> {
        if self.exchange_alone.is_none() {
            self.exchange_alone = trials.history(&self.layout, self.exchange, &self.draw)?;
        }
        Ok(self.exchange_alone)
    }

    /// Ends an exchange. Returns the computation time that follows.
    pub(super) fn end_exchange(&mut self) -> Time {
        self.exchanges_left -= 1;
        if self.exchanges_left == 0 { self.pause.saturating_add(self.rest) } else { self.pause }
    }

    /// Returns the history of all remaining exchanges and pauses, assuming the job stays alone.
    pub(super) fn remainder(&self, exchange: &History) -> History {
        let round = u128::from(exchange.length.0) + u128::from(self.pause.0);
        let length = round * u128::from(self.exchanges_left) + u128::from(self.rest.0);
        let length = Time(u64::try_from(length).unwrap_or(u64::MAX));
        History { length, totals: exchange.totals.times(self.exchanges_left) }
    }
}
