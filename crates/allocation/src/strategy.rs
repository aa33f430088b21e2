//! The interface of strategies, and additional methods that a machine uses.

use pavior_kernel::{CallerError, Stream};
use pavior_mesh::{Cuboid, Occupancy, Request};

use crate::{Placement, Work};

/// A rule that chooses free nodes for a request. Authors need to implement only this trait.
///
/// A strategy proposes nodes, and the [`Machine`](crate::Machine) grants them. The strategy may
/// keep its own index, such as a busy list, a free list or a buddy tree. It learns of every change
/// through [`granted`](Strategy::granted) and [`released`](Strategy::released). These methods must
/// accept any free boxes, including boxes that the strategy did not propose: those of a failed
/// node, a reservation or a plan. [`StrategyKind::own`](crate::StrategyKind::own) creates an entry
/// for a strategy outside this crate.
pub trait Strategy: Send + Sync {
    /// Proposes nodes for a request, or returns `None`.
    ///
    /// This method changes nothing on which a later answer depends, except `draw`. If it finds
    /// nothing, it does not allocate memory (after its scratch memory has been allocated).
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
    /// script or a service. When it fails, `find` returns `None`. After that, a machine makes no
    /// more queries, and a run stops with this error.
    fn error(&self) -> Option<CallerError> {
        None
    }

    /// Compares the strategy's own index with the true state. Panics if they disagree. The
    /// conformance suite calls this after every step.
    fn validate(&self, _free: &Occupancy) {}
}

/// A strategy in the form that a [`Machine`](crate::Machine) and its forks use. Only this crate
/// implements this trait, so it can gain methods without affecting authors. Some methods make plans
/// on forks fast; others support hardware with switches. The defaults are correct for every
/// strategy.
pub(crate) trait MachineStrategy: Strategy + CopyForMachine {
    /// Records that a whole box is taken for the lifetime of this copy of the strategy, which
    /// serves a plan. Those of its nodes that are in `free` were free before. The box is never
    /// released.
    fn covered(&mut self, _whole: &Cuboid, free: &Placement) {
        self.granted(free);
    }

    /// Records a grant by the machine in a copy of its strategy that serves a plan. Those nodes of
    /// the box that are in `free` were free here; the others are in a covered box. Later, the whole
    /// box is released, and then covered again. If the strategy cannot represent this, returns
    /// false and changes nothing.
    fn granted_over(&mut self, _whole: &Cuboid, _free: &Placement) -> bool {
        false
    }

    /// Makes exactly these nodes free. If the strategy can only follow grants and releases, returns
    /// false and changes nothing. This is meant for strategies whose answers depend only on the
    /// free nodes, and whose index is faster to rebuild than to update for many changes.
    fn reset(&mut self, _free: &Occupancy) -> bool {
        false
    }

    /// Returns true if switches join the nodes of a placement. Without working switches, such a
    /// placement can neither be granted nor continue.
    fn uses_switches(&self, _placement: &Placement) -> bool {
        false
    }
}

/// Copying of a strategy to another [`MachineStrategy`].
pub(crate) trait CopyForMachine {
    /// Copies the strategy, as [`Strategy::fork`] does.
    fn copy(&self) -> Box<dyn MachineStrategy>;
}

impl<S: MachineStrategy + Clone + 'static> CopyForMachine for S {
    fn copy(&self) -> Box<dyn MachineStrategy> {
        Box::new(self.clone())
    }
}
