//! Decisions on advance reservations.

use std::sync::Arc;

use super::{Deciding, Stop};
use crate::core::lease::boxes;
use crate::core::{
    Event, Instant, Problem, Reason, Reply, Reservation, ReservationRequest, Why, reply,
};

/// The maximum number of reservations, because each decision examines all of a machine's.
const MAX_RESERVATIONS: usize = 1000;

impl Deciding<'_> {
    pub(super) fn reserve(&mut self, asked: ReservationRequest) -> Result<Reply, Stop> {
        self.operator("reserve nodes")?;
        let board = self.board(asked.machine.as_deref())?;
        let from_ms = asked.from_ms.unwrap_or(self.now_ms);
        if asked.to_ms <= self.now_ms {
            let detail = format!(
                "the reservation would already have ended: the time is now {}",
                Instant(self.now_ms)
            );
            return Err(Problem::bad(detail).into());
        }
        if self.state.reservations.len() >= MAX_RESERVATIONS {
            let detail = format!("there are already {MAX_RESERVATIONS} reservations, the maximum");
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
        reservation.ahead(&grid).map_err(Problem::bad)?;
        let reply = self.shown(&reservation);
        self.record(Event::Reserved { reservation: Arc::new(reservation) });
        // The scheduler's plans are no longer valid.
        self.schedule(board);
        Ok(Reply::Reserved(reply))
    }

    pub(super) fn unreserve(&mut self, id: u64) -> Result<Reply, Stop> {
        self.operator("cancel reservations")?;
        let Some(reservation) = self.state.reservations.get(&id).cloned() else {
            let detail = format!("there is no reservation {id}");
            return Err(Problem::new(Reason::UnknownReservation, detail).into());
        };
        let reply = self.shown(&reservation);
        if let Some(board) = self.record_unreserved(id, Why::Cancelled) {
            self.schedule(board);
        }
        Ok(Reply::Unreserved(reply))
    }

    /// Records the end of a reservation and returns the index of its machine.
    pub(super) fn record_unreserved(&mut self, id: u64, why: Why) -> Option<usize> {
        let machine = self.state.reservations.get(&id).map(|one| one.machine.clone());
        self.record(Event::Unreserved { id, why });
        self.state.board_index(machine.as_deref())
    }

    fn shown(&self, reservation: &Reservation) -> reply::Reservation {
        let board = self.state.board_index(Some(&reservation.machine));
        let grid = &self.state.boards[board.unwrap_or_default()].grid;
        let leases = self.state.leases.values().map(|lease| &**lease);
        reply::Reservation::of(grid, reservation, leases)
    }

    pub(super) fn reserved_problem(&self, id: u64) -> Problem {
        let detail = self.state.reservations.get(&id).map_or_else(String::new, |one| {
            let (from, to) = (Instant(one.from_ms), Instant(one.to_ms));
            format!(
                "the request would fit now, but nodes are reserved from {from} until {to} \
                 (reservation {id}) and it would not end before then: give a shorter \
                 \"estimate_s\" or \"ttl_s\""
            )
        });
        Problem::new(Reason::Reserved, detail)
    }
}
