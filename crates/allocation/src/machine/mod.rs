//! A machine's nodes, the strategy that allocates them, and the nodes that each job holds.
//!
//! Invariant: every change goes through [`Machine`], so the occupancy, the strategy's index and the
//! table of jobs always agree. A call that fails changes nothing.
//!
//! Cost: the strategy's cost, or O(1) to repeat the last query.

mod allocate;
mod answers;
mod changes;
mod facts;

pub use answers::Answers;
pub use changes::Change;
use pavior_kernel::{Options, Stream};
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Occupancy, OccupancyError, Pool, Request};
use rustc_hash::FxHashMap;

use changes::Changes;

use crate::claim::{BoxGroup, Claim};
use crate::freedom::Placer;
use crate::{BuildError, Fork, Placement, Refusal, Selection, UnknownNode};

/// A machine whose nodes are allocated by a strategy.
///
/// [`Machine::allocate`] asks the strategy for nodes and grants them, and [`Machine::release`]
/// frees them. A call that fails changes nothing. A machine knows nothing about time: the caller
/// decides when jobs start and end.
///
/// A clone contains a copy of the strategy and can answer hypothetical queries. However, cloning
/// takes O(N) time for N nodes; [`Machine::fork`] copies less.
///
/// ```
/// # use pavior_allocation as pavior;
/// use pavior::{JobId, Machine, Request};
/// let mut machine = Machine::new("mesh:4x4".parse()?, "tff")?;
/// machine.allocate(JobId(1), &Request::shape([4, 2]))?;
/// let second = machine.allocate(JobId(2), &Request::shape([2, 2]))?;
/// assert_eq!(second.to_string(), "2x2 at 0,2");
/// assert_eq!(machine.free().count(), 4);
///
/// machine.release(JobId(1))?;
/// assert_eq!(machine.free().count(), 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Machine {
    grid: Grid,
    selection: Selection,
    /// The function that returns the shapes that the strategy claims. Stored to avoid lookups.
    family: fn(&Request, &Grid, &Options) -> Vec<BoxGroup>,
    strategy: Placer,
    free: Occupancy,
    held: FxHashMap<JobId, Held>,
    /// The healthy nodes as set bits.
    healthy: Occupancy,
    draw: Stream,
    /// The last query, its answer, and the random number stream after it. Cleared on any change.
    memory: Option<(Request, Result<Placement, Refusal>, Stream)>,
    /// The same strategy on an empty machine, for queries that ignore the current state.
    empty: Placer,
    verdicts: FxHashMap<Request, bool>,
    /// The last request found to fit an empty machine. Cached because the head of a queue is
    /// checked repeatedly.
    fitting: Option<Request>,
    nothing_busy: Occupancy,
    /// True if the switches that join parts of placements work.
    switched: bool,
    /// The most recent grants and releases. Recorded only after a plan has asked for them.
    changes: Option<Changes>,
    busy: u32,
    state: u64,
    health: u64,
}

/// A job's placement.
#[derive(Clone)]
struct Held {
    /// The machine's state number after the grant.
    state: u64,
    placement: Placement,
    nodes: u32,
}

impl Clone for Machine {
    fn clone(&self) -> Self {
        Machine {
            family: self.family,
            strategy: self.strategy.clone(),
            empty: self.empty.clone(),
            selection: self.selection.clone(),
            free: self.free.clone(),
            held: self.held.clone(),
            healthy: self.healthy.clone(),
            draw: self.draw.clone(),
            memory: self.memory.clone(),
            verdicts: self.verdicts.clone(),
            nothing_busy: self.nothing_busy.clone(),
            changes: None,
            ..*self
        }
    }
}

impl Machine {
    /// Creates a machine as [`Machine::new`] does, but with a given seed for the `allocation`
    /// stream. A randomized strategy draws from that stream.
    ///
    /// # Errors
    /// Returns an error if the strategy does not work on this grid.
    pub fn with_seed(grid: Grid, selection: &Selection, seed: u64) -> Result<Machine, BuildError> {
        Machine::with_stream(grid, selection, Stream::new(seed, 0, "allocation"))
    }

    /// Creates a machine as [`Machine::new`] does, but with a given stream for random draws.
    ///
    /// # Errors
    /// Returns an error if the strategy does not work on this grid.
    pub fn with_stream(
        grid: Grid,
        selection: &Selection,
        draw: Stream,
    ) -> Result<Machine, BuildError> {
        let strategy = Placer::new(selection, &grid)?;
        Ok(Machine {
            grid,
            family: Claim::of(selection).family,
            selection: selection.clone(),
            empty: strategy.clone(),
            strategy,
            free: Occupancy::all_free(grid),
            held: FxHashMap::default(),
            healthy: Occupancy::all_free(grid),
            draw,
            memory: None,
            verdicts: FxHashMap::default(),
            fitting: None,
            nothing_busy: Occupancy::all_free(grid),
            switched: true,
            changes: None,
            busy: 0,
            state: 0,
            health: 0,
        })
    }

