//! Forecasts for waiting requests, made by simulating a copy of the state. The copy is folded from
//! the same records on separate threads, so forecasts cost the writer nothing. At startup, it
//! learns from all retained records.
#![allow(clippy::disallowed_methods, reason = "the time spent on forecasts is limited")]

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant as Stopwatch};

use parking_lot::Mutex;
use pavior::answers::forecasts::{
    Effort, Experience, Forecaster, Kind, QueueForecast, Start, StartJson,
};
use pavior::workload::{Job, Service};
use pavior::{Grid, JobId, Refusal, Request, Time};

use crate::core::{
    BoardView, Event, Instant, Lease, ServiceLimits, ServiceRecord, ServiceState, WaitingRequest,
    Why, estimate, micros,
};
use crate::storage::{History, StoreError};
use crate::writer::{Next, RecoveryError, WriterHandle, from_snapshot};

/// The number of requests at the head of each queue that get a forecast.
const MAX_FORECASTS: usize = 256;
/// The minimum time between forecast updates after changes. Updates also use at most a tenth of the
/// time.
const MIN_INTERVAL: Duration = Duration::from_millis(200);
/// The time limit for updating the forecasts of all machines. A forecast that is not ready by then
/// is missing until the next change.
const UPDATE_TIMEOUT: Duration = Duration::from_secs(10);
/// The minimum time between updates without a change, for requests whose median has passed.
const IDLE_INTERVAL: Duration = Duration::from_secs(5);

/// Forecasts for all machines, and the accuracy of earlier forecasts.
#[derive(Default)]
pub(crate) struct Forecasts {
    /// True once past records have been read; there are no forecasts before that.
    began: AtomicBool,
    learning: Mutex<Option<Learning>>,
    known: Mutex<HashMap<String, Arc<MachineForecast>>>,
}

/// A machine's forecasts, for readers.
pub(crate) struct Starts {
    grid: Grid,
    known: Option<Arc<MachineForecast>>,
}

impl Starts {
    pub(crate) fn of(&self, request: u64) -> Option<StartJson> {
        self.known.as_ref()?.forecast.json(JobId(request), &self.grid, date)
    }
}

/// A machine's latest forecasts.
struct MachineForecast {
    forecast: QueueForecast,
    /// The number of forecasts made for waiting requests, including repeated ones.
    made: u64,
}

/// The copy of the state and the forecasters that learn from its records.
struct Learning {
    state: ServiceState,
    /// The forecasters in machine order; `None` for a machine without a queue.
    machines: Vec<Option<Forecaster>>,
    due: Vec<Due>,
}

/// A machine's forecasts that changes may have invalidated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Due {
    #[default]
    Nothing,
    /// The forecasts for new requests.
    Requests(BTreeSet<u64>),
    All,
}

impl Forecasts {
    pub(crate) fn starts(&self, board: &BoardView) -> Starts {
        Starts { grid: board.grid, known: self.known.lock().get(&board.spec.name).cloned() }
    }

    /// Returns each machine's experience and the number of forecasts made, including repeated ones.
    pub(crate) fn experiences(&self) -> HashMap<String, (Experience, u64)> {
        let experience = |one: &MachineForecast| (one.forecast.experience, one.made);
        let known = self.known.lock();
        known.iter().map(|(machine, one)| (machine.clone(), experience(one))).collect()
    }

    /// Reads all new records and updates the affected forecasts. Returns the minimum time until the
    /// next call, and the maximum time if nothing changes.
    ///
    /// # Errors
    /// Returns an error if the records cannot be read.
    pub(crate) fn follow(
        &self,
        writer: &WriterHandle,
        seed: u64,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Duration, Option<Duration>), RecoveryError> {
        let begun = Stopwatch::now();
        let mut learning = self.learning.lock();
        let mut copy = match learning.take() {
            Some(copy) => copy,
            None => Learning::begin(&**writer.history(), writer.seq(), seed)?,
        };
        copy.catch_up(writer, seed)?;
        let before = self.known.lock().clone();
        let now_ms = writer.clock.now_ms();
        let known = copy.forecasts(&before, now_ms, stop);
        let starts = known.values().flat_map(|known| known.forecast.starts.values());
        let first = starts.filter_map(|start| start.median).min();
        let passes = first.map(|median| Duration::from_micros(median.0));
        let now = Duration::from_millis(now_ms);
        *self.known.lock() = known;
        *learning = Some(copy);
        self.began.store(true, Ordering::Release);
        let rest = (9 * begun.elapsed()).max(MIN_INTERVAL);
        Ok((rest, passes.map(|passes| passes.saturating_sub(now).max(IDLE_INTERVAL))))
    }

