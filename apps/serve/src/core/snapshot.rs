//! Snapshots of the state, which let a server start without reading the whole journal.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::served_machine::ServedMachine;
use super::{
    Lease, MachineSpec, NodeState, Reservation, ServiceLimits, ServiceState, StoredReply,
    WaitingRequest,
};

/// A snapshot of the service's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateSnapshot {
    /// The number of the last record that the snapshot includes.
    pub seq: u64,
    /// The time of the last record that the snapshot includes.
    pub now_ms: u64,
    /// The number of the next lease.
    pub next_id: u64,
    /// The last epoch.
    pub epoch: u64,
    /// The leases granted or renewed since the clock has been in doubt; `None` if the clock is not
    /// in doubt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubted: Option<Vec<u64>>,
    /// The machines, with their failed and drained nodes.
    pub machines: Vec<SavedMachine>,
    /// The leases, in the order granted.
    pub leases: Vec<Lease>,
    /// The waiting requests, by machine, in queue order.
    pub waiting: Vec<WaitingRequest>,
    /// The advance reservations, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reservations: Vec<Reservation>,
    /// The stored replies, with their times.
    pub kept: Vec<(u64, StoredReply)>,
    /// The most recently ended leases with their tenants.
    pub ended: Vec<(u64, String)>,
}

/// A machine in a snapshot. It repeats the fields of [`MachineSpec`], because serde's `flatten`
/// would accept unknown keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedMachine {
    name: String,
    machine: String,
    strategy: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scheduler: Option<String>,
    shape_rule: String,
    /// The failed and drained nodes, identified by their row-major indexes.
    nodes: Vec<(u32, NodeState)>,
}

impl SavedMachine {
    fn of(spec: MachineSpec, nodes: Vec<(u32, NodeState)>) -> SavedMachine {
        let MachineSpec { name, machine, strategy, scheduler, shape_rule } = spec;
        SavedMachine { name, machine, strategy, scheduler, shape_rule, nodes }
    }

    fn spec(&self) -> MachineSpec {
        let SavedMachine { name, machine, strategy, scheduler, shape_rule, .. } = self.clone();
        MachineSpec { name, machine, strategy, scheduler, shape_rule }
    }
}

impl ServiceState {
    /// Returns a snapshot from which [`restore`](ServiceState::restore) can recreate the state.
    pub fn snapshot(&self) -> StateSnapshot {
        let machines = self.boards.iter().map(|board| {
            let out_of_service = board.failed.iter().chain(&board.drained);
            let nodes = out_of_service.map(|&node| (node.0, board.node_state(node))).collect();
            SavedMachine::of(board.spec.clone(), nodes)
        });
        let leases = self.leases.by_grant(None).into_iter().map(|lease| Lease::clone(lease));
        let waiting = self.boards.iter().flat_map(ServedMachine::waiting);
        let reservations = self.reservations.values().map(|one| Reservation::clone(one));
        StateSnapshot {
            seq: self.seq,
            now_ms: self.now_ms,
            next_id: self.next_id,
            epoch: self.epoch,
            doubted: self.in_doubt.as_ref().map(|leases| leases.iter().copied().collect()),
            machines: machines.collect(),
            leases: leases.collect(),
            waiting: waiting.map(|id| WaitingRequest::clone(&self.waiting[&id])).collect(),
            reservations: reservations.collect(),
            kept: self.replies.iter().collect(),
            ended: self.ended.iter().map(|(id, tenant)| (id, tenant.to_string())).collect(),
        }
    }

    /// Recreates the state from a snapshot.
    ///
    /// # Errors
    /// Returns an error that explains any inconsistency in the snapshot.
    pub fn restore(
        snapshot: &StateSnapshot,
        limits: ServiceLimits,
        seed: u64,
    ) -> Result<ServiceState, String> {
        let mut state = ServiceState::new(limits, seed);
        let specs: Vec<MachineSpec> = snapshot.machines.iter().map(SavedMachine::spec).collect();
        state.configure(&specs).map_err(|error| error.to_string())?;
        // Restore leases first, because a failed or drained node cannot be allocated. Restore
        // requests and reservations last, because their numbers are checked against those of the
        // leases.
        for lease in &snapshot.leases {
            let begin = state.begin_lease(&Arc::new(lease.clone()));
            begin.map_err(|reason| format!("lease {}: {reason}", lease.id))?;
        }
        for (board, machine) in state.boards.iter_mut().zip(&snapshot.machines) {
            for &(node, node_state) in &machine.nodes {
                board.set_node(pavior::NodeId(node), node_state)?;
            }
        }
        for waiting in &snapshot.waiting {
            let enqueue = state.enqueue(&Arc::new(waiting.clone()));
            enqueue.map_err(|reason| format!("request {}: {reason}", waiting.id))?;
        }
        for reservation in &snapshot.reservations {
            let reserve = state.reserve(&Arc::new(reservation.clone()));
            reserve.map_err(|reason| format!("reservation {}: {reason}", reservation.id))?;
        }
        for (at, reply) in &snapshot.kept {
            state.replies.add(*at, reply, &state.limits);
        }
        for (id, tenant) in &snapshot.ended {
            state.ended.add(*id, tenant.clone());
        }
        if snapshot.next_id < state.next_id || snapshot.epoch < state.epoch {
            return Err("a lease, request or reservation has a number not yet issued".to_string());
        }
        (state.seq, state.now_ms) = (snapshot.seq, snapshot.now_ms);
        state.epoch = snapshot.epoch;
        state.in_doubt = snapshot.doubted.clone().map(|leases| leases.into_iter().collect());
        state.next_id = snapshot.next_id;
        Ok(state)
    }
}
