//! Jobs that communicate part of their time: iterations of a pattern, and computing in between.
//!
//! Of a run of R a job communicates for a share. That time is what its iterations would take in the
//! box that it asks for, alone on the machine: T each, so that it has k = share x R / T of them,
//! rounded down. The rest of its run it computes, in equal pauses behind its iterations, the
//! remainder behind the last:
//!
//! ```text
//!   in the box asked for   |--T--|pause|--T--|pause|--T--|pause|rest|   = R
//!   torn, or not alone     |----T'---|pause|---T''--|pause|----T'''---|pause|rest|
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
    draw: Stream,
    /// What it sends at a time.
    service: Communication,
    /// What that takes it alone, once it was tried.
    once: Option<History>,
    /// How often it still does, the present time included.
    pub(super) left: u64,
    /// How long it computes behind each.
    pub(super) pause: Time,
    /// How long it computes behind all.
    pub(super) rest: Time,
}

impl Course {
    /// The course of a job on what it was granted; none if it does not communicate. `draw` is the
    /// job's own stream.
    pub(super) fn new(
        trials: &mut Trials,
        job: &Job,
        placement: &Placement,
        draw: &Stream,
    ) -> Result<Option<Course>, Deadlock> {
        let once = Communication::Iterations(1);
        let (service, left, pause, rest) = match job.service {
            Service::Run(_) => return Ok(None),
            Service::Messages(count) => (Communication::Messages(count), 1, Time::ZERO, Time::ZERO),
            Service::Iterations(count) => (once, count, Time::ZERO, Time::ZERO),
            Service::Partly { compute, communicate } => {
                let layouts = &mut trials.layouts;
                let asked = layouts.asked(&job.request, draw);
                let asked =
                    asked.unwrap_or_else(|| layouts.granted(placement.parts(), &job.request, draw));
                let Some(History { length, .. }) = trials.history(&asked, once, draw)? else {
                    return Ok(None);
                };
                let count = communicate.0 / length.0;
                if count == 0 {
                    return Ok(None);
                }
                let computes = compute.0 + communicate.0 % length.0;
                (once, count, Time(computes / count), Time(computes % count))
            }
        };
        let layout = trials.layouts.granted(placement.parts(), &job.request, draw);
        let draw = draw.clone();
        Ok(Some(Course { layout, draw, service, once: None, left, pause, rest }))
    }

    /// The messages of the next time.
    pub(super) fn traffic(&self, slot: u32, plan: &TrafficPlan) -> JobTraffic {
        JobTraffic::new(slot, self.layout.clone(), plan, self.service, &mut self.draw.clone())
    }

    /// What it takes once, alone.
    pub(super) fn alone(&mut self, trials: &mut Trials) -> Result<Option<History>, Deadlock> {
        if self.once.is_none() {
            self.once = trials.history(&self.layout, self.service, &self.draw)?;
        }
        Ok(self.once)
    }

    /// How long it computes now that its messages are delivered, once more of them than are left.
    pub(super) fn pause_behind(&self) -> Time {
        if self.left == 0 { self.pause.saturating_add(self.rest) } else { self.pause }
    }

    /// All that is left, if it stays alone.
    pub(super) fn remainder(&self, once: &History) -> History {
        let round = u128::from(once.length.0) + u128::from(self.pause.0);
        let length = round * u128::from(self.left) + u128::from(self.rest.0);
        let length = Time(u64::try_from(length).unwrap_or(u64::MAX));
        History { length, totals: once.totals.times(self.left) }
    }
}
