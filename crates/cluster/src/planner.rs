//! A model of a machine with its jobs, queue and node pools, used for planning.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use pavior::answers::{PlannedStart, Snapshot};
use pavior::boxes::tile;
use pavior::scheduling::{
    self, AdvanceReservation, DispatchError, Dispatcher, Standing, run_forward,
};
use pavior::workload::{Job, Service};
use pavior::{
    Cuboid, Grid, JobId, Machine, NodeId, Occupancy, Placement, Pool, Request, Time, UnknownNode,
    strategies,
};

/// The run time, in seconds, that is assumed for jobs without a time limit (one year).
pub const NO_LIMIT_S: u64 = 365 * 86_400;

/// A machine with its running and waiting jobs, as read from a ledger. Times are in seconds since
/// 1970.
pub struct Planner {
    /// The machine, the queue and the running jobs.
    dispatcher: Dispatcher,
    now: u64,
    /// The nodes of each pool, indexed by pool number. Each set marks the pool's nodes as free.
    pools: Vec<Occupancy>,
    /// Jobs with an unknown end time.
    endless: HashSet<JobId>,
}

/// Creates a job for the scheduler, which assumes that the job runs until its time limit.
fn job(number: u64, arrival: u64, request: Request, limit: Option<u64>) -> Job {
    let estimate = Time(limit.unwrap_or(NO_LIMIT_S));
    let (id, arrival, service) = (JobId(number), Time(arrival), Service::Run(estimate));
    Job { id, index: number, number, arrival, request, service, estimate }
}

impl Planner {
    /// Creates a planner with no jobs.
    ///
    /// # Errors
    /// Returns an error if the strategy or scheduler does not support the machine.
    pub fn new(
        grid: Grid,
        strategy: &strategies::Selection,
        scheduler: &scheduling::Selection,
        now: u64,
    ) -> Result<Planner, String> {
        let machine = Machine::with_seed(grid, strategy, 1).map_err(|error| error.to_string())?;
        let scheduler = scheduler.build(()).map_err(|error| error.to_string())?;
        let dispatcher = Dispatcher::new(machine, scheduler);
        Ok(Planner { dispatcher, now, pools: Vec::new(), endless: HashSet::new() })
    }

    /// Returns the machine.
    pub fn machine(&self) -> &Machine {
        self.dispatcher.machine()
    }

    /// Returns the dispatcher that runs the machine and the queue.
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Marks a node as failed. If a job holds the node, the job keeps it.
    ///
    /// # Errors
    /// Returns an error if the machine has no such node.
    pub fn fail(&mut self, node: NodeId) -> Result<(), UnknownNode> {
        self.dispatcher.fail(node).map(drop)
    }

    /// Keeps jobs off the nodes of an advance reservation.
    ///
    /// # Panics
    /// Panics if the reservation is for another grid.
    pub fn reserve(&mut self, reservation: AdvanceReservation) {
        self.dispatcher.reserve(reservation).expect("the reservation is for this grid");
    }

    /// Returns true if a request could be granted on the empty, healthy machine.
    pub fn could_ever_fit(&mut self, request: &Request) -> bool {
        self.dispatcher.could_ever_fit(request).is_ok()
    }

    /// Returns the reservation that a job would overlap if the job started now. Returns `None` if
    /// there is no such reservation, or if the job does not fit.
    pub fn reservation_in_the_way(
        &mut self,
        request: &Request,
        limit: Option<u64>,
    ) -> Option<&AdvanceReservation> {
        if self.dispatcher.calendar().is_empty() {
            return None;
        }
        let placement = self.dispatcher.probe_unreserved(request).ok()?;
        let estimate = Time(limit.unwrap_or(NO_LIMIT_S));
        self.dispatcher.calendar().in_the_way(Time(self.now), estimate, &placement)
    }

