//! Decisions on advance reservations.

use std::sync::Arc;

use super::{Decider, Stop};
use crate::core::lease::boxes;
use crate::core::{
    EndReason, Event, Instant, Problem, Reason, Reply, Reservation, ReservationRequest, reply,
};

/// The maximum number of reservations. Every decision examines all reservations on its machine.
const MAX_RESERVATIONS: usize = 1000;

impl Decider<'_> {
    pub(super) fn reserve(&mut self, asked: ReservationRequest) -> Result<Reply, Stop> {
        self.caller.require_operator("reserve nodes")?;
        let board = self.board(asked.machine.as_deref())?;
        let from_ms = asked.from_ms.unwrap_or(self.now_ms);
        if asked.to_ms <= self.now_ms {
            let detail = format!(
                "the reservation would already be over: the current time is {}",
                Instant(self.now_ms)
            );
            return Err(Problem::bad(detail).into());
        }
        if self.state.reservations.len() >= MAX_RESERVATIONS {
            let detail =
                format!("the maximum number of reservations ({MAX_RESERVATIONS}) has been reached");
            return Err(Problem::new(Reason::TooLarge, detail).into());
        }
        let reservation = Reservation {
            id: self.state.next_id,
            machine: self.state.boards[board].spec.name.clone(),
            parts: boxes(&asked.parts),
            from_ms,
            to_ms: asked.to_ms,
            name: asked.name,
        };
        let grid = self.state.boards[board].grid;
        reservation.calendar_entry(&grid).map_err(Problem::bad)?;
        let reply = self.reply_to(board, &reservation);
        self.record(Event::Reserved { reservation: Arc::new(reservation) });
        // Waiting requests must be scheduled around the new reservation.
        self.schedule(board);
        Ok(Reply::Reserved(reply))
    }

    pub(super) fn unreserve(&mut self, id: u64) -> Result<Reply, Stop> {
        self.caller.require_operator("cancel reservations")?;
        let Some(reservation) = self.state.reservations.get(&id).cloned() else {
            let detail = format!("no such reservation: `{id}`");
            return Err(Problem::new(Reason::UnknownReservation, detail).into());
        };
        let board = self.board(Some(&reservation.machine))?;
        let reply = self.reply_to(board, &reservation);
        self.record_unreserved(id, EndReason::Cancelled);
        self.schedule(board);
        Ok(Reply::Unreserved(reply))
    }

    /// Records the end of a reservation and returns the index of its machine.
    pub(super) fn record_unreserved(&mut self, id: u64, why: EndReason) -> Option<usize> {
        let machine = self.state.reservations.get(&id).map(|one| one.machine.clone());
        self.record(Event::Unreserved { id, why });
        self.state.board_index(machine.as_deref())
    }

    fn reply_to(&self, board: usize, reservation: &Reservation) -> reply::ReservationReply {
        let leases = self.state.leases.values().map(|lease| &**lease);
        let grid = &self.state.boards[board].grid;
        reply::ReservationReply::of(grid, reservation, self.now_ms, leases)
    }
}

/// Returns the problem for a request whose job would still be running when a reservation starts.
pub(super) fn reserved_problem(reservation: &Reservation) -> Problem {
    let (from, to) = (Instant(reservation.from_ms), Instant(reservation.to_ms));
    let detail = format!(
        "the request fits now, but it would still hold nodes when reservation {} needs them, from \
         {from} to {to}; specify a shorter \"estimate_s\" or \"ttl_s\"",
        reservation.id
    );
    Problem::new(Reason::Reserved, detail)
}
