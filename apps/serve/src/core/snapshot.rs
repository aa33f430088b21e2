//! A state as one value, to start from instead of the whole journal.

use std::sync::Arc;

use pavior_mesh::{Grid, NameError, NodeId};
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::reply::point;
use super::{
    Event, KeptReply, Lease, MachineSpec, NodeState, ServiceLimits, ServiceRecord, ServiceState,
    WaitingRequest,
};

/// A state, written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateSnapshot {
    /// The number of the last record in it.
    pub seq: u64,
    /// The time of the last record in it.
    pub now_ms: u64,
    /// The number of the next lease.
    pub next_id: u64,
    /// The last epoch; 0 in old snapshots, whose epochs are numbers of records.
    #[serde(default)]
    pub epoch: u64,
    /// While the clock is in doubt: the leases that were granted or renewed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubted: Option<Vec<u64>>,
    /// The machines, with the nodes that are not healthy.
    pub machines: Vec<SavedMachine>,
    /// The leases, in the order of their grants.
    pub leases: Vec<Lease>,
    /// The waiting requests, machine by machine in the order of the queue.
    pub waiting: Vec<WaitingRequest>,
    /// The kept replies, with their times.
    pub kept: Vec<(u64, KeptReply)>,
    /// The leases that ended last, with their tenants.
    pub ended: Vec<(u64, String)>,
}

/// A machine in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "FlatMachine", into = "FlatMachine")]
pub struct SavedMachine {
    /// The machine.
    pub spec: MachineSpec,
    /// The nodes that have failed or are drained, by their row-major numbers.
    pub nodes: Vec<(u32, NodeState)>,
}

/// A machine as it is written: `flatten` would let members pass that nobody knows.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FlatMachine {
    name: String,
    machine: String,
    strategy: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scheduler: Option<String>,
    shape_rule: String,
    nodes: Vec<(u32, NodeState)>,
}

impl From<FlatMachine> for SavedMachine {
    fn from(flat: FlatMachine) -> SavedMachine {
        let FlatMachine { name, machine, strategy, scheduler, shape_rule, nodes } = flat;
        let spec = MachineSpec { name, machine, strategy, scheduler, shape_rule };
        SavedMachine { spec, nodes }
    }
}

impl From<SavedMachine> for FlatMachine {
    fn from(saved: SavedMachine) -> FlatMachine {
        let SavedMachine { spec, nodes } = saved;
        let MachineSpec { name, machine, strategy, scheduler, shape_rule } = spec;
        FlatMachine { name, machine, strategy, scheduler, shape_rule, nodes }
    }
}

impl ServiceState {
    /// The state as one value.
    pub fn snapshot(&self) -> StateSnapshot {
        let machines = self.boards.iter().map(|board| {
            let bad = board.failed.iter().chain(&board.drained);
            let nodes = bad.map(|&node| (node.0, board.node(node))).collect();
            SavedMachine { spec: board.spec.clone(), nodes }
        });
        let mut leases: Vec<Lease> =
            self.leases.values().map(|lease| Lease::clone(lease)).collect();
        leases.sort_by_key(|lease| lease.epoch);
        let waiting = self.boards.iter().flat_map(Board::waiting);
        StateSnapshot {
            seq: self.seq,
            now_ms: self.now_ms,
            next_id: self.next_id,
            epoch: self.epoch,
            doubted: self.doubted.as_ref().map(|leases| leases.iter().copied().collect()),
            machines: machines.collect(),
            leases,
            waiting: waiting.map(|id| WaitingRequest::clone(&self.waiting[&id])).collect(),
            kept: self.keys.iter().collect(),
            ended: self.ended.iter().map(|(id, tenant)| (id, tenant.to_string())).collect(),
        }
    }

    /// The state of a snapshot: the fold of records that make what it holds.
    ///
    /// # Errors
    /// If it contradicts itself, with the reason.
    pub fn restore(
        snapshot: &StateSnapshot,
        limits: ServiceLimits,
        seed: u64,
    ) -> Result<ServiceState, String> {
        let mut state = ServiceState::new(limits, seed);
        let mut fold = |at_ms: u64, event: Event, kept: Option<KeptReply>| {
            state.take(&ServiceRecord { seq: 0, at_ms, event, kept })
        };
        let machines = snapshot.machines.iter().map(|machine| machine.spec.clone()).collect();
        fold(0, Event::Configured { machines }, None)?;
        for lease in &snapshot.leases {
            let event = Event::Granted { lease: Arc::new(lease.clone()) };
            fold(0, event, None).map_err(|reason| format!("lease {}: {reason}", lease.id))?;
        }
        for machine in &snapshot.machines {
            let grid: Grid =
                machine.spec.machine.parse().map_err(|error: NameError| error.reason)?;
            for &(node, state) in &machine.nodes {
                if node >= grid.nodes() {
                    return Err(format!("node {node} lies outside {grid}"));
                }
                let (machine, node) = (machine.spec.name.clone(), grid.point(NodeId(node)));
                let node = point(&grid, node);
                fold(0, Event::Node { machine, node, state }, None)?;
            }
        }
        for waiting in &snapshot.waiting {
            let event = Event::Queued { waiting: Arc::new(waiting.clone()) };
            fold(0, event, None).map_err(|reason| format!("request {}: {reason}", waiting.id))?;
        }
        for (at_ms, kept) in &snapshot.kept {
            fold(*at_ms, Event::Kept, Some(kept.clone()))?;
        }
        for (id, tenant) in &snapshot.ended {
            state.ended.add(*id, tenant.clone());
        }
        (state.seq, state.now_ms) = (snapshot.seq, snapshot.now_ms);
        (state.epoch, state.next_id) = (snapshot.epoch, snapshot.next_id);
        state.doubted = snapshot.doubted.clone().map(|leases| leases.into_iter().collect());
        Ok(state)
    }
}
