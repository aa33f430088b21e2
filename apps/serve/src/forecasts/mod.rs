//! Forecasts when waiting requests will start, by simulating a copy of the state. The copy is built
//! from the same records on separate threads, so forecasts do not slow down the writer. At startup,
//! the forecasters learn from all retained records.
#![allow(clippy::disallowed_methods, reason = "the time spent on forecasts is limited")]

mod learner;
mod task;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant as Stopwatch};

use parking_lot::Mutex;
use pavior::answers::forecasts::{Experience, QueueForecast, StartJson};
use pavior::{Grid, JobId, Request, Time};

use self::learner::{Learner, kind};
use crate::core::{BoardView, Instant, Problem, Reason, UNLIMITED, job, micros};
use crate::writer::{RecoveryError, WriterHandle};

pub(crate) use task::update_forecasts;

/// The minimum time between forecast updates that are caused by changes. If necessary, the interval
/// grows so that updates take at most a tenth of the time.
const MIN_INTERVAL: Duration = Duration::from_millis(200);
/// The minimum time between updates when nothing has changed. These updates are for requests whose
/// median start has passed.
const IDLE_INTERVAL: Duration = Duration::from_secs(5);

/// The latest forecasts for all machines, and the accuracy of past forecasts.
#[derive(Default)]
pub(crate) struct Forecasts {
    /// True once all past records have been read. Until then, there are no forecasts.
    is_ready: AtomicBool,
    learner: Mutex<Option<Learner>>,
    /// The latest forecasts by machine.
    machines: Mutex<MachineForecasts>,
}

type MachineForecasts = HashMap<String, Arc<MachineForecast>>;

/// A machine's latest forecasts.
struct MachineForecast {
    forecast: QueueForecast,
    /// The number of forecasts made for waiting requests, counting repeated forecasts.
    made: u64,
}

/// A machine's grid and its latest forecasts, as seen by readers.
pub(crate) struct Starts {
    grid: Grid,
    machine: Option<Arc<MachineForecast>>,
}

impl Starts {
    pub(crate) fn of(&self, request: u64) -> Option<StartJson> {
        self.machine.as_ref()?.forecast.json(JobId(request), &self.grid, rfc3339)
    }
}

/// Limits on the delay until the next update.
struct NextUpdate {
    /// The minimum delay after a change.
    min_delay: Duration,
    /// The maximum delay if nothing changes.
    max_delay: Option<Duration>,
}

/// A request, with the data needed to forecast its start.
pub(crate) struct ForecastRequest {
    /// The index of the machine.
    pub(crate) board: usize,
    pub(crate) request: Request,
    pub(crate) tenant: String,
    /// The estimate, or else the time to live.
    pub(crate) stated_ms: Option<u64>,
}

impl Forecasts {
    pub(crate) fn starts(&self, board: &BoardView) -> Starts {
        let machine = self.machines.lock().get(&board.spec.name).cloned();
        Starts { grid: board.grid, machine }
    }

    /// Returns each machine's experience and its number of forecasts, including repeated ones.
    pub(crate) fn experiences(&self) -> HashMap<String, (Experience, u64)> {
        let machines = self.machines.lock();
        let experience = |machine: &MachineForecast| (machine.forecast.experience, machine.made);
        machines.iter().map(|(name, machine)| (name.clone(), experience(machine))).collect()
    }

    /// Reads all new records and updates the affected forecasts.
    ///
    /// # Errors
    /// Returns an error if the records cannot be read.
    fn update(
        &self,
        writer: &WriterHandle,
        seed: u64,
        stop: &Arc<AtomicBool>,
    ) -> Result<NextUpdate, RecoveryError> {
        let started = Stopwatch::now();
        let mut shared = self.learner.lock();
        let mut learner = match shared.take() {
            Some(learner) => learner,
            None => Learner::new(&**writer.history(), writer.seq(), seed)?,
        };
        learner.catch_up(writer, seed)?;
        let before = self.machines.lock().clone();
        let now_ms = writer.clock.now_ms();
        let machines = learner.forecasts(&before, now_ms, stop);
        let starts = machines.values().flat_map(|machine| machine.forecast.starts.values());
        let first = starts.filter_map(|start| start.median).min();
        let now = Duration::from_millis(now_ms);
        let until = |median: Time| Duration::from_micros(median.0).saturating_sub(now);
        *self.machines.lock() = machines;
        *shared = Some(learner);
        self.is_ready.store(true, Ordering::Release);
        Ok(NextUpdate {
            min_delay: (9 * started.elapsed()).max(MIN_INTERVAL),
            max_delay: first.map(|median| until(median).max(IDLE_INTERVAL)),
        })
    }

    /// Forecasts when a request that arrives now would start, given all records so far.
    ///
    /// # Errors
    /// Returns a problem that explains why no forecast can be made.
    pub(crate) fn forecast_request(
        &self,
        asked: &ForecastRequest,
        writer: &WriterHandle,
        seed: u64,
        stop: &Arc<AtomicBool>,
    ) -> Result<StartJson, Problem> {
        let not_yet = || Problem::new(Reason::NotYet, "try again in a few seconds");
        let failed = |reason: String| Problem::new(Reason::BadStrategy, reason);
        if !self.is_ready.load(Ordering::Acquire) {
            return Err(not_yet());
        }
        let mut shared = self.learner.lock();
        let mut learner = shared.take().ok_or_else(not_yet)?;
        learner.catch_up(writer, seed).map_err(|error| failed(error.to_string()))?;
        let Learner { state, forecasters, .. } = shared.insert(learner);
        let ForecastRequest { board, request, .. } = *asked;
        let machine = state.boards.get_mut(board).ok_or_else(not_yet)?;
        let forecaster = forecasters[board].as_mut().ok_or_else(|| {
            let detail = "this machine has no scheduler, so requests cannot wait";
            Problem::new(Reason::NoScheduler, detail)
        })?;
        machine.could_ever_fit(&request).map_err(|refusal| {
            Problem::new(Reason::Refused(refusal), "this machine can never grant the request")
        })?;
        let kind = kind(&asked.tenant, request.nodes, asked.stated_ms);
        let (id, grid) = (JobId(state.next_id), machine.grid);
        let estimate = kind.estimate.unwrap_or(UNLIMITED);
        let job = job(id, request, micros(writer.clock.now_ms()), estimate);
        forecaster.stop_by(stop.clone());
        let forecast = forecaster.forecast_request(machine.dispatcher(), job, kind);
        let forecast = forecast.map_err(|error| failed(error.to_string()))?;
        forecast.json(id, &grid, rfc3339).ok_or_else(not_yet)
    }
}

fn rfc3339(time: Time) -> String {
    Instant::from(time).to_string()
}
