//! Forks: copies of a machine's free nodes and strategy, but not its jobs, for trying out plans.
//!
//! Invariant: a fork never changes its machine, and failed and reserved nodes stay taken even when
//! the jobs on them are released.
//!
//! Cost: creating a fork takes O(N/64) time for N nodes, plus the time to copy the strategy's
//! index. Queries and updates cost as much as on the machine itself.

use pavior_kernel::{EntryHandle, Stream};
use pavior_mesh::{Cuboid, NodeId, Occupancy, Request, tile_rows};

use crate::freedom::Placer;
use crate::kind::StrategyKind;
use crate::{Placement, PlacementError, Refusal};

/// A copy of a machine's free nodes and strategy, for trying out a plan.
///
/// A fork does not contain jobs, so a planner that releases nodes must supply their placement. A
/// randomized strategy draws from a separate stream in each fork.
///
/// ```
/// # use pavior_allocation as pavior;
/// use pavior::{JobId, Machine, Request};
/// let mut machine = Machine::new("mesh:4x2".parse()?, "tff")?;
/// let held = machine.allocate(JobId(1), &Request::shape([3, 2]))?.clone();
/// let mut fork = machine.fork();
/// assert!(fork.find(&Request::shape([2, 2])).is_err());
/// fork.give(&held)?;
/// assert!(fork.find(&Request::shape([2, 2])).is_ok());
/// assert_eq!(machine.free().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Fork {
    entry: EntryHandle<StrategyKind>,
    strategy: Placer,
    free: Occupancy,
    /// A set of the healthy nodes, or `None` if all nodes are healthy.
    healthy: Option<Occupancy>,
    draw: Stream,
    /// The reserved placements, which stay taken even if jobs release nodes.
    covers: Vec<Placement>,
    /// True if the strategy's index still reflects the nodes last passed to [`Fork::find_within`]
    /// rather than `free`.
    shows_others: bool,
}

impl Fork {
    pub(crate) fn new(
        entry: EntryHandle<StrategyKind>,
        strategy: Placer,
        free: Occupancy,
        healthy: Option<Occupancy>,
        draw: Stream,
    ) -> Fork {
        Fork { entry, strategy, free, healthy, draw, covers: Vec::new(), shows_others: false }
    }

    /// Returns the nodes that are free in the fork.
    pub fn free(&self) -> &Occupancy {
        &self.free
    }

    /// Finds the placement that the strategy would grant in the fork's current state.
    ///
    /// # Errors
    /// Returns the reason if the strategy refuses. A request that the strategy can never grant is
    /// refused as if no submesh were free.
    pub fn find(&mut self, request: &Request) -> Result<Placement, Refusal> {
        self.restore_index();
        let Fork { entry, strategy, free, draw, .. } = self;
        ask(&entry.does, strategy, free, request, draw)
    }

    /// Takes the nodes of a placement.
    ///
    /// # Errors
    /// Returns an error if the placement is empty, overlaps itself, or contains nodes that are not
    /// free or are outside the grid. In that case, nothing changes.
    pub fn take(&mut self, placement: &Placement) -> Result<(), PlacementError> {
        self.restore_index();
        placement.take_from(&mut self.free)?;
        self.strategy.granted(placement);
        Ok(())
    }

    /// Takes the nodes granted to a job on the machine, even if a reservation in the fork has
    /// already taken some of them. If the strategy cannot represent this overlap, returns false and
    /// changes nothing.
    pub fn take_over(&mut self, placement: &Placement) -> bool {
        if self.take(placement).is_ok() {
            return true;
        }
        let [Placement::Whole(_)] = &self.covers[..] else { return false };
        let Placement::Whole(whole) = placement else { return false };
        let grid = *self.free.grid();
        let free = tile_rows(&grid, whole, |from, length| self.free.window(from, length));
        let free = Placement::Parts(free);
        self.strategy.granted_over(whole, &free) && self.free.take_all(free.parts()).is_ok()
    }

    /// Releases nodes that were taken together, either in the fork or on the machine. Failed nodes
    /// and nodes reserved by [`Fork::take_free`] stay taken.
    ///
    /// # Errors
    /// Returns an error if the placement is empty, or contains nodes that are free or outside the
    /// grid. In that case, nothing changes.
    pub fn give(&mut self, placement: &Placement) -> Result<(), PlacementError> {
        if placement.parts().is_empty() {
            return Err(PlacementError::Empty);
        }
        self.restore_index();
        self.free.give_all(placement.parts())?;
        self.strategy.released(placement);
        for part in placement.parts() {
            self.withhold_failed(part);
        }
        let covers = std::mem::take(&mut self.covers);
        for cover in &covers {
            self.cover_again(cover, placement);
        }
        self.covers = covers;
        Ok(())
    }

