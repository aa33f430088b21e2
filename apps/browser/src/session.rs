//! A run that advances in steps.

use std::collections::BTreeMap;

use pavior::answers::json::{Place, Point};
use pavior::experiments::{self, Scenario};
use pavior::scheduling::RunningJob;
use pavior::simulation::{Simulation, Stop};
use pavior::workload::TimeUnit;
use pavior::{Cuboid, Grid, JobId, Placement, Time};
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::statistics::{MIN_COMPARED_JOBS, Statistics, mean_difference};

/// The maximum machine size, in nodes, for which steps compute the largest free box and answers
/// include moves and box counts.
pub(crate) const MAX_SEARCHED_NODES: u32 = 40_000;

/// A running job's start time and the boxes that it occupies.
type Stay = (Time, Vec<Cuboid>);

/// Changes to the running jobs since the last report to the page.
struct Changes {
    placed: Vec<Value>,
    /// Ids of jobs that no longer have the placement last reported to the page.
    ended: Vec<u64>,
}

/// A run and the state last reported to the page.
pub(crate) struct Session {
    run: Simulation<'static, 'static, 'static>,
    unit: TimeUnit,
    scheduler: String,
    jobs: usize,
    is_over: bool,
    /// The running jobs known to the page.
    known: BTreeMap<JobId, Stay>,
    statistics: Statistics,
}

