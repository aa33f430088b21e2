//! What a strategy is, and what a machine asks of one beyond that.

use pavior_kernel::{CallerError, Stream};
use pavior_mesh::{Cuboid, Occupancy, Request};

use crate::{Placement, Work};

/// A rule that decides which free nodes a request gets. This is all that an author writes.
///
/// It proposes; the [`Machine`](crate::Machine) commits. A strategy may keep an index of its own,
/// such as a busy list, a free list or a buddy tree. It learns of every change through
/// [`granted`](Strategy::granted) and [`released`](Strategy::released). It must accept any free
/// boxes there, also boxes that it did not propose: those of a failed node, a reservation or a
/// plan. An entry for a strategy outside this crate is made of
/// [`StrategyKind::own`](crate::StrategyKind::own).
pub trait Strategy: Send + Sync {
    /// Proposes nodes for a request, or says that it has none.
    ///
    /// Changes nothing that a later answer depends on, except `draw`. Does not allocate memory when
    /// it finds nothing (once its scratch memory is warm).
    fn find(&mut self, free: &Occupancy, request: &Request, draw: &mut Stream)
    -> Option<Placement>;

    /// Takes note that these nodes, all of them free so far, are now taken.
    fn granted(&mut self, _placement: &Placement) {}

    /// Takes note that these nodes, granted together before, are free again.
    fn released(&mut self, _placement: &Placement) {}

    /// Returns how much it has looked at so far.
    fn work(&self) -> Work;

    /// Makes a copy, for questions of the kind "what if".
    fn fork(&self) -> Box<dyn Strategy>;

    /// Returns what has gone wrong in it, if it needs something that can fail: a script, a service.
    /// It answers `None` to the question that fails. A machine asks no more questions then, and a
    /// run stops with this error.
    fn error(&self) -> Option<CallerError> {
        None
    }

    /// Holds an index of its own against the truth; panics where they disagree. The conformance
    /// suite calls it after every step.
    fn validate(&self, _free: &Occupancy) {}
}

/// A strategy as a [`Machine`](crate::Machine) and its forks use it. Only this crate implements it,
/// so that it can grow without a change for authors. It has what makes plans on forks fast, and
/// what hardware with switches needs. The defaults are right for every strategy.
pub(crate) trait MachineStrategy: Strategy + CopyForMachine {
    /// Takes note that all of a box is taken from now on, and stays so for as long as there is this
    /// strategy: it is a copy for a plan. Of the box, the nodes `free` were free so far. They are
    /// not released.
    fn covered(&mut self, _whole: &Cuboid, free: &Placement) {
        self.granted(free);
    }

    /// Takes note that a box was granted where the strategy is not the copy for a plan that this
    /// one is. Of it, the nodes `free` were free here so far; the others lie in the box that is
    /// covered. It is released as a whole, and then covered again. Returns false, with nothing
    /// changed, if the strategy cannot follow that.
    fn granted_over(&mut self, _whole: &Cuboid, _free: &Placement) -> bool {
        false
    }

    /// Makes exactly these the free nodes. Returns false, with nothing changed, if the strategy can
    /// only follow grants and releases. For one whose answers depend on the free nodes alone, and
    /// whose index is rebuilt in less time than it follows many changes.
    fn reset(&mut self, _free: &Occupancy) -> bool {
        false
    }

    /// Returns true if switches join what a job holds, without which it cannot be granted or go on.
    fn uses_switches(&self, _placement: &Placement) -> bool {
        false
    }
}

/// A copy that stays a [`MachineStrategy`].
pub(crate) trait CopyForMachine {
    /// Makes a copy, as [`Strategy::fork`].
    fn copy(&self) -> Box<dyn MachineStrategy>;
}

impl<S: MachineStrategy + Clone + 'static> CopyForMachine for S {
    fn copy(&self) -> Box<dyn MachineStrategy> {
        Box::new(self.clone())
    }
}
