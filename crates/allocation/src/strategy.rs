//! The interface of a strategy, and additional methods that a machine uses.

use pavior_kernel::{CallerError, Stream};
use pavior_mesh::{Cuboid, Occupancy, Request};

use crate::{Placement, Work};

/// A rule that chooses free nodes for a request. An author only has to implement this trait.
///
/// It proposes; the [`Machine`](crate::Machine) commits. A strategy may keep its own index, such as
/// a busy list, a free list or a buddy tree. It learns of every change through
/// [`granted`](Strategy::granted) and [`released`](Strategy::released). It must accept any free
/// boxes there, including boxes that it did not propose: those of a failed node, a reservation or a
/// plan. [`StrategyKind::own`](crate::StrategyKind::own) creates an entry for a strategy outside
/// this crate.
pub trait Strategy: Send + Sync {
    /// Proposes nodes for a request or returns `None`.
    ///
    /// Changes nothing that a later answer depends on, except `draw`. Does not allocate memory when
    /// it finds nothing (once its scratch memory is warm).
    fn find(&mut self, free: &Occupancy, request: &Request, draw: &mut Stream)
    -> Option<Placement>;

    /// Records that these nodes, all of which were free, are now taken.
    fn granted(&mut self, _placement: &Placement) {}

    /// Records that these nodes, granted together before, are free again.
    fn released(&mut self, _placement: &Placement) {}

    /// Returns the work done so far.
    fn work(&self) -> Work;

    /// Copies the strategy, for hypothetical questions.
    fn fork(&self) -> Box<dyn Strategy>;

    /// Returns the error that occurred in it, if it uses something that can fail: a script, a
    /// service. It answers `None` to the question that fails. A machine then asks no more
    /// questions, and a run stops with this error.
    fn error(&self) -> Option<CallerError> {
        None
    }

    /// Compares its own index with the true state. Panics if they disagree. The conformance suite
    /// calls it after every step.
    fn validate(&self, _free: &Occupancy) {}
}

/// A strategy as a [`Machine`](crate::Machine) and its forks use it. Only this crate implements it,
/// so it can gain methods without affecting authors. It has methods that make plans on forks fast,
/// and methods for hardware with switches. The defaults are right for every strategy.
pub(crate) trait MachineStrategy: Strategy + CopyForMachine {
    /// Records that a whole box is taken for the lifetime of this copy of the strategy, which
    /// serves a plan. Of its nodes, those in `free` were free before. The box is never released.
    fn covered(&mut self, _whole: &Cuboid, free: &Placement) {
        self.granted(free);
    }

    /// Records a grant by the machine in a copy of its strategy that serves a plan. The nodes
    /// `free` of the box were free here; the others are in a covered box. Later, the whole box is
    /// released, and then covered again. Returns false, with nothing changed, if the strategy
    /// cannot follow that.
    fn granted_over(&mut self, _whole: &Cuboid, _free: &Placement) -> bool {
        false
    }

    /// Makes exactly these nodes free. Returns false, with nothing changed, if the strategy can
    /// only follow grants and releases. For strategies whose answers depend only on the free nodes,
    /// and whose index is rebuilt in less time than it takes to follow many changes.
    fn reset(&mut self, _free: &Occupancy) -> bool {
        false
    }

    /// Returns true if switches join the nodes of a placement. Without them it cannot be granted or
    /// continue.
    fn uses_switches(&self, _placement: &Placement) -> bool {
        false
    }
}

/// A copy that stays a [`MachineStrategy`].
pub(crate) trait CopyForMachine {
    /// Copies the strategy, as [`Strategy::fork`] does.
    fn copy(&self) -> Box<dyn MachineStrategy>;
}

impl<S: MachineStrategy + Clone + 'static> CopyForMachine for S {
    fn copy(&self) -> Box<dyn MachineStrategy> {
        Box::new(self.clone())
    }
}
