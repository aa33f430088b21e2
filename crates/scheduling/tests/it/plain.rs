//! Geometric EASY as its header tells it, with nothing remembered but the reservation, in lock-step
//! with the one that asks as little as it can.

use pavior_allocation::{Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_scheduling::{MachineView, Queue, Running, Scheduler, Start};
use pavior_workload::Job;
use proptest::prelude::*;

use crate::workloads::{Estimates, GRID, jobs, jobs_with_freedoms, strategies};
use crate::world::{NoObserver, World};

#[derive(Default)]
struct Plain {
    reservation: Option<(JobId, Time, Placement)>,
    /// The machine's state as this scheduler left it: in another one a job has departed.
    state: u64,
}

impl Scheduler for Plain {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let head = queue.get(0)?;
        if view.can_start(&head.request).is_ok() {
            return Some(Start::at(0));
        }
        let free = view.machine().free().clone();
        let kept = self.reservation.take().filter(|kept| kept.0 == head.id);
        if let Some((.., placement)) = &kept
            && placement.parts().iter().all(|part| free.is_free(part))
        {
            return Some(Start::on(0, placement.clone()));
        }
        let kept = kept.filter(|kept| kept.1 > now);
        let state = view.machine().state();
        let fresh = (kept.is_none() || self.state != state)
            .then(|| replay(now, head, running, view.machine()))
            .flatten();
        self.state = state;
        self.reservation = match (kept, fresh) {
            (Some(kept), Some(fresh)) => Some(if fresh.1 < kept.1 { fresh } else { kept }),
            (kept, fresh) => kept.or(fresh),
        };
        let (at, placement) = match &self.reservation {
            Some((_, at, placement)) => (*at, placement.clone()),
            None => (Time::MAX, Placement::Parts(Vec::new())),
        };
        for (index, job) in queue.iter().enumerate().skip(1) {
            if now + job.estimate <= at {
                if view.can_start(&job.request).is_ok() {
                    self.state += 1;
                    return Some(Start::at(index));
                }
            } else {
                let mut fork = view.machine().fork();
                fork.take_free(&placement);
                if let Ok(placement) = view.can_start_on(&mut fork, &job.request) {
                    self.state += 1;
                    return Some(Start::on(index, placement));
                }
            }
        }
        None
    }
}

fn replay(
    now: Time,
    head: &Job,
    running: &Running,
    machine: &Machine,
) -> Option<(JobId, Time, Placement)> {
    let mut ends: Vec<(Time, JobId)> = Vec::new();
    for job in running.by_estimated_end() {
        // One, two, four, ... estimates after its start, whichever is still to come.
        let lengths = (0..64).map(|power| job.job.estimate.0.max(1) << power);
        let mut expected = lengths.map(|length| job.start + Time(length)).find(|end| *end > now);
        if job.start == now && job.job.estimate == Time::ZERO {
            expected = Some(now);
        }
        ends.push((expected.unwrap(), job.job.id));
    }
    ends.sort_unstable();
    for at in ends.iter().map(|end| end.0) {
        let mut fork = machine.fork();
        for (_, gone) in ends.iter().filter(|end| end.0 <= at) {
            fork.give(machine.placement(*gone).unwrap()).unwrap();
        }
        if let Ok(placement) = fork.find(&head.request) {
            return Some((head.id, at, placement));
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn easy_decides_as_its_plain_form(jobs in jobs(40, Estimates::Any)) {
        for strategy in strategies(GRID) {
            let fast = World::new(GRID, strategy, "easy").run(&jobs, &mut NoObserver);
            let plain = World::with(GRID, strategy, Box::<Plain>::default());
            let plain = plain.run(&jobs, &mut NoObserver);
            prop_assert!(fast.attempts <= plain.attempts);
            prop_assert_eq!(fast.started, plain.started, "{}", strategy);
        }
    }

    #[test]
    fn easy_decides_as_its_plain_form_for_jobs_with_freedoms(
        jobs in jobs_with_freedoms(40, Estimates::Any),
    ) {
        // What a strategy draws depends on how often it was asked.
        for strategy in strategies(GRID).into_iter().filter(|name| *name != "random") {
            let fast = World::new(GRID, strategy, "easy").run(&jobs, &mut NoObserver);
            let plain = World::with(GRID, strategy, Box::<Plain>::default());
            let plain = plain.run(&jobs, &mut NoObserver);
            prop_assert_eq!(fast.started, plain.started, "{}", strategy);
        }
    }
}
