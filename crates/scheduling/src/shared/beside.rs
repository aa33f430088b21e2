//! Placements on a machine where the nodes reserved for a waiting job count as taken.

use pavior_allocation::{Fork, Machine, Placement};
use pavior_mesh::Occupancy;
use pavior_workload::Job;

use crate::shared::refused::Refused;
use crate::{MachineView, Reach};

/// A search for placements that avoid the reserved nodes.
///
/// The strategy is queried on a fork of the machine. If the strategy's answers depend only on the
/// free nodes, one fork lasts as long as the reservation: it is updated in O(1) after each grant or
/// release, and the strategy keeps its caches. Otherwise, or after a failure, a new fork is made
/// for each state of the machine. A job that overlaps an advance reservation is placed on a
/// separate fork.
#[derive(Default)]
pub(crate) struct BesideReservation {
    /// The fork, created for the first request that cannot be refused by count alone.
    fork: Option<UpdatedFork>,
    /// The state of the machine, and the number of free unreserved nodes counted in that state.
    free: Option<(u64, u32)>,
    /// All nodes except the reserved ones.
    unreserved: Option<Occupancy>,
    refused: Refused,
}

/// A fork, and the state of the machine that it represents.
struct UpdatedFork {
    fork: Fork,
    state: u64,
    health: u64,
}

impl BesideReservation {
    /// Clears everything because the reservation has changed.
    pub(crate) fn forget(&mut self) {
        *self = BesideReservation::default();
    }

    /// Returns the strategy's placement for a job, with the reserved nodes counted as taken.
    pub(crate) fn place(
        &mut self,
        job: &Job,
        reserved: &Placement,
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
            view.remember_changes();
            let machine = view.machine();
            if reach != Reach::NONE {
                let mut fork = machine.fork();
                fork.take_free(reserved);
                return view.can_start_on(&mut fork, job).ok();
            }
            let current = fork.get_or_insert_with(|| UpdatedFork::new(machine, reserved));
            view.can_start_on(&mut current.fork, job).ok()
        })
    }

    /// Returns the number of free unreserved nodes. If the machine has changed, updates or drops
    /// the fork.
    fn count_free(&mut self, reserved: &Placement, machine: &Machine) -> u32 {
        if let Some((state, free)) = self.free
            && state == machine.state()
        {
            return free;
        }
        self.fork = self.fork.take().and_then(|fork| fork.update(machine));
        let free = match &self.fork {
            Some(current) => current.fork.free().count(),
            None => self.unreserved_free(reserved, machine).count(),
        };
        self.free = Some((machine.state(), free));
        free
    }

    /// Returns the free unreserved nodes.
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
    fn new(machine: &Machine, reserved: &Placement) -> UpdatedFork {
        let mut fork = machine.fork();
        fork.take_free(reserved);
        UpdatedFork { fork, state: machine.state(), health: machine.health() }
    }

    /// Applies the grants and releases made since `state`. Returns `None` if they are not recorded,
    /// or if the strategy cannot apply a grant of reserved nodes.
    fn update(mut self, machine: &Machine) -> Option<UpdatedFork> {
        if !machine.is_determined() || self.health != machine.health() {
            return None;
        }
        for change in machine.changes_since(self.state)? {
            if change.granted {
                self.fork.take_over(&change.placement).then_some(())?;
            } else {
                self.fork.give(&change.placement).ok()?;
            }
        }
        self.state = machine.state();
        Some(self)
    }
}
