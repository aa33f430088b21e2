//! Conservative backfilling as its header tells it, with nothing remembered but bookings and
//! without a profile, in lock-step with the one that asks as little as it can.

use pavior_allocation::{Fork, Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{JobId, Occupancy};
use pavior_scheduling::{MachineView, Queue, Running, Scheduler, Start};
use pavior_workload::Job;
use proptest::prelude::*;

use crate::workloads::{Estimates, GRID, jobs, jobs_with_freedoms, strategies};
use crate::world::{Upset, World, fail_and_repair, in_lock_step};

#[derive(Default)]
struct Plain {
    /// The strategy on an empty machine of this health.
    blank: Option<(u64, Fork)>,
    running: Vec<Taken>,
    /// In the order of the queue; no stretch for a job that does not fit.
    booked: Vec<(JobId, Option<Taken>)>,
}

/// Nodes taken from a time to another.
#[derive(Clone)]
struct Taken {
    job: JobId,
    from: Time,
    to: Time,
    placement: Placement,
}

impl Scheduler for Plain {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let machine = view.machine();
        if self.blank.as_ref().is_none_or(|(health, _)| *health != machine.health()) {
            *self =
                Plain { blank: Some((machine.health(), machine.fork_empty())), ..Plain::default() };
            for job in running.by_estimated_end() {
                let placement = machine.placement(job.job.id).unwrap().clone();
                let to = expected(now, job.start, job.job.estimate).max(now + Time(1));
                self.running.push(Taken { job: job.job.id, from: now, to, placement });
            }
            self.running.sort_by_key(|taken| (taken.to, taken.job));
        }
        let (mut departed, mut early) = (false, false);
        self.running.retain(|taken| {
            let stays = machine.placement(taken.job).is_some();
            departed |= !stays;
            early |= !stays && taken.to > now;
            stays
        });
        if early {
            self.move_up(now, queue, machine);
        }
        if departed {
            self.book_unbooked(now, queue, machine);
        }
        let late = self.running.iter().any(|taken| taken.to <= now);
        let passed = self.booked.iter().flat_map(|(_, taken)| taken).any(|taken| taken.from < now);
        if late || passed {
            for job in running.by_estimated_end() {
                let taken = self.running.iter_mut().find(|taken| taken.job == job.job.id).unwrap();
                if taken.to <= now {
                    taken.to = expected(now, job.start, job.job.estimate);
                }
            }
            self.booked.clear();
        }
        for index in self.booked.len()..queue.len() {
            let job = queue.get(index).unwrap();
            let taken = self.find(now, job, Time::MAX, machine);
            self.booked.push((job.id, taken));
        }
        let due = |(_, taken): &(JobId, Option<Taken>)| {
            taken.as_ref().is_some_and(|taken| taken.from <= now)
        };
        let index = self.booked.iter().position(due)?;
        let taken = self.booked.remove(index).1.unwrap();
        self.running.push(taken.clone());
        Some(Start::on(index, taken.placement))
    }
}

impl Plain {
    fn book_unbooked(&mut self, now: Time, queue: &Queue, machine: &Machine) {
        for index in 0..self.booked.len() {
            if self.booked[index].1.is_none() {
                let job = queue.get(index).unwrap();
                self.booked[index].1 = self.find(now, job, Time::MAX, machine);
            }
        }
    }

    fn move_up(&mut self, now: Time, queue: &Queue, machine: &Machine) {
        let mut moved = true;
        while moved {
            moved = false;
            for index in 0..self.booked.len() {
                let Some(old) = self.booked[index].1.take() else { continue };
                let job = queue.get(index).unwrap();
                let same = |plain: &Plain| {
                    let starts = plain.times(now).into_iter().take_while(|at| *at < old.from);
                    let mut free = starts.map(|at| (at, plain.free(at, at + length(job))));
                    free.find(|(_, free)| {
                        old.placement.parts().iter().all(|part| free.is_free(part))
                    })
                };
                let better = self.find(now, job, old.from, machine).or_else(|| {
                    let (from, _) = same(self)?;
                    Some(Taken { from, to: from + length(job), ..old.clone() })
                });
                moved |= better.is_some();
                self.booked[index].1 = Some(better.unwrap_or(old));
            }
        }
    }

