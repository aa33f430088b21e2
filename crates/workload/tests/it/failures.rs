//! Tests of failures and repairs: the means of drawn events, and the rules for listed events.

use std::collections::BTreeMap;

use pavior_kernel::Time;
use pavior_mesh::{Grid, NodeId};
use pavior_workload::traces::{LineError, ReadError};
use pavior_workload::{
    Change, Component, FailureClasses, FailureEvent, Failures, TimeUnit, read_failures,
};

fn drawn(machine: &str, classes: &str, count: usize) -> Vec<FailureEvent> {
    let grid: Grid = machine.parse().unwrap();
    let classes: FailureClasses = classes.parse().unwrap();
    Failures::new(&grid, &classes, TimeUnit::TIME_UNIT, 1, 0).unwrap().take(count).collect()
}

#[test]
fn nodes_fail_and_come_back_in_turn() {
    let all = drawn("torus:4x4", "node:mttf=20:mttr=5", 20_000);
    assert!(all.is_sorted_by_key(|event| event.at));
    let mut since: BTreeMap<Component, (Time, Change)> = BTreeMap::new();
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for event in &all {
        let (before, state) = since
            .insert(event.component, (event.at, event.change))
            .unwrap_or((Time::ZERO, Change::Repair));
        assert_ne!(state, event.change, "{} twice", event.component);
        let length = event.at.since(before).ticks() / 1e6;
        if event.change == Change::Fail { up.push(length) } else { down.push(length) }
    }
    assert_eq!(since.len(), 16);
    for (lengths, expected) in [(up, 20.0), (down, 5.0)] {
        let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
        let spread = lengths.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / lengths.len() as f64;
        assert!((mean / expected - 1.0).abs() < 0.04, "{mean}");
        // In an exponential distribution, the standard deviation equals the mean.
        assert!((spread.sqrt() / mean - 1.0).abs() < 0.05, "{spread}");
    }
}

#[test]
fn a_large_machine_costs_nothing_per_node() {
    let all = drawn("mesh:4096x4096", "chip:mttf=1e9:mttr=10", 1000);
    assert_eq!(all.len(), 1000);
    assert!(drawn("mesh:1", "node:5:5", 10).iter().all(|event| event.component.parts().1 == 0));
}

