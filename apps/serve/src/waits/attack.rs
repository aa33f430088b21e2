//! Random queues under every scheduler: what requests are said to wait for is held against the
//! machine and the queue.

use super::*;
use crate::core::{Ask, Command, LeaseRequest, MachineSpec, NodeChange, ServiceLimits};
use crate::core::{Caller, ServiceRecord, ServiceState};

const SCHEDULERS: [&str; 14] = [
    "fcfs",
    "ssd",
    "sjf",
    "ljf",
    "scan",
    "scan-all",
    "window:3",
    "bypass",
    "easy",
    "easy:count",
    "conservative",
    "conservative:count",
    "conservative:depth=3",
    "conservative:count:depth=3",
];
const STRATEGIES: [&str; 4] = ["tff", "gabl", "paging", "mbs"];

/// Numbers that look random (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

fn fresh(strategy: &str, scheduler: &str) -> (ServiceState, MachineSpec) {
    let spec = MachineSpec {
        name: "m".into(),
        machine: "mesh:8x6".into(),
        strategy: strategy.into(),
        scheduler: Some(scheduler.into()),
        shape_rule: "compact".into(),
    };
    let mut state = ServiceState::new(ServiceLimits::default(), 1);
    state.configure(std::slice::from_ref(&spec)).expect("the machine can be made");
    (state, spec)
}

fn command(numbers: &mut Numbers, state: &ServiceState) -> Command {
    let held: Vec<_> = state.leases.values().cloned().collect();
    let ends = held.len() as u64;
    match numbers.below(20) {
        0 | 1 if !state.waiting.is_empty() => {
            let index = numbers.below(state.waiting.len() as u64) as usize;
            let id = *state.waiting.keys().nth(index).expect("so many wait");
            Command::End { id, epoch: None }
        }
        2..=7 if ends > 0 => {
            let lease = &held[numbers.below(ends) as usize];
            Command::End { id: lease.id, epoch: Some(lease.epoch) }
        }
        8 => Command::Node {
            machine: None,
            node: [numbers.below(8) as u16, numbers.below(6) as u16, 0],
            change: if numbers.below(3) == 0 { NodeChange::Fail } else { NodeChange::Repair },
        },
        kind => {
            let ask = if numbers.below(2) == 0 {
                Ask::Nodes(1 + numbers.below(30) as u32)
            } else {
                Ask::Shape([1 + numbers.below(8) as u16, 1 + numbers.below(6) as u16, 1])
            };
            let estimate_ms = (numbers.below(5) > 0).then(|| 1000 * (1 + numbers.below(500)));
            let wait = kind != 9;
            Command::Lease(LeaseRequest { estimate_ms, wait, ..LeaseRequest::of(ask) })
        }
    }
}

/// Whether what is said of a request is so.
fn holds(state: &mut ServiceState, view: &StateView, one: &WaitingRequest, wait: &Why) -> bool {
    let board = &view.boards[0];
    let probed = state.probe(0, &one.request());
    let waits = |JobId(id): JobId| id != one.id && view.waiting.iter().any(|other| other.id == id);
    let lacks = wait.needed > wait.free;
    let scheduler = board.spec.scheduler.as_deref().unwrap_or_default();
    let reserves = scheduler.starts_with("easy") || scheduler.starts_with("conservative");
    let orders = !["scan-all", "easy", "easy:count", "conservative", "conservative:count"]
        .contains(&scheduler);
    let counts =
        wait.free == u64::from(board.free.count()) && wait.planned.is_none_or(|_| reserves);
    let kind = match wait.cause {
        Cause::Nodes => lacks && probed.is_err(),
        Cause::Place => !lacks && probed.is_err(),
        Cause::Queue(Queued::Reserved { by, from, until }) => {
            probed.is_ok() && reserves && waits(by) && until.is_none_or(|until| from < until)
        }
        Cause::Queue(Queued::Behind(behind)) => orders && behind.is_none_or(waits),
        // Where the scheduler was asked in this very state, it says more.
        Cause::Queue(Queued::Kept) => probed.is_ok() && board.standing.is_none(),
        _ => false,
    };
    counts && kind
}

/// The requests of a state that are said to wait for something else than they do.
fn wrong(state: &mut ServiceState, spec: &MachineSpec, tried: &mut usize) -> usize {
    let view = state.view();
    let found = waits(&view, &view.boards[0], view.now_ms, 1).expect("the strategy can be made");
    *tried += view.waiting.len();
    let mut failed = 0;
    for one in &view.waiting {
        let wait = &found[&one.id];
        if !holds(state, &view, one, wait) {
            eprintln!("{} {:?}: {one:?}: {wait:?}", spec.strategy, spec.scheduler);
            failed += 1;
        }
    }
    failed
}

#[test]
fn every_waiting_request_is_told_the_truth() {
    let (mut tried, mut failed) = (0, 0);
    for (index, scheduler) in SCHEDULERS.into_iter().enumerate() {
        for strategy in STRATEGIES {
            let (mut state, spec) = fresh(strategy, scheduler);
            let mut numbers = Numbers(88_172_645_463_325_252 + index as u64);
            let mut now_ms = 1_000_000;
            let mut records: Vec<ServiceRecord> = Vec::new();
            for _ in 0..pavior_trials::size(150, 150, 3000) {
                now_ms += numbers.below(20_000);
                let command = command(&mut numbers, &state);
                state.decide(now_ms, &Caller::OPERATOR, None, command, &mut records);
                failed += wrong(&mut state, &spec, &mut tried);
            }
            // After a start the scheduler has not been asked: nothing is guessed.
            let (mut again, _) = fresh(strategy, scheduler);
            for record in &records {
                again.apply(record).expect("the records follow from each other");
            }
            failed += wrong(&mut again, &spec, &mut tried);
        }
    }
    pavior_trials::attacked("pages", "what waiting requests wait for", tried, failed);
}

/// A queue of 10,000 different requests costs a bounded number of questions.
#[test]
fn a_long_queue_is_answered_within_bounds() {
    let (mut state, _) = fresh("gabl", "conservative:depth=100");
    let mut records = Vec::new();
    let ask = |nodes: u32, estimate_ms: u64| {
        let (ask, estimate_ms) = (Ask::Nodes(nodes), Some(estimate_ms));
        Command::Lease(LeaseRequest { estimate_ms, wait: true, ..LeaseRequest::of(ask) })
    };
    for number in 0..10_000_u32 {
        let command = ask(1 + number % 48, 1000 * u64::from(1 + number % 977));
        state.decide(1_000_000, &Caller::OPERATOR, None, command, &mut records);
    }
    let view = state.view();
    let clock = crate::clock::ServiceClock::new();
    let began = clock.micros();
    let found = waits(&view, &view.boards[0], view.now_ms, 1).expect("the strategy can be made");
    println!("{} requests: {} us", found.len(), clock.micros() - began);
    assert_eq!(found.len(), view.waiting.len());
    assert!(found.len() > 9000);
}
