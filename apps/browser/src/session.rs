//! A run that advances in steps, and its statistics.

use std::collections::BTreeMap;

use pavior::answers::json::{Place, Point};
use pavior::experiments::advice::{BATCHES, Batch, Change};
use pavior::experiments::{Scenario, Specification};
use pavior::scheduling::RunningJob;
use pavior::simulation::{Simulation, Stop};
use pavior::workload::TimeUnit;
use pavior::{Cuboid, Grid, JobId, Placement, Time};
use serde_json::{Value, json};

use crate::engine::Fault;

/// The maximum number of nodes for which the largest free box is found after every step.
const SEARCHED: u32 = 40_000;
/// The minimum number of jobs for an interval: ten in each batch.
const FEWEST_JOBS: usize = 10 * BATCHES;

/// A run, and the state last reported to the page.
pub(crate) struct Session {
    run: Simulation<'static, 'static, 'static>,
    unit: TimeUnit,
    scheduler: String,
    jobs: usize,
    is_over: bool,
    begin: Time,
    /// The running jobs sent to the page, with their start times and first boxes.
    known: BTreeMap<JobId, (Time, Option<Cuboid>)>,
    /// The waits of started jobs, by job index.
    waits: Vec<Option<Time>>,
    started: u64,
    waited: u128,
    /// The time integral of the number of busy nodes, in ticks.
    used: u128,
}

impl Session {
    pub(crate) fn new(
        (scenario, specification): &(Scenario, Specification),
    ) -> Result<Self, Fault> {
        let point = &specification.points[0];
        let jobs = usize::try_from(scenario.length()).unwrap_or(usize::MAX);
        let run = scenario.stepped(0, jobs).map_err(Fault::of)?;
        let run =
            run.ok_or_else(|| Fault::from("a run requires jobs, not a snapshot".to_string()))?;
        Ok(Session {
            begin: run.now(),
            run,
            unit: point.unit(),
            scheduler: point.get("scheduler").unwrap_or_default().to_string(),
            jobs,
            is_over: false,
            known: BTreeMap::new(),
            waits: Vec::new(),
            started: 0,
            waited: 0,
            used: 0,
        })
    }

    pub(crate) fn grid(&self) -> &Grid {
        self.run.machine().grid()
    }

