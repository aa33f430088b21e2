//! EASY's plain search: it remembers nothing and asks the strategy each time.

use pavior_allocation::Machine;
use pavior_kernel::Time;
use pavior_mesh::Request;
use pavior_workload::Job;

use super::replay::release;
use super::rule::{Reservation, Search};
use crate::shared::ends::by_expected_end;
use crate::{MachineView, Queue, Running, Start};

/// The plain search.
#[derive(Default)]
pub(super) struct Plain;

impl Search for Plain {
    fn fits(&mut self, request: &Request, view: &mut MachineView<'_>) -> bool {
        view.can_start(request).is_ok()
    }

    fn earliest(
        &mut self,
        now: Time,
        head: &Job,
        limit: Time,
        running: &Running,
        machine: &Machine,
    ) -> Option<Reservation> {
        let ends: Vec<_> = by_expected_end(now, running).collect();
        for (index, &(at, _)) in ends.iter().enumerate().take_while(|(_, end)| end.0 < limit) {
            let last_at_this_time = ends.get(index + 1).is_none_or(|next| next.0 > at);
            if last_at_this_time {
                let mut fork = machine.fork();
                release(&mut fork, &ends[..=index], machine);
                if let Ok(placement) = fork.find(&head.request) {
                    return Some(Reservation { head: head.id, at, placement });
                }
            }
        }
        None
    }

    fn backfill(
        &mut self,
        now: Time,
        queue: &Queue,
        reservation: Option<&Reservation>,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        for (index, job) in queue.iter().enumerate().skip(1) {
            let end = now.saturating_add(job.estimate);
            match reservation.filter(|reservation| end > reservation.at) {
                None => {
                    if view.can_start(&job.request).is_ok() {
                        return Some(Start::at(index));
                    }
                }
                Some(reservation) => {
                    let mut fork = view.machine().fork();
                    fork.take_free(&reservation.placement);
                    if let Ok(placement) = view.can_start_on(&mut fork, &job.request) {
                        return Some(Start::on(index, placement));
                    }
                }
            }
        }
        None
    }
}
