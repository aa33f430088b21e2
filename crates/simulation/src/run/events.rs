//! What an instant brings before jobs are started: departures, failures and repairs, arrivals.

use pavior_mesh::JobId;
use pavior_scheduling::RunningJob;
use pavior_workload::{Change, Job};

use super::{DEPARTURES, Departure, Simulation};
use crate::{Ending, Fact, RunError};

impl Simulation<'_, '_, '_> {
    /// The departures of the present instant; true if one of them ends the run.
    pub(super) fn depart_all(&mut self) -> bool {
        for job in self.finished.drain(..) {
            let estimated_end =
                self.waiting_for_messages.remove(&job).expect("it waited for messages");
            self.agenda.schedule(self.now, DEPARTURES, Departure { job, estimated_end, start: 0 });
        }
        while self.agenda.next_time() == Some(self.now) {
            let (_, departure) = self.agenda.pop().expect("it was just seen");
            if self.is_void(&departure) {
                continue;
            }
            self.depart(&departure);
            if self.warmup > 0 && self.completed == self.warmup {
                self.count_anew();
            }
            if self.ending == Ending::Completions(self.completed) {
                return true;
            }
        }
        false
    }

    fn is_void(&self, departure: &Departure) -> bool {
        self.faults.is_some() && self.live.get(&departure.job) != Some(&departure.start)
    }

    pub(super) fn fail_and_repair(&mut self) -> Result<(), RunError> {
        let now = self.now;
        while let Some(event) = self.faults.as_mut().and_then(|faults| faults.at(now)) {
            if event.change == Change::Repair {
                self.machine.repair(event.node)?;
            } else if let Some(job) = self.machine.fail(event.node)? {
                self.interrupt(job)?;
            }
        }
        Ok(())
    }

    /// A running job loses a node: it gives up the others, and waits again.
    fn interrupt(&mut self, job: JobId) -> Result<(), RunError> {
        self.live.remove(&job);
        let RunningJob { job, start } =
            self.running.interrupt(job).expect("only running jobs hold nodes");
        let placement = self.machine.release(job.id).expect("a running job holds nodes");
        self.observers.tell(&Fact::Interrupted {
            job: &job,
            start,
            placement: &placement,
            free: self.machine.free(),
        });
        let faults = self.faults.as_ref().expect("only failures interrupt");
        let rest = faults.rest_of(job, self.now.since(start));
        self.watch.interrupted(&rest)?;
        self.queue.reinsert(rest);
        Ok(())
    }

    pub(super) fn arrive(&mut self, job: Job) {
        self.arrived += 1;
        match self.machine.could_ever_fit(&job.request) {
            Ok(()) => {
                self.observers.tell(&Fact::Arrived(&job));
                self.queue.push(job);
            }
            Err(refusal) => {
                self.observers.tell(&Fact::Rejected(&job, refusal));
                self.rejected.push(job.id);
            }
        }
    }

    fn depart(&mut self, departure: &Departure) {
        let gone = self
            .running
            .depart(departure.estimated_end, departure.job)
            .expect("a job that departs runs");
        self.live.remove(&departure.job);
        let placement = self.machine.release(gone.job.id).expect("a running job holds nodes");
        self.completed += 1;
        self.observers.tell(&Fact::Departed {
            job: &gone.job,
            start: gone.start,
            placement: &placement,
            free: self.machine.free(),
        });
    }
}
