//! Tests whether tenants can exceed their quotas by using strategies that round up.

use std::collections::HashMap;

use pavior::Freedom;
use pavior_serve::core::{Ask, Caller, Command, LeaseRequest, ServiceLimits, ServiceState};
use pavior_trials::{attacked, size};

use crate::decisions::machines;
use crate::random::Random;

const QUOTA: u64 = 24;
/// Pairs of machines and strategies, most of which grant whole blocks.
const MACHINES: [(&str, &str); 9] = [
    ("mesh:8x8", "2db"),
    ("mesh:8x8", "paging:1"),
    ("mesh:7x5", "paging:1"),
    ("mesh:7x7", "paging:2:border=unused"),
    ("mesh:8x8x4", "tpu"),
    ("mesh:8x8x4", "tpu:static:round=up"),
    ("mesh:8x8", "tff"),
    ("mesh:8x8", "mbs"),
    ("mesh:8x8", "anca"),
];

fn begin(machine: &str, strategy: &str, scheduler: &str) -> ServiceState {
    let limits = ServiceLimits { quota: Some(QUOTA), waiting: 50, ..ServiceLimits::default() };
    let mut state = ServiceState::new(limits, 1);
    let mut machines = machines(Some(scheduler));
    (machines[0].machine, machines[0].strategy) = (machine.into(), strategy.into());
    state.configure(&machines).unwrap();
    state
}

fn ask(random: &mut Random) -> LeaseRequest {
    let side = |random: &mut Random| 1 + random.below(4) as u16;
    let ask = match random.below(3) {
        0 => Ask::Nodes(1 + random.below(20) as u32),
        1 => Ask::Shape([side(random), side(random), 1]),
        _ => Ask::Shape([side(random), side(random), side(random)]),
    };
    LeaseRequest {
        wait: !random.one_in(4),
        ttl_ms: random.one_in(2).then(|| 1 + random.below(100)),
        freedom: Freedom::ALL.get(random.below(9) as usize).copied(),
        ..LeaseRequest::of(ask)
    }
}

#[test]
fn no_tenant_holds_more_nodes_than_its_quota() {
    let (mut tried, mut failed, mut waited) = (0, 0, 0);
    for seed in 0..size(3, 3, 200) as u64 {
        for (index, (machine, strategy)) in MACHINES.iter().enumerate() {
            let mut random = Random(seed * 100 + index as u64);
            let scheduler = ["fcfs", "easy", "window:4"][random.below(3) as usize];
            let mut state = begin(machine, strategy, scheduler);
            let (mut now, mut records) = (0, Vec::new());
            for _ in 0..150 {
                now += random.below(30);
                let tenant = ["a", "b", "c"][random.below(3) as usize].to_string();
                let caller = Caller { tenant: Some(tenant) };
                let held = state.view().leases;
                let command = match held.values().nth(random.below(8) as usize) {
                    Some(lease) => Command::End { id: lease.id, epoch: Some(lease.epoch) },
                    None => Command::Lease(ask(&mut random)),
                };
                state.decide(now, &caller, None, command, &mut records);
                state.validate();
                let view = state.view();
                let mut used: HashMap<&str, u64> = HashMap::new();
                for lease in view.leases.values() {
                    *used.entry(&lease.tenant).or_insert(0) += u64::from(lease.nodes());
                    waited += usize::from(lease.asked_ms.is_some());
                }
                tried += 1;
                failed += usize::from(used.values().any(|&nodes| nodes > QUOTA));
            }
        }
    }
    assert!(waited > 100, "requests wait and are granted: {waited}");
    attacked(
        "tenants",
        "holding more nodes than the quota, by waiting and rounding up",
        tried,
        failed,
    );
}