    /// Returns when a request that arrives now would start, given all records so far.
    ///
    /// # Errors
    /// Returns an error if the request can never be granted or nothing is known yet
    /// ([`Unforeseen`]).
    pub(crate) fn of_request(
        &self,
        board: usize,
        request: Request,
        asks: &Asks,
        (writer, seed): (&WriterHandle, u64),
        stop: &Arc<AtomicBool>,
    ) -> Result<StartJson, Unforeseen> {
        if !self.began.load(Ordering::Acquire) {
            return Err(Unforeseen::NotYet);
        }
        let mut learning = self.learning.lock();
        let mut copy = learning.take().ok_or(Unforeseen::NotYet)?;
        let unread = |error: RecoveryError| Unforeseen::Failed(error.to_string());
        copy.catch_up(writer, seed).map_err(unread)?;
        let copy = learning.insert(copy);
        let machine = copy.state.boards.get_mut(board).ok_or(Unforeseen::NotYet)?;
        let forecaster = copy.machines[board].as_mut().ok_or(Unforeseen::NoQueue)?;
        machine.could_ever_fit(&request).map_err(Unforeseen::Never)?;
        let (kind, grid) = (asks.kind(request.nodes), machine.grid);
        let id = JobId(copy.state.next_id);
        let job = job(id, request, Time(writer.clock.now_ms() * 1000), &kind);
        forecaster.stop_by(stop.clone());
        let forecast = forecaster.forecast_request(machine.dispatcher(), job, kind);
        let forecast = forecast.map_err(|error| Unforeseen::Failed(error.to_string()))?;
        forecast.json(id, &grid, date).ok_or(Unforeseen::NotYet)
    }
}

/// The tenant and the stated run time of a request.
pub(crate) struct Asks {
    pub(crate) tenant: String,
    /// The estimate, or else the time to live.
    pub(crate) said_ms: Option<u64>,
}

impl Asks {
    fn kind(&self, nodes: u32) -> Kind {
        kind(&self.tenant, nodes, self.said_ms)
    }
}

/// Reasons why no forecast can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unforeseen {
    /// Past records are still being read.
    NotYet,
    /// The machine has no queue.
    NoQueue,
    /// The request can never be granted.
    Never(Refusal),
    /// The strategy or the scheduler has failed.
    Failed(String),
}

impl Learning {
    /// Returns a copy of the state after record `until`, with experience from all retained records.
    fn begin(history: &dyn History, until: u64, seed: u64) -> Result<Learning, RecoveryError> {
        let oldest = history.oldest()?;
        let limits = ServiceLimits::default();
        let state = from_snapshot(history, oldest.max(1).min(until), &limits, seed)?;
        let mut copy = Learning { state, machines: Vec::new(), due: Vec::new() };
        copy.meet();
        let first = copy.state.seq();
        history.scan(first, &mut |record| {
            if record.seq > until {
                return Ok(false);
            }
            copy.take(&record)?;
            Ok(true)
        })?;
        Ok(copy)
    }

    /// Adds forecasters for new machines and their jobs, and updates the schedulers of known ones.
    fn meet(&mut self) {
        self.machines.resize_with(self.state.boards.len(), || None);
        self.due = vec![Due::All; self.machines.len()];
        for (board, known) in self.state.boards.iter().zip(&mut self.machines) {
            let scheduler = board.spec.scheduler.as_ref().and_then(|name| name.parse().ok());
            let Some(scheduler) = scheduler else {
                *known = None;
                continue;
            };
            if let Some(known) = known {
                known.order_by(scheduler);
                continue;
            }
            let forecaster = known.insert(Forecaster::new(scheduler, Effort::default()));
            let here = |machine: &str| machine == board.spec.name;
            let held = self.state.leases.values().filter(|lease| here(&lease.machine));
            held.for_each(|lease| forecaster.found(JobId(lease.id), kind_of(lease)));
            let waiting = self.state.waiting.values().filter(|one| here(&one.machine));
            waiting.for_each(|one| forecaster.found(JobId(one.id), kind_of_waiting(one)));
        }
    }

