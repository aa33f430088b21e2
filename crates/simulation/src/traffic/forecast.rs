//! Predicts, for schedulers, how a job's run time on given nodes compares with its run time in the
//! requested box.
//!
//! One iteration of the job's pattern is simulated in isolation, once on the given nodes and once
//! in the requested box ([`Trials`]). The ratio of the two times is weighted by the fraction of
//! time that the job spends communicating. Contention with other jobs is not predicted. The
//! prediction uses only the estimated run time, which schedulers can see.

use pavior_allocation::Placement;
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, Request};
use pavior_network::{Communication, Layout, supports_iterations};
use pavior_scheduling::Prediction;
use pavior_workload::{Job, Service};
use rustc_hash::FxHashMap;

use super::NetworkSetup;
use super::iterations::Trials;

/// The maximum number of cached results.
const MOST_KNOWN: usize = 1 << 14;

/// A predictor of job run times for runs in which jobs send messages.
pub(crate) struct Forecast {
    setup: NetworkSetup,
    grid: Grid,
    seed: u64,
    replication: u64,
    /// The network for trials, which is created on first use.
    trials: Option<Box<Trials>>,
    /// Cached results by request and granted nodes, for patterns without random draws.
    known: FxHashMap<(Request, Box<[Cuboid]>), Cycles>,
}

/// The number of cycles that an iteration takes in the requested box and on the granted nodes.
#[derive(Clone, Copy, Debug)]
struct Cycles {
    asked: u64,
    /// The time on the granted nodes, or `None` if the messages deadlock there.
    granted: Option<u64>,
}

impl Forecast {
    pub(crate) fn new(setup: &NetworkSetup, grid: Grid, seed: u64, replication: u64) -> Forecast {
        let setup = setup.clone();
        Forecast { setup, grid, seed, replication, trials: None, known: FxHashMap::default() }
    }

    /// Returns the iteration times for a job, or `None` if the job sends nothing or its pattern has
    /// no iterations.
    fn cycles(&mut self, job: &Job, placement: &Placement) -> Option<Cycles> {
        supports_iterations(&self.setup.plan.pattern).ok()?;
        let request = job.request.with_freedom(None);
        let key = (request, placement.parts().into());
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let draw = NetworkSetup::draws(self.seed, self.replication, job.id);
        let layouts = &mut Trials::kept(&mut self.trials, &self.setup, self.grid).layouts;
        let granted = layouts.granted(placement.parts(), &request, &draw);
        let asked = layouts.asked(&request, &draw);
        let mut drawn = draw.clone();
        self.setup.plan.pattern.build((&granted.shape, &mut drawn)).ok()?;
        let of_granted = self.try_out(&granted, &draw).ok()?;
        let of_asked = match &asked {
            Some(asked) if *asked != granted => self.try_out(asked, &draw).ok()??,
            _ => of_granted?,
        };
        let cycles = Cycles { asked: of_asked, granted: of_granted };
        if drawn == draw {
            if self.known.len() >= MOST_KNOWN {
                self.known.clear();
            }
            self.known.insert(key, cycles);
        }
        Some(cycles)
    }

    /// Returns the number of cycles that an iteration takes, or `Ok(None)` if its messages
    /// deadlock. Returns an error if nothing is sent.
    fn try_out(&mut self, layout: &Layout, draw: &Stream) -> Result<Option<u64>, NothingSent> {
        let Forecast { trials, setup, grid, .. } = self;
        let trials = Trials::kept(trials, setup, *grid);
        match trials.history(layout, Communication::Iterations(1), draw) {
            Ok(Some(history)) => Ok(Some(history.length.0)),
            Ok(None) => Err(NothingSent),
            Err(_) => {
                // The network still contains the deadlocked messages, so it cannot be reused.
                self.trials = None;
                Ok(None)
            }
        }
    }
}

struct NothingSent;

impl Prediction for Forecast {
    fn growth(&mut self, job: &Job, placement: &Placement) -> f64 {
        let share = match job.service {
            Service::Run(_) | Service::Messages(_) => return 1.0,
            Service::Iterations(_) => 1.0,
            Service::Partly { compute, communicate } => {
                let run = compute.ticks() + communicate.ticks();
                if run > 0.0 { communicate.ticks() / run } else { 0.0 }
            }
        };
        if share == 0.0 {
            return 1.0;
        }
        let Some(Cycles { asked, granted }) = self.cycles(job, placement) else { return 1.0 };
        let iterates = matches!(job.service, Service::Iterations(_));
        if !iterates && job.estimate.ticks() * share < asked as f64 {
            // The job communicates too little for even one iteration.
            return 1.0;
        }
        let Some(granted) = granted else { return f64::INFINITY };
        1.0 + share * (granted as f64 / asked as f64 - 1.0)
    }
}
