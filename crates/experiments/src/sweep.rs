//! Runs every point of an experiment until its targets hold.
//!
//! Workers take the first replication that is wanted of the first unfinished point, so that points
//! finish one after another. How many replications a point gets depends on its first ones in order,
//! never on which finished first: the same points and the same numbers come out whatever the number
//! of threads, however often the sweep was stopped and resumed.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard};

use pavior_simulation::Histories;
use thiserror::Error;

use crate::sample::Digest;
use crate::{JournalEntry, LogRequest, Logs, Progress, Sample, Scenario, Specification, Store};

/// A part of the points: those whose index leaves `index - 1` when divided by `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub index: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// All points.
    pub const WHOLE: Shard = Shard { index: 1, of: 1 };

    /// Whether a point belongs to it.
    pub fn has(self, point: usize) -> bool {
        point % self.of == self.index - 1
    }
}

/// Why a sweep stopped early.
#[derive(Debug, Error)]
pub enum SweepError {
    /// A log cannot be read.
    #[error("{0}")]
    Log(String),
    /// A finished replication could not be kept.
    #[error("{0}")]
    Store(io::Error),
}

/// The samples of every point, replication by replication; empty where a point was not run.
pub type Samples = Vec<Vec<Sample>>;

impl Specification {
    /// A digest of everything that results depend on: equal for experiments whose replications may be
    /// mixed. The jobs of logs belong to it.
    ///
    /// # Errors
    /// If a log cannot be read, in words.
    pub fn fingerprint(&self, version: &str, logs: &dyn Logs) -> Result<String, String> {
        let mut digest = Digest::default();
        let mut add = |text: &str| {
            digest.add(text.as_bytes());
            digest.add(b"\n");
        };
        add(version);
        self.points.iter().for_each(|point| add(&point.key()));
        self.metrics.iter().for_each(|spec| add(spec.name));
        add(&format!("{:?} {:?} {:?} {}", self.policy, self.caps, self.targets, self.timing));
        add(&format!("{:?}", self.orders));
        let mut seen: Vec<String> = Vec::new();
        for request in self.points.iter().filter_map(LogRequest::of) {
            if !seen.contains(&request.key) {
                for record in &logs.open(&request)?.records {
                    let times = [record.submit.0, record.run.0, u64::from(record.nodes)];
                    for number in times {
                        digest.add(&number.to_le_bytes());
                    }
                }
                seen.push(request.key);
            }
        }
        Ok(format!("{:016x}", digest.value()))
    }

    /// Runs the points of a shard, on the threads of the current pool. What is known from an earlier
    /// run is not run again; what is finished is given to the store at once.
    ///
    /// # Errors
    /// If a log cannot be read or the store fails; what it kept until then stays good.
    ///
    /// # Panics
    /// If a run does, on whichever thread.
    pub fn run(
        &self,
        known: Vec<JournalEntry>,
        shard: Shard,
        logs: &dyn Logs,
        store: &mut dyn Store,
        progress: &dyn Progress,
    ) -> Result<Samples, SweepError> {
        let mut states: Vec<PointState> = self.points.iter().map(|_| PointState::new()).collect();
        for JournalEntry { point, replication, sample } in known {
            if let Some(state) = states.get_mut(point) {
                state.samples.insert(replication, sample);
            }
        }
        let mut scenarios = Vec::new();
        // What one point has found out about jobs alone on the network, all others use.
        let histories = Histories::default();
        for (index, point) in self.points.iter().enumerate() {
            let state = &mut states[index];
            if shard.has(index) || !state.samples.is_empty() {
                self.advance(index, state, progress);
            }
            // Where nothing is left to do, the log is not needed either.
            let idle = state.finished || state.goal == 0;
            let scenario =
                || Scenario::new(point, self.timing, logs, &histories).map_err(SweepError::Log);
            scenarios.push(if idle { None } else { Some(scenario()?) });
        }
        let board = Board { states, first_open: 0, in_flight: 0, fault: None, store };
        let shared = SharedBoard { board: Mutex::new(board), changed: Condvar::new() };
        rayon::broadcast(|_| self.work(&scenarios, &shared, progress));
        let board = shared.board.into_inner().expect("no worker panicked");
        match board.fault {
            Some(fault) => Err(SweepError::Store(fault)),
            None => Ok(board.states.into_iter().map(PointState::into_samples).collect()),
        }
    }

    /// The samples of a finished sweep from its entries.
    ///
    /// # Errors
    /// If replications are missing: the points that are not finished.
    pub fn complete(&self, entries: Vec<JournalEntry>) -> Result<Samples, Vec<usize>> {
        let mut states: Vec<PointState> = self.points.iter().map(|_| PointState::new()).collect();
        for JournalEntry { point, replication, sample } in entries {
            if let Some(state) = states.get_mut(point) {
                state.samples.insert(replication, sample);
            }
        }
        for (index, state) in states.iter_mut().enumerate() {
            self.advance(index, state, &NoProgress);
        }
        let open: Vec<usize> = (0..states.len()).filter(|&index| !states[index].finished).collect();
        if open.is_empty() {
            Ok(states.into_iter().map(PointState::into_samples).collect())
        } else {
            Err(open)
        }
    }

