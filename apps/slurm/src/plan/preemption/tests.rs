use super::*;
use crate::ledger::qos::Qos;
use crate::ledger::site::Partition;

fn job(qos: &str, partition: &str) -> SlurmJob {
    SlurmJob {
        phase: Phase::Running,
        start: Some(100),
        partition: partition.into(),
        qos: qos.into(),
        ..SlurmJob::waiting("1", 1)
    }
}

fn by_qos(low: Qos) -> Site {
    let high = Qos { preempts: vec!["low".into()], ..Qos::default() };
    let qos = [("high".into(), high), ("low".into(), low), ("normal".into(), Qos::default())];
    let (preemption, mode) = (Preemption::ByQos, Mode::Requeue);
    Site { preemption, mode, qos: qos.into(), ..Site::default() }
}

#[test]
fn a_qos_preempts_the_qos_that_it_names() {
    let site = by_qos(Qos::default());
    let may = |job: &SlurmJob, victim: &SlurmJob| may_preempt(&site, job, victim, 200);
    let (high, low, normal) = (job("high", "p"), job("low", "p"), job("normal", "p"));
    assert!(may(&high, &low));
    assert!(!may(&high, &normal) && !may(&high, &high) && !may(&low, &high) && !may(&normal, &low));
    let ends = SlurmJob { phase: Phase::Completing, ..low.clone() };
    assert!(!may(&high, &ends));
}

#[test]
fn exempt_and_suspended_jobs_are_not_preempted() {
    let (high, low) = (job("high", "p"), job("low", "p"));
    let exempt = by_qos(Qos { exempt_s: Some(150), ..Qos::default() });
    assert!(!may_preempt(&exempt, &high, &low, 249) && may_preempt(&exempt, &high, &low, 250));
    let cluster = Site { exempt_s: 150, ..by_qos(Qos::default()) };
    assert!(!may_preempt(&cluster, &high, &low, 249) && may_preempt(&cluster, &high, &low, 250));
    let of = |mode| by_qos(Qos { mode: Some(mode), ..Qos::default() });
    assert!(!may_preempt(&of(Mode::Suspend), &high, &low, 300));
    assert!(may_preempt(&of(Mode::Cancel), &high, &low, 300));
    let all = Site { mode: Mode::Suspend, ..by_qos(Qos::default()) };
    assert!(!may_preempt(&all, &high, &low, 300));
}

#[test]
fn a_partition_preempts_lower_tiers() {
    let tier = |tier, mode| Partition { tier, mode, ..Partition::default() };
    let partitions = [
        ("hi".into(), tier(10, Mode::Requeue)),
        ("lo".into(), tier(1, Mode::Requeue)),
        ("off".into(), tier(1, Mode::Off)),
    ];
    let site = Site {
        preemption: Preemption::ByPartition,
        mode: Mode::Requeue,
        partitions: partitions.into(),
        ..Site::default()
    };
    let (hi, lo, off) = (job("", "hi"), job("", "lo"), job("", "off"));
    assert!(may_preempt(&site, &hi, &lo, 200) && !may_preempt(&site, &lo, &hi, 200));
    assert!(!may_preempt(&site, &hi, &off, 200) && !may_preempt(&site, &lo, &lo, 200));
    assert!(can_preempt(&site, &hi) && !can_preempt(&site, &lo));
}
