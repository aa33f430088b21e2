//! A copy of the state, with forecasters that learn from the records applied to it.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pavior::answers::forecasts::{Effort, ForecastError, Forecaster, Kind, QueueForecast, Start};
use pavior::{JobId, Request, Time};

use super::{MachineForecast, MachineForecasts};
use crate::core::{
    Event, FoldError, Lease, ServiceLimits, ServiceRecord, ServiceState, UNLIMITED, WaitingRequest,
    job, micros,
};
use crate::storage::{History, StoreError};
use crate::writer::{Next, RecoveryError, WriterHandle, from_snapshot};

/// The number of requests that get a forecast, from the head of each queue.
const MAX_FORECASTS: usize = 256;

/// A copy of the state and its forecasters.
pub(super) struct Learner {
    pub(super) state: ServiceState,
    /// The forecasters in machine order; `None` for a machine without a queue.
    pub(super) forecasters: Vec<Option<Forecaster>>,
    /// The forecasts to update, in machine order.
    stale: Vec<Stale>,
    /// The number of updates so far. Each one starts with another machine, because a time limit may
    /// stop it before the last one.
    updates: usize,
}

/// The outdated forecasts for a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Stale {
    #[default]
    Nothing,
    /// Only the forecasts for these new requests.
    Requests(BTreeSet<u64>),
    All,
}

impl Learner {
    /// Reconstructs the state as of record `until`, learning from all retained records.
    pub(super) fn new(
        history: &dyn History,
        until: u64,
        seed: u64,
    ) -> Result<Learner, RecoveryError> {
        let oldest = history.oldest()?;
        let limits = ServiceLimits::default();
        let state = from_snapshot(history, oldest.max(1).min(until), &limits, seed)?;
        let mut learner = Learner { state, forecasters: Vec::new(), stale: Vec::new(), updates: 0 };
        learner.update_machines();
        let first = learner.state.seq();
        history.scan(first, &mut |record| {
            if record.seq > until {
                return Ok(false);
            }
            learner.apply(&record)?;
            Ok(true)
        })?;
        Ok(learner)
    }

    /// Applies all new durable records.
    pub(super) fn catch_up(
        &mut self,
        writer: &WriterHandle,
        seed: u64,
    ) -> Result<(), RecoveryError> {
        loop {
            match writer.after(self.state.seq()) {
                Next::Nothing => return Ok(()),
                Next::Records(group) => {
                    let last = self.state.seq();
                    let records = group.iter().map(|recorded| &recorded.record);
                    for record in records.filter(|record| record.seq > last) {
                        self.apply(record).map_err(StoreError::from)?;
                    }
                }
                Next::Gone => *self = Learner::new(&**writer.history(), writer.seq(), seed)?,
            }
        }
    }

    /// Lets the forecaster learn from a record, then applies the record to the copy.
    fn apply(&mut self, record: &ServiceRecord) -> Result<(), FoldError> {
        self.observe(record);
        self.state.apply(record)?;
        if matches!(record.event, Event::Configured { .. }) {
            self.update_machines();
        }
        Ok(())
    }

    /// Adds a forecaster for each new machine and registers the machine's jobs. Updates existing
    /// machines' schedulers.
    fn update_machines(&mut self) {
        self.forecasters.resize_with(self.state.boards.len(), || None);
        self.stale = vec![Stale::All; self.forecasters.len()];
        for (board, known) in self.state.boards.iter().zip(&mut self.forecasters) {
            let Some(name) = &board.spec.scheduler else {
                *known = None;
                continue;
            };
            let scheduler = name.parse().expect("it was parsed when the machine was created");
            if let Some(forecaster) = known {
                forecaster.order_by(scheduler);
                continue;
            }
            let forecaster = known.insert(Forecaster::new(scheduler, Effort::default()));
            let is_here = |machine: &str| machine == board.spec.name;
            let leases = self.state.leases.values().filter(|lease| is_here(&lease.machine));
            leases.for_each(|lease| forecaster.found(JobId(lease.id), kind_of(lease)));
            let waiting = self.state.waiting.values().filter(|request| is_here(&request.machine));
            waiting.for_each(|request| {
                forecaster.found(JobId(request.id), kind_of_waiting(request));
            });
        }
    }