    pub(crate) fn run(&self) -> &Simulation<'static, 'static, 'static> {
        &self.run
    }

    pub(crate) fn scheduler(&self) -> &str {
        &self.scheduler
    }

    /// Converts a time to the run's unit.
    pub(crate) fn units(&self, time: Time) -> f64 {
        self.unit.units(time)
    }

    pub(crate) fn in_words(&self, time: Time) -> String {
        format!("{:.2}", self.units(time))
    }

    pub(crate) fn opened(&self) -> Value {
        let machine = self.run.machine();
        json!({
            "machine": self.grid().to_string(),
            "strategy": machine.selection().to_string(),
            "scheduler": self.scheduler,
            "jobs": self.jobs,
            "unit": self.unit.name,
        })
    }

    /// Advances by at most `instants` instants, not beyond `until`, and returns the changes.
    pub(crate) fn step(&mut self, instants: u64, until: Option<f64>) -> Result<Value, Fault> {
        for _ in 0..instants {
            let now = self.run.now();
            if self.is_over || until.is_some_and(|until| self.units(now) >= until) {
                break;
            }
            let busy = u128::from(self.run.machine().busy_nodes());
            if !self.run.advance(&Stop::default()).map_err(Fault::of)? {
                self.is_over = true;
                break;
            }
            if self.started == 0 {
                // Averages over a log start at its first job.
                self.begin = self.begin.max(if self.waits.is_empty() { now } else { self.begin });
            }
            self.used += busy * u128::from(self.run.now().since(now).0);
            self.run.schedule().map_err(Fault::of)?;
            self.count_starts();
        }
        Ok(self.changes())
    }

    /// Counts the jobs that started at the current instant. Only first starts are counted.
    fn count_starts(&mut self) {
        let now = self.run.now();
        for RunningJob { job, start } in self.run.running().by_estimated_end() {
            let index = usize::try_from(job.index).unwrap_or(usize::MAX);
            if *start != now || self.waits.get(index).is_some_and(Option::is_some) {
                continue;
            }
            if self.waits.len() <= index {
                self.waits.resize(index + 1, None);
            }
            let wait = now.since(job.arrival);
            self.waits[index] = Some(wait);
            self.started += 1;
            self.waited += u128::from(wait.0);
        }
    }

    /// Returns the run's state, and the jobs that started or left since the last call.
    fn changes(&mut self) -> Value {
        let grid = *self.grid();
        let machine = self.run.machine();
        let mut running = BTreeMap::new();
        let mut started = Vec::new();
        for one in self.run.running().by_estimated_end() {
            let (id, parts) = (one.job.id, machine.placement(one.job.id).map(Placement::parts));
            let parts = parts.unwrap_or_default();
            let held = (one.start, parts.first().copied());
            if self.known.get(&id) != Some(&held) {
                started.push((id, self.placed(one, &grid, parts)));
            }
            running.insert(id, held);
        }
        started.sort_unstable_by_key(|(id, _)| *id);
        let ended: Vec<u64> = self
            .known
            .iter()
            .filter(|(id, held)| running.get(id) != Some(held))
            .map(|(id, _)| id.0)
            .collect();
        self.known = running;
        let is_searched = grid.nodes() <= SEARCHED;
        let largest = is_searched.then(|| machine.free().largest_free()).flatten();
        let lost: Vec<_> = machine.failed().map(|at| Point::of(&grid, grid.point(at))).collect();
        let span = self.run.now().since(self.begin).0;
        let used = self.used as f64 / (f64::from(grid.nodes()) * span as f64);
        let wait = self.waited as f64 / self.started as f64 / self.unit.ticks as f64;
        json!({
            "now": self.units(self.run.now()),
            "over": self.is_over,
            "waiting": self.run.queue().len(),
            "completed": self.run.completed(),
            "started": self.started,
            "busy": machine.busy_nodes(),
            "wait": (self.started > 0).then_some(wait),
            "utilization": (span > 0).then_some(used),
            "largest": largest.map(|part| Place::of(&grid, &part)),
            "searched": is_searched,
            "placed": started.into_iter().map(|(_, job)| job).collect::<Vec<_>>(),
            "ended": ended,
            "lost": lost,
        })
    }

    fn placed(&self, one: &RunningJob, grid: &Grid, parts: &[Cuboid]) -> Value {
        json!({
            "id": one.job.id.0,
            "start": self.units(one.start),
            "ends": self.units(one.expected_end(self.run.now())),
            "requested": one.job.request.nodes,
            "parts": Place::all(grid, parts),
        })
    }

    /// Returns the difference in mean waiting time between two runs of the same jobs. Only jobs
    /// before the first job still waiting in either run are compared. Rejected jobs are excluded.
    pub(crate) fn difference(&self, other: &Session) -> Value {
        let settled = self.settled().min(other.settled());
        let waits = self.waits.iter().zip(&other.waits).take(settled);
        let both: Vec<[f64; 2]> = waits
            .filter_map(|(one, other)| Some([self.units((*one)?), self.units((*other)?)]))
            .collect();
        if both.len() < FEWEST_JOBS {
            return json!({ "jobs": both.len(), "needed": FEWEST_JOBS });
        }
        let batch = |side: usize| -> Vec<Batch> {
            let bounds = (0..BATCHES)
                .map(|piece| piece * both.len() / BATCHES..(piece + 1) * both.len() / BATCHES);
            let sum = |range: std::ops::Range<usize>| Batch {
                sum: both[range.clone()].iter().map(|waits| waits[side]).sum(),
                of: range.len() as f64,
            };
            bounds.map(sum).collect()
        };
        let change = Change::of(&batch(1), &batch(0), 0.95);
        json!({
            "jobs": both.len(),
            "difference": change.map(|change| change.difference),
            "half_width": change.and_then(|change| change.half_width),
        })
    }

    /// Returns the number of jobs before the first job that is still waiting or has not arrived.
    fn settled(&self) -> usize {
        let oldest = self.run.queue().iter().map(|job| job.index).min();
        oldest.map_or(self.waits.len(), |index| index as usize)
    }
}