    /// Records that a job holds `nodes` until `end`, if `end` is known. Returns false if `nodes` is
    /// empty, another job already holds one of them, or a job already has this number.
    pub fn hold(
        &mut self,
        number: u64,
        mut nodes: Vec<NodeId>,
        start: u64,
        end: Option<u64>,
    ) -> bool {
        nodes.sort_unstable();
        nodes.dedup();
        let grid = *self.machine().grid();
        let Some(around) = bounding_box(&grid, &nodes) else { return false };
        let placement = if around.volume() as usize == nodes.len() {
            Placement::Whole(around)
        } else {
            Placement::Parts(tile(&grid, &around, |node| nodes.binary_search(&node).is_ok()))
        };
        // Assume that a job without an end time started recently enough to end beyond the horizon.
        let earliest = end.map_or(self.now.saturating_sub(NO_LIMIT_S / 4), |_| 0);
        let start = start.clamp(earliest, self.now);
        let limit = end.map(|end| end.saturating_sub(start).max(1));
        let job = job(number, start, Request::nodes(nodes.len() as u32), limit);
        let is_held = self.dispatcher.hold(job, Time(start), placement).is_ok();
        if is_held && end.is_none() {
            self.endless.insert(JobId(number));
        }
        is_held
    }

    /// Returns an arrival time that puts a job at the given position in the queue, which is sorted
    /// by arrival.
    fn arrival(&self, position: usize) -> u64 {
        self.now.saturating_add(position as u64).min(u64::MAX / 2)
    }

    /// Adds a job at the given position in the queue. `limit` is the job's time limit in seconds.
    ///
    /// # Panics
    /// Panics if a job already has this number.
    pub fn submit(&mut self, number: u64, position: usize, request: Request, limit: Option<u64>) {
        let job = job(number, self.arrival(position), request, limit);
        self.dispatcher.submit(job).expect("job numbers are unique");
        if limit.is_none() {
            self.endless.insert(JobId(number));
        }
    }

    /// Removes a job that was added at the given position in the queue.
    pub fn withdraw(&mut self, number: u64, position: usize) {
        let arrival = Time(self.arrival(position));
        let index = self.dispatcher.queue().place_of(arrival, JobId(number));
        if index.and_then(|index| self.dispatcher.withdraw(index)).is_some() {
            self.endless.remove(&JobId(number));
        }
    }

    /// Starts the next job that the scheduler chooses. Returns the job's id and, if the job was
    /// placed in a single box, that box.
    ///
    /// # Errors
    /// Returns an error if the scheduler or strategy fails.
    pub fn start_next(&mut self) -> Result<Option<(JobId, Option<Cuboid>)>, DispatchError> {
        let started = self.dispatcher.start_next(Time(self.now), &mut ())?;
        Ok(started.map(|start| match start.placement {
            Placement::Whole(cuboid) => (start.job.id, Some(*cuboid)),
            Placement::Parts(_) => (start.job.id, None),
        }))
    }

    /// Adds a pool of nodes. Returns `None` if the pool would contain the whole machine.
    ///
    /// # Panics
    /// Panics if `nodes` was created for a different grid.
    pub fn pool(&mut self, nodes: Occupancy) -> Option<Pool> {
        if nodes.count() == self.machine().grid().nodes() {
            return None;
        }
        self.pools.push(nodes.clone());
        Some(self.dispatcher.add_pool(nodes).expect("the nodes are on the machine's grid"))
    }

    /// Returns true if no pool is specified or the pool contains all of the given nodes.
    pub fn has_all(&self, pool: Option<Pool>, nodes: &[NodeId]) -> bool {
        let pool = pool.map(|pool| &self.pools[pool.0 as usize]);
        pool.is_none_or(|pool| nodes.iter().all(|&node| pool.is_node_free(node)))
    }

    /// Takes a snapshot of the nodes that a request may use.
    pub fn snapshot(&self, request: &Request) -> Snapshot {
        self.within(&Snapshot::of(self.machine()), request).into_owned()
    }

