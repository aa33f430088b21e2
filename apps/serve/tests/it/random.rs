//! Deterministic random commands.

use pavior::{Cuboid, Freedom};
use pavior_serve::core::{
    Ask, Caller, Command, IdempotencyKey, LeaseRequest, NodeState, ReservationRequest, ServiceState,
};
use pavior_serve::service::format_reply;

/// The SplitMix64 generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

fn side(random: &mut Random) -> u16 {
    1 + random.below(5) as u16
}

fn lease(random: &mut Random) -> LeaseRequest {
    let ask = if random.one_in(3) {
        Ask::Nodes(1 + random.below(20) as u32)
    } else {
        Ask::Shape([side(random), side(random), 1])
    };
    let mut request = LeaseRequest::of(ask);
    request.ttl_ms = random.one_in(2).then(|| 1 + random.below(300));
    request.wait = random.one_in(3);
    // Half of the requests specify a freedom.
    request.freedom = Freedom::ALL.get(random.below(10) as usize).copied();
    request
}

/// Returns a random command, which is usually valid in the given state, with its caller and key.
pub(crate) fn command(
    random: &mut Random,
    state: &ServiceState,
) -> (Caller, Option<IdempotencyKey>, Command) {
    let view = state.view();
    let tenant = ["a", "b"][random.below(2) as usize].to_string();
    let caller = if random.one_in(3) { Caller { tenant: Some(tenant) } } else { Caller::OPERATOR };
    let key = random.one_in(4).then(|| {
        let number = random.below(30);
        IdempotencyKey { key: format!("k{number}"), digest: number % 7, write: format_reply }
    });
    let at = random.below(view.leases.len().max(1) as u64) as usize;
    let held = view.leases.values().nth(at);
    let point = |random: &mut Random| [random.below(8) as u16, random.below(8) as u16, 0];
    let command = match (random.below(13), held) {
        (0..=3, _) => Command::Lease(lease(random)),
        (4..=6, Some(lease)) => {
            let stale = u64::from(random.one_in(6));
            Command::End { id: lease.id, epoch: Some(lease.epoch + stale) }
        }
        (7, Some(lease)) => {
            let ttl_ms = random.one_in(2).then(|| 1 + random.below(300));
            Command::Renew { id: lease.id, epoch: lease.epoch, ttl_ms }
        }
        (8, _) => {
            let states = [NodeState::Failed, NodeState::Healthy, NodeState::Drained];
            let state = states[random.below(3) as usize];
            Command::Node { machine: None, node: point(random), state }
        }
        (9, _) => {
            let parts = vec![Cuboid::new(point(random), [side(random), side(random), 1])];
            Command::Hold { request: LeaseRequest::of(Ask::Nodes(1)), parts }
        }
        (10, _) => {
            let parts = vec![Cuboid::new(point(random), [side(random), side(random), 1])];
            let from_ms = state.now_ms() + random.below(300);
            let to_ms = from_ms + random.below(300);
            let (from_ms, name) = (random.one_in(2).then_some(from_ms), Some("works".to_string()));
            Command::Reserve(ReservationRequest { machine: None, parts, from_ms, to_ms, name })
        }
        (11, _) => {
            let id = view.reservations.first().map_or(99, |one| one.id);
            Command::Unreserve { id }
        }
        _ => {
            let waiting = view.waiting.first().map_or(99, |waiting| waiting.id);
            Command::End { id: waiting, epoch: None }
        }
    };
    (caller, key, command)
}
