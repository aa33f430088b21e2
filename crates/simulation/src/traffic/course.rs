//! Jobs that communicate part of their time: iterations of a pattern, and computing in between.
//!
//! A job with a run time of R communicates for a share of R. An iteration takes T in the box that
//! the job asks for, alone on the machine. So it has k = share x R / T iterations, rounded down.
//! For the rest of R it computes, in k equal pauses, one behind each iteration. What is left over
//! after the division follows the last pause. On other nodes or beside other jobs iterations take
//! another time, and the pauses stay. Jobs that only send have no pauses:
//!
//! ```text
//!   in the box asked for   |--T--|pause|--T--|pause|--T--|pause|rest|   = R
//!   elsewhere, or beside   |----T'---|pause|---T''--|pause|----T'''---|pause|rest|
//! ```
//!
//! Invariant: k (T + pause) + rest = R.
//!
//! Cost: O(1), but for the simulation of one exchange alone, which [`Trials`] remember.

use pavior_allocation::Placement;
use pavior_kernel::{Stream, Time};
use pavior_network::{Communication, Deadlock, JobTraffic, Layout, TrafficPlan};
use pavior_workload::{Job, Service};

use super::histories::History;
use super::iterations::Trials;

/// What a job sends between two pauses.
pub(super) const ITERATION: Communication = Communication::Iterations(1);

/// What a job does from its start to its end.
pub(super) struct Course {
    pub(super) layout: Layout,
    /// Where patterns that draw begin to draw, in each exchange anew.
    draw: Stream,
    /// What it sends before it computes: an iteration, or all its messages.
    exchange: Communication,
    /// What an exchange takes if the job is alone. Simulated when first asked for.
    exchange_alone: Option<History>,
    /// How many exchanges are left, the present one included.
    pub(super) exchanges_left: u64,
    /// How long it computes behind each exchange.
    pub(super) pause: Time,
    /// How long it computes behind the last pause.
    pub(super) rest: Time,
}

impl Course {
    /// The course of a job on the nodes that it was granted. None if it does not communicate, or if
    /// its share is too short for one iteration.
    /// `draw` is the job's own stream. A job that communicates for a share of its run time is first
    /// simulated alone in the box that it asks for.
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
            // The number is found below.
            Service::Partly { .. } => (ITERATION, 0),
        };
        let layout = trials.layouts.granted(placement.parts(), &job.request, draw);
        let (draw, exchange_alone, pause, rest) = (draw.clone(), None, Time::ZERO, Time::ZERO);
        let mut course =
            Course { layout, draw, exchange, exchange_alone, exchanges_left, pause, rest };
        // How often such a job exchanges, and for how long it computes, follows from what an
        // iteration takes alone.
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
            // What is left of the share is computing, too.
            let computes = compute.0 + communicate.0 % iteration.length.0;
            course.pause = Time(computes / course.exchanges_left);
            course.rest = Time(computes % course.exchanges_left);
        }
        Ok(Some(course))
    }

    /// The messages of the next exchange.
    pub(super) fn traffic(&self, slot: u32, plan: &TrafficPlan) -> JobTraffic {
        JobTraffic::new(slot, self.layout.clone(), plan, self.exchange, &mut self.draw.clone())
    }

    /// What an exchange takes if the job is alone.
    pub(super) fn exchange_alone(
        &mut self,
        trials: &mut Trials,
    ) -> Result<Option<History>, Deadlock> {
        if self.exchange_alone.is_none() {
            self.exchange_alone = trials.history(&self.layout, self.exchange, &self.draw)?;
        }
        Ok(self.exchange_alone)
    }

    /// An exchange has ended. Returns how long the job computes behind it.
    pub(super) fn end_exchange(&mut self) -> Time {
        self.exchanges_left -= 1;
        if self.exchanges_left == 0 { self.pause.saturating_add(self.rest) } else { self.pause }
    }

    /// All exchanges and pauses that are left, if the job stays alone.
    pub(super) fn remainder(&self, exchange: &History) -> History {
        let round = u128::from(exchange.length.0) + u128::from(self.pause.0);
        let length = round * u128::from(self.exchanges_left) + u128::from(self.rest.0);
        let length = Time(u64::try_from(length).unwrap_or(u64::MAX));
        History { length, totals: exchange.totals.times(self.exchanges_left) }
    }
}
