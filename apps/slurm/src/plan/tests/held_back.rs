//! Tests for job order, holds and limits.

use super::*;
use crate::ledger::site::{Enforcement, Partition};
use crate::ledger::usage::tests::limit;
use crate::ledger::usage::{QosLimits, Throttle, Unit};

fn closes(changes: &[Change]) -> Vec<(String, Priority)> {
    let close = |change: &Change| match change {
        Change::Close { job, priority, .. } => Some((job.to_string(), *priority)),
        _ => None,
    };
    changes.iter().filter_map(close).collect()
}

#[test]
fn jobs_of_equal_priority_start_by_age_then_number_then_task() {
    // `squeue` prints the newest job first.
    let at = |name, submitted| SlurmJob { submitted, ..shaped(name, "4x2", 8, 7) };
    let mut jobs =
        vec![at("12", 100), at("11_10", 100), at("11_9", 100), at("13", 99), at("9", 101)];
    let mut order = Vec::new();
    while !jobs.is_empty() {
        let first = opened_first("strict", &ledger(jobs.clone()));
        let first = first[0].split(' ').next().unwrap().to_string();
        jobs.retain(|job| job.name.to_string() != first);
        order.push(first);
    }
    assert_eq!(order, ["13", "11_9", "11_10", "12", "9"]);
}

#[test]
fn the_partition_tier_precedes_the_priority() {
    let mut run = Run::new("strict");
    run.site.partitions.insert("hi".into(), Partition { tier: 10, ..Partition::default() });
    let hi = SlurmJob { partition: "hi".into(), ..shaped("3", "4x2", 8, 1) };
    let jobs = vec![shaped("1", "4x2", 8, 9), shaped("2", "4x2", 8, 99), hi];
    assert_eq!(opened_gates(&run.at(&ledger(jobs.clone()), 1000))[0].split(' ').next(), Some("3"));
    let opened = opened_gates(&run.at(&ledger(jobs[..2].to_vec()), 1000));
    assert_eq!(opened[0].split(' ').next(), Some("2"));
}

#[test]
fn held_jobs_stay_held_and_their_gates_close() {
    // The jobs were held in different situations: with the gate open, after a requeue, without a
    // gate, and with the gate closed.
    let held = |job: SlurmJob| SlurmJob { priority: 0, reason: "JobHeldUser".into(), ..job };
    let open = held(opened("1", "2x2", 4, &[0, 1, 4, 5]));
    let requeued = SlurmJob { start: Some(1120), ..held(opened("2", "2x1", 2, &[2, 3])) };
    let bare = SlurmJob { licenses: Licenses::default(), ..held(shaped("3", "1x1", 1, 0)) };
    let gated = held(shaped("4", "1x1", 1, 0));
    let mut run = Run::new("easy");
    let changes = run.at(&ledger(vec![open, requeued, bare, gated]), 1000);
    let is = |name: &str| (name.to_string(), Priority::Held);
    assert_eq!(closes(&changes), [is("1"), is("2"), is("3")]);
    assert_eq!(changes.len(), 3);
}

/// Creates a run with a QOS limit for each user.
fn limited(name: &'static str, unit: Unit, most: u64, used: u64) -> Run {
    let mut run = Run::new("strict");
    run.site.enforced = Enforcement::Limits;
    let users = [(1001, vec![limit(name, unit, most, used)])].into();
    run.usage.qos.insert("two".into(), QosLimits { users, ..QosLimits::default() });
    run
}

fn two(name: &str, nodes: u32) -> SlurmJob {
    SlurmJob { qos: "two".into(), ..shaped(name, &format!("{nodes}x1"), nodes, 9) }
}

#[test]
fn a_job_limit_restricts_opened_gates_but_not_other_users() {
    let mut run = limited("MaxJobsPU", Unit::Jobs, 2, 1);
    let other = SlurmJob { user: 1002, ..two("4", 1) };
    let jobs = vec![two("1", 1), two("2", 1), two("3", 1), other, shaped("5", "1x1", 1, 1)];
    let decision = run.decide(&ledger(jobs), 1000);
    // One job is already running. In strict order, jobs 2 and 3 would block the others if queued.
    let opened: Vec<String> = opened_gates(&decision.changes)
        .iter()
        .map(|open| open.split(' ').next().unwrap().into())
        .collect();
    assert_eq!(opened, ["1", "4", "5"]);
    let expected = "pavior: not started yet because of limit MaxJobsPU of QOS two, user 1001: 2 \
                    jobs, 2 used or reserved";
    assert_eq!(note_for(&decision, "2"), expected);
}

#[test]
fn opened_jobs_count_toward_limits() {
    let mut run = limited("MaxTRESPU", Unit::Nodes, 5, 0);
    let open = SlurmJob { qos: "two".into(), ..opened("1", "4x1", 4, &[0, 1, 2, 3]) };
    let jobs = vec![open, two("2", 2), two("3", 1), two("4", 1)];
    assert_eq!(opened_gates(&run.at(&ledger(jobs), 1000)), ["3 n4"]);
}

