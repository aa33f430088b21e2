//! A churn, which is a recorded sequence of requests and releases on a nearly saturated machine.
//!
//! All strategies receive the same stream of requests. If a request is refused, the oldest job
//! departs and the request is repeated until it is granted. This keeps the machine as full as the
//! strategy can make it. If a maximum fill is set, the oldest jobs also depart before each request,
//! so that at most this fraction of the nodes is in use. As in simulations, requests that the
//! strategy would never grant are skipped.

use std::collections::VecDeque;

use pavior_allocation::{BuildError, Machine, Selection, Work};
use pavior_mesh::{Grid, JobId, Request};

/// The parameters of a churn, which are the same for all strategies.
#[derive(Clone, Debug)]
pub(super) struct Demand<'a> {
    pub(super) grid: Grid,
    /// The stream of requests, which starts over when it ends.
    pub(super) requests: &'a [Request],
    pub(super) attempts: usize,
    /// The number of warm-up attempts, which are not recorded. If `None`, the warm-up ends once
    /// every job present at the first departure has departed.
    pub(super) warmup: Option<u64>,
    pub(super) fill: Option<f64>,
    pub(super) seed: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// An allocation attempt and its outcome.
    Ask {
        job: JobId,
        request: Request,
        granted: bool,
    },
    Release(JobId),
}

/// A strategy's recorded churn, ready for replay.
pub(super) struct Churn {
    /// The machine after the warm-up. It has already cached the requests that can never fit.
    pub(super) start: Machine,
    pub(super) steps: Vec<Step>,
    pub(super) warmup: u64,
    /// The number of requests skipped after the warm-up.
    pub(super) rejected: u64,
    /// The number of parts in use, summed over all attempts.
    pub(super) parts: u64,
    /// The work done by `find` in granted attempts. `refused` is the work in refused attempts.
    pub(super) granted: Work,
    pub(super) refused: Work,
    /// The work done to record grants and releases.
    pub(super) upkeep: u64,
}

impl Churn {
    /// Records a strategy's churn. Returns `None` if the strategy would never grant any of the
    /// requests.
    pub(super) fn record(
        demand: &Demand<'_>,
        selection: &Selection,
    ) -> Result<Option<Churn>, BuildError> {
        let machine = Machine::with_seed(demand.grid, selection, demand.seed)?;
        let mut play = Play::new(demand, machine);
        if !play.choose() {
            return Ok(None);
        }
        play.warm_up(demand.warmup);
        play.recorded = true;
        let mut start = play.machine.clone();
        let (warmup, rejected, parts) = (play.attempts, play.rejected, play.parts_asked);
        let before = play.machine.work();
        (play.granted, play.refused) = (Work::default(), Work::default());
        let last = warmup + demand.attempts as u64;
        while play.attempts < last {
            play.attempt();
        }
        let upkeep = (play.machine.work() - before).upkeep;
        for step in &play.steps {
            if let Step::Ask { request, .. } = step {
                // Let the machine cache the result, because simulations run this check whenever a
                // job arrives.
                let _ = start.could_ever_fit(request);
            }
        }
        Ok(Some(Churn {
            start,
            warmup,
            rejected: play.rejected - rejected,
            parts: play.parts_asked - parts,
            granted: play.granted,
            refused: play.refused,
            upkeep,
            steps: play.steps,
        }))
    }
}

struct Play<'a> {
    demand: &'a Demand<'a>,
    machine: Machine,
    /// Running jobs and their part counts, oldest job first.
    running: VecDeque<(JobId, u64)>,
    parts: u64,
    /// The position of the next request in the stream.
    next: usize,
    pending: Option<(JobId, Request)>,
    jobs: u64,
    /// The recorded steps, after the warm-up.
    steps: Vec<Step>,
    recorded: bool,
    attempts: u64,
    rejected: u64,
    departed: u64,
    parts_asked: u64,
    granted: Work,
    refused: Work,
}

impl<'a> Play<'a> {
    fn new(demand: &'a Demand<'a>, machine: Machine) -> Play<'a> {
        Play {
            demand,
            machine,
            running: VecDeque::new(),
            parts: 0,
            next: 0,
            pending: None,
            jobs: 0,
            steps: Vec::new(),
            recorded: false,
            attempts: 0,
            rejected: 0,
            departed: 0,
            parts_asked: 0,
            granted: Work::default(),
            refused: Work::default(),
        }
    }

    fn warm_up(&mut self, attempts: Option<u64>) {
        if let Some(attempts) = attempts {
            while self.attempts < attempts {
                self.attempt();
            }
            return;
        }
        while self.departed == 0 {
            self.attempt();
        }
        let there = self.jobs;
        while self.running.front().is_some_and(|(oldest, _)| oldest.0 < there) {
            self.attempt();
        }
    }

    /// Selects the next request that could ever be granted. Returns false if there is none.
    fn choose(&mut self) -> bool {
        let requests = self.demand.requests;
        for _ in 0..requests.len() {
            let request = requests[self.next];
            self.next = (self.next + 1) % requests.len();
            if self.machine.could_ever_fit(&request).is_ok() {
                self.pending = Some((JobId(self.jobs), request));
                self.jobs += 1;
                return true;
            }
            self.rejected += 1;
        }
        false
    }

    fn attempt(&mut self) {
        if self.pending.is_none() {
            let found = self.choose();
            assert!(found, "no request in the stream can be granted");
        }
        let (job, request) = self.pending.expect("it was just chosen");
        if let Some(fill) = self.demand.fill {
            let most = fill * f64::from(self.demand.grid.nodes());
            let needed = self.machine.needed(&request) as f64;
            while needed + f64::from(self.machine.busy_nodes()) > most && self.depart() {}
        }
        self.attempts += 1;
        self.parts_asked += self.parts;
        let before = self.machine.work();
        let granted = self.machine.probe(&request).is_ok();
        let work = self.machine.work() - before;
        self.record(Step::Ask { job, request, granted });
        if granted {
            self.granted += work;
            let placement = self.machine.allocate(job, &request).expect("it was just promised");
            let parts = placement.parts().len() as u64;
            self.running.push_back((job, parts));
            self.parts += parts;
            self.pending = None;
        } else {
            self.refused += work;
            if !self.depart() {
                // Even an empty machine refuses this request, although the check reported that the
                // request could fit.
                self.pending = None;
            }
        }
    }

    fn record(&mut self, step: Step) {
        if self.recorded {
            self.steps.push(step);
        }
    }

    /// Ends the oldest job. Returns false if there are no jobs.
    fn depart(&mut self) -> bool {
        let Some((job, parts)) = self.running.pop_front() else { return false };
        self.machine.release(job).expect("a running job holds nodes");
        self.record(Step::Release(job));
        self.parts -= parts;
        self.departed += 1;
        true
    }
}
