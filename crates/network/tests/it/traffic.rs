//! Tests of job traffic on the network.

use std::collections::BTreeMap;

use pavior_kernel::{Stream, Time};
use pavior_mesh::{Cuboid, Grid};
use pavior_network::patterns::{Needs, Pattern};
use pavior_network::{
    Communication, Delivery, Engine, Flit, JobTraffic, Layout, Message, NetworkEvents,
    PatternRegistry, RankOrder, Rounds, Sending, Settings, TrafficPlan, Worm, run_list,
};

const ALL: [Sending; 3] = [Sending::Sequential, Sending::Blocking, Sending::Pipelined];

fn draw() -> Stream {
    Stream::new(11, 0, "traffic")
}

fn plan(pattern: &str, sending: Sending) -> TrafficPlan {
    TrafficPlan {
        pattern: pattern.parse().unwrap(),
        sending: Some(sending),
        rounds: None,
        flits: 4,
    }
}

fn layout(grid: &Grid, sides: [u16; 3], ranks: u32) -> Layout {
    Layout::new(grid, &[Cuboid::new([0; 3], sides)], ranks, Some(sides), RankOrder::Coordinates)
}

/// The events in a run.
#[derive(Default)]
struct Log {
    created: Vec<(Message, Time)>,
    deliveries: Vec<Delivery>,
    most_in_network: usize,
}

/// Runs a single job.
fn run<E: Engine>(mut network: E, mut job: JobTraffic) -> Log {
    let (mut log, mut events) = (Log::default(), NetworkEvents::default());
    let total = job.undelivered();
    let mut created = Vec::new();
    let mut id = job.create(Time::ZERO, 0, |message| created.push(message));
    let mut now = Time::ZERO;
    loop {
        for message in created.drain(..) {
            log.created.push((message, now));
            network.create(message);
        }
        log.most_in_network = log.most_in_network.max(network.undelivered());
        if job.is_finished() {
            break;
        }
        assert!(network.undelivered() > 0, "an unfinished job has a message under way");
        now = network.advance(Time::MAX, &mut events).unwrap();
        created.extend(events.entered.iter().map(|entered| job.follower(entered)));
        events.deliveries.iter().for_each(|delivery| job.delivered(delivery.tag));
        log.deliveries.extend(&events.deliveries);
        id = job.create(now, id, |message| created.push(message));
    }
    assert_eq!((id, log.deliveries.len() as u64), (total, total));
    assert_eq!(network.undelivered(), 0);
    log
}

fn names() -> impl Iterator<Item = &'static str> {
    PatternRegistry::new().entries().map(|spec| spec.name)
}

fn services(name: &str) -> Vec<Communication> {
    let counts = [1, 2, 5, 17, 60, 301].map(Communication::Messages);
    let whole = [1, 2, 3].map(Communication::Iterations);
    if name == "random" { counts.to_vec() } else { [&counts[..], &whole].concat() }
}

/// Returns a run's messages as sorted `(sequence, rank, to)` tuples.
fn messages(log: &Log) -> Vec<(u64, u32, u32)> {
    let mut list: Vec<_> =
        log.deliveries.iter().map(|d| (d.tag.sequence, d.tag.rank, d.to.0)).collect();
    list.sort_unstable();
    list
}

#[test]
fn every_discipline_sends_the_same_messages_and_engines_agree() {
    let grid: Grid = "torus:4x4".parse().unwrap();
    for name in names() {
        for service in services(name) {
            for (sides, ranks) in [([4, 3, 1], 12), ([3, 3, 1], 7), ([2, 1, 1], 2)] {
                let job = |sending| {
                    let layout = layout(&grid, sides, ranks);
                    JobTraffic::new(3, layout, &plan(name, sending), service, &mut draw())
                };
                let settings = Settings::default();
                let logs = ALL.map(|sending| run(Worm::new(grid, settings).unwrap(), job(sending)));
                let case = format!("{name} {service:?} {ranks}");
                let rounded = name == "all-to-all" && matches!(service, Communication::Messages(_));
                for (sending, log) in ALL.into_iter().zip(&logs) {
                    let flit = run(Flit::new(grid, settings).unwrap(), job(sending));
                    assert_eq!(log.deliveries, flit.deliveries, "{case} {sending:?}");
                    if !rounded {
                        assert_eq!(messages(log), messages(&logs[0]), "{case} {sending:?}");
                    }
                }
                if let Communication::Messages(count) = service {
                    assert_eq!(logs[0].deliveries.len() as u64, count, "{case}");
                    let whole = count.div_ceil(ranks.into()) * u64::from(ranks);
                    let expected = if rounded { whole } else { count };
                    assert_eq!(logs[1].deliveries.len() as u64, expected, "{case}");
                }
            }
        }
    }
}