#[test]
fn means_out_of_range_are_refused() {
    let grid = Grid::mesh(&[2, 2]).unwrap();
    for (mttf, mttr) in [(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        let classes = FailureClasses::nodes(mttf, mttr);
        assert!(Failures::new(&grid, &classes, TimeUnit::SECOND, 1, 0).is_err(), "{mttf} {mttr}");
    }
}

fn listed(text: &str) -> Result<Vec<FailureEvent>, ReadError> {
    let grid: Grid = "mesh:4x4x2".parse().unwrap();
    read_failures(text.as_bytes(), &grid, TimeUnit::SECOND)
}

#[test]
fn lists_are_read_in_the_order_of_time() {
    let events = listed(
        "{\"op\":\"fail\",\"node\":[1,1,0],\"at\":3600}\r\n\n\
         {\"at\":0.5,\"op\":\"fail\",\"node\":[3,3,1]}\n\
         {\"op\":\"repair\",\"node\":[3,3,1],\"at\":3600}\n",
    )
    .unwrap();
    let seen: Vec<_> =
        events.iter().map(|event| (event.at.0, event.component.parts().1, event.change)).collect();
    assert_eq!(
        seen,
        [
            (500_000, 31, Change::Fail),
            (3_600_000_000, 31, Change::Repair),
            (3_600_000_000, 5, Change::Fail)
        ]
    );
    assert_eq!(listed("").unwrap(), []);
}

#[test]
fn faults_in_lists_name_the_place() {
    for (line, reason) in [
        ("{\"op\":\"brake\",\"node\":[1,1,0],\"at\":1}", "unknown variant"),
        ("{\"op\":\"fail\",\"node\":[4,1,0],\"at\":1}", "node [4, 1, 0] is outside mesh:4x4x2"),
        (
            "{\"op\":\"fail\",\"node\":[1,1],\"at\":1}",
            "a node on mesh:4x4x2 must have 3 coordinates",
        ),
        ("{\"op\":\"fail\",\"node\":[1,1,0],\"at\":-1}", "`at` must be a time"),
        ("{\"op\":\"fail\",\"node\":[1,1,0]}", "missing field `at`"),
        ("{\"op\":\"fail\",\"node\":[1,1,0],\"at\":1,\"when\":2}", "unknown field"),
        ("fail 1 1 0", "expected"),
    ] {
        let text = format!("{{\"op\":\"fail\",\"node\":[1,1,0],\"at\":1}}\n{line}\n");
        match listed(&text) {
            Err(ReadError::Line(found)) => {
                let LineError { line, reason: given, .. } = *found;
                assert_eq!(line, 2);
                assert!(given.contains(reason), "{given}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Even if repairs take 10^12 times as long as the time to failure, an event must use only a few
/// draws. Without a list of healthy nodes, nearly every draw would hit a node that is already down.
/// (The longest repairs end after the latest representable time.)
#[test]
fn events_cost_few_draws_however_long_repairs_take() {
    for (mttf, mttr) in [(1e-3, 1e9), (1.0, 1e9), (1e-3, 1e3)] {
        let grid = Grid::mesh(&[16, 16]).unwrap();
        let classes = FailureClasses::nodes(mttf, mttr);
        let events = Failures::new(&grid, &classes, TimeUnit::TIME_UNIT, 1, 0).unwrap();
        let mut failed = vec![false; 256];
        let mut last = Time::ZERO;
        for event in events.take(20_000) {
            let Component::Node(NodeId(node)) = event.component else { panic!("{event:?}") };
            let fails = event.change == Change::Fail;
            assert!(failed[node as usize] != fails && event.at >= last, "{event:?}");
            (failed[node as usize], last) = (fails, event.at);
        }
        assert!(failed.iter().filter(|failed| !**failed).count() <= 3);
    }
}

/// Listing the healthy nodes must not change the distribution: on average, N MTTF / (MTTF + MTTR)
/// of N nodes are healthy, and every node is equally likely to be healthy.
#[test]
fn where_few_are_healthy_the_law_is_the_same() {
    let grid = Grid::mesh(&[32, 32]).unwrap();
    // In the first case, about 5 of 1024 nodes are healthy, so the healthy nodes are always listed.
    // In the second, about 16 are healthy, which is the listing threshold.
    for (mttf, mttr) in [(1.0, 200.0), (1.0, 63.0)] {
        let classes = FailureClasses::nodes(mttf, mttr);
        let events = Failures::new(&grid, &classes, TimeUnit::TIME_UNIT, 1, 0).unwrap();
        let unit = TimeUnit::TIME_UNIT;
        let (mut healthy, mut at, mut sum, mut from) = (1024i64, 0.0, 0.0, 0.0);
        let mut failures = vec![0u32; 1024];
        for (index, event) in events.take(200_000).enumerate() {
            let now = unit.units(event.at);
            if index >= 20_000 {
                sum += healthy as f64 * (now - at);
            } else {
                from = now;
            }
            at = now;
            let Component::Node(NodeId(node)) = event.component else { panic!("{event:?}") };
            if event.change == Change::Fail {
                healthy -= 1;
                failures[node as usize] += 1;
            } else {
                healthy += 1;
            }
        }
        let expected = 1024.0 * mttf / (mttf + mttr);
        let found = sum / (at - from);
        assert!((found / expected - 1.0).abs() < 0.03, "{found}, not {expected}");
        // On average, each node fails 97 times.
        assert!(failures.iter().all(|&count| (50..160).contains(&count)), "{failures:?}");
    }
}
