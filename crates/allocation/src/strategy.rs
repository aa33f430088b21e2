//! The interface that strategies implement, plus methods that only machines use.

use pavior_kernel::{CallerError, Stream};
use pavior_mesh::{Cuboid, Occupancy, Request};

use crate::{Placement, Work};

/// A rule that chooses free nodes for a request. Strategy authors implement only this trait.
///
/// A strategy only proposes nodes; the [`Machine`](crate::Machine) grants them. A strategy may keep
/// its own index, such as a busy list, a free list or a buddy tree, and is notified of every change
/// through [`granted`](Strategy::granted) and [`released`](Strategy::released). These methods must
/// accept any free boxes, even if the strategy did not propose them. For example, they may be for a
/// failed node, a reservation or a plan. [`StrategyKind::own`](crate::StrategyKind::own) creates an
/// entry for a strategy defined outside this crate.
pub trait Strategy: Send + Sync {
    /// Proposes nodes for a request, or returns `None` if the strategy finds none.
    ///
    /// Apart from advancing `draw`, changes nothing that later answers depend on. If no placement
    /// is found, allocates no memory beyond the scratch buffers.
    fn find(&mut self, free: &Occupancy, request: &Request, draw: &mut Stream)
    -> Option<Placement>;

    /// Records that the given nodes, all of which were free, have been taken.
    fn granted(&mut self, _placement: &Placement) {}

    /// Records the release of nodes that were granted together.
    fn released(&mut self, _placement: &Placement) {}

    /// Returns the work done so far.
    fn work(&self) -> Work;

    /// Copies the strategy, for hypothetical queries.
    fn fork(&self) -> Box<dyn Strategy>;

    /// Returns an error if something that the strategy relies on, such as a script or a service,
    /// has failed. From then on, `find` returns `None`, the machine makes no more queries, and a
    /// run stops with this error.
    fn error(&self) -> Option<CallerError> {
        None
    }

    /// Compares the strategy's own index with the actual state. Panics if they differ. The
    /// conformance suite calls this after every step.
    fn validate(&self, _free: &Occupancy) {}
}

/// A strategy as used by a [`Machine`](crate::Machine) and its forks. Only this crate implements
/// this trait, so adding methods does not affect strategy authors. Some methods speed up plans on
/// forks; others support hardware with switches. The defaults are correct for every strategy.
pub(crate) trait MachineStrategy: Strategy + CopyForMachine {
    /// Records, in a plan's copy of the strategy, that a whole box has been taken. Only the nodes
    /// in `free` were free. The box is never released.
    fn covered(&mut self, _whole: &Cuboid, free: &Placement) {
        self.granted(free);
    }

    /// Records, in a plan's copy of the strategy, a grant made by the machine. Only the nodes in
    /// `free` were free in this copy; the box's other nodes belong to a covered box. Later, the
    /// whole box is released and then covered again. If the strategy cannot represent this, returns
    /// false and changes nothing.
    fn granted_over(&mut self, _whole: &Cuboid, _free: &Placement) -> bool {
        false
    }

    /// Makes exactly these nodes free. If the strategy can only follow grants and releases, returns
    /// false and changes nothing. Intended for strategies whose answers depend only on the free
    /// nodes, and whose index is likely to be faster to rebuild than to update after many changes.
    fn reset(&mut self, _free: &Occupancy) -> bool {
        false
    }

    /// Returns true if a placement's nodes are joined by switches. Without working switches, no
    /// such placement can be granted or stay in use.
    fn uses_switches(&self, _placement: &Placement) -> bool {
        false
    }
}

/// A strategy that can be copied as a [`MachineStrategy`].
pub(crate) trait CopyForMachine {
    /// Copies the strategy, as [`Strategy::fork`] does.
    fn copy(&self) -> Box<dyn MachineStrategy>;
}

impl<S: MachineStrategy + Clone + 'static> CopyForMachine for S {
    fn copy(&self) -> Box<dyn MachineStrategy> {
        Box::new(self.clone())
    }
}