    /// Passes a record to its machine's forecaster. The state must not yet include the record.
    fn observe(&mut self, record: &ServiceRecord) {
        let at = micros(record.at_ms);
        match &record.event {
            Event::Queued { waiting } => {
                let kind = kind_of_waiting(waiting);
                let job = new_job(waiting.id, waiting.request(), at, &kind);
                self.with_forecaster(&waiting.machine, |forecaster| {
                    forecaster.submitted(&job, kind);
                });
                self.invalidate(&waiting.machine, Some(waiting.id));
            }
            Event::Granted { lease } => {
                let has_waited = self.state.waiting.contains_key(&lease.id);
                let kind = kind_of(lease);
                let job = new_job(lease.id, lease.request(), at, &kind);
                self.with_forecaster(&lease.machine, |forecaster| {
                    if !has_waited {
                        forecaster.submitted(&job, kind);
                    }
                    forecaster.started(job.id, at);
                });
                self.invalidate(&lease.machine, None);
            }
            Event::Ended { id, .. } => self.observe_end(*id, record.at_ms),
            Event::Renewed { id, .. } => {
                if let Some(lease) = self.state.leases.get(*id).cloned() {
                    self.invalidate(&lease.machine, None);
                }
            }
            Event::Node { machine, .. } => self.invalidate(machine, None),
            Event::Reserved { reservation } => self.invalidate(&reservation.machine, None),
            Event::Unreserved { id, .. } => {
                if let Some(reservation) = self.state.reservations.get(id).cloned() {
                    self.invalidate(&reservation.machine, None);
                }
            }
            Event::Configured { .. } | Event::Clock { .. } | Event::Kept => {}
        }
    }

    fn observe_end(&mut self, id: u64, at_ms: u64) {
        if let Some(lease) = self.state.leases.get(id).cloned() {
            // Downtime may delay the record of an expiry.
            let end_ms = lease.expires_ms.map_or(at_ms, |expires_ms| at_ms.min(expires_ms));
            let length = micros(end_ms.saturating_sub(lease.start_ms));
            self.with_forecaster(&lease.machine, |forecaster| forecaster.ended(JobId(id), length));
            self.invalidate(&lease.machine, None);
        } else if let Some(request) = self.state.waiting.get(&id).cloned() {
            self.with_forecaster(&request.machine, |forecaster| forecaster.withdrawn(JobId(id)));
            self.invalidate(&request.machine, None);
        }
    }

    fn with_forecaster(&mut self, machine: &str, observe: impl FnOnce(&mut Forecaster)) {
        let index = self.state.board_index(Some(machine));
        if let Some(Some(forecaster)) = index.and_then(|index| self.forecasters.get_mut(index)) {
            observe(forecaster);
        }
    }

    /// Marks forecasts as stale. A new request does not affect other requests' forecasts, which
    /// already account for later arrivals. Any other change may affect all forecasts.
    fn invalidate(&mut self, machine: &str, request: Option<u64>) {
        let Some(index) = self.state.board_index(Some(machine)) else { return };
        match (request, &mut self.stale[index]) {
            (_, Stale::All) => {}
            (Some(id), Stale::Requests(requests)) => drop(requests.insert(id)),
            (Some(id), stale @ Stale::Nothing) => *stale = Stale::Requests(BTreeSet::from([id])),
            (None, stale) => *stale = Stale::All,
        }
    }

