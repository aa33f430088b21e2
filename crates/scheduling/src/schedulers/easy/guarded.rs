//! What is left beside the head's reservation: the machine with the reserved nodes taken.

use pavior_allocation::{Fork, Machine, Placement};
use pavior_mesh::{Cuboid, JobId, Occupancy, Request};

use crate::shared::refused::Refused;
use crate::{MachineView, Running};

/// A fork of the machine in which the reserved nodes are taken, and what was refused there.
///
/// Where free nodes alone determine the strategy's answers, one fork follows the machine for as
/// long as the reservation lasts, so that what the strategy has found out about it is not found out
/// again: O(r) for r running jobs, and the nodes that changed. Else, and after failures, each state
/// of the machine needs a fork of its own.
#[derive(Default)]
pub(super) struct Guarded {
    /// Made for the first request that is not refused by count.
    fork: Option<Follower>,
    /// The jobs that were started since the fork was last brought up to date.
    started: Vec<JobId>,
    /// The machine's state, and the number of nodes left free in it.
    free: Option<(u64, u32)>,
    /// All nodes but the reserved ones.
    others: Option<Occupancy>,
    refused: Refused,
}

/// A fork, and the machine's state that it is of.
struct Follower {
    fork: Fork,
    state: u64,
    health: u64,
    /// What each running job holds.
    held: Vec<(JobId, Placement)>,
}

impl Guarded {
    /// The reservation is another one.
    pub(super) fn forget(&mut self) {
        *self = Guarded::default();
    }

    /// A job is started, which leaves the reservation as it is.
    pub(super) fn starts(&mut self, job: JobId) {
        self.started.push(job);
    }

    /// Where the strategy would put a request if the reserved nodes were taken.
    pub(super) fn place(
        &mut self,
        request: &Request,
        reserved: &Placement,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Placement> {
        self.refused.in_state(view.machine().state());
        let left = self.left_free(reserved, view.machine());
        let Guarded { fork, refused, .. } = self;
        refused.ask(request, |request| {
            if view.machine().needed(request) > u64::from(left) {
                view.refuse_by_count(left);
                return None;
            }
            let machine = view.machine();
            let follower = fork.get_or_insert_with(|| Follower::new(machine, reserved, running));
            view.can_start_on(&mut follower.fork, request).ok()
        })
    }

    /// The number of nodes left free; brings the fork up to date, or drops it, where the machine
    /// has changed.
    fn left_free(&mut self, reserved: &Placement, machine: &Machine) -> u32 {
        if let Some((state, free)) = self.free
            && state == machine.state()
        {
            return free;
        }
        self.fork =
            self.fork.take().and_then(|follower| follower.follow(machine, &self.started, reserved));
        self.started.clear();
        let free = match &self.fork {
            Some(follower) => follower.fork.free().count(),
            None => self.others(reserved, machine).count(),
        };
        self.free = Some((machine.state(), free));
        free
    }

    /// The nodes that are free and not reserved.
    fn others(&mut self, reserved: &Placement, machine: &Machine) -> Occupancy {
        let others = self.others.get_or_insert_with(|| {
            let mut others = Occupancy::all_free(*machine.grid());
            others.take_all(reserved.parts()).expect("what is reserved lies on the machine");
            others
        });
        let mut left = machine.free().clone();
        left.keep(others).expect("they are of one machine");
        left
    }
}

impl Follower {
    fn new(machine: &Machine, reserved: &Placement, running: &Running) -> Follower {
        let mut fork = machine.fork();
        fork.take_free(reserved);
        let mut held = Vec::new();
        if machine.is_determined() {
            let ids = running.by_estimated_end().map(|running| running.job.id);
            held.extend(ids.filter_map(|id| Some((id, machine.placement(id)?.clone()))));
        }
        Follower { fork, state: machine.state(), health: machine.health(), held }
    }

    /// The fork with what has departed and started since; none if that cannot be told, or if a job
    /// started on reserved nodes.
    fn follow(
        mut self,
        machine: &Machine,
        started: &[JobId],
        reserved: &Placement,
    ) -> Option<Follower> {
        if !machine.is_determined() || self.health != machine.health() {
            return None;
        }
        let (fork, grid) = (&mut self.fork, machine.grid());
        let mut is_reserved = false;
        let before = self.held.len();
        self.held.retain(|(job, held)| {
            let runs = machine.placement(*job).is_some();
            if !runs {
                fork.give(held).expect("the job held them");
                let meets = |part: &Cuboid| {
                    reserved.parts().iter().any(|other| part.intersects(grid, other))
                };
                is_reserved |= held.parts().iter().any(meets);
            }
            runs
        });
        let mut changes = before - self.held.len();
        for &job in started {
            changes += 1;
            // One that has departed again leaves nothing.
            let Some(holds) = machine.placement(job) else {
                changes += 1;
                continue;
            };
            fork.take(holds).ok()?;
            self.held.push((job, holds.clone()));
        }
        if is_reserved {
            fork.take_free(reserved);
        }
        // Each grant and each release adds one.
        self.state += changes as u64;
        (self.state == machine.state()).then_some(self)
    }
}
