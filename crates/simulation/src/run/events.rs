//! Processes the events that precede job starts: departures, repairs, failures and arrivals.

use pavior_allocation::Refusal;
use pavior_mesh::JobId;
use pavior_scheduling::RunningJob;
use pavior_workload::Job;

use super::{DEPARTURES, Departure, Simulation};
use crate::faults::Effect;
use crate::{Ending, Fact, RunError};

impl Simulation<'_, '_, '_> {
    /// Processes all departures at the current time. Returns true if one of them ends the run.
    pub(super) fn depart_all(&mut self) -> bool {
        for job in self.finished.drain(..) {
            self.agenda.schedule(self.now, DEPARTURES, Departure { job, start: 0 });
        }
        while self.agenda.next_time() == Some(self.now) {
            let (_, departure) = self.agenda.pop().expect("it was just seen");
            if self.is_void(&departure) {
                continue;
            }
            self.depart(departure.job);
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
        (self.faults.is_some() || self.mover.is_some())
            && self.live.get(&departure.job) != Some(&departure.start)
    }

    pub(super) fn fail_and_repair(&mut self) -> Result<(), RunError> {
        let now = self.now;
        while let Some(faults) = &mut self.faults {
            let Some(effects) = faults.at(now)? else { break };
            for effect in effects {
                self.suffer(effect)?;
            }
        }
        Ok(())
    }

    fn suffer(&mut self, effect: Effect) -> Result<(), RunError> {
        match effect {
            Effect::Lost(node) => {
                if let Some(job) = self.dispatcher.fail(node)? {
                    self.interrupt(job)?;
                }
            }
            // A job that holds the node keeps it until the job ends.
            Effect::Withdrawn(node) => drop(self.dispatcher.fail(node)?),
            Effect::Back(node) => self.dispatcher.repair(node)?,
            Effect::SwitchesLost => {
                self.dispatcher.set_switches(false);
                for job in self.dispatcher.machine().switched_jobs() {
                    self.interrupt(job)?;
                }
            }
            Effect::SwitchesBack => self.dispatcher.set_switches(true),
        }
        Ok(())
    }

    /// Interrupts a running job, which releases its nodes and returns to the queue.
    fn interrupt(&mut self, job: JobId) -> Result<(), RunError> {
        self.live.remove(&job);
        let (RunningJob { job, start }, placement) =
            self.dispatcher.end(job).expect("only running jobs hold nodes");
        let free = self.dispatcher.machine().free();
        let placement = &placement;
        self.observers.tell(&Fact::Interrupted { job: &job, start, placement, free });
        let faults = self.faults.as_ref().expect("only failures interrupt");
        let whole = job.service;
        let rest = faults.rest_of(job, self.now.since(start));
        self.watch.interrupted(&rest, rest.service == whole)?;
        Ok(self.dispatcher.resubmit(rest)?)
    }

    pub(super) fn arrive(&mut self, job: Job) -> Result<(), RunError> {
        self.arrived += 1;
        match self.could_ever_fit(&job) {
            Ok(()) => {
                self.observers.tell(&Fact::Arrived(&job));
                self.dispatcher.submit(job)?;
            }
            Err(refusal) => {
                self.observers.tell(&Fact::Rejected(&job, refusal));
                self.rejected.push(job.id);
                self.jobs.ended(job.index, self.now);
            }
        }
        Ok(())
    }

    /// Checks that a job could start on the empty, healthy machine with its spares out of use.
    pub(super) fn could_ever_fit(&mut self, job: &Job) -> Result<(), Refusal> {
        self.dispatcher.could_ever_fit(&job.request)?;
        let faults = self.faults.as_mut();
        if faults.is_none_or(|faults| faults.leaves_room_for(&job.request)) {
            Ok(())
        } else {
            Err(Refusal::UnsupportedShape)
        }
    }

    fn depart(&mut self, job: JobId) {
        self.live.remove(&job);
        if let Some(mover) = &mut self.mover {
            mover.departs(job);
        }
        let (RunningJob { job, start }, placement) =
            self.dispatcher.end(job).expect("a job that departs runs");
        self.completed += 1;
        let free = self.dispatcher.machine().free();
        let placement = &placement;
        self.observers.tell(&Fact::Departed { job: &job, start, placement, free });
        self.jobs.ended(job.index, self.now);
    }
}