#[test]
fn a_quota_of_each_rank_is_so_many_rounds() {
    let grid: Grid = "mesh:4x4".parse().unwrap();
    for sending in ALL {
        let layout = layout(&grid, [4, 3, 1], 12);
        let plan = plan("all-to-all:quota=rank", sending);
        let job = JobTraffic::new(0, layout, &plan, Communication::Messages(3), &mut draw());
        let log = run(Worm::new(grid, Settings::default()).unwrap(), job);
        let sent = |rank| log.deliveries.iter().filter(|one| one.tag.rank == rank).count();
        assert!((0..12).all(|rank| sent(rank) == 3), "{sending:?}");
    }
}

#[test]
fn senders_in_turn_send_their_lists_one_after_the_other() {
    let grid: Grid = "mesh:4x4".parse().unwrap();
    let layout = layout(&grid, [2, 2, 1], 4);
    let plan = plan("all-to-all:from-zero:senders=in-turn", Sending::Sequential);
    // Twelve messages make up an iteration, and the thirteenth begins the next one.
    let job = JobTraffic::new(0, layout, &plan, Communication::Messages(13), &mut draw());
    let log = run(Worm::new(grid, Settings::default()).unwrap(), job);
    let ranks: Vec<u32> = log.deliveries.iter().map(|one| one.tag.rank).collect();
    assert_eq!(ranks, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 0]);
}

/// Checks that every message was created only after the deliveries it depends on.
fn check_rules(log: &Log, pattern: &dyn Pattern, sending: Sending, case: &str) {
    let mut times = BTreeMap::new();
    for delivery in &log.deliveries {
        let key = (delivery.tag.sequence, delivery.tag.rank);
        times.insert(key, (delivery.created, delivery.delivered));
    }
    let rounds = u64::from(pattern.rounds());
    let mut last: BTreeMap<u32, Time> = BTreeMap::new();
    let mut last_of_job = Time::ZERO;
    for (&(round, rank), &(created, delivered)) in &times {
        let before = last.insert(rank, delivered).unwrap_or_default();
        match sending {
            Sending::Sequential => assert_eq!(created, last_of_job, "{case}"),
            Sending::Blocking => assert!(created >= before, "{case}"),
            Sending::Pipelined => {}
        }
        last_of_job = delivered;
        let local = (round % rounds) as u32;
        if pattern.needs() == Needs::Received {
            for earlier in 0..round {
                let source = pattern.source(rank, (earlier % rounds) as u32);
                let source = source.and_then(|source| times.get(&(earlier, source)));
                assert!(source.is_none_or(|&(_, arrived)| arrived <= created), "{case}");
            }
        }
        if pattern.needs() == Needs::Stages {
            let start = round - u64::from(local);
            for (&(other, _), &(_, arrived)) in &times {
                let ended = other < start
                    || other < round && pattern.stage_end((other - start) as u32) <= local;
                assert!(!ended || arrived <= created, "{case}: {other} before {round}");
            }
        }
    }
}

#[test]
fn rounds_wait_for_what_they_need() {
    let grid: Grid = "mesh:4x4".parse().unwrap();
    for spec in PatternRegistry::new().entries().filter(|spec| !spec.does.quota_only) {
        for sending in ALL {
            for service in [Communication::Iterations(2), Communication::Messages(45)] {
                let layout = layout(&grid, [4, 3, 1], 11);
                let shape = layout.shape;
                let mut plan = plan(spec.name, sending);
                plan.rounds = (spec.name == "all-to-all").then_some(Rounds::Free);
                let pattern = plan.pattern.build((&shape, &mut draw())).unwrap();
                let job = JobTraffic::new(0, layout, &plan, service, &mut draw());
                let log = run(Worm::new(grid, Settings::default()).unwrap(), job);
                let case = format!("{} {sending:?} {service:?}", spec.name);
                check_rules(&log, pattern.as_ref(), sending, &case);
                let order: Vec<u64> = log.created.iter().map(|(message, _)| message.id).collect();
                if sending != Sending::Pipelined {
                    assert!(order.is_sorted(), "{case}");
                    assert!(log.created.iter().all(|(m, at)| m.created == *at), "{case}");
                }
            }
        }
    }
}

