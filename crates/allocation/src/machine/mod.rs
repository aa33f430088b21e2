//! A machine: nodes, the strategy that allocates them, and the nodes of each job.
//!
//! Invariant: every change goes through [`Machine`], so the occupancy, the strategy's index and the
//! table of jobs always agree. A call that fails changes nothing.
//!
//! Cost: that of the strategy; O(1) to repeat the last question.

mod answers;
mod changes;
mod facts;

pub use answers::Answers;
pub use changes::Change;
use pavior_kernel::{CallerError, Options, Stream};
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Occupancy, OccupancyError, Pool, Request};
use rustc_hash::FxHashMap;

use changes::Changes;

use crate::claim::{BoxGroup, Claim};
use crate::freedom::Placer;
use crate::{
    AllocateError, BadProposal, BuildError, Fork, Placement, PlacementError, Refusal,
    RelocateError, Selection, UnknownJob, UnknownNode,
};

/// A machine whose nodes are allocated by a strategy.
///
/// Cloning forks the strategy, so a clone can answer hypothetical questions.
///
/// See the [crate's example](crate).
pub struct Machine {
    grid: Grid,
    selection: Selection,
    /// The shapes that the strategy claims, read from its options once.
    family: fn(&Request, &Grid, &Options) -> Vec<BoxGroup>,
    strategy: Placer,
    free: Occupancy,
    held: FxHashMap<JobId, Held>,
    /// The healthy nodes as set bits.
    healthy: Occupancy,
    draw: Stream,
    /// The answer to the last question, until something changes, with the stream after it.
    memory: Option<(Request, Result<Placement, Refusal>, Stream)>,
    /// The same strategy on an empty machine, and its answers to earlier requests.
    empty: Placer,
    verdicts: FxHashMap<Request, bool>,
    /// The last request that it was found to grant. The head of a queue is asked about repeatedly.
    fitting: Option<Request>,
    nothing_busy: Occupancy,
    /// True if the switches that join parts of placements work.
    switched: bool,
    /// The last grants and releases, if a plan follows them.
    changes: Option<Changes>,
    busy: u32,
    state: u64,
    health: u64,
}

/// The placement of a job.
#[derive(Clone)]
struct Held {
    /// The machine's state after the grant.
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
    /// Creates an empty, healthy machine with a strategy, given by name or as a [`Selection`]. A
    /// randomized strategy uses seed 1.
    ///
    /// ```
    /// use pavior_allocation::{JobId, Machine, Request};
    /// let mut machine = Machine::new("torus:8x8x8".parse()?, "tff")?;
    /// let placement = machine.allocate(JobId(1), &Request::shape([4, 4, 2]))?;
    /// assert_eq!(placement.nodes(), 32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the name cannot be read, or the strategy does not work on such a grid.
    pub fn new<S>(grid: Grid, strategy: S) -> Result<Machine, BuildError>
    where
        S: TryInto<Selection>,
        BuildError: From<S::Error>,
    {
        Machine::with_seed(grid, &strategy.try_into()?, 1)
    }

    /// Creates a machine as [`Machine::new`] does, with the seed of the stream `allocation`, from
    /// which a randomized strategy draws.
    ///
    /// # Errors
    ///
    /// If the strategy does not work on such a grid.
    pub fn with_seed(grid: Grid, selection: &Selection, seed: u64) -> Result<Machine, BuildError> {
        Machine::with_stream(grid, selection, Stream::new(seed, 0, "allocation"))
    }

    /// Creates a machine as [`Machine::new`] does, with a stream for random draws.
    ///
    /// # Errors
    ///
    /// If the strategy does not work on such a grid.
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

    /// Adds a pool: nodes (those free in `nodes`) to which requests may be confined
    /// ([`Request::within`]). A pool never changes. O(N/64).
    ///
    /// ```
    /// use pavior_allocation::{Cuboid, JobId, Machine, Occupancy, Request};
    /// let grid = "mesh:4x2".parse()?;
    /// let mut machine = Machine::new(grid, "tff")?;
    /// let mut nodes = Occupancy::all_free(grid);
    /// nodes.take(&Cuboid::new([0, 0, 0], [1, 2, 1]))?;
    /// let pool = machine.add_pool(nodes)?;
    /// let request = Request::shape([2, 2]).within(pool);
    /// let placement = machine.allocate(JobId(1), &request)?;
    /// assert_eq!(placement.parts()[0].base, [1, 0, 0]);
    /// // Two nodes of the pool are left.
    /// assert!(machine.probe(&request).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the nodes are those of another grid.
    pub fn add_pool(&mut self, nodes: Occupancy) -> Result<Pool, OccupancyError> {
        // Fails for another grid.
        self.free.clone().keep(&nodes)?;
        self.empty.add_pool(nodes.clone());
        Ok(self.strategy.add_pool(nodes))
    }