    /// What every worker does until nothing is left.
    fn work(
        &self,
        scenarios: &[Option<Scenario>],
        shared: &SharedBoard<'_>,
        progress: &dyn Progress,
    ) {
        let mut board = shared.lock();
        loop {
            if board.fault.is_some() {
                return;
            }
            let Some((point, replication)) = board.take() else {
                if board.in_flight == 0 {
                    return;
                }
                // What is in in_flight may show that more replications are needed.
                board =
                    shared.changed.wait(board).expect("no worker panics while it holds the board");
                continue;
            };
            drop(board);
            let scenario = scenarios[point].as_ref().expect("an unfinished point has a scenario");
            let in_flight = InFlight { shared };
            let mut sample = scenario.replicate(replication, &self.metrics);
            self.add_order(point, &mut sample);
            drop(in_flight);
            board = shared.lock();
            board.in_flight -= 1;
            let entry = JournalEntry { point, replication, sample };
            if board.fault.is_none() {
                if let Err(fault) = board.store.keep(&entry) {
                    board.fault = Some(fault);
                } else {
                    board.states[point].samples.insert(replication, entry.sample);
                    self.advance(point, &mut board.states[point], progress);
                    progress.done();
                }
            }
            shared.changed.notify_all();
        }
    }

    /// Decides what a point still needs.
    fn advance(&self, point: usize, state: &mut PointState, progress: &dyn Progress) {
        while !state.finished {
            if (0..state.goal).any(|replication| !state.samples.contains_key(&replication)) {
                return;
            }
            let samples: Vec<Vec<f64>> = self
                .targets
                .iter()
                .map(|&target| {
                    let first = (0..state.goal).map(|replication| &state.samples[&replication]);
                    first.filter_map(|sample| sample.values[target]).collect()
                })
                .collect();
            let samples: Vec<&[f64]> = samples.iter().map(Vec::as_slice).collect();
            let more = self.policy_at(point).more(state.goal, &samples);
            if more == 0 {
                state.finished = true;
            } else {
                let goal = state.goal + more;
                let missing = |replication: &u64| !state.samples.contains_key(replication);
                state.wanted = (state.goal..goal).filter(missing).collect();
                state.goal = goal;
                progress.planned(state.wanted.len() as u64);
            }
        }
    }
}

/// Progress that nobody watches.
#[derive(Clone, Copy, Debug)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn planned(&self, _: u64) {}
    fn done(&self) {}
}

/// How far a point is.
struct PointState {
    samples: BTreeMap<u64, Sample>,
    /// Replications decided on so far.
    goal: u64,
    /// Those of them that nobody has taken yet.
    wanted: Vec<u64>,
    finished: bool,
}

impl PointState {
    fn new() -> PointState {
        PointState { samples: BTreeMap::new(), goal: 0, wanted: Vec::new(), finished: false }
    }

    /// The samples that count, in order; none of a point that was not run.
    fn into_samples(self) -> Vec<Sample> {
        let goal = if self.finished { self.goal } else { 0 };
        self.samples.into_iter().take_while(|(number, _)| *number < goal).map(|(_, s)| s).collect()
    }
}

/// What the workers share.
struct Board<'s> {
    states: Vec<PointState>,
    /// Points before this one want nothing.
    first_open: usize,
    in_flight: usize,
    fault: Option<io::Error>,
    store: &'s mut dyn Store,
}

impl Board<'_> {
    /// The next replication to run.
    fn take(&mut self) -> Option<(usize, u64)> {
        let open: Range<usize> = self.first_open..self.states.len();
        let done = |state: &PointState| state.finished || state.goal == 0;
        for point in open {
            let state = &mut self.states[point];
            if point == self.first_open && done(state) {
                self.first_open += 1;
            }
            if !state.wanted.is_empty() {
                self.in_flight += 1;
                return Some((point, state.wanted.remove(0)));
            }
        }
        None
    }
}

struct SharedBoard<'s> {
    board: Mutex<Board<'s>>,
    changed: Condvar,
}

impl<'s> SharedBoard<'s> {
    fn lock(&self) -> MutexGuard<'_, Board<'s>> {
        self.board.lock().expect("no worker panics while it holds the board")
    }
}

/// A replication in in_flight. If its run panics, it is no longer waited for.
struct InFlight<'d, 's> {
    shared: &'d SharedBoard<'s>,
}

impl Drop for InFlight<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.lock().in_flight -= 1;
            self.shared.changed.notify_all();
        }
    }
}