impl Session {
    pub(crate) fn new(scenario: &Scenario, point: &experiments::Point) -> Result<Session, Fault> {
        let jobs = usize::try_from(scenario.length()).unwrap_or(usize::MAX);
        let run = scenario.stepped(0, jobs).map_err(Fault::of)?;
        let run =
            run.ok_or_else(|| "expected a job simulation, but found a snapshot".to_string())?;
        Ok(Session {
            statistics: Statistics::new(run.now()),
            run,
            unit: point.unit(),
            scheduler: point.get("scheduler").unwrap_or_default().to_string(),
            jobs,
            is_over: false,
            known: BTreeMap::new(),
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

    /// Advances the run by up to `instants` event times, stopping when the time reaches or passes
    /// `until`. Returns the changes.
    pub(crate) fn step(&mut self, instants: u64, until: Option<f64>) -> Result<Value, Fault> {
        for _ in 0..instants {
            let now = self.run.now();
            if self.is_over || until.is_some_and(|until| self.units(now) >= until) {
                break;
            }
            let busy_nodes = self.run.machine().busy_nodes();
            if !self.run.advance(&Stop::default()).map_err(Fault::of)? {
                self.is_over = true;
                break;
            }
            self.statistics.add_period(now, self.run.now(), busy_nodes);
            self.run.schedule().map_err(Fault::of)?;
            for RunningJob { job, start } in self.run.running().by_estimated_end() {
                if *start == self.run.now() {
                    self.statistics.add_start(job, *start);
                }
            }
        }
        Ok(self.take_changes())
    }

    /// Returns the run's state, and the jobs that started, moved or left since the last call.
    fn take_changes(&mut self) -> Value {
        let Changes { placed, ended } = self.take_job_changes();
        let (grid, machine, now) = (self.grid(), self.run.machine(), self.run.now());
        let is_searched = grid.nodes() <= MAX_SEARCHED_NODES;
        let largest = is_searched.then(|| machine.free().largest_free()).flatten();
        let lost: Vec<_> = machine.failed().map(|at| Point::of(grid, grid.point(at))).collect();
        let wait = self.statistics.mean_wait();
        json!({
            "now": self.units(now),
            "over": self.is_over,
            "waiting": self.run.queue().len(),
            "completed": self.run.completed(),
            "started": self.statistics.started(),
            "busy": machine.busy_nodes(),
            "wait": wait.map(|ticks| ticks / self.unit.ticks as f64),
            "utilization": self.statistics.utilization(now, grid.nodes()),
            "largest": largest.map(|part| Place::of(grid, &part)),
            "searched": is_searched,
            "placed": placed,
            "ended": ended,
            "lost": lost,
        })
    }

    /// Returns the jobs that started, moved or left since the last call.
    fn take_job_changes(&mut self) -> Changes {
        let machine = self.run.machine();
        let mut running = BTreeMap::new();
        let mut placed = Vec::new();
        for job in self.run.running().by_estimated_end() {
            let id = job.job.id;
            let parts = machine.placement(id).map(Placement::parts).unwrap_or_default();
            let stay = (job.start, parts.to_vec());
            if self.known.get(&id) != Some(&stay) {
                placed.push((id, self.placed(job, parts)));
            }
            running.insert(id, stay);
        }
        placed.sort_unstable_by_key(|(id, _)| *id);
        let has_left = |(id, stay): &(&JobId, &Stay)| running.get(id) != Some(stay);
        let ended = self.known.iter().filter(has_left).map(|(id, _)| id.0).collect();
        self.known = running;
        Changes { placed: placed.into_iter().map(|(_, job)| job).collect(), ended }
    }

    fn placed(&self, running: &RunningJob, parts: &[Cuboid]) -> Value {
        json!({
            "id": running.job.id.0,
            "start": self.units(running.start),
            "ends": self.units(running.expected_end(self.run.now())),
            "requested": running.job.request.nodes,
            "parts": Place::all(self.grid(), parts),
        })
    }

    /// Returns the difference in mean wait time between two runs of the same jobs. Considers only
    /// the jobs that precede the first job still waiting in either run, and ignores rejected jobs.
    pub(crate) fn difference(&self, other: &Session) -> Value {
        let limit = self.settled_jobs().min(other.settled_jobs());
        let waits = self.statistics.common_waits(&other.statistics, limit);
        if waits.len() < MIN_COMPARED_JOBS {
            return json!({ "jobs": waits.len(), "needed": MIN_COMPARED_JOBS });
        }
        let waits: Vec<[f64; 2]> =
            waits.into_iter().map(|pair| pair.map(|wait| self.units(wait))).collect();
        let change = mean_difference(&waits);
        json!({
            "jobs": waits.len(),
            "difference": change.map(|change| change.difference),
            "half_width": change.and_then(|change| change.half_width),
        })
    }

    /// Returns the number of jobs that precede the first job that has not yet arrived or started.
    /// An interrupted job counts as started even while it is back in the queue.
    fn settled_jobs(&self) -> usize {
        let indexes = self.run.queue().iter().map(|job| job.index as usize);
        let oldest = indexes.filter(|&index| !self.statistics.has_wait(index)).min();
        oldest.unwrap_or(self.statistics.known_jobs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(settings: &Value) -> Session {
        crate::Engine::default().open(settings.as_object().unwrap()).unwrap()
    }

    #[test]
    fn a_page_knows_the_boxes_of_moved_jobs() {
        let mut session = open(&json!({
            "machine": "torus:8x8", "strategy": "tff", "load": "2", "jobs": "1500", "seed": "1",
            "migration": "0", "freedom": "any:25%",
        }));
        let mut page = BTreeMap::new();
        while !session.is_over {
            let changes = session.step(1, None).unwrap();
            for id in changes["ended"].as_array().unwrap() {
                page.remove(&id.as_u64().unwrap());
            }
            for job in changes["placed"].as_array().unwrap() {
                page.insert(job["id"].as_u64().unwrap(), job["parts"].clone());
            }
            for (&id, parts) in &page {
                let placement = session.run.machine().placement(JobId(id)).unwrap();
                assert_eq!(*parts, json!(Place::all(session.grid(), placement.parts())));
            }
        }
    }

    #[test]
    fn interrupted_jobs_keep_their_waits_in_a_comparison() {
        let mut session = open(&json!({
            "machine": "mesh:8x8", "strategy": "tff", "load": "0.5", "jobs": "1000", "mttf": "50",
            "mttr": "1",
        }));
        let mut before = 0;
        while !session.is_over {
            session.step(1, None).unwrap();
            let jobs = session.difference(&session)["jobs"].as_u64().unwrap();
            assert!(jobs >= before, "{jobs} jobs after {before}");
            before = jobs;
        }
    }
}