    /// Copies the free nodes and the strategy for hypothetical questions. O(N/64) and the
    /// strategy's index.
    pub fn fork(&self) -> Fork {
        self.fork_of(self.strategy.clone(), self.free.clone())
    }

    /// Creates a fork in which all jobs are gone and every healthy node is free.
    pub fn fork_empty(&self) -> Fork {
        let mut strategy = self.empty.clone();
        strategy.set_switches(self.switched);
        let mut fork = self.fork_of(strategy, Occupancy::all_free(self.grid));
        fork.withhold_failed(&Cuboid::whole(&self.grid));
        fork
    }

    fn fork_of(&self, strategy: Placer, free: Occupancy) -> Fork {
        let healthy = (self.healthy.count() < self.grid.nodes()).then(|| self.healthy.clone());
        // The draws of a fork must not repeat the next draws of the machine, nor advance its
        // stream.
        let draw = Stream::new(self.draw.clone().next_u64(), self.state, "fork");
        Fork::new(self.selection.entry.clone(), strategy, free, healthy, draw)
    }

    /// Finds the placement that the strategy would grant now. Changes no outcome, even of random
    /// strategies. Costs one search of the strategy, which is documented in its file; O(1) if
    /// nothing changed since the same question.
    ///
    /// # Errors
    ///
    /// If the request is refused, with the reason.
    pub fn probe(&mut self, request: &Request) -> Result<Placement, Refusal> {
        if let Some((asked, answer, _)) = &self.memory
            && asked == request
        {
            return answer.clone();
        }
        let mut draw = self.draw.clone();
        let answer = self.ask(request, &mut draw);
        self.memory = Some((*request, answer.clone(), draw));
        answer
    }

    /// Grants nodes to a job. Costs as much as [`Machine::probe`], and O(n) for n granted nodes
    /// plus the change of the strategy's index.
    ///
    /// # Errors
    ///
    /// If the request is refused, with the reason, the strategy fails, or the job already holds
    /// nodes. Nothing has changed then.
    pub fn allocate(&mut self, job: JobId, request: &Request) -> Result<&Placement, AllocateError> {
        if self.held.contains_key(&job) {
            return Err(AllocateError::RepeatedJob(job));
        }
        if let Err(refusal) = self.probe(request) {
            return Err(match self.error() {
                Some(error) => AllocateError::Failed(error),
                None => AllocateError::Refused(refusal),
            });
        }
        let Some((_, Ok(placement), draw)) = self.memory.take() else {
            unreachable!("the question was just answered with a placement")
        };
        placement.take_from(&mut self.free).map_err(|fault| {
            let proposal = placement.clone();
            AllocateError::Failed(CallerError::new(BadProposal::Placement { proposal, fault }))
        })?;
        self.draw = draw;
        Ok(self.commit(job, placement))
    }

    /// Grants a given placement to a job, independently of the strategy's proposals. O(n) for its n
    /// nodes plus the change of the strategy's index.
    ///
    /// # Errors
    ///
    /// If it is empty, leaves the machine, overlaps itself or contains a node that is not free, or
    /// the job already holds nodes. Nothing has changed then.
    pub fn allocate_at(
        &mut self,
        job: JobId,
        placement: Placement,
    ) -> Result<&Placement, PlacementError> {
        if self.held.contains_key(&job) {
            return Err(PlacementError::RepeatedJob(job));
        }
        placement.take_from(&mut self.free)?;
        let placement = placement.canonical(&self.grid);
        Ok(self.commit(job, placement))
    }

    /// Releases the nodes of a job. O(n) for the n nodes that it held plus the change of the
    /// strategy's index.
    ///
    /// # Errors
    ///
    /// If the job holds no nodes.
    #[expect(clippy::missing_panics_doc, reason = "what a job holds was taken from the free nodes")]
    pub fn release(&mut self, job: JobId) -> Result<Placement, UnknownJob> {
        let Held { placement, nodes, .. } = self.held.remove(&job).ok_or(UnknownJob(job))?;
        self.memory = None;
        self.state += 1;
        self.busy -= nodes;
        self.free.give_all(placement.parts()).expect("the job held them");
        self.strategy.released(&placement);
        if self.healthy.count() < self.grid.nodes() {
            self.withhold_failed(&placement);
        }
        self.note_change(job, &placement, false);
        Ok(placement)
    }

