//! Tests of jobs that wait for their messages to be delivered.

use pavior_kernel::Time;
use pavior_network::{
    EngineKind, MessageTotals, RankOrder, Rounds, Sending, Settings, TrafficPlan,
};
use pavior_simulation::{
    Contention, Ending, Fact, Fate, Histories, Inputs, Interest, NetworkSetup, Observer, Recorder,
    Setup, run,
};
use pavior_trials::size;
use pavior_workload::{Job, Service};
use proptest::prelude::*;

use crate::{job, setup};

pub(crate) fn network(pattern: &str, sending: Option<Sending>) -> NetworkSetup {
    NetworkSetup {
        engine: EngineKind::Worm,
        settings: Settings::default(),
        plan: TrafficPlan { pattern: pattern.parse().unwrap(), sending, rounds: None, flits: 8 },
        ranks: RankOrder::Coordinates,
        histories: Histories::default(),
        contention: Contention::Simulated,
    }
}

pub(crate) fn sender(id: u64, arrival: u64, shape: [u16; 3], service: Service) -> Job {
    Job { service, estimate: Time(1), ..job(id, arrival, shape, 1) }
}

/// An observer that records every message, in order of delivery.
#[derive(Default)]
struct Messages(Vec<Sent>);

impl Observer for Messages {
    fn interest(&self) -> Interest {
        Interest::DELIVERIES
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        if let Fact::Delivered(delivery) = fact {
            assert_eq!(now, delivery.delivered);
            self.0.push((delivery.created.0, delivery.delivered.0, delivery.hops));
        }
    }
}

/// A message's creation time, delivery time and number of hops.
type Sent = (u64, u64, u32);

/// Returns the start and departure times of each job, and the delivered messages.
fn go(setup: &Setup, jobs: &[Job]) -> (Vec<(u64, u64)>, Vec<Sent>) {
    let (mut recorder, mut messages) = (Recorder::default(), Messages::default());
    let mut observers: Vec<&mut dyn Observer> = vec![&mut recorder, &mut messages];
    let inputs = Inputs::from(jobs.iter().cloned());
    run(setup, inputs, &mut observers).unwrap();
    let times = recorder.into_records().into_iter().map(|record| match record.fate {
        Fate::Started { start, end: Some(end), .. } => (start.0, end.0),
        other => panic!("{other:?}"),
    });
    (times.collect(), messages.0)
}

pub(crate) fn with(machine: &str, strategy: &str, network: NetworkSetup) -> Setup {
    Setup { network: Some(network), ..setup(machine, strategy, "fcfs", Ending::Drained) }
}

#[test]
fn a_job_departs_with_its_last_delivery() {
    // One processor sends the other a message over one hop: (3 + 1)(1 + 1) + 8 = 16 cycles.
    let setup = with("mesh:4", "tff", network("one-to-all", None));
    let jobs = [sender(0, 5, [2, 1, 1], Service::Iterations(1))];
    let (times, messages) = go(&setup, &jobs);
    assert_eq!(times, [(5, 21)]);
    assert_eq!(messages, [(5, 21, 1)]);
}

#[test]
fn a_job_of_one_processor_holds_it_for_one_cycle() {
    let setup = with("mesh:4", "tff", network("all-to-all", None));
    let jobs = [
        sender(0, 3, [1, 1, 1], Service::Messages(9)),
        sender(1, 3, [4, 1, 1], Service::Messages(1)),
    ];
    let (times, _) = go(&setup, &jobs);
    assert_eq!(times[0], (3, 4));
    assert_eq!(times[1].0, 4);
}

#[test]
fn the_next_message_is_created_in_the_cycle_of_the_delivery_before() {
    let setup = with("mesh:6", "tff", network("one-to-all", Some(Sending::Sequential)));
    let (times, messages) = go(&setup, &[sender(0, 0, [6, 1, 1], Service::Iterations(1))]);
    assert_eq!(messages.len(), 5);
    for pair in messages.windows(2) {
        assert_eq!(pair[1].0, pair[0].1);
    }
    // There is no contention, so every message has the same latency as on an empty network.
    assert!(messages.iter().all(|&(created, delivered, hops)| {
        delivered - created == u64::from(4 * (hops + 1) + 8)
    }));
    assert_eq!(times, [(0, messages[4].1)]);
}

#[test]
fn who_waits_starts_in_the_cycle_of_the_departure() {
    let setup = with("mesh:4", "tff", network("ring", None));
    let jobs = [
        sender(0, 0, [4, 1, 1], Service::Iterations(1)),
        sender(1, 2, [4, 1, 1], Service::Iterations(1)),
    ];
    let (times, _) = go(&setup, &jobs);
    assert_eq!(times[1].0, times[0].1);
}

#[test]
fn messages_of_all_jobs_share_one_network() {
    // Two jobs delay each other if their nodes alternate along a row.
    let alone = with("mesh:8", "naive", network("all-to-all", Some(Sending::Pipelined)));
    let comb = |id, arrival| sender(id, arrival, [3, 1, 1], Service::Iterations(1));
    // Small jobs hold every other node while the two jobs start, so that the nodes of these two
    // jobs alternate.
    let jobs: Vec<Job> = vec![
        sender(0, 0, [1, 1, 1], Service::Iterations(1)),
        sender(1, 0, [2, 1, 1], Service::Iterations(1)),
        comb(2, 1),
        comb(3, 1),
    ];
    let (times, together) = go(&alone, &jobs);
    let blocked = together
        .iter()
        .filter(|&&(created, delivered, hops)| delivered - created > u64::from(4 * (hops + 1) + 8));
    assert!(blocked.count() > 0, "{times:?}");
}

