//! The machine beside the reservation of a waiting job: the reserved nodes are taken.

use pavior_allocation::{Fork, Machine, Placement};
use pavior_mesh::{Cuboid, JobId, Occupancy};
use pavior_workload::Job;

use crate::shared::refused::Refused;
use crate::{MachineView, Reach, Running};

/// Answers requests as if the reserved nodes were taken.
///
/// The strategy is asked on a fork of the machine. If free nodes alone decide its answers, one fork
/// lasts as long as the reservation. It is brought up to date, in O(r) for r running jobs, and the
/// strategy keeps what it has learnt. Otherwise, and after failures, the fork is made anew for each
/// state of the machine. For a job that reaches into a reservation ahead, a fork is made for the
/// question.
#[derive(Default)]
pub(crate) struct BesideReservation {
    /// Made for the first request that is not refused by count.
    fork: Option<UpdatedFork>,
    /// The jobs that started since the fork was last brought up to date.
    started: Vec<JobId>,
    /// A state of the machine, and the number of nodes that are free beside the reservation in it.
    free: Option<(u64, u32)>,
    /// All nodes but the reserved ones.
    unreserved: Option<Occupancy>,
    refused: Refused,
}

/// A fork, and the state of the machine that it shows.
struct UpdatedFork {
    fork: Fork,
    state: u64,
    health: u64,
    /// The running jobs, and what they hold.
    held: Vec<(JobId, Placement)>,
}

impl BesideReservation {
    /// Forgets everything: the reservation has changed.
    pub(crate) fn forget(&mut self) {
        *self = BesideReservation::default();
    }

    /// Notes that a job starts while the reservation stays.
    pub(crate) fn starts(&mut self, job: JobId) {
        self.started.push(job);
    }

    /// Where the strategy would put a job if the reserved nodes were taken.
    pub(crate) fn place(
        &mut self,
        job: &Job,
        reserved: &Placement,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Placement> {
        self.refused.in_state(view.state());
        let free = self.count_free(reserved, view.machine());
        let BesideReservation { fork, refused, .. } = self;
        let reach = view.reach(job);
        refused.ask(job, reach, || {
            if view.machine().needed(&job.request) > u64::from(free) {
                view.refuse_by_count(free);
                return None;
            }
            let machine = view.machine();
            if reach != Reach::NONE {
                let mut fork = machine.fork();
                fork.take_free(reserved);
                return view.can_start_on(&mut fork, job).ok();
            }
            let current = fork.get_or_insert_with(|| UpdatedFork::new(machine, reserved, running));
            view.can_start_on(&mut current.fork, job).ok()
        })
    }

    /// The number of nodes that are free beside the reservation. If the machine has changed, the
    /// fork is brought up to date, or dropped.
    fn count_free(&mut self, reserved: &Placement, machine: &Machine) -> u32 {
        if let Some((state, free)) = self.free
            && state == machine.state()
        {
            return free;
        }
        self.fork = self.fork.take().and_then(|fork| fork.update(machine, &self.started, reserved));
        self.started.clear();
        let free = match &self.fork {
            Some(current) => current.fork.free().count(),
            None => self.unreserved_free(reserved, machine).count(),
        };
        self.free = Some((machine.state(), free));
        free
    }

    /// The nodes that are free and not reserved.
    fn unreserved_free(&mut self, reserved: &Placement, machine: &Machine) -> Occupancy {
        let unreserved = self.unreserved.get_or_insert_with(|| {
            let mut unreserved = Occupancy::all_free(*machine.grid());
            unreserved.take_all(reserved.parts()).expect("reserved nodes lie on the machine");
            unreserved
        });
        let mut free = machine.free().clone();
        free.keep(unreserved).expect("both are of one machine");
        free
    }
}

impl UpdatedFork {
    fn new(machine: &Machine, reserved: &Placement, running: &Running) -> UpdatedFork {
        let mut fork = machine.fork();
        fork.take_free(reserved);
        let mut held = Vec::new();
        if machine.is_determined() {
            let ids = running.by_estimated_end().map(|running| running.job.id);
            held.extend(ids.filter_map(|id| Some((id, machine.placement(id)?.clone()))));
        }
        UpdatedFork { fork, state: machine.state(), health: machine.health(), held }
    }

    /// The fork after the ends and starts since. `None` if these do not explain the machine's
    /// state, or if a job started on reserved nodes.
    fn update(
        mut self,
        machine: &Machine,
        started: &[JobId],
        reserved: &Placement,
    ) -> Option<UpdatedFork> {
        if !machine.is_determined() || self.health != machine.health() {
            return None;
        }
        let (fork, grid) = (&mut self.fork, machine.grid());
        let mut frees_reserved = false;
        let before = self.held.len();
        // Each start and each end adds one to the state. Of those that were held, so many ended.
        let mut ends = machine.state().saturating_sub(self.state + started.len() as u64);
        self.held.retain(|(job, held)| {
            let runs = ends == 0 || machine.placement(*job).is_some();
            if !runs {
                ends -= 1;
                fork.give(held).expect("the job held them");
                let meets = |part: &Cuboid| {
                    reserved.parts().iter().any(|other| part.intersects(grid, other))
                };
                frees_reserved |= held.parts().iter().any(meets);
            }
            runs
        });
        let mut changes = before - self.held.len();
        for &job in started {
            changes += 1;
            let Some(holds) = machine.placement(job) else {
                // It started and has ended since.
                changes += 1;
                continue;
            };
            fork.take(holds).ok()?;
            self.held.push((job, holds.clone()));
        }
        if frees_reserved {
            fork.take_free(reserved);
        }
        self.state += changes as u64;
        (self.state == machine.state()).then_some(self)
    }
}
