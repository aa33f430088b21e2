//! Checks the core's decisions against a replay of their records and against simple models.

use std::collections::HashMap;

use pavior::{Cuboid, Freedom};
use pavior_serve::core::{
    Ask, Caller, Command, Event, LeaseRequest, MachineSpec, Reason, Reply, ServiceLimits,
    ServiceRecord, ServiceState, StateSnapshot,
};
use serde_json::json;

use crate::random::{Random, command};

pub(crate) fn machines(scheduler: Option<&str>) -> Vec<MachineSpec> {
    vec![MachineSpec {
        name: "default".into(),
        machine: "mesh:8x8".into(),
        strategy: "tff".into(),
        scheduler: scheduler.map(str::to_string),
        shape_rule: "compact".into(),
    }]
}

pub(crate) fn limits() -> ServiceLimits {
    ServiceLimits { quota: Some(40), waiting: 5, keys: 20, ..ServiceLimits::default() }
}

/// Returns a state with one machine, and the record that added it.
pub(crate) fn begin(scheduler: Option<&str>) -> (ServiceState, ServiceRecord) {
    let mut state = ServiceState::new(limits(), 1);
    let event = Event::Configured { machines: machines(scheduler) };
    let record = ServiceRecord { seq: 1, at_ms: 0, event, kept: None };
    state.apply(&record).expect("the first record can be applied");
    (state, record)
}

#[test]
fn a_scheduler_that_depends_on_messages_is_refused() {
    let mut state = ServiceState::new(limits(), 1);
    let event = Event::Configured { machines: machines(Some("easy-freedom")) };
    let refused = state.apply(&ServiceRecord { seq: 1, at_ms: 0, event, kept: None });
    assert!(refused.unwrap_err().to_string().contains("which the service does not know"));
}

#[test]
fn numbers_that_would_be_issued_again_are_refused() {
    let (mut state, _) = begin(None);
    let command = Command::Lease(LeaseRequest::of(Ask::Nodes(1)));
    state.decide(0, &Caller::OPERATOR, None, command, &mut Vec::new());
    let good = state.snapshot();
    let (next_id, epoch) = (good.next_id - 1, good.epoch - 1);
    for bad in [StateSnapshot { next_id, ..good.clone() }, StateSnapshot { epoch, ..good.clone() }]
    {
        assert!(ServiceState::restore(&bad, limits(), 1).is_err());
    }
    // No number would be left after this one.
    let lease = json!({
        "id": u64::MAX, "epoch": epoch + 2, "machine": "default",
        "parts": [[[7, 7, 0], [1, 1, 1]]], "requested": 1, "start_ms": 0,
    });
    let seq = state.seq() + 1;
    let record = json!({ "seq": seq, "at_ms": 0, "event": { "granted": { "lease": lease } } });
    assert!(state.apply(&serde_json::from_value(record).unwrap()).is_err());
}

#[test]
fn the_replies_to_a_batch_are_bounded() {
    let mut state = ServiceState::new(ServiceLimits::default(), 1);
    let spec = MachineSpec { machine: "mesh:64x64".into(), ..machines(None).remove(0) };
    state.configure(&[spec]).unwrap();
    // Each reply to a renewal of this lease lists 2048 boxes.
    let parts = (0..64u16).flat_map(|y| (0..32).map(move |x| Cuboid::new([2 * x, y], [1, 1])));
    let (request, parts) = (LeaseRequest::of(Ask::Nodes(1)), parts.collect());
    let mut decide =
        |command| state.decide(0, &Caller::OPERATOR, None, command, &mut Vec::new()).reply;
    assert!(matches!(decide(Command::Hold { request, parts }), Reply::Granted(_)));
    let renewal = Command::Renew { id: 1, epoch: 1, ttl_ms: Some(1000) };
    let Reply::Batch(replies) = decide(Command::Batch(vec![renewal; 512])) else {
        panic!("a batch has a reply per command");
    };
    let (carried_out, refused) = replies.split_at(256);
    assert!(carried_out.iter().all(|reply| matches!(reply, Reply::Renewed(_))));
    assert_eq!(refused.len(), 256);
    for reply in refused {
        let Reply::Problem(problem) = reply else { panic!("{reply:?}") };
        assert_eq!(problem.reason, Reason::TooLarge);
    }
}