    /// Learns from a record and applies it to the copy.
    fn take(&mut self, record: &ServiceRecord) -> Result<(), crate::core::FoldError> {
        self.hear(record);
        self.state.apply(record)?;
        if matches!(record.event, Event::Configured { .. }) {
            self.meet();
        }
        Ok(())
    }

    /// Passes a record to its machine's forecaster. The state must not yet include the record.
    fn hear(&mut self, record: &ServiceRecord) {
        let at = Time(record.at_ms * 1000);
        match &record.event {
            Event::Queued { waiting } => {
                let kind = kind_of_waiting(waiting);
                let job = job(JobId(waiting.id), waiting.request(), at, &kind);
                self.with(&waiting.machine, |forecaster| forecaster.submitted(&job, kind));
                self.change(&waiting.machine, Some(waiting.id));
            }
            Event::Granted { lease } => {
                let waited = self.state.waiting.contains_key(&lease.id);
                let kind = kind_of(lease);
                let request = lease.shape.map_or_else(
                    || Request::nodes(lease.requested),
                    |shape| Request::hinted(lease.requested, shape),
                );
                let request = request.with_freedom(lease.freedom);
                let job = job(JobId(lease.id), request, at, &kind);
                self.with(&lease.machine, |forecaster| {
                    if !waited {
                        forecaster.submitted(&job, kind);
                    }
                    forecaster.started(JobId(lease.id), at);
                });
                self.change(&lease.machine, None);
            }
            Event::Ended { id, why, .. } => self.hear_end(*id, *why, record.at_ms),
            Event::Renewed { id, .. } => {
                let machine = self.state.leases.get(id).map(|lease| lease.machine.clone());
                if let Some(machine) = machine {
                    self.change(&machine, None);
                }
            }
            Event::Node { machine, .. } => self.change(machine, None),
            Event::Reserved { reservation } => self.change(&reservation.machine, None),
            Event::Unreserved { id, .. } => {
                let machine = self.state.reservations.get(id).map(|one| one.machine.clone());
                if let Some(machine) = machine {
                    self.change(&machine, None);
                }
            }
            _ => {}
        }
    }

    fn hear_end(&mut self, id: u64, why: Why, at_ms: u64) {
        let lease = self.state.leases.get(&id).map(|lease| (lease.machine.clone(), lease.start_ms));
        let waiting = self.state.waiting.get(&id).map(|one| one.machine.clone());
        if let Some((machine, start_ms)) = lease {
            let length = Time(at_ms.saturating_sub(start_ms) * 1000);
            self.with(&machine, |forecaster| match why {
                Why::Ended | Why::Expired => forecaster.ended(JobId(id), length),
                Why::Cancelled => forecaster.withdrawn(JobId(id)),
            });
            self.change(&machine, None);
        } else if let Some(machine) = waiting {
            self.with(&machine, |forecaster| forecaster.withdrawn(JobId(id)));
            self.change(&machine, None);
        }
    }

    fn with(&mut self, machine: &str, tell: impl FnOnce(&mut Forecaster)) {
        let index = self.state.board_index(Some(machine));
        if let Some(Some(forecaster)) = index.and_then(|index| self.machines.get_mut(index)) {
            tell(forecaster);
        }
    }

    /// Marks forecasts as due. A new request does not change other requests' forecasts, which
    /// already allow for later arrivals. Anything else may change all of them.
    fn change(&mut self, machine: &str, request: Option<u64>) {
        let Some(index) = self.state.board_index(Some(machine)) else { return };
        match (request, &mut self.due[index]) {
            (_, Due::All) => {}
            (Some(id), Due::Requests(known)) => drop(known.insert(id)),
            (Some(id), due @ Due::Nothing) => *due = Due::Requests(BTreeSet::from([id])),
            (None, due) => *due = Due::All,
        }
    }

    fn catch_up(&mut self, writer: &WriterHandle, seed: u64) -> Result<(), RecoveryError> {
        loop {
            match writer.after(self.state.seq()) {
                Next::Nothing => return Ok(()),
                Next::Records(records) => {
                    let known = self.state.seq();
                    let records = records.iter().map(|one| &one.record);
                    for record in records.filter(|record| record.seq > known) {
                        self.take(record).map_err(StoreError::from)?;
                    }
                }
                Next::Gone => *self = Learning::begin(&**writer.history(), writer.seq(), seed)?,
            }
        }
    }