    /// The earliest time before `limit` at which the strategy places a job.
    fn find(&mut self, now: Time, job: &Job, limit: Time, machine: &Machine) -> Option<Taken> {
        for from in self.times(now).into_iter().take_while(|at| *at < limit) {
            let free = self.free(from, from + length(job));
            if u64::from(free.count()) < machine.needed(&job.request) {
                continue;
            }
            let (_, blank) = self.blank.as_mut().unwrap();
            if let Ok(placement) = blank.find_within(&free, &job.request) {
                return Some(Taken { job: job.id, from, to: from + length(job), placement });
            }
        }
        None
    }

    /// Now, and when the free nodes change from then on.
    fn times(&self, now: Time) -> Vec<Time> {
        let taken = self.all();
        let mut times: Vec<Time> =
            taken.flat_map(|taken| [taken.from, taken.to]).filter(|at| *at > now).collect();
        times.sort_unstable();
        times.dedup();
        times.retain(|at| self.free(*at - Time(1), *at) != self.free(*at, *at + Time(1)));
        times.insert(0, now);
        times
    }

    fn all(&self) -> impl Iterator<Item = &Taken> {
        self.running.iter().chain(self.booked.iter().filter_map(|(_, taken)| taken.as_ref()))
    }

    /// The nodes free throughout a stretch.
    fn free(&self, from: Time, to: Time) -> Occupancy {
        let mut free = self.blank.as_ref().unwrap().1.free().clone();
        for taken in self.all().filter(|taken| taken.from < to && from < taken.to) {
            let grid = *free.grid();
            for node in taken.placement.parts().iter().flat_map(|part| part.nodes(&grid)) {
                free.take_node(node);
            }
        }
        free
    }
}

pub(crate) fn length(job: &Job) -> Time {
    job.estimate.max(Time(1))
}

/// One, two, four, ... estimates after its start, whichever is still to come.
pub(crate) fn expected(now: Time, start: Time, estimate: Time) -> Time {
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

fn compare(grid: &str, jobs: &[Job], strategy: &str, upsets: &[Upset]) {
    let plain = World::with(grid, strategy, Box::<Plain>::default());
    in_lock_step(World::new(grid, strategy, "conservative"), plain, jobs, upsets);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn conservative_decides_as_its_plain_form(
        safe in jobs(40, Estimates::Safe),
        any in jobs(40, Estimates::Any),
    ) {
        for jobs in [safe, any] {
            for strategy in strategies(GRID) {
                compare(GRID, &jobs, strategy, &[]);
            }
        }
    }

    /// A strategy that grants by count refuses a box where enough nodes are free, and one that
    /// grants boxes alone grants a connected set where none is free.
    #[test]
    fn conservative_decides_as_its_plain_form_for_jobs_with_freedoms(
        jobs in jobs_with_freedoms(40, Estimates::Any),
    ) {
        // What a strategy draws depends on how often it was asked.
        for strategy in strategies(GRID).into_iter().filter(|name| *name != "random") {
            compare(GRID, &jobs, strategy, &[]);
        }
    }

    #[test]
    fn conservative_decides_as_its_plain_form_around_rings_and_in_depth(
        jobs in jobs(60, Estimates::Any),
    ) {
        for grid in ["torus:5x4", "torus:9x5", "mesh:5x4x3", "torus:5x4x3"] {
            for strategy in ["ff", "tff", "bf", "mbs"] {
                compare(grid, &jobs, strategy, &[]);
            }
        }
    }

    #[test]
    fn conservative_decides_as_its_plain_form_while_nodes_fail(
        jobs in jobs(30, Estimates::Any),
        nodes in prop::collection::vec(0u32..20, 3),
    ) {
        let upsets = fail_and_repair(&nodes);
        // Those that miss some boxes among them. Strategies whose lists of free boxes remember in
        // which order these came about (fl, kymfl, pmfl) choose otherwise after other questions.
        for strategy in ["ff", "bf", "fs", "naive", "mbs", "gabl", "anca"] {
            compare(GRID, &jobs, strategy, &upsets);
        }
    }
}