    /// Takes a placement's nodes for a reservation. Free nodes are taken immediately, and all
    /// others as soon as they are released. A box outside the machine contains no nodes.
    pub fn take_free(&mut self, placement: &Placement) {
        self.restore_index();
        self.cover(placement, placement.parts());
        self.covers.push(placement.clone());
    }

    /// Takes a reservation's free nodes that lie in the boxes `within`.
    fn cover(&mut self, placement: &Placement, within: &[Cuboid]) {
        let grid = *self.free.grid();
        let mut boxes: Vec<Cuboid> = Vec::new();
        for part in within {
            let before = boxes.len();
            if self.free.is_free(part) {
                boxes.push(*part);
            } else {
                boxes.extend(tile_rows(&grid, part, |from, length| self.free.window(from, length)));
            }
            // Nodes are taken immediately, so if two boxes overlap, the nodes in the overlap are
            // already taken when the later box is processed.
            self.free.take_all(&boxes[before..]).expect("only free nodes were chosen");
        }
        if boxes.is_empty() {
            return;
        }
        let free = Placement::Parts(boxes);
        match placement {
            Placement::Whole(whole) => self.strategy.covered(whole, &free),
            Placement::Parts(_) => self.strategy.granted(&free),
        }
    }

    /// Takes back those of the reservation's nodes that have just been released.
    fn cover_again(&mut self, cover: &Placement, given: &Placement) {
        let grid = self.free.grid();
        let covered = cover.parts().iter().filter(|part| part.lies_on(grid));
        let pairs = covered.flat_map(|one| given.parts().iter().map(move |other| (one, other)));
        let common: Vec<Cuboid> = pairs.flat_map(|(one, other)| one.common(grid, other)).collect();
        if !common.is_empty() {
            self.cover(cover, &common);
        }
    }

    /// Finds the placement that the strategy would grant if only the given nodes were free. All of
    /// these nodes must be free in the fork.
    ///
    /// If the strategy supports resetting, it is reset to these nodes. Otherwise, all other free
    /// nodes are taken during the query and released afterward.
    ///
    /// # Errors
    /// Returns the same errors as [`Fork::find`].
    pub fn find_within(
        &mut self,
        free: &Occupancy,
        request: &Request,
    ) -> Result<Placement, Refusal> {
        self.shows_others = self.strategy.reset(free);
        let others = if self.shows_others {
            Vec::new()
        } else {
            let taken =
                |from: NodeId, length| self.free.window(from, length) & !free.window(from, length);
            tile_rows(free.grid(), &Cuboid::whole(free.grid()), taken)
        };
        let Fork { entry, strategy, draw, .. } = self;
        if others.is_empty() {
            return ask(&entry.does, strategy, free, request, draw);
        }
        let others = Placement::Parts(others);
        strategy.granted(&others);
        let answer = ask(&entry.does, strategy, free, request, draw);
        strategy.released(&others);
        answer
    }

    /// Makes the strategy's index reflect the fork's free nodes again.
    fn restore_index(&mut self) {
        if std::mem::take(&mut self.shows_others) {
            assert!(
                self.strategy.reset(&self.free),
                "reset failed after an earlier reset succeeded"
            );
        }
    }

    /// Withholds a box's failed nodes again after a job that held them has been released.
    pub(crate) fn withhold_failed(&mut self, part: &Cuboid) {
        let Some(healthy) = &self.healthy else { return };
        let grid = *self.free.grid();
        let failed: Vec<Cuboid> = part
            .nodes(&grid)
            .filter(|&node| !healthy.is_node_free(node))
            .map(|node| Cuboid::node(grid.point(node)))
            .collect();
        for single in failed {
            // The only possible error is that the node is already taken, which is fine.
            drop(self.take(&Placement::Whole(single)));
        }
    }
}

/// Finds the placement that a strategy would grant if exactly these nodes were free.
fn ask(
    kind: &StrategyKind,
    strategy: &mut Placer,
    free: &Occupancy,
    request: &Request,
    draw: &mut Stream,
) -> Result<Placement, Refusal> {
    let grid = *free.grid();
    kind.fits_grid(request, &grid)?;
    if kind.needed(request) > u64::from(free.count()) {
        return Err(Refusal::TooFewFreeNodes);
    }
    let found = strategy.find(free, request, draw);
    found.map(|placement| placement.canonical(&grid)).ok_or(Refusal::NoFreeSubmesh)
}