    /// Marks a node as failed and returns the job that holds it, if any. The job keeps the node
    /// until the job is released. After that, the node is unavailable. Has no effect on a node that
    /// has already failed.
    ///
    /// # Errors
    /// Returns an error if the node is not on the machine. In that case, nothing changes.
    pub fn fail(&mut self, node: NodeId) -> Result<Option<JobId>, UnknownNode> {
        if node.0 >= self.grid.nodes() {
            return Err(UnknownNode(node));
        }
        let holder = self.holder(node);
        if self.healthy.take_node(node) {
            (self.state, self.health) = (self.state + 1, self.health + 1);
            if holder.is_none() {
                self.withhold(node);
            }
        }
        Ok(holder)
    }

    /// Marks a node as healthy again. Has no effect on a healthy node.
    ///
    /// # Errors
    /// Returns an error if the node is not on the machine. In that case, nothing changes.
    #[expect(clippy::missing_panics_doc, reason = "a failed node that no job holds is not free")]
    pub fn repair(&mut self, node: NodeId) -> Result<(), UnknownNode> {
        if node.0 >= self.grid.nodes() {
            return Err(UnknownNode(node));
        }
        if self.healthy.is_node_free(node) {
            return Ok(());
        }
        let single = Cuboid::node(self.grid.point(node));
        (self.state, self.health) = (self.state + 1, self.health + 1);
        self.healthy.give(&single).expect("the node had failed");
        if self.holder(node).is_none() {
            self.memory = None;
            self.free.give(&single).expect("a failed node that no job holds is withheld");
            self.strategy.released(&Placement::Whole(single));
        }
        Ok(())
    }

    /// Sets whether the switches that join the parts of placements work. Initially, the switches
    /// work. While they do not, no placement that needs them is granted, but running jobs keep such
    /// placements ([`Machine::switched_jobs`]).
    pub fn set_switches(&mut self, work: bool) {
        if std::mem::replace(&mut self.switched, work) != work {
            (self.state, self.health) = (self.state + 1, self.health + 1);
            self.memory = None;
            self.strategy.set_switches(work);
        }
    }

    /// Adds a pool that consists of the nodes that are free in `nodes`. A request can be confined
    /// to a pool ([`Request::within`]). A pool never changes. Takes O(N/64) time for N nodes.
    ///
    /// ```
    /// # use pavior_allocation as pavior;
    /// use pavior::{Cuboid, JobId, Machine, Occupancy, Request};
    /// let grid = "mesh:4x2".parse()?;
    /// let mut machine = Machine::new(grid, "tff")?;
    /// let mut nodes = Occupancy::all_free(grid);
    /// nodes.take(&Cuboid::new([0, 0, 0], [1, 2, 1]))?;
    /// let pool = machine.add_pool(nodes)?;
    /// let request = Request::shape([2, 2]).within(pool);
    /// let placement = machine.allocate(JobId(1), &request)?;
    /// assert_eq!(placement.parts()[0].base, [1, 0, 0]);
    /// // Only two of the pool's nodes are still free.
    /// assert!(machine.probe(&request).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if `nodes` belongs to another grid.
    pub fn add_pool(&mut self, nodes: Occupancy) -> Result<Pool, OccupancyError> {
        // This fails if `nodes` belongs to another grid.
        self.free.clone().keep(&nodes)?;
        self.empty.add_pool(nodes.clone());
        Ok(self.strategy.add_pool(nodes))
    }

    /// Copies the free nodes and the strategy for hypothetical queries. Takes O(N/64) time for N
    /// nodes, plus the cost of copying the strategy's index.
    pub fn fork(&self) -> Fork {
        self.fork_of(self.strategy.clone(), self.free.clone())
    }

    /// Creates a fork with no jobs and all healthy nodes free.
    pub fn fork_empty(&self) -> Fork {
        let mut strategy = self.empty.clone();
        strategy.set_switches(self.switched);
        let mut fork = self.fork_of(strategy, Occupancy::all_free(self.grid));
        fork.withhold_failed(&Cuboid::whole(&self.grid));
        fork
    }

    fn fork_of(&self, strategy: Placer, free: Occupancy) -> Fork {
        let healthy = (self.healthy.count() < self.grid.nodes()).then(|| self.healthy.clone());
        // A fork must neither repeat the machine's next random draws nor advance its stream.
        let draw = Stream::new(self.draw.clone().next_u64(), self.state, "fork");
        Fork::new(self.selection.entry.clone(), strategy, free, healthy, draw)
    }

    fn withhold(&mut self, node: NodeId) {
        self.memory = None;
        let single = Cuboid::node(self.grid.point(node));
        self.free.take(&single).expect("a node that no job holds and that had not failed is free");
        self.strategy.granted(&Placement::Whole(single));
    }
}
