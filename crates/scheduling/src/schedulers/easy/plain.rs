//! EASY's plain search, which caches nothing.

use pavior_kernel::Time;
use pavior_workload::Job;

use super::replay::release;
use super::rule::{Reservation, Search};
use crate::shared::ends::{Expected, instants};
use crate::{MachineView, Queue, Start};

#[derive(Default)]
pub(super) struct Plain;

impl Search for Plain {
    fn fits(&mut self, job: &Job, view: &mut MachineView<'_>) -> bool {
        view.can_start(job).is_ok()
    }

    fn earliest(
        &mut self,
        head: &Job,
        limit: Time,
        expected: &Expected<'_>,
        view: &mut MachineView<'_>,
    ) -> Option<Reservation> {
        let ends: Vec<_> = expected.by_end().collect();
        let instants = instants(expected.now, &ends, view.calendar()).into_iter();
        for instant in instants.take_while(|instant| instant.at < limit) {
            let mut fork = view.machine().fork();
            release(&mut fork, &ends[..instant.ended], view.machine());
            let reserved = view.calendar().and_then(|all| all.reserved(instant.at, head.estimate));
            if let Some(reserved) = reserved {
                fork.take_free(&reserved);
            }
            if let Ok(placement) = fork.find(&head.request) {
                return Some(Reservation { head: head.id, at: instant.at, placement });
            }
        }
        None
    }

    fn backfill(
        &mut self,
        now: Time,
        queue: &Queue,
        reservation: Option<&Reservation>,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        for (index, job) in queue.iter().enumerate().skip(1) {
            let end = now.saturating_add(job.estimate);
            match reservation.filter(|reservation| end > reservation.at) {
                None => {
                    if view.can_start(job).is_ok() {
                        return Some(Start::at(index));
                    }
                }
                Some(reservation) => {
                    let mut fork = view.machine().fork();
                    fork.take_free(&reservation.placement);
                    if let Ok(placement) = view.can_start_on(&mut fork, job) {
                        return Some(Start::on(index, placement));
                    }
                }
            }
        }
        None
    }
}