#[test]
fn rounds_of_an_all_to_all_are_kept_apart_by_barriers() {
    let grid: Grid = "mesh:4x4".parse().unwrap();
    for sending in [Sending::Blocking, Sending::Pipelined] {
        let job = |rounds| {
            let plan = TrafficPlan { rounds, ..plan("all-to-all", sending) };
            let layout = layout(&grid, [4, 4, 1], 16);
            let job = JobTraffic::new(0, layout, &plan, Communication::Messages(33), &mut draw());
            run(Worm::new(grid, Settings::default()).unwrap(), job)
        };
        let barrier = job(None);
        assert_eq!(barrier.deliveries.len(), 48);
        let end = |round| {
            let of = barrier.deliveries.iter().filter(|d| d.tag.sequence == round);
            of.map(|d| d.delivered).max().unwrap()
        };
        assert!(barrier.deliveries.iter().all(|d| {
            d.created == if d.tag.sequence == 0 { Time::ZERO } else { end(d.tag.sequence - 1) }
        }));
        let free = job(Some(Rounds::Free));
        assert_eq!(free.deliveries.len(), 48);
        assert!(
            free.deliveries.last().unwrap().delivered
                < barrier.deliveries.last().unwrap().delivered
        );
    }
}

/// Passing messages to the engine one at a time must produce the same deliveries as creating them
/// all up front, ordered by rank and round.
#[test]
fn an_all_to_all_of_256_is_never_in_memory() {
    let grid: Grid = "mesh:16x16".parse().unwrap();
    let whole = Layout::new(&grid, &[Cuboid::whole(&grid)], 256, None, RankOrder::Coordinates);
    let plan = TrafficPlan { flits: 8, ..plan("all-to-all", Sending::Pipelined) };
    let job = JobTraffic::new(0, whole, &plan, Communication::Iterations(1), &mut draw());
    let lazy = run(Worm::new(grid, Settings::default()).unwrap(), job);
    assert_eq!(lazy.deliveries.len(), 65_280);
    assert!(lazy.most_in_network < 3 * 256, "{}", lazy.most_in_network);

    let mut eager: Vec<Message> = lazy.created.iter().map(|&(message, _)| message).collect();
    eager.sort_by_key(|message| message.id);
    assert!(eager.iter().zip(0..).all(|(message, id)| {
        (message.id, message.created, u64::from(message.tag.rank)) == (id, Time::ZERO, id / 255)
    }));
    let eager = eager.into_iter().map(|message| Message { followed: false, ..message });
    let mut deliveries = Vec::new();
    let mut network = Worm::new(grid, Settings::default()).unwrap();
    run_list(&mut network, eager, |delivery| deliveries.push(*delivery)).unwrap();
    assert!(deliveries == lazy.deliveries);
}

#[test]
fn one_processor_has_no_traffic() {
    let grid: Grid = "mesh:4x4".parse().unwrap();
    for name in names() {
        let layout = layout(&grid, [1, 1, 1], 1);
        let service = Communication::Messages(5);
        let mut job =
            JobTraffic::new(0, layout, &plan(name, Sending::Blocking), service, &mut draw());
        assert!(job.is_finished());
        assert_eq!(job.create(Time(9), 4, |_| panic!("nothing to send")), 4);
    }
    // On this logical grid, no rank has a neighbor along the x axis.
    let line = layout(&grid, [1, 4, 1], 4);
    let plan = plan("axis-all-to-all", Sending::Blocking);
    let job = JobTraffic::new(0, line, &plan, Communication::Messages(5), &mut draw());
    assert!(job.is_finished());
}