    /// Restricts a snapshot to the nodes that a request may use, by treating as failed all nodes
    /// outside the request's pool.
    pub fn within<'a>(&self, whole: &'a Snapshot, request: &Request) -> Cow<'a, Snapshot> {
        match request.pool.and_then(|pool| self.pools.get(pool.0 as usize)) {
            Some(nodes) => Cow::Owned(whole.clone().within(nodes)),
            None => Cow::Borrowed(whole),
        }
    }

    /// Returns the time after which planned starts are not reported. Any start after this time
    /// depends on a job without a time limit.
    fn horizon(&self) -> Time {
        Time(self.now.saturating_add(NO_LIMIT_S / 2))
    }

    /// Returns the scheduler's current reservations.
    pub fn standing(&self) -> Option<Standing> {
        self.dispatcher.standing(Time(self.now))
    }

    /// Returns the scheduler's planned start for a waiting job, or `None` if that start depends on
    /// a job with an unknown end time.
    pub fn planned(&self, standing: Option<&Standing>, job: JobId) -> Option<PlannedStart> {
        let planned = PlannedStart::of(standing, job, self.horizon())?;
        let grid = self.machine().grid();
        let overlaps = |part: &Cuboid| planned.place.is_none_or(|at| part.intersects(grid, &at));
        let held = self.machine().held();
        let mut in_the_way = held.iter().filter(|(_, held)| held.parts().iter().any(overlaps));
        in_the_way.all(|(job, _)| !self.endless.contains(job)).then_some(planned)
    }

    /// Predicts when waiting jobs will start, assuming that every job runs until its time limit and
    /// that no more jobs arrive. Omits any job whose start depends on a job without a time limit.
    ///
    /// # Errors
    /// Returns an error if the scheduler or strategy fails.
    pub fn starts(&self, scheduler: &scheduling::Selection) -> Result<HashMap<JobId, u64>, String> {
        let scheduler = scheduler.build(()).map_err(|error| error.to_string())?;
        let fork = self.dispatcher.fork(scheduler, |job| job.estimate);
        let starts = run_forward(fork, Time(self.now), Vec::new());
        let starts = starts.map_err(|error| error.to_string())?.into_iter();
        let known = starts.filter(|(_, at)| *at < self.horizon());
        Ok(known.map(|(job, at)| (job, at.0)).collect())
    }
}

/// Returns the smallest box that contains all of the nodes without wrapping around.
fn bounding_box(grid: &Grid, nodes: &[NodeId]) -> Option<Cuboid> {
    let (mut low, mut high) = ([u16::MAX; 3], [0; 3]);
    for &node in nodes {
        for (axis, at) in grid.point(node).into_iter().enumerate() {
            (low[axis], high[axis]) = (at.min(low[axis]), at.max(high[axis]));
        }
    }
    let sides = || [0, 1, 2].map(|axis| high[axis] - low[axis] + 1);
    (!nodes.is_empty()).then(|| Cuboid::new(low, sides()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_hold_does_not_make_a_later_job_endless() {
        let (grid, strategy) = ("mesh:2".parse().unwrap(), "ff".parse().unwrap());
        let mut planner = Planner::new(grid, &strategy, &"easy".parse().unwrap(), 100).unwrap();
        assert!(planner.hold(0, vec![NodeId(0)], 100, Some(160)));
        assert!(!planner.hold(1, vec![NodeId(0)], 100, None), "the node is taken");
        assert!(planner.hold(1, vec![NodeId(1)], 100, Some(170)), "the number is free");
        planner.submit(2, 0, Request::shape([2, 1, 1]), Some(10));
        assert!(planner.start_next().unwrap().is_none());
        let start = planner.planned(planner.standing().as_ref(), JobId(2)).unwrap();
        assert_eq!(start.at, Time(170));
    }

    #[test]
    fn no_start_depends_on_a_job_without_an_end_that_has_run_for_months() {
        let (grid, strategy) = ("mesh:2".parse().unwrap(), "ff".parse().unwrap());
        let (scheduler, now) = ("easy".parse().unwrap(), NO_LIMIT_S);
        let mut planner = Planner::new(grid, &strategy, &scheduler, now).unwrap();
        assert!(planner.hold(0, vec![NodeId(0)], now - 200 * 86_400, None));
        planner.submit(1, 0, Request::shape([2, 1, 1]), Some(10));
        assert!(planner.starts(&scheduler).unwrap().is_empty());
    }
}
