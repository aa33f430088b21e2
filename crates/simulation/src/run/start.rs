//! Starts jobs.

use pavior_kernel::Time;
use pavior_scheduling::{Start, Started};
use pavior_workload::Service;

use super::{DEPARTURES, Departure, Simulation};
use crate::bounds::Watch;
use crate::traffic::Traffic;
use crate::{Fact, RunError};

impl Simulation<'_, '_, '_> {
    /// Starts a waiting job.
    ///
    /// # Errors
    /// Returns an error, without changing anything, if the index is out of range, if the job does
    /// not fit now, or if its end time would overflow.
    pub fn start(&mut self, start: Start) -> Result<(), RunError> {
        let decision = self.dispatcher.choose(self.now, start)?;
        let length = match decision.job().service {
            Service::Run(length) => length,
            // A job that turns out to have nothing to send holds its nodes for one cycle.
            Service::Messages(_) | Service::Iterations(_) => Time(1),
            Service::Partly { compute, communicate } => compute.saturating_add(communicate),
        };
        let end = Watch::end(self.now, decision.job(), length)?;
        let Started { job, placement, free } = decision.start()?;
        self.observers.tell(&Fact::Started { job, placement, free });
        self.jobs.started(job.index, self.now);
        self.starts += 1;
        let sends =
            self.traffic.as_mut().is_some_and(|traffic| traffic.start(self.now, job, placement));
        if let Some(routes) = self.traffic.as_ref().and_then(Traffic::routes) {
            self.observers.tell(&Fact::Routed { job, routes });
        }
        if !sends {
            let departure = Departure { job: job.id, start: self.starts };
            self.agenda.schedule(end, DEPARTURES, departure);
        }
        if let Some(mover) = &mut self.mover {
            mover.starts(job, end);
        }
        if self.faults.is_some() || self.mover.is_some() {
            self.live.insert(job.id, self.starts);
        }
        Ok(())
    }
}
