//! Moves running jobs.

use pavior_allocation::Placement;
use pavior_answers::Move;

use super::{DEPARTURES, Departure, Simulation};
use crate::{Endless, Fact, RunError};

impl Simulation<'_, '_, '_> {
    /// Moves running jobs to make room for the oldest waiting job, if that saves more time than it
    /// costs. Returns false if nothing was moved.
    pub(super) fn make_room(&mut self) -> Result<bool, RunError> {
        let Some(mover) = &mut self.mover else { return Ok(false) };
        let Some(moves) = mover.plan(self.now, &mut self.dispatcher) else { return Ok(false) };
        for step in moves {
            self.carry_out(step)?;
        }
        Ok(true)
    }

    fn carry_out(&mut self, step: Move) -> Result<(), RunError> {
        const RUNS: &str = "only running jobs are moved";
        let mover = self.mover.as_mut().expect("it has made the plan");
        let placed = self.dispatcher.relocate(step.job, Placement::from(step.to));
        let from = placed.expect("the target nodes of every planned move are free");
        let price = mover.price(from.nodes());
        let job = &self.dispatcher.running().get(step.job).expect(RUNS).job;
        let late = Endless::Overflow { job: job.number, what: "end" };
        let end = mover.postpone(step.job, price).ok_or(late)?;
        // To schedulers, the cost of the move is part of the job's estimate.
        self.dispatcher.estimate_anew(step.job, job.estimate.saturating_add(price));
        let machine = self.dispatcher.machine();
        let (to, free) = (machine.placement(step.job).expect("it was just moved"), machine.free());
        let running = self.dispatcher.running().get(step.job).expect(RUNS);
        let (job, start) = (&running.job, running.start);
        self.observers.tell(&Fact::Moved { job, start, from: &from, to, price, free });
        self.starts += 1;
        self.live.insert(step.job, self.starts);
        let departure = Departure { job: step.job, start: self.starts };
        self.agenda.schedule(end, DEPARTURES, departure);
        Ok(())
    }
}
