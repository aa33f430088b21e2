//! A job starts.

use pavior_kernel::Time;
use pavior_scheduling::Start;
use pavior_workload::Service;

use super::{DEPARTURES, Departure, Simulation};
use crate::Fact;
use crate::bounds::Watch;
use crate::setup::StartError;
use crate::traffic::Traffic;

impl Simulation<'_, '_, '_> {
    /// Starts a job that waits.
    ///
    /// # Errors
    /// If there is none at that place of the queue, it does not fit now, or it would end later than
    /// can be told; nothing has changed then.
    #[expect(
        clippy::missing_panics_doc,
        reason = "the queue has the job, and the machine has just granted it nodes"
    )]
    pub fn start(&mut self, Start { index, placement }: Start) -> Result<(), StartError> {
        let waiting = self.queue.len();
        let Some(job) = self.queue.get(index) else {
            return Err(StartError::NotWaiting { index, waiting });
        };
        let length = match job.service {
            Service::Run(length) => length,
            // A job without a message holds its nodes for one cycle.
            Service::Messages(_) | Service::Iterations(_) => Time(1),
            Service::Partly { compute, communicate } => compute.saturating_add(communicate),
        };
        let end = Watch::end(self.now, job, length)?;
        match placement {
            Some(placement) => {
                let granted = self.machine.allocate_at(job.id, placement);
                granted.map_err(|error| StartError::BadPlacement { job: job.id, error })?;
            }
            None if self.machine.allocate(job.id, &job.request).is_err() => {
                return Err(StartError::DoesNotFit(job.id));
            }
            None => {}
        }
        let job = self.queue.take(index).expect("the queue has it");
        let placement = self.machine.placement(job.id).expect("it was just granted");
        let free = self.machine.free();
        self.observers.tell(&Fact::Started { job: &job, placement, free });
        self.starts += 1;
        let estimated_end = self.now.saturating_add(job.estimate);
        let sends =
            self.traffic.as_mut().is_some_and(|traffic| traffic.start(self.now, &job, placement));
        if let Some(routes) = self.traffic.as_ref().and_then(Traffic::routes) {
            self.observers.tell(&Fact::Routed { job: &job, routes });
        }
        if sends {
            self.waiting_for_messages.insert(job.id, estimated_end);
        } else {
            let departure = Departure { job: job.id, estimated_end, start: self.starts };
            self.agenda.schedule(end, DEPARTURES, departure);
        }
        if let Some(mover) = &mut self.mover {
            mover.starts(&job, end);
        }
        if self.faults.is_some() || self.mover.is_some() {
            self.live.insert(job.id, self.starts);
        }
        self.running.start(job, self.now);
        Ok(())
    }
}
