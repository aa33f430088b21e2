//! The state of the service, computed by folding the journal.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use pavior::{Grid, Machine, Placement, Refusal, Request};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::ended::Ended;
use super::epoch;
use super::lease::estimate;
use super::served_machine::ServedMachine;
use super::stored_replies::StoredReplies;
use super::{Ask, JobName, Lease, Leases, Problem, Reason, Reservation, WaitingRequest};

/// A machine's configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineSpec {
    /// The name used in requests.
    pub name: String,
    /// The grid, such as `torus:8x8x8`.
    pub machine: String,
    /// The strategy, such as `tff`.
    pub strategy: String,
    /// The scheduler, if requests may wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// The rule that converts a requested number of nodes to a box.
    pub shape_rule: String,
}

/// Limits on tenants and on memory.
#[derive(Clone, Debug)]
pub struct ServiceLimits {
    /// The maximum number of nodes that each tenant may hold and wait for in total, unless `quotas`
    /// has an entry for that tenant.
    pub quota: Option<u64>,
    /// The quotas of individual tenants.
    pub quotas: HashMap<String, u64>,
    /// The maximum number of requests that may wait for each machine.
    pub waiting: usize,
    /// The maximum number of replies stored for clients that retry.
    pub keys: usize,
}

impl Default for ServiceLimits {
    fn default() -> ServiceLimits {
        ServiceLimits { quota: None, quotas: HashMap::new(), waiting: 10_000, keys: 50_000 }
    }
}

/// The error for a machine that cannot be served as described.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("machine {name}: {reason}")]
pub struct StateError {
    name: String,
    reason: String,
}

impl StateError {
    pub(crate) fn new(name: &str, reason: String) -> StateError {
        StateError { name: name.to_string(), reason }
    }
}

/// The service's machines, leases, waiting requests and stored replies.
pub struct ServiceState {
    pub(crate) seq: u64,
    pub(crate) now_ms: u64,
    pub(crate) next_id: u64,
    pub(crate) boards: Vec<ServedMachine>,
    pub(crate) leases: Leases,
    pub(crate) waiting: BTreeMap<u64, Arc<WaitingRequest>>,
    /// The expiry times of leases, as `(time, lease)` pairs.
    pub(crate) expiries: BTreeSet<(u64, u64)>,
    /// The advance reservations by number. `reservation_ends` contains their `(end, number)` pairs.
    pub(crate) reservations: BTreeMap<u64, Arc<Reservation>>,
    pub(crate) reservation_ends: BTreeSet<(u64, u64)>,
    /// The number of nodes that each tenant holds or is waiting for.
    pub(crate) usage: HashMap<String, u64>,
    /// The numbers of active leases and waiting requests, by tenant and job name.
    pub(crate) jobs: HashMap<(String, JobName), u64>,
    pub(crate) replies: StoredReplies,
    /// The most recently ended leases.
    pub(crate) ended: Ended,
    /// The last epoch.
    pub(crate) epoch: u64,
    /// The leases granted or renewed since the clock has been in doubt, during which no lease
    /// expires; `None` if the clock is not in doubt.
    pub(crate) in_doubt: Option<BTreeSet<u64>>,
    pub(crate) limits: ServiceLimits,
    pub(crate) seed: u64,
}

impl ServiceState {
    /// Returns the initial state, without records or machines.
    pub fn new(limits: ServiceLimits, seed: u64) -> ServiceState {
        ServiceState {
            seq: 0,
            now_ms: 0,
            next_id: 1,
            boards: Vec::new(),
            leases: Leases::default(),
            waiting: BTreeMap::new(),
            expiries: BTreeSet::new(),
            reservations: BTreeMap::new(),
            reservation_ends: BTreeSet::new(),
            usage: HashMap::new(),
            jobs: HashMap::new(),
            replies: StoredReplies::default(),
            ended: Ended::default(),
            epoch: 0,
            in_doubt: None,
            limits,
            seed,
        }
    }

    /// Returns the number of the last record.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the time of the last record, in milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Returns true if the clock is in doubt, in which case no lease expires.
    pub fn is_clock_doubted(&self) -> bool {
        self.in_doubt.is_some()
    }

    /// Returns the time when the next lease expires or the next reservation ends, in milliseconds
    /// since 1970. Returns `None` while the clock is in doubt.
    pub fn next_expiry_ms(&self) -> Option<u64> {
        let next = [self.expiries.first(), self.reservation_ends.first()].into_iter().flatten();
        next.map(|&(at, _)| at).min().filter(|_| !self.is_clock_doubted())
    }

    /// Starts a new sequence of epochs from the wall clock. A server calls this when it becomes the
    /// leader; `random` must be different each time.
    pub fn begin_epochs(&mut self, wall_ms: u64, random: u64) {
        self.epoch = epoch::begin(self.epoch, wall_ms, random);
    }

    /// Returns the tenant to which a lease or waiting request belongs.
    pub fn tenant_of(&self, id: u64) -> Option<&str> {
        let held = self.leases.get(id).map(|lease| lease.tenant.as_str());
        held.or_else(|| self.waiting.get(&id).map(|waiting| waiting.tenant.as_str()))
    }

    /// Returns the machines' configurations.
    pub fn machines(&self) -> Vec<MachineSpec> {
        self.boards.iter().map(|board| board.spec.clone()).collect()
    }

