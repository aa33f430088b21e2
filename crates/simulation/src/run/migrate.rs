//! Running jobs move, and end later for it.

use pavior_allocation::Placement;
use pavior_planning::Move;
use pavior_scheduling::RunningJob;

use super::{DEPARTURES, Departure, Simulation};
use crate::{Endless, Fact, RunError};

impl Simulation<'_, '_, '_> {
    /// Moves running jobs so that the oldest waiting job fits, if that pays; false if none moves.
    pub(super) fn make_room(&mut self) -> Result<bool, RunError> {
        let (Some(mover), Some(oldest)) = (&mut self.mover, self.queue.get(0)) else {
            return Ok(false);
        };
        let plan = mover.plan(self.now, oldest, &self.running, &mut self.machine);
        let Some(moves) = plan else { return Ok(false) };
        for step in moves {
            self.carry_out(step)?;
        }
        Ok(true)
    }

    fn carry_out(&mut self, step: Move) -> Result<(), RunError> {
        let mover = self.mover.as_mut().expect("it has made the plan");
        let RunningJob { mut job, start } =
            self.running.interrupt(step.job).expect("only running jobs are moved");
        let placed = self.machine.relocate(job.id, Placement::from(step.to));
        let from = placed.expect("each move of a plan finds its nodes free");
        let to = self.machine.placement(job.id).expect("it was just moved");
        let price = mover.price(to.nodes());
        let late = Endless::Overflow { job: job.number, what: "end" };
        let end = mover.postpone(job.id, price).ok_or(late)?;
        // Schedulers know what it pays.
        job.estimate = job.estimate.saturating_add(price);
        let free = self.machine.free();
        self.observers.tell(&Fact::Moved { job: &job, start, from: &from, to, price, free });
        self.starts += 1;
        self.live.insert(job.id, self.starts);
        let estimated_end = start.saturating_add(job.estimate);
        let departure = Departure { job: job.id, estimated_end, start: self.starts };
        self.agenda.schedule(end, DEPARTURES, departure);
        self.running.start(job, start);
        Ok(())
    }
}