    /// Returns the current forecasts by machine. Recomputes a forecast only if a record may have
    /// affected it, or if the request is still waiting after the predicted median start.
    pub(super) fn forecasts(
        &mut self,
        before: &MachineForecasts,
        now_ms: u64,
        stop: &Arc<AtomicBool>,
    ) -> MachineForecasts {
        let now = micros(now_ms);
        let mut machines = MachineForecasts::new();
        let boards = self.state.boards.iter().enumerate();
        let count = boards.len();
        let first = self.updates % count.max(1);
        self.updates += 1;
        for (index, board) in boards.cycle().skip(first).take(count) {
            let Some(forecaster) = &mut self.forecasters[index] else { continue };
            let name = &board.spec.name;
            let before = before.get(name);
            let stale = std::mem::take(&mut self.stale[index]);
            let is_current = |id: JobId, start: &Start| {
                !stale.contains(id.0) && start.median.is_none_or(|median| median > now)
            };
            let (mut current, mut outdated) = (Vec::new(), Vec::new());
            for id in board.waiting().take(MAX_FORECASTS).map(JobId) {
                let start = before.and_then(|before| before.forecast.starts.get(&id));
                match start.filter(|start| is_current(id, start)) {
                    Some(start) => current.push((id, *start)),
                    None => outdated.push(id),
                }
            }
            let made = before.map_or(0, |before| before.made) + outdated.len() as u64;
            forecaster.stop_by(stop.clone());
            let forecast = forecaster.forecast_waiting(board.dispatcher(), now, &outdated);
            let mut forecast = forecast.unwrap_or_else(|error| {
                if !matches!(error, ForecastError::Stopped) {
                    tracing::warn!(%error, "cannot compute forecasts for {name}");
                }
                let experience = forecaster.experience();
                QueueForecast { now, experience, ..QueueForecast::default() }
            });
            forecast.starts.extend(current);
            machines.insert(name.clone(), Arc::new(MachineForecast { forecast, made }));
        }
        machines
    }
}

impl Stale {
    fn contains(&self, request: u64) -> bool {
        match self {
            Stale::Nothing => false,
            Stale::Requests(requests) => requests.contains(&request),
            Stale::All => true,
        }
    }
}

fn new_job(id: u64, request: Request, arrival: Time, kind: &Kind) -> pavior::workload::Job {
    job(JobId(id), request, arrival, kind.estimate.unwrap_or(UNLIMITED))
}

fn kind_of(lease: &Lease) -> Kind {
    kind(&lease.tenant, lease.requested, lease.estimate_ms.or(lease.length_ms()))
}

fn kind_of_waiting(waiting: &WaitingRequest) -> Kind {
    kind(&waiting.tenant, waiting.requested, waiting.estimate_ms.or(waiting.ttl_ms))
}

/// Returns a job's kind, in which a 64-bit digest identifies the tenant.
pub(super) fn kind(tenant: &str, nodes: u32, stated_ms: Option<u64>) -> Kind {
    let user = BuildHasherDefault::<DefaultHasher>::default().hash_one(tenant);
    Kind { user: Some(user), nodes, estimate: stated_ms.map(micros) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Ask, Caller, Command, LeaseRequest, MachineSpec};

    #[test]
    fn the_length_of_an_expired_lease_does_not_include_downtime() {
        let new_state = || ServiceState::new(ServiceLimits::default(), 1);
        let (mut state, forecasters, stale) = (new_state(), Vec::new(), Vec::new());
        let mut learner = Learner { state: new_state(), forecasters, stale, updates: 0 };
        let spec = MachineSpec {
            name: "default".to_string(),
            machine: "mesh:8x8".to_string(),
            strategy: "tff".to_string(),
            scheduler: Some("easy".to_string()),
            shape_rule: "compact".to_string(),
        };
        let event = Event::Configured { machines: vec![spec] };
        let mut records = vec![ServiceRecord { seq: 1, at_ms: 0, event, kept: None }];
        state.apply(&records[0]).unwrap();
        let request = LeaseRequest { ttl_ms: Some(1000), ..LeaseRequest::of(Ask::Nodes(1)) };
        for now_ms in [0, 100_000] {
            let command = Command::Lease(request.clone());
            state.decide(now_ms, &Caller::OPERATOR, None, command, &mut records);
        }
        for record in &records {
            learner.apply(record).unwrap();
        }
        let past = learner.forecasters[0].as_ref().unwrap().past();
        assert_eq!(past.usual(&kind("", 1, Some(1000))), Some(micros(1000)));
    }
}
