//! Jobs that communicate part of their time: iterations of a pattern, and computing in between.
//!
//! A job with a run time of R communicates for a share of R. An iteration takes T in the box that
//! the job asks for, alone on the machine. So it has k = share x R / T iterations, rounded down.
//! For the rest of R it computes, in k equal pauses, one behind each iteration. What is left over
//! after the division follows the last pause. On other nodes or beside other jobs iterations take
//! another time, and the pauses stay:
//!
//! ```text
//!   in the box asked for   |--T--|pause|--T--|pause|--T--|pause|rest|   = R
//!   elsewhere, or beside   |----T'---|pause|---T''--|pause|----T'''---|pause|rest|
//! ```

use pavior_allocation::Placement;
use pavior_kernel::{Stream, Time};
use pavior_network::{Communication, Deadlock, JobTraffic, Layout, TrafficPlan};
use pavior_workload::{Job, Service};

use super::histories::History;
use super::iterations::Trials;

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
    /// The course of a job on the nodes that it was granted; none if it does not communicate.
    /// `draw` is the job's own stream.
    pub(super) fn new(
        trials: &mut Trials,
        job: &Job,
        placement: &Placement,
        draw: &Stream,
    ) -> Result<Option<Course>, Deadlock> {
        let iteration = Communication::Iterations(1);
        let (exchange, exchanges_left, pause, rest) = match job.service {
            Service::Run(_) => return Ok(None),
            Service::Messages(count) => (Communication::Messages(count), 1, Time::ZERO, Time::ZERO),
            Service::Iterations(count) => (iteration, count, Time::ZERO, Time::ZERO),
            Service::Partly { compute, communicate } => {
                let layouts = &mut trials.layouts;
                let asked = layouts.asked(&job.request, draw);
                let asked =
                    asked.unwrap_or_else(|| layouts.granted(placement.parts(), &job.request, draw));
                let Some(History { length, .. }) = trials.history(&asked, iteration, draw)? else {
                    return Ok(None);
                };
                let count = communicate.0 / length.0;
                if count == 0 {
                    return Ok(None);
                }
                let computes = compute.0 + communicate.0 % length.0;
                (iteration, count, Time(computes / count), Time(computes % count))
            }
        };
        let layout = trials.layouts.granted(placement.parts(), &job.request, draw);
        let draw = draw.clone();
        let exchange_alone = None;
        Ok(Some(Course { layout, draw, exchange, exchange_alone, exchanges_left, pause, rest }))
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

    /// How long it computes behind the exchange that was just subtracted from `exchanges_left`.
    pub(super) fn pause_after_exchange(&self) -> Time {
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
