//! What a strategy is.

use pavior_kernel::{CallerError, Stream};
use pavior_mesh::{Cuboid, Occupancy, Request};

use crate::{Placement, Work};

/// A rule that decides which free nodes a request gets.
///
/// It proposes; the [`Machine`](crate::Machine) commits. A strategy may keep an index of its own,
/// such as a busy list, a free list or a buddy tree. It learns of every change through
/// [`granted`](Strategy::granted) and [`released`](Strategy::released). It must accept any free
/// boxes there, also boxes that it did not propose: those of a failed node, a reservation or a
/// plan.
pub trait Strategy: Send + Sync {
    /// Proposes nodes for a request, or says that it has none.
    ///
    /// Changes nothing that a later answer depends on, except `draw`. Does not allocate memory when
    /// it finds nothing (once its scratch memory is warm).
    fn find(&mut self, free: &Occupancy, request: &Request, draw: &mut Stream)
    -> Option<Placement>;

    /// These nodes, all of them free so far, are now taken.
    fn granted(&mut self, _placement: &Placement) {}

    /// All of a box is now taken, and stays so for as long as there is this strategy: it is a copy
    /// for a plan. Of the box, these nodes were free so far. They are not released.
    fn covered(&mut self, _whole: &Cuboid, free: &Placement) {
        self.granted(free);
    }

    /// A box was granted where the strategy is not the copy for a plan that this one is. Of it,
    /// these nodes were free here so far; the others lie in the box that is covered. It is released
    /// as a whole, and then covered again. False, with nothing changed, if the strategy cannot
    /// follow that.
    fn granted_over(&mut self, _whole: &Cuboid, _free: &Placement) -> bool {
        false
    }

    /// These nodes, granted together before, are free again.
    fn released(&mut self, _placement: &Placement) {}

    /// Makes exactly these the free nodes. False, with nothing changed, if the strategy can only
    /// follow grants and releases. For one whose answers depend on the free nodes alone, and whose
    /// index is made anew sooner than it follows many changes.
    fn reset(&mut self, _free: &Occupancy) -> bool {
        false
    }

    /// Whether what a job holds is joined by switches, without which it cannot be granted or go on.
    /// No strategy has any but those of hardware with switches.
    fn uses_switches(&self, _placement: &Placement) -> bool {
        false
    }

    /// How much it has looked at so far.
    fn work(&self) -> Work;

    /// A copy, for questions of the kind "what if".
    fn fork(&self) -> Box<dyn Strategy>;

    /// What has gone wrong in it, if it needs something that can fail: a script, a service. It
    /// answers `None` to the question that fails. A machine asks no more questions then, and a run
    /// stops with this error.
    fn error(&self) -> Option<CallerError> {
        None
    }

    /// Holds the strategy's own index against the truth; panics where they disagree. For tests.
    fn validate(&self, _free: &Occupancy) {}
}
