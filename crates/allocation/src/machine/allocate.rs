//! Granting and releasing nodes. The module's name sorts first so that [`Machine`]'s documentation
//! begins with these methods.

use pavior_kernel::{CallerError, Stream};
use pavior_mesh::{Grid, JobId, Request};

use super::{Held, Machine};
use crate::{
    AllocateError, BadProposal, BuildError, Placement, PlacementError, Refusal, RelocateError,
    Selection, UnknownJob,
};

impl Machine {
    /// Creates an empty, healthy machine whose strategy is given by name or as a [`Selection`]. A
    /// randomized strategy uses seed 1.
    ///
    /// ```
    /// # use pavior_allocation as pavior;
    /// use pavior::{JobId, Machine, Request};
    /// let mut machine = Machine::new("torus:8x8x8".parse()?, "tff")?;
    /// let placement = machine.allocate(JobId(1), &Request::shape([4, 4, 2]))?;
    /// assert_eq!(placement.nodes(), 32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the name is invalid, or if the strategy does not work on this grid.
    pub fn new<S>(grid: Grid, strategy: S) -> Result<Machine, BuildError>
    where
        S: TryInto<Selection>,
        BuildError: From<S::Error>,
    {
        Machine::with_seed(grid, &strategy.try_into()?, 1)
    }

    /// Grants nodes to a job. Costs as much as [`Machine::probe`], plus O(n) time for n granted
    /// nodes and the time to update the strategy's index.
    ///
    /// # Errors
    /// Returns the reason if the request is refused, the strategy fails, or the job already holds
    /// nodes. In that case, nothing changes.
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
            unreachable!("the query just returned a placement")
        };
        placement.take_from(&mut self.free).map_err(|fault| {
            let proposal = placement.clone();
            AllocateError::Failed(CallerError::new(BadProposal::Placement { proposal, fault }))
        })?;
        self.draw = draw;
        Ok(self.commit(job, placement))
    }

    /// Releases a job's nodes. Takes O(n) time for n nodes, plus the time to update the strategy's
    /// index.
    ///
    /// # Errors
    /// Returns an error if the job holds no nodes.
    #[expect(clippy::missing_panics_doc, reason = "a job's nodes were taken from the free nodes")]
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

    /// Grants a given placement to a job, without asking the strategy for a proposal. Takes O(n)
    /// time for n nodes, plus the time to update the strategy's index.
    ///
    /// # Errors
    /// Returns an error if the job already holds nodes, or if the placement is empty, is not on the
    /// machine, overlaps itself or contains a node that is not free. In that case, nothing changes.
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

    /// Moves a job to other nodes in a single step and returns its old placement. The old nodes
    /// count as free for the move unless they have failed. Like a failure, a move changes
    /// [`Machine::health`], which breaks earlier promises. Takes O(N/64) time for N nodes, plus the
    /// cost of a release and a grant.
    ///
    /// # Errors
    /// Returns an error if the job holds no nodes, or cannot be moved to these nodes. In that case,
    /// nothing changes.
    #[expect(clippy::missing_panics_doc, reason = "the same nodes were already taken from a copy")]
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

    /// Finds the placement that the strategy would currently grant. This does not affect later
    /// results, even with a randomized strategy. Takes one search (each strategy's file documents
    /// the cost), or O(1) if the last query was the same and nothing has changed.
    ///
    /// # Errors
    /// Returns the reason if the request is refused.
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

    /// Checks that the request could be granted if the machine were empty and healthy.
    ///
    /// # Errors
    /// Returns the reason if the request could not be granted. The reason is permanent
    /// ([`Refusal::is_permanent`]).
    pub fn could_ever_fit(&mut self, request: &Request) -> Result<(), Refusal> {
        if self.fitting.as_ref() == Some(request) {
            return Ok(());
        }
        let fits = if let Some(&fits) = self.verdicts.get(request) {
            fits
        } else {
            self.selection.entry.does.fits_grid(request, &self.grid)?;
            // The random draws do not affect whether the strategy finds a placement.
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

    /// Records a grant whose nodes have already been removed from the free nodes.
    fn commit(&mut self, job: JobId, placement: Placement) -> &Placement {
        self.memory = None;
        self.state += 1;
        let nodes = placement.nodes();
        self.busy += nodes;
        self.strategy.granted(&placement);
        self.note_change(job, &placement, true);
        &self.held.entry(job).or_insert(Held { state: self.state, placement, nodes }).placement
    }

    /// Removes a released placement's failed nodes from the free nodes.
    fn withhold_failed(&mut self, placement: &Placement) {
        for part in placement.parts() {
            for node in part.nodes(&self.grid) {
                if !self.healthy.is_node_free(node) {
                    self.withhold(node);
                }
            }
        }
    }
}