    /// Returns the current forecasts by machine. A forecast is recomputed only if a record may have
    /// changed it, or if the request is still waiting after its median start.
    fn forecasts(
        &mut self,
        before: &HashMap<String, Arc<MachineForecast>>,
        now_ms: u64,
        stop: &Arc<AtomicBool>,
    ) -> HashMap<String, Arc<MachineForecast>> {
        let now = Time(now_ms * 1000);
        let mut all = HashMap::new();
        for (index, board) in self.state.boards.iter().enumerate() {
            let Some(forecaster) = &mut self.machines[index] else { continue };
            let name = &board.spec.name;
            let before = before.get(name);
            let due = std::mem::take(&mut self.due[index]);
            let holds = |id: JobId, start: &Start| {
                !due.has(id.0) && start.median.is_none_or(|median| median > now)
            };
            let (mut kept, mut again) = (Vec::new(), Vec::new());
            for id in board.waiting().take(MAX_FORECASTS).map(JobId) {
                let start = before.and_then(|before| before.forecast.starts.get(&id));
                match start.filter(|start| holds(id, start)) {
                    Some(start) => kept.push((id, *start)),
                    None => again.push(id),
                }
            }
            let made = before.map_or(0, |before| before.made) + again.len() as u64;
            forecaster.stop_by(stop.clone());
            let forecast = forecaster.forecast_waiting(board.dispatcher(), now, &again);
            let mut forecast = forecast.unwrap_or_else(|error| {
                tracing::warn!(%error, "no forecasts for {name}");
                let experience = forecaster.experience();
                QueueForecast { now, experience, ..QueueForecast::default() }
            });
            forecast.starts.extend(kept);
            all.insert(name.clone(), Arc::new(MachineForecast { forecast, made }));
        }
        all
    }
}

impl Due {
    fn has(&self, request: u64) -> bool {
        match self {
            Due::Nothing => false,
            Due::Requests(requests) => requests.contains(&request),
            Due::All => true,
        }
    }
}

/// Updates the forecasts until the service stops.
pub(crate) async fn foresee(app: Arc<crate::http::App>) {
    let mut stopping = app.stopping.clone();
    let mut records = app.writer.watch();
    loop {
        let (own, stop) = (app.clone(), Arc::new(AtomicBool::new(false)));
        let flag = stop.clone();
        let work = move || own.forecasts.follow(&own.writer, own.seed, &flag);
        let mut work = tokio::task::spawn_blocking(work);
        let in_time = tokio::select! {
            followed = &mut work => Some(followed),
            () = tokio::time::sleep(UPDATE_TIMEOUT) => None,
            _ = stopping.wait_for(|stopping| *stopping) => None,
        };
        let followed = if let Some(followed) = in_time {
            followed
        } else {
            stop.store(true, Ordering::Relaxed);
            work.await
        };
        let Ok(followed) = followed else { return };
        let (rest, passes) = followed.unwrap_or_else(|error| {
            tracing::warn!(%error, "no forecasts: past records cannot be read");
            (Duration::from_mins(1), None)
        });
        tokio::select! {
            () = tokio::time::sleep(rest) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        tokio::select! {
            changed = records.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(passes.unwrap_or(Duration::MAX)) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
    }
}

fn date(time: Time) -> String {
    Instant(time.0 / 1000).to_string()
}

fn kind_of(lease: &Lease) -> Kind {
    let ttl_ms = lease.expires_ms.map(|end| end.saturating_sub(lease.start_ms));
    kind(&lease.tenant, lease.requested, lease.estimate_ms.or(ttl_ms))
}

fn kind_of_waiting(waiting: &WaitingRequest) -> Kind {
    kind(&waiting.tenant, waiting.requested, waiting.estimate_ms.or(waiting.ttl_ms))
}

/// Returns a job's kind. A 64-bit digest identifies the tenant.
fn kind(tenant: &str, nodes: u32, said_ms: Option<u64>) -> Kind {
    let user = BuildHasherDefault::<DefaultHasher>::default().hash_one(tenant);
    Kind { user: Some(user), nodes, estimate: said_ms.map(micros) }
}

/// Returns a job whose estimate is that of its kind, or practically unlimited.
fn job(id: JobId, request: Request, arrival: Time, kind: &Kind) -> Job {
    let estimate = kind.estimate.unwrap_or_else(|| estimate(None, None));
    Job {
        id,
        index: id.0,
        number: id.0,
        arrival,
        request,
        service: Service::Run(estimate),
        estimate,
    }
}