#[test]
fn an_array_throttle_restricts_opened_tasks() {
    let task = |task: u32| shaped(&format!("7_{task}"), "1x1", 1, 9);
    let runs = SlurmJob { qos: String::new(), ..running("7_1", "1x1", &[0], 60) };
    let open = opened("7_2", "1x1", 1, &[1]);
    let jobs = vec![runs, open, task(3), task(4), task(5), shaped("9", "1x1", 1, 1)];
    let mut run = Run::new("strict");
    run.usage.throttles.insert(7, Throttle::Tasks(3));
    assert_eq!(opened_gates(&run.at(&ledger(jobs.clone()), 1000)), ["7_3 n2", "9 n3"]);
    // The throttle has been raised.
    run.usage.throttles.insert(7, Throttle::Tasks(4));
    assert_eq!(opened_gates(&run.at(&ledger(jobs), 1000)), ["7_3 n2", "7_4 n3", "9 n4"]);
}

#[test]
fn an_unknown_array_throttle_allows_one_task_and_is_not_reported_as_known() {
    let task = |task: u32| shaped(&format!("7_{task}"), "1x1", 1, 9);
    let mut run = Run::new("easy");
    run.usage.throttles.insert(7, Throttle::Unknown);
    let decision = run.decide(&ledger(vec![task(1), task(2)]), 1000);
    assert_eq!(opened_gates(&decision.changes), ["7_1 n0"]);
    let expected = "pavior: not started yet because of limit ArrayTaskThrottle of array 7 (limit \
                    not yet known): 1 jobs, 1 used or reserved";
    assert_eq!(note_for(&decision, "7_2"), expected);
}

#[test]
fn a_limit_reported_by_slurm_closes_the_gate_and_holds_back_related_jobs() {
    let mut run = Run::new("strict");
    let reason = "QOSGrpBilling";
    let open = SlurmJob { reason: reason.into(), ..opened("1", "2x1", 2, &[0, 1]) };
    let runs = running("8", "1x1", &[7], 600);
    let kin = shaped("2", "1x1", 1, 9);
    let other = SlurmJob { qos: "high".into(), ..shaped("3", "1x1", 1, 1) };
    let state = ledger(vec![open, runs.clone(), kin.clone(), other]);
    let changes = run.at(&state, 1000);
    assert_eq!(closes(&changes), [("1".to_string(), Priority::Computed)]);
    let started = opened_gates(&changes);
    assert!(started.len() == 1 && started[0].starts_with("3 "), "{started:?}");
    // After the gate closes, the job's reason no longer names the limit, but the gate stays closed
    // until the other job ends.
    let again = shaped("1", "2x1", 2, 9);
    let state = ledger(vec![again.clone(), runs, kin.clone()]);
    assert!(run.at(&state, 1030).is_empty());
    assert_eq!(opened_gates(&run.at(&ledger(vec![again.clone(), kin.clone()]), 1031)).len(), 2);
    // If no job ends, the gate stays closed for a minute.
    let mut run = Run::new("strict");
    let open = SlurmJob { reason: reason.into(), ..opened("1", "2x1", 2, &[0, 1]) };
    run.at(&ledger(vec![open]), 1000);
    assert!(run.at(&ledger(vec![again.clone(), kin.clone()]), 1059).is_empty());
    assert_eq!(opened_gates(&run.at(&ledger(vec![again, kin]), 1060)).len(), 2);
}

#[test]
fn a_limit_of_the_old_qos_does_not_hold_back_a_changed_job() {
    let mut run = Run::new("strict");
    let open = SlurmJob { reason: "QOSMaxMemoryPerUser".into(), ..opened("1", "2x1", 2, &[0, 1]) };
    run.at(&ledger(vec![open]), 1000);
    let again = shaped("1", "2x1", 2, 9);
    assert!(run.at(&ledger(vec![again.clone()]), 1010).is_empty());
    let changed = SlurmJob { qos: "high".into(), ..again };
    assert_eq!(opened_gates(&run.at(&ledger(vec![changed]), 1011)).len(), 1);
}

#[test]
fn other_reasons_leave_a_gate_open() {
    for reason in ["Licenses", "Priority", "Resources", "None", "ReqNodeNotAvail"] {
        let open = SlurmJob { reason: reason.into(), ..opened("1", "2x1", 2, &[0, 1]) };
        assert!(Run::new("easy").at(&ledger(vec![open]), 1000).is_empty(), "{reason}");
    }
}

#[test]
fn many_jobs_without_a_box_do_not_keep_others_from_getting_notes() {
    let mut run = limited("MaxJobsPU", Unit::Jobs, 1, 1);
    let mut jobs: Vec<SlurmJob> = (1..=33).map(|number| job(&number.to_string(), 5, 9)).collect();
    jobs.push(two("40", 1));
    let state = ledger(jobs);
    let mut notes = (1000..1009).map(|now| note_for(&run.decide(&state, now), "40"));
    assert!(notes.any(|note| note.contains("MaxJobsPU")));
}

#[test]
fn a_job_counts_as_waiting_until_its_gate_opens() {
    let jobs = vec![shaped("1", "4x1", 4, 9), shaped("2", "4x2", 8, 5)];
    let decision = Run::new("easy").decide(&ledger(jobs), 1000);
    assert_eq!((decision.waiting, decision.opened, decision.free.count()), (1, 1, 4));
}
