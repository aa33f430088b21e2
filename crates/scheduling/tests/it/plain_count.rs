//! Lock-step tests that compare conservative backfilling by count with an implementation based on
//! linear searches.

use pavior_allocation::Machine;
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_scheduling::{MachineView, Queue, Running, Scheduler, Start};
use pavior_trials::size;
use pavior_workload::Job;
use proptest::prelude::*;

use crate::workloads::{Estimates, GRID, jobs};
use crate::world::{Upset, World, fail_and_repair, in_lock_step};

#[derive(Default)]
struct Plain {
    health: Option<u64>,
    nodes: u64,
    running: Vec<Taken>,
    /// The bookings in queue order, or `None` for a job that does not fit on the healthy nodes.
    booked: Vec<Option<Taken>>,
}

/// A number of nodes, and the interval in which they are taken.
#[derive(Clone, Copy)]
struct Taken {
    job: JobId,
    nodes: u64,
    from: Time,
    to: Time,
}

impl Scheduler for Plain {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let health = view.health();
        let machine = view.machine();
        if self.health != Some(health) {
            *self = Plain { health: Some(health), ..Plain::of(now, running, machine) };
        }
        let mut early = false;
        self.running.retain(|taken| {
            let stays = machine.placement(taken.job).is_some();
            early |= !stays && taken.to > now;
            stays
        });
        while early {
            early = false;
            for index in 0..self.booked.len() {
                let Some(old) = self.booked[index].take() else { continue };
                let better = self.find(now, queue.get(index).unwrap(), old.from, machine);
                early |= better.is_some();
                self.booked[index] = Some(better.unwrap_or(old));
            }
        }
        let late = self.running.iter().any(|taken| taken.to <= now);
        if late || self.booked.iter().flatten().any(|taken| taken.from < now) {
            for job in running.by_estimated_end() {
                let taken = self.running.iter_mut().find(|taken| taken.job == job.job.id).unwrap();
                if taken.to <= now {
                    taken.to = expected(now, job.start, job.job.estimate);
                }
            }
            self.booked.clear();
        }
        for index in self.booked.len()..queue.len() {
            let booked = self.find(now, queue.get(index).unwrap(), Time(u64::MAX), machine);
            self.booked.push(booked);
        }
        for index in 0..self.booked.len() {
            let Some(taken) = self.booked[index].filter(|taken| taken.from <= now) else {
                continue;
            };
            if view.can_start(queue.get(index).unwrap()).is_ok() {
                self.booked.remove(index);
                self.running.push(taken);
                return Some(Start::at(index));
            }
        }
        None
    }
}

impl Plain {
    fn of(now: Time, running: &Running, machine: &Machine) -> Plain {
        let empty = machine.fork_empty();
        let grid = *machine.grid();
        let nodes = u64::from(empty.free().count());
        let mut plain = Plain { nodes, ..Plain::default() };
        for job in running.by_estimated_end() {
            let parts = machine.placement(job.job.id).unwrap().parts();
            let nodes = parts.iter().flat_map(|part| part.nodes(&grid));
            let nodes = nodes.filter(|node| empty.free().is_node_free(*node)).count() as u64;
            let to = expected(now, job.start, job.job.estimate).max(now + Time(1));
            plain.running.push(Taken { job: job.job.id, nodes, from: now, to });
        }
        plain
    }

    /// Returns the earliest time before `limit` from which enough nodes are free.
    fn find(&self, now: Time, job: &Job, limit: Time, machine: &Machine) -> Option<Taken> {
        let nodes = machine.needed(&job.request);
        let all = || self.running.iter().chain(self.booked.iter().flatten());
        let free = |at: Time| {
            let taken = all().filter(|taken| taken.from <= at && at < taken.to);
            self.nodes - taken.map(|taken| taken.nodes).sum::<u64>()
        };
        let last = all().map(|taken| taken.to).max().unwrap_or(now);
        let mut times = (now.0..=last.0.max(now.0)).map(Time).take_while(|at| *at < limit);
        let fits = |from: Time| {
            (from.0..from.0 + length(job).0).map(Time).all(|at| at > last || free(at) >= nodes)
        };
        let from = times.find(|from| self.nodes >= nodes && fits(*from))?;
        Some(Taken { job: job.id, nodes, from, to: from + length(job) })
    }
}

fn length(job: &Job) -> Time {
    job.estimate.max(Time(1))
}

/// Returns the expected end: the first time after now that is one, two, four, ... times the
/// estimate after the start.
fn expected(now: Time, start: Time, estimate: Time) -> Time {
    if start == now {
        return start + estimate;
    }
    let lengths = (0..40).map(|power| start + Time(estimate.0.max(1) << power));
    if start + estimate > now {
        start + estimate
    } else {
        lengths.into_iter().find(|end| *end > now).unwrap()
    }
}

fn compare(jobs: &[Job], strategy: &str, upsets: &[Upset]) {
    let plain = World::with(GRID, strategy, Box::<Plain>::default());
    in_lock_step(World::new(GRID, strategy, "conservative:count"), plain, jobs, upsets);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(4, 24, 24)))]

    #[test]
    fn conservative_by_count_decides_as_its_plain_form(
        exact in jobs(40, Estimates::Exact),
        safe in jobs(40, Estimates::Safe),
        any in jobs(40, Estimates::Any),
    ) {
        for jobs in [exact, safe, any] {
            // A box can be refused even if enough nodes are free, because they may be scattered.
            for strategy in ["naive", "mbs", "paging", "hilbert", "ff", "tff"] {
                compare(&jobs, strategy, &[]);
            }
        }
    }

    #[test]
    fn conservative_by_count_decides_as_its_plain_form_while_nodes_fail(
        jobs in jobs(30, Estimates::Any),
        nodes in prop::collection::vec(0u32..20, 3),
    ) {
        let upsets = fail_and_repair(&nodes);
        for strategy in ["naive", "mbs", "tff"] {
            compare(&jobs, strategy, &upsets);
        }
    }

    /// With exact estimates and a strategy that grants by count, no promise may be broken.
    #[test]
    fn with_exact_estimates_conservative_by_count_breaks_no_promise(
        jobs in jobs(60, Estimates::Exact),
    ) {
        for strategy in ["naive", "random", "mbs"] {
            let world = World::new(GRID, strategy, "conservative:count").run(&jobs);
            prop_assert_eq!(world.started.len(), jobs.len());
            prop_assert_eq!(world.broken(), 0);
        }
    }
}