#[test]
fn folding_the_records_gives_the_state() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let scheduler = [None, Some("fcfs"), Some("easy"), Some("window:4")][seed as usize % 4];
        let (mut state, first) = begin(scheduler);
        let (mut records, mut now) = (vec![first], 0);
        let middle = random.below(150);
        let mut saved: Option<StateSnapshot> = None;
        for step in 0..150 {
            now += random.below(60);
            let (caller, key, command) = command(&mut random, &state);
            state.decide(now, &caller, key.as_ref(), command, &mut records);
            state.validate();
            if step == middle {
                saved = Some(state.snapshot());
            }
        }
        let written = serde_json::to_string(&records).expect("records can be written");
        let read: Vec<ServiceRecord> = serde_json::from_str(&written).expect("records can be read");
        assert_eq!(read, records, "seed {seed}");
        let mut folded = ServiceState::new(limits(), 1);
        for record in &read {
            folded.apply(record).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        assert_eq!(folded.snapshot(), state.snapshot(), "seed {seed}");
        folded.validate();
        // Restoring a snapshot and replaying the later records gives the same state.
        let saved = saved.expect("the middle was passed");
        let text = serde_json::to_string(&saved).expect("a snapshot can be written");
        let saved: StateSnapshot = serde_json::from_str(&text).expect("a snapshot can be read");
        let mut folded =
            ServiceState::restore(&saved, limits(), 1).expect("the snapshot is consistent");
        for record in read.iter().filter(|record| record.seq > saved.seq) {
            folded.apply(record).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        assert_eq!(folded.snapshot(), state.snapshot(), "seed {seed}, from record {}", saved.seq);
    }
}

#[test]
fn a_waiting_request_keeps_its_freedom_if_the_journal_has_one() {
    let (mut state, first) = begin(Some("fcfs"));
    let mut records = vec![first];
    let mut ask = |now, sides: [u16; 3], freedom| {
        let asked = LeaseRequest { freedom, wait: true, ..LeaseRequest::of(Ask::Shape(sides)) };
        state.decide(now, &Caller::OPERATOR, None, Command::Lease(asked), &mut records);
    };
    ask(1, [8, 8, 1], None);
    ask(2, [4, 2, 1], Some(Freedom::Connected));
    ask(3, [8, 2, 1], None);
    let text = serde_json::to_string(&records).unwrap();
    assert_eq!(text.matches("\"freedom\":\"connected\"").count(), 1, "{text}");
    // If a request has no freedom, the member is omitted, as in older journals.
    assert_eq!(text.matches("freedom").count(), 1, "{text}");
    let old: Vec<ServiceRecord> =
        serde_json::from_str(&text.replace(",\"freedom\":\"connected\"", "")).unwrap();
    for (journal, freedom) in [(records, Some(Freedom::Connected)), (old, None)] {
        let mut folded = ServiceState::new(limits(), 1);
        for record in &journal {
            folded.apply(record).unwrap();
        }
        let waiting = folded.view().waiting;
        assert_eq!(waiting.iter().find_map(|one| one.freedom), freedom);
    }
}

/// Checks, with random commands, that no lease starts if it would overlap a reservation.
#[test]
fn no_lease_begins_if_it_would_last_into_a_reservation() {
    let (mut grants, mut ahead) = (0, 0);
    for seed in 200..260 {
        let mut random = Random(seed);
        let scheduler = ["fcfs", "scan-all", "easy", "conservative"][seed as usize % 4];
        let (mut state, first) = begin(Some(scheduler));
        let (mut records, mut now) = (vec![first], 0);
        let mut reserved = Vec::new();
        for _ in 0..200 {
            now += random.below(60);
            let (caller, key, command) = command(&mut random, &state);
            let holds = matches!(command, Command::Hold { .. });
            let before = records.len();
            state.decide(now, &caller, key.as_ref(), command, &mut records);
            for record in &records[before..] {
                let lease = match &record.event {
                    Event::Granted { lease } => lease,
                    Event::Reserved { reservation } => {
                        reserved.push(reservation.clone());
                        continue;
                    }
                    Event::Unreserved { id, .. } => {
                        reserved.retain(|one| one.id != *id);
                        continue;
                    }
                    _ => continue,
                };
                let end = lease.ttl_ms.map_or(u64::MAX, |ttl| lease.start_ms + ttl);
                let late = reserved.iter().filter(|one| !holds && one.from_ms < end);
                let meets = late.filter(|one| record.at_ms < one.to_ms).any(|one| {
                    let taken = nodes(&one.parts);
                    nodes(&lease.parts).iter().any(|node| taken.contains(node))
                });
                assert!(!meets, "seed {seed}: {lease:?} among {reserved:?}");
                grants += 1;
                ahead += u32::from(!reserved.is_empty());
            }
        }
    }
    assert!(grants > 1000 && ahead > 300, "{grants} {ahead}");
}