    /// Moves a job to other nodes in one step. Its own old nodes count as free for it, unless they
    /// have failed. Returns its old placement. All earlier promises are void, as after a failure
    /// ([`Machine::health`]). O(N/64) for N nodes, plus the cost of a release and a grant.
    ///
    /// # Errors
    ///
    /// If the job holds no nodes, or cannot be moved to these. Nothing has changed then.
    #[expect(clippy::missing_panics_doc, reason = "the nodes were taken from a copy before")]
    pub fn relocate(&mut self, job: JobId, to: Placement) -> Result<Placement, RelocateError> {
        let held = self.held.get(&job).ok_or(UnknownJob(job))?;
        let mut free = self.free.clone();
        free.give_all(held.placement.parts()).expect("the job held them");
        free.keep(&self.healthy).expect("both are of this machine");
        to.take_from(&mut free)?;
        let from = self.release(job)?;
        self.allocate_at(job, to).expect("they were free just now");
        self.health += 1;
        Ok(from)
    }

    /// Marks a node as failed, and returns the job that holds it. The job keeps it until it is
    /// released; then the node is unavailable. A second failure changes nothing.
    ///
    /// # Errors
    ///
    /// If the machine has no such node. Nothing has changed then.
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

    /// Marks a node as healthy again. Repairing a healthy node changes nothing.
    ///
    /// # Errors
    ///
    /// If the machine has no such node. Nothing has changed then.
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

    /// Sets whether the switches that join parts of placements work; initially they do. While they
    /// do not, no placement that needs them is granted; jobs keep their placements
    /// ([`Machine::switched_jobs`]).
    pub fn set_switches(&mut self, work: bool) {
        if std::mem::replace(&mut self.switched, work) != work {
            (self.state, self.health) = (self.state + 1, self.health + 1);
            self.memory = None;
            self.strategy.set_switches(work);
        }
    }

    /// Checks that the request could be granted if the machine were empty and healthy.
    ///
    /// # Errors
    ///
    /// If not, with the reason, which is permanent ([`Refusal::is_permanent`]).
    pub fn could_ever_fit(&mut self, request: &Request) -> Result<(), Refusal> {
        if self.fitting.as_ref() == Some(request) {
            return Ok(());
        }
        let fits = if let Some(&fits) = self.verdicts.get(request) {
            fits
        } else {
            self.selection.entry.does.fits_grid(request, &self.grid)?;
            // The success of a random strategy does not depend on its draws.
            let mut draw = Stream::new(0, 0, "never-fits");
            let fits = self.empty.find(&self.nothing_busy, request, &mut draw).is_some();
            self.verdicts.insert(*request, fits);
            fits
        };
        if !fits {
            return Err(Refusal::UnsupportedShape);
        }
        self.fitting = Some(*request);
        Ok(())
    }

    fn ask(&mut self, request: &Request, draw: &mut Stream) -> Result<Placement, Refusal> {
        self.selection.entry.does.fits_grid(request, &self.grid)?;
        let needed = self.needed(request);
        if needed <= u64::from(self.free.count())
            && let Some(placement) = self.strategy.find(&self.free, request, draw)
        {
            return Ok(placement.canonical(&self.grid));
        }
        self.could_ever_fit(request)?;
        if request.nodes > self.free.count() {
            Err(Refusal::TooFewFreeNodes)
        } else {
            Err(Refusal::NoFreeSubmesh)
        }
    }

    /// Records a grant of nodes that were already removed from the free ones.
    fn commit(&mut self, job: JobId, placement: Placement) -> &Placement {
        self.memory = None;
        self.state += 1;
        let nodes = placement.nodes();
        self.busy += nodes;
        self.strategy.granted(&placement);
        self.note_change(job, &placement, true);
        &self.held.entry(job).or_insert(Held { state: self.state, placement, nodes }).placement
    }

    /// Removes the failed nodes of a released placement from the free ones.
    fn withhold_failed(&mut self, placement: &Placement) {
        for part in placement.parts() {
            for node in part.nodes(&self.grid) {
                if !self.healthy.is_node_free(node) {
                    self.withhold(node);
                }
            }
        }
    }

    fn withhold(&mut self, node: NodeId) {
        self.memory = None;
        let single = Cuboid::node(self.grid.point(node));
        self.free.take(&single).expect("a node that no job holds and that had not failed is free");
        self.strategy.granted(&Placement::Whole(single));
    }
}
