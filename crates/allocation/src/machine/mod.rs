//! A machine: nodes, the strategy that allocates them, and who holds what.
//!
//! Invariant: every change goes through [`Machine`], so that occupancy, the strategy's index and
//! the table of holders agree at all times. A call that fails has changed nothing.
//!
//! Cost: that of the strategy; O(1) for a question that was just answered.

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

/// A machine whose nodes a strategy allocates.
///
/// Cloning forks the strategy: a clone answers "what if".
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
    /// Set bits are healthy nodes.
    healthy: Occupancy,
    draw: Stream,
    /// The answer to the last question, while nothing has changed, with the stream after it.
    memory: Option<(Request, Result<Placement, Refusal>, Stream)>,
    /// The same strategy on an empty machine, and what it has said about requests.
    empty: Placer,
    verdicts: FxHashMap<Request, bool>,
    /// The last request that it was found to grant: the head of a queue is asked about again and
    /// again.
    fitting: Option<Request>,
    nothing_busy: Occupancy,
    /// Whether the switches work that join parts of placements.
    switched: bool,
    /// The last grants and releases, if a plan follows them.
    changes: Option<Changes>,
    busy: u32,
    state: u64,
    health: u64,
}

/// What a job holds.
#[derive(Clone)]
struct Held {
    /// The machine's state when it was granted.
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
    /// An empty, healthy machine with a strategy, given by name or as a [`Selection`]. A strategy
    /// that draws does so with seed 1.
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

    /// As [`Machine::new`], with the seed of the stream `allocation`, from which a strategy draws.
    ///
    /// # Errors
    /// If the strategy does not work on such a grid.
    pub fn with_seed(grid: Grid, selection: &Selection, seed: u64) -> Result<Machine, BuildError> {
        Machine::with_stream(grid, selection, Stream::new(seed, 0, "allocation"))
    }

    /// As [`Machine::new`], with the stream to draw from.
    ///
    /// # Errors
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

    /// Tells the machine of a pool: nodes (those free in `nodes`) that requests may be confined to
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
        // Refused for another grid.
        self.free.clone().keep(&nodes)?;
        self.empty.add_pool(nodes.clone());
        Ok(self.strategy.add_pool(nodes))
    }

    /// What if: the free nodes and the strategy as they are now. O(N/64) and the strategy's index.
    pub fn fork(&self) -> Fork {
        self.fork_of(self.strategy.clone(), self.free.clone())
    }

    /// What if all jobs were gone: every healthy node free.
    pub fn fork_empty(&self) -> Fork {
        let mut strategy = self.empty.clone();
        strategy.set_switches(self.switched);
        let mut fork = self.fork_of(strategy, Occupancy::all_free(self.grid));
        fork.withhold_failed(&Cuboid::whole(&self.grid));
        fork
    }

    fn fork_of(&self, strategy: Placer, free: Occupancy) -> Fork {
        let healthy = (self.healthy.count() < self.grid.nodes()).then(|| self.healthy.clone());
        // What a fork draws must not repeat what the machine draws next, nor move it.
        let draw = Stream::new(self.draw.clone().next_u64(), self.state, "fork");
        Fork::new(self.selection.entry.clone(), strategy, free, healthy, draw)
    }

    /// What the strategy would grant now. Changes no outcome, random strategies included. One
    /// search of the strategy, whose file says what it costs; O(1) if nothing changed since the
    /// same question.
    ///
    /// # Errors
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

    /// Grants nodes to a job. As [`Machine::probe`], and O(n) for n nodes that are granted, with
    /// the change of the strategy's index.
    ///
    /// # Errors
    /// If the request is refused, with the reason, the strategy fails, or the job holds nodes
    /// already; nothing has changed.
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

    /// Grants a given placement to a job, whatever the strategy would have proposed. O(n) for its n
    /// nodes, with the change of the strategy's index.
    ///
    /// # Errors
    /// If it is empty, leaves the machine, overlaps itself or holds a node that is not free, or the
    /// job holds nodes already; nothing has changed.
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

    /// Takes back what a job holds. O(n) for the n nodes that it held, with the change of the
    /// strategy's index.
    ///
    /// # Errors
    /// If the job holds nothing.
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

    /// Moves a job to other nodes in one step: its own old nodes count as free for it, unless they
    /// have failed. Returns what it held. All that was promised before is void, as after a failure
    /// ([`Machine::health`]). O(N/64) for N nodes, and what a release and a grant cost.
    ///
    /// # Errors
    /// If the job holds nothing, or cannot have the nodes; nothing has changed then.
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

    /// Marks a node as failed, and says which job holds it. The job keeps it until it is released;
    /// then the node is unavailable. Failing twice changes nothing.
    ///
    /// # Errors
    /// If the machine has no such node; nothing has changed.
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
    /// If the machine has no such node; nothing has changed.
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

    /// Says whether the switches work that join parts of placements; all do at first. While they do
    /// not, nothing is granted that needs them; jobs keep what they hold
    /// ([`Machine::switched_jobs`]).
    pub fn set_switches(&mut self, work: bool) {
        if std::mem::replace(&mut self.switched, work) != work {
            (self.state, self.health) = (self.state + 1, self.health + 1);
            self.memory = None;
            self.strategy.set_switches(work);
        }
    }

    /// Whether the request could be granted if the machine were empty and healthy.
    ///
    /// # Errors
    /// If not, with the reason, which is permanent ([`Refusal::is_permanent`]).
    pub fn could_ever_fit(&mut self, request: &Request) -> Result<(), Refusal> {
        if self.fitting.as_ref() == Some(request) {
            return Ok(());
        }
        let fits = if let Some(&fits) = self.verdicts.get(request) {
            fits
        } else {
            self.selection.entry.does.fits_grid(request, &self.grid)?;
            // Whether a random strategy succeeds does not depend on what it draws.
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

    /// Notes a grant of nodes that have been taken from the free ones.
    fn commit(&mut self, job: JobId, placement: Placement) -> &Placement {
        self.memory = None;
        self.state += 1;
        let nodes = placement.nodes();
        self.busy += nodes;
        self.strategy.granted(&placement);
        self.note_change(job, &placement, true);
        &self.held.entry(job).or_insert(Held { state: self.state, placement, nodes }).placement
    }

    /// Takes the failed nodes of a released placement out of the free ones.
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