/// Checks random decisions against a model that tracks which lease holds each node.
#[test]
fn no_node_is_held_twice() {
    for seed in 100..140 {
        let mut random = Random(seed);
        let (mut state, first) = begin(Some("fcfs"));
        let (mut records, mut now) = (vec![first], 0);
        for _ in 0..200 {
            now += random.below(60);
            let (caller, key, command) = command(&mut random, &state);
            state.decide(now, &caller, key.as_ref(), command, &mut records);
        }
        let mut holders: HashMap<[u16; 2], u64> = HashMap::new();
        let mut parts: HashMap<u64, Vec<[[u16; 3]; 2]>> = HashMap::new();
        let mut epochs = 0;
        for record in &records {
            match &record.event {
                Event::Granted { lease } => {
                    assert!(lease.epoch > epochs, "epochs grow");
                    epochs = lease.epoch;
                    for node in nodes(&lease.parts) {
                        let before = holders.insert(node, lease.id);
                        assert_eq!(before, None, "seed {seed}: {node:?} is held twice");
                    }
                    parts.insert(lease.id, lease.parts.clone());
                }
                Event::Ended { id, .. } => {
                    for node in parts.remove(id).iter().flat_map(|parts| nodes(parts)) {
                        assert_eq!(holders.remove(&node), Some(*id));
                    }
                }
                _ => {}
            }
        }
        let busy: usize = state.view().boards[0].busy as usize;
        assert_eq!(holders.len(), busy, "seed {seed}");
    }
}

fn nodes(parts: &[[[u16; 3]; 2]]) -> Vec<[u16; 2]> {
    let each = |&[base, sides]: &[[u16; 3]; 2]| {
        (0..sides[0]).flat_map(move |i| (0..sides[1]).map(move |j| [base[0] + i, base[1] + j]))
    };
    parts.iter().flat_map(each).collect()
}

/// Checks that planning once for several leases gives the same result as planning after each one.
#[test]
fn a_batch_of_leases_gives_the_same_replies_as_single_requests() {
    let schedulers = ["fcfs", "scan-all", "easy", "conservative", "conservative:count", "window:4"];
    let mut granted = 0;
    for seed in 0..120 {
        let scheduler = Some(schedulers[seed as usize % schedulers.len()]);
        let mut sides = [begin(scheduler).0, begin(scheduler).0];
        let (mut random, mut now, mut earlier) = (Random(seed), 0, Vec::new());
        for _ in 0..60 {
            now += random.below(60);
            let (caller, key, command) = command(&mut random, &sides[0]);
            for state in &mut sides {
                state.decide(now, &caller, key.as_ref(), command.clone(), &mut earlier);
            }
        }
        let lease = |_| {
            let sides = [1 + random.below(3) as u16, 1 + random.below(3) as u16, 1];
            let asked = LeaseRequest::of(Ask::Shape(sides));
            Command::Lease(LeaseRequest { ttl_ms: Some(1 + random.below(300)), ..asked })
        };
        let all: Vec<Command> = (0..12).map(lease).collect();
        let [one, many] = &mut sides;
        let (mut alone, mut together) = (Vec::new(), Vec::new());
        let replies: Vec<String> = all
            .iter()
            .map(|command| one.decide(now, &Caller::OPERATOR, None, command.clone(), &mut alone))
            .map(|decision| format!("{:?}", decision.reply))
            .collect();
        let batch = Command::Batch(all);
        let batch = many.decide(now, &Caller::OPERATOR, None, batch, &mut together).reply;
        assert_eq!(format!("{batch:?}"), format!("Batch([{}])", replies.join(", ")), "seed {seed}");
        assert_eq!(alone, together, "seed {seed}");
        granted += alone.len();
    }
    assert!(granted > 100, "{granted}");
}
