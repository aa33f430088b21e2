//! The queue from which workers take a sweep's replications. It also records errors from runs.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};

use pavior_simulation::{Histories, RunError, Stop};

use super::plan::Plan;
use super::{Environment, SweepError};
use crate::{JournalEntry, Sample, Scenario, Specification, Store};

/// A point's scenario, created by the first worker that needs it.
type Slot = Arc<OnceLock<Result<Scenario, String>>>;

/// A point's index and a replication's number.
type Place = (usize, u64);

/// The replications that a sweep still has to run, shared by its workers.
pub(super) struct WorkQueue<'s, 'l> {
    specification: &'s Specification,
    environment: Environment<'s>,
    /// Results, shared by all points, for jobs that are alone on the network.
    histories: Histories,
    state: Mutex<State<'s, 'l>>,
    changed: Condvar,
}

struct State<'s, 'l> {
    plan: &'l mut Plan<'s>,
    /// The scenarios of points in progress.
    slots: Vec<(usize, Slot)>,
    /// The index of the first point that may still need replications.
    first_open: usize,
    in_flight: usize,
    /// The error of the failed run that comes first in order of point and replication.
    fault: Option<(Place, SweepError)>,
    /// An error that ended the sweep immediately.
    end: Option<SweepError>,
    store: &'s mut dyn Store,
}

struct Task {
    place: Place,
    slot: Slot,
}

impl<'s, 'l> WorkQueue<'s, 'l> {
    pub(super) fn new(
        specification: &'s Specification,
        plan: &'l mut Plan<'s>,
        environment: Environment<'s>,
        store: &'s mut dyn Store,
    ) -> WorkQueue<'s, 'l> {
        let state = State {
            plan,
            slots: Vec::new(),
            first_open: 0,
            in_flight: 0,
            fault: None,
            end: None,
            store,
        };
        let (histories, state) = (Histories::default(), Mutex::new(state));
        WorkQueue { specification, environment, histories, state, changed: Condvar::new() }
    }

    /// Returns the error that ended the sweep.
    pub(super) fn into_result(self) -> Result<(), SweepError> {
        let state = self.state.into_inner().expect("no worker panicked");
        match state.end.or(state.fault.map(|(_, fault)| fault)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'s, 'l>> {
        self.state.lock().expect("no worker panics while it holds the queue")
    }

    /// Runs replications until none are left or the sweep ends. Called by every worker.
    pub(super) fn work(&self) {
        let mut state = self.lock();
        loop {
            if self.environment.stop.is_some_and(Stop::is_set) {
                state.end.get_or_insert(SweepError::Stopped);
            }
            if state.end.is_some() {
                return;
            }
            let Some(task) = state.take() else {
                if state.in_flight == 0 {
                    return;
                }
                // Wait, because replications in progress may show that more are needed.
                state =
                    self.changed.wait(state).expect("no worker panics while it holds the queue");
                continue;
            };
            drop(state);
            let flight = Flight { queue: self };
            let result = self.replicate(&task);
            drop(flight);
            state = self.lock();
            state.in_flight -= 1;
            self.land(&mut state, task.place, result);
            self.changed.notify_all();
        }
    }

    fn replicate(&self, task: &Task) -> Result<Sample, SweepError> {
        let (point, replication) = task.place;
        let Environment { files, recording, stop, .. } = self.environment;
        let stop = stop.cloned().unwrap_or_default();
        let Specification { points, metrics, timing, .. } = self.specification;
        let scenario = task.slot.get_or_init(|| {
            Scenario::new(points[point].settings(), *timing, files, &self.histories)
                .map_err(|error| error.to_string())
        });
        let scenario =
            scenario.as_ref().map_err(|reason| SweepError::Input(reason.clone().into()))?;
        let result = match recording.filter(|_| replication == 0) {
            None => self.specification.replicate(point, scenario, replication, &stop),
            Some(recording) => {
                scenario.record(replication, metrics, None, &stop).map(|(mut sample, record)| {
                    recording.keep(point, record);
                    self.specification.add_order(point, &mut sample);
                    sample
                })
            }
        };
        result.map_err(|error| match error {
            RunError::Stopped => SweepError::Stopped,
            error => SweepError::Run { point, replication, error },
        })
    }

    /// Stores the result of a run.
    fn land(&self, state: &mut State<'s, 'l>, place: Place, result: Result<Sample, SweepError>) {
        let (point, replication) = place;
        let sample = match result {
            Ok(sample) => sample,
            Err(SweepError::Stopped) => {
                state.end.get_or_insert(SweepError::Stopped);
                return;
            }
            Err(error) => {
                if state.fault.as_ref().is_none_or(|(first, _)| place < *first) {
                    state.fault = Some((place, error));
                }
                return;
            }
        };
        if state.end.is_some() {
            return;
        }
        let entry = JournalEntry { point, replication, sample };
        if let Err(error) = state.store.keep(&entry) {
            state.end = Some(SweepError::Store(error));
            return;
        }
        let planned = state.plan.keep(point, replication, entry.sample);
        if planned > 0 {
            self.environment.progress.planned(planned);
        }
        if !state.plan.is_open(point) {
            state.slots.retain(|(index, _)| *index != point);
        }
        self.environment.progress.done();
    }
}

impl State<'_, '_> {
    /// Takes the next replication to run. After a failure, only replications that precede the
    /// failed one still run. If one of them fails as well, its error is reported instead.
    fn take(&mut self) -> Option<Task> {
        for point in self.first_open..self.plan.len() {
            if point == self.first_open && !self.plan.is_open(point) {
                self.first_open += 1;
            }
            let Some(replication) = self.plan.next(point) else { continue };
            let place = (point, replication);
            if self.fault.as_ref().is_some_and(|(fault, _)| place > *fault) {
                return None;
            }
            self.plan.take(point);
            self.in_flight += 1;
            return Some(Task { place, slot: self.slot(point) });
        }
        None
    }

    fn slot(&mut self, point: usize) -> Slot {
        if let Some((_, slot)) = self.slots.iter().find(|(index, _)| *index == point) {
            return slot.clone();
        }
        let slot = Slot::default();
        self.slots.push((point, slot.clone()));
        slot
    }
}

/// A guard for a replication in progress. If the replication panics, the guard ensures that other
/// workers do not wait for it forever.
struct Flight<'b, 's, 'l> {
    queue: &'b WorkQueue<'s, 'l>,
}

impl Drop for Flight<'_, '_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.queue.lock().in_flight -= 1;
            self.queue.changed.notify_all();
        }
    }
}