#[test]
fn a_deadlock_ends_the_run_with_an_error() {
    let mut network = network("all-to-all", Some(Sending::Pipelined));
    network.settings.virtual_channels = pavior_network::VirtualChannels::One;
    let setup = with("torus:4x4", "tff", network);
    let jobs = vec![sender(0, 0, [4, 4, 1], Service::Iterations(3))];
    let inputs = Inputs::from(jobs);
    let error = run(&setup, inputs, &mut []).unwrap_err().to_string();
    assert!(error.contains("deadlock") && error.contains("waits for link"), "{error}");
}

/// Returns every job's fate, and the network totals. If `each` is true, an observer receives each
/// delivery.
pub(crate) fn outcome(setup: &Setup, jobs: &[Job], each: bool) -> (Vec<Fate>, MessageTotals) {
    let (mut recorder, mut messages) = (Recorder::default(), Messages::default());
    let mut carried = Carried(MessageTotals::default());
    let mut observers: Vec<&mut dyn Observer> = vec![&mut recorder, &mut carried];
    if each {
        observers.push(&mut messages);
    }
    let inputs = Inputs::from(jobs.iter().cloned());
    run(setup, inputs, &mut observers).unwrap();
    (recorder.into_records().into_iter().map(|record| record.fate).collect(), carried.0)
}

/// An observer that records the network totals.
struct Carried(MessageTotals);

impl Observer for Carried {
    fn interest(&self) -> Interest {
        Interest::TRAFFIC
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        if let Fact::Carried(totals) = fact {
            self.0 = **totals;
        }
    }
}

/// Checks that the results are the same whether every job is simulated or jobs' histories are
/// recalled from an earlier job of the same kind, in the same run or a previous one.
pub(crate) fn ways_agree(setup: &Setup, jobs: &[Job]) -> Result<(), TestCaseError> {
    let each = outcome(setup, jobs, true);
    prop_assert_eq!(&outcome(setup, jobs, false), &each, "nothing known");
    prop_assert_eq!(&outcome(setup, jobs, false), &each, "all known");
    let mut flit = setup.clone();
    flit.network.as_mut().unwrap().engine = EngineKind::Flit;
    prop_assert_eq!(&outcome(&flit, jobs, false), &each, "flit by flit");
    Ok(())
}

pub(crate) const PATTERNS: [&str; 10] = [
    "one-to-all",
    "all-to-all",
    "near-neighbour",
    "ring",
    "all-reduce",
    "n-body",
    "recursive-doubling",
    "binomial-tree",
    "multigrid",
    "stencil",
];

const SENDING: [Option<Sending>; 4] =
    [None, Some(Sending::Sequential), Some(Sending::Blocking), Some(Sending::Pipelined)];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(100, 500, 500)))]

    #[test]
    fn all_ways_give_the_same_run(
        machine in prop::sample::select(vec!["mesh:5x4", "torus:4x4", "grid:4wx3x2"]),
        strategy in prop::sample::select(vec!["tff", "naive", "mbs", "gabl"]),
        pattern in prop::sample::select(&PATTERNS[..]),
        sending in prop::sample::select(&SENDING[..]),
        rounds in prop::sample::select(vec![None, Some(Rounds::Barrier), Some(Rounds::Free)]),
        draws in prop::collection::vec(
            (0u64..60, [1u16..5, 1..4, 1..2], 1u64..30, any::<bool>()),
            1..12,
        ),
    ) {
        let mut arrival = 0;
        let jobs: Vec<Job> = draws.iter().enumerate().map(|(id, &(gap, shape, count, quota))| {
            arrival += gap;
            let service = if quota {
                Service::Messages(count)
            } else {
                Service::Iterations(1 + count % 2)
            };
            sender(id as u64, arrival, shape, service)
        }).collect();
        let mut network = network(pattern, sending);
        network.plan.rounds = rounds;
        ways_agree(&with(machine, strategy, network), &jobs)?;
    }

    /// Runs many jobs of few kinds on larger machines. Some jobs are alone all the time, some
    /// never, and some only for a while.
    #[test]
    fn who_is_recalled_sees_what_it_would_have_seen(
        (machine, strategy) in prop::sample::select(vec![
            ("mesh:9x8", "tff"), ("mesh:9x8", "nas"), ("mesh:9x8", "lssa"), ("mesh:9x8", "gabl"),
            ("mesh:9x8", "mbs"), ("torus:9x8", "tff"), ("torus:9x8", "gabl"), ("torus:16", "tff"),
            ("torus:16", "naive"), ("grid:9wx4x2", "tff"), ("mesh:4x4x4", "tff"),
            ("torus:5x4x3", "tff"), ("mesh:20", "random"),
        ]),
        pattern in prop::sample::select(&PATTERNS[..]),
        sending in prop::sample::select(&SENDING[..]),
        kinds in prop::collection::vec([1u16..7, 1..4, 1..3], 1..4),
        draws in prop::collection::vec((0u64..80, any::<prop::sample::Index>()), 20..60),
        (warmup, last) in (0u64..10, 11u64..20),
    ) {
        let mut arrival = 0;
        let jobs: Vec<Job> = draws.iter().enumerate().map(|(id, (gap, kind))| {
            arrival += gap;
            let mut sides = *kind.get(&kinds);
            sides[machine.matches('x').count() + 1..].fill(1);
            sender(id as u64, arrival, sides, Service::Iterations(1))
        }).collect();
        let setup = with(machine, strategy, network(pattern, sending));
        // Averaging starts and ends while jobs are running.
        ways_agree(&Setup { warmup, ending: Ending::Completions(last), ..setup }, &jobs)?;
    }
}
