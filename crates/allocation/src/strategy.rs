//! A strategy's interface, and additional methods used by a machine.

use pavior_kernel::{CallerError, Stream};
use pavior_mesh::{Cuboid, Occupancy, Request};

use crate::{Placement, Work};

/// A rule that chooses free nodes for a request. Authors need to implement only this trait.
///
/// A strategy proposes; the [`Machine`](crate::Machine) commits. It may keep its own index, such as
/// a busy list, a free list or a buddy tree. It learns of every change through
/// [`granted`](Strategy::granted) and [`released`](Strategy::released). They must accept any free
/// boxes, including boxes not proposed by the strategy: those of a failed node, a reservation or a
/// plan. [`StrategyKind::own`](crate::StrategyKind::own) creates an entry for a strategy outside
/// this crate.
pub trait Strategy: Send + Sync {
    /// Proposes nodes for a request, or returns `None`.
    ///
    /// Changes nothing that a later answer depends on, except `draw`. Does not allocate memory if
    /// it finds nothing (once its scratch memory has been allocated).
    fn find(&mut self, free: &Occupancy, request: &Request, draw: &mut Stream)
    -> Option<Placement>;

    /// Records that these nodes, all of which were free, are now taken.
    fn granted(&mut self, _placement: &Placement) {}

    /// Records that these nodes, which were granted together, are free again.
    fn released(&mut self, _placement: &Placement) {}

    /// Returns the work done so far.
    fn work(&self) -> Work;

    /// Copies the strategy, for hypothetical queries.
    fn fork(&self) -> Box<dyn Strategy>;

    /// Returns the error that occurred, if the strategy uses something that can fail, such as a
    /// script or a service. `find` returns `None` when it fails. A machine then makes no more
    /// queries, and a run stops with this error.
    fn error(&self) -> Option<CallerError> {
        None
    }

    /// Compares the strategy's own index with the true state. Panics if they disagree. The
    /// conformance suite calls it after every step.
    fn validate(&self, _free: &Occupancy) {}
}

/// A strategy as used by a [`Machine`](crate::Machine) and its forks. Only this crate implements
/// this trait, so it can gain methods without affecting authors. It has methods that make plans on
/// forks fast, and methods for hardware with switches. The defaults are correct for every strategy.
pub(crate) trait MachineStrategy: Strategy + CopyForMachine {
    /// Records that a whole box is taken for the lifetime of this copy of the strategy, which
    /// serves a plan. Those of its nodes in `free` were free before. The box is never released.
    fn covered(&mut self, _whole: &Cuboid, free: &Placement) {
        self.granted(free);
    }

    /// Records a grant by the machine in a copy of its strategy that serves a plan. The box's nodes
    /// in `free` were free here; the others are in a covered box. Later, the whole box is released,
    /// and then covered again. Returns false, changing nothing, if the strategy cannot represent
    /// this.
    fn granted_over(&mut self, _whole: &Cuboid, _free: &Placement) -> bool {
        false
    }

    /// Makes exactly these nodes free. Returns false, changing nothing, if the strategy can only
    /// track grants and releases. For strategies whose answers depend only on the free nodes, and
    /// whose index is faster to rebuild than to update for many changes.
    fn reset(&mut self, _free: &Occupancy) -> bool {
        false
    }

    /// Returns true if switches join the nodes of a placement. Without them, it cannot be granted
    /// or continue.
    fn uses_switches(&self, _placement: &Placement) -> bool {
        false
    }
}

/// A copy that stays a [`MachineStrategy`].
pub(crate) trait CopyForMachine {
    /// Copies the strategy like [`Strategy::fork`].
    fn copy(&self) -> Box<dyn MachineStrategy>;
}

impl<S: MachineStrategy + Clone + 'static> CopyForMachine for S {
    fn copy(&self) -> Box<dyn MachineStrategy> {
        Box::new(self.clone())
    }
}