    /// Returns the index of the named machine, or of the first machine if no name is given.
    pub fn board_index(&self, name: Option<&str>) -> Option<usize> {
        index_of(self.boards.iter().map(|board| &board.spec), name)
    }

    /// Returns a machine's nodes and the jobs that hold them.
    pub fn machine(&self, board: usize) -> &Machine {
        self.boards[board].machine()
    }

    /// Converts a command's demand to a request for the strategy. Draws a random number if the
    /// shape rule is random.
    pub fn request(&mut self, board: usize, ask: Ask) -> Request {
        self.boards[board].request(ask)
    }

    /// Returns the placement that a request without a time limit would get now.
    ///
    /// # Errors
    /// Returns the reason for the refusal if the request would be refused.
    pub fn probe(&mut self, board: usize, request: &Request) -> Result<Placement, Refusal> {
        let now_ms = self.now_ms;
        self.boards[board].probe(request, now_ms, estimate(None, None))
    }

    /// Returns the lease with the given number.
    pub fn lease(&self, id: u64) -> Option<&Lease> {
        self.leases.get(id).map(|lease| &**lease)
    }

    /// Returns the lease for a tenant's job.
    pub fn lease_of(&self, tenant: &str, job: &JobName) -> Option<&Lease> {
        self.jobs.get(&(tenant.to_string(), job.clone())).and_then(|&id| self.lease(id))
    }

    /// Returns a machine's grid.
    pub fn grid(&self, board: usize) -> &Grid {
        &self.boards[board].grid
    }

    /// Returns the maximum number of nodes that a tenant may hold and wait for.
    pub(crate) fn quota(&self, tenant: &str) -> Option<u64> {
        if tenant.is_empty() {
            return None;
        }
        self.limits.quotas.get(tenant).copied().or(self.limits.quota)
    }

    /// Subtracts an ended lease or waiting request from its tenant's usage and frees its job name.
    pub(super) fn remove_usage(&mut self, tenant: &str, job: Option<&JobName>, nodes: u64) {
        if let Some(used) = self.usage.get_mut(tenant) {
            *used = used.saturating_sub(nodes);
            if *used == 0 {
                self.usage.remove(tenant);
            }
        }
        if let Some(job) = job {
            self.jobs.remove(&(tenant.to_string(), job.clone()));
        }
    }

    /// Adds a new lease or waiting request to its tenant's usage and registers its job name.
    pub(super) fn add_usage(&mut self, id: u64, tenant: &str, job: Option<&JobName>, nodes: u64) {
        *self.usage.entry(tenant.to_string()).or_insert(0) += nodes;
        if let Some(job) = job {
            self.jobs.insert((tenant.to_string(), job.clone()), id);
        }
    }

    /// Checks that the tables are consistent. Used by tests.
    ///
    /// # Panics
    /// Panics if the tables are inconsistent.
    pub fn validate(&self) {
        for board in &self.boards {
            board.machine().validate();
            let live = self.leases.values().filter(|lease| lease.machine == board.spec.name);
            assert_eq!(board.machine().jobs(), live.count(), "leases and holders disagree");
        }
        let ends =
            self.reservations.values().map(|reservation| (reservation.to_ms, reservation.id));
        assert_eq!(
            self.reservation_ends,
            ends.collect(),
            "reservations and their end times disagree"
        );
        let expiring = self.leases.values().filter(|lease| lease.expires_ms.is_some()).count();
        assert_eq!(self.expiries.len(), expiring, "leases and expiries disagree");
        let mut used: HashMap<String, u64> = HashMap::new();
        for lease in self.leases.values() {
            *used.entry(lease.tenant.clone()).or_insert(0) += u64::from(lease.nodes());
        }
        for waiting in self.waiting.values() {
            let board = self.board_index(Some(&waiting.machine)).expect("its machine exists");
            *used.entry(waiting.tenant.clone()).or_insert(0) +=
                self.boards[board].quota_nodes(waiting);
        }
        used.retain(|_, nodes| *nodes > 0);
        let counted = self.usage.iter().filter(|(_, nodes)| **nodes > 0);
        let counted: HashMap<String, u64> = counted.map(|(who, n)| (who.clone(), *n)).collect();
        assert_eq!(counted, used, "leases and usage disagree");
    }
}

/// Returns the index of the named machine, or of the first machine if no name is given.
fn index_of<'a>(
    mut machines: impl Iterator<Item = &'a MachineSpec>,
    name: Option<&str>,
) -> Option<usize> {
    machines.position(|spec| name.is_none_or(|name| spec.name == name))
}

/// Returns the index of the named machine, or of the first machine if no name is given.
///
/// # Errors
/// Returns a problem, which lists the existing machines, if no machine has this name.
pub(crate) fn find_machine<'a>(
    machines: impl Iterator<Item = &'a MachineSpec> + Clone,
    name: Option<&str>,
) -> Result<usize, Problem> {
    index_of(machines.clone(), name).ok_or_else(|| {
        let names: Vec<&str> = machines.map(|spec| spec.name.as_str()).collect();
        let (name, names) = (name.unwrap_or_default(), names.join(", "));
        let detail = format!("no such machine: `{name}`; the machines are {names}");
        Problem::new(Reason::UnknownMachine, detail)
    })
}
