use super::*;
use crate::ledger::site::{Partition, Qos};
use crate::ledger::usage::tests::limit;

fn job(name: &str, nodes: u32) -> SlurmJob {
    SlurmJob { qos: "q".into(), ..SlurmJob::waiting(name, nodes) }
}

fn site() -> Site {
    let qos = |over_partition| Qos { over_partition, plain_usage: true, ..Qos::default() };
    let part = Partition { qos: Some("part".into()), processors: (32, 16), ..Partition::default() };
    Site {
        enforced: Enforcement::Limits,
        partitions: [("p".into(), part)].into(),
        qos: [("q".into(), qos(false)), ("over".into(), qos(true)), ("part".into(), qos(false))]
            .into(),
        ..Site::default()
    }
}

fn usage(
    qos: &[(&str, Limit)],
    associations: &[(&str, Option<u32>, Option<&str>, Limit)],
) -> Usage {
    let mut said = Usage::default();
    for (name, limit) in qos {
        said.qos.entry((*name).into()).or_default().group.push(*limit);
    }
    for (account, user, parent, limit) in associations {
        let member = Member { account: (*account).into(), user: *user, partition: String::new() };
        let association = said.associations.entry(member).or_default();
        association.parent = parent.map(Into::into);
        association.limits.push(*limit);
    }
    said
}

fn over(site: &Site, said: &Usage, job: &SlurmJob) -> Option<String> {
    Limits::new(Rules { site, usage: said }, &Ledger::default()).over(job)
}

#[test]
fn the_first_qos_goes_before_the_second_and_both_before_associations() {
    let jobs = |most, used| limit("GrpJobs", Unit::Jobs, most, used);
    let open = jobs(9, 0);
    let full = jobs(1, 1);
    let acc = |limit| ("acc", Some(1001), None, limit);
    let q = |name: &str| SlurmJob { qos: name.into(), ..job("1", 1) };
    let site = site();
    let is_over = |said: Usage, name: &str| over(&site, &said, &q(name)).is_some();
    assert!(is_over(usage(&[("part", full), ("q", open)], &[]), "q"));
    assert!(!is_over(usage(&[("part", open), ("q", full)], &[]), "q"));
    assert!(is_over(usage(&[("part", open), ("over", full)], &[]), "over"));
    assert!(!is_over(usage(&[("part", open)], &[acc(full)]), "q"));
    assert!(is_over(usage(&[], &[acc(full)]), "q"));
    // No limits are enforced.
    let free = Site { enforced: Enforcement::Nothing, ..site.clone() };
    assert_eq!(over(&free, &usage(&[("q", full)], &[]), &q("q")), None);
}

#[test]
fn groups_reach_from_parents_and_single_limits_do_not() {
    let nodes = |name, used| limit(name, Unit::Nodes, 8, used);
    let tree = |limit| {
        let none =
            Limit { kind: LimitKind { name: "GrpJobs", unit: Unit::Jobs }, most: None, used: 0 };
        usage(
            &[],
            &[
                ("acc", Some(1001), None, none),
                ("acc", None, Some("top"), none),
                ("top", None, None, limit),
            ],
        )
    };
    let words = over(&site(), &tree(nodes("GrpTRES", 7)), &job("1", 2)).unwrap();
    assert_eq!(words, "GrpTRES of account top: 8 nodes, 7 used or reserved");
    assert_eq!(over(&site(), &tree(nodes("GrpTRES", 6)), &job("1", 2)), None);
    assert_eq!(over(&site(), &tree(nodes("MaxTRESPJ", 0)), &job("1", 9)), None);
    let own = usage(&[], &[("acc", Some(1001), None, nodes("MaxTRESPJ", 0))]);
    assert!(over(&site(), &own, &job("1", 9)).is_some());
}

#[test]
fn minutes_and_processors_are_counted() {
    let ask = |limit| over(&site(), &usage(&[("q", limit)], &[]), &job("1", 3)).is_some();
    // The job uses three nodes with two processors each for 10 minutes.
    let processors = |name, most, used| limit(name, Unit::Processors, most, used);
    assert!(!ask(processors("GrpTRES", 8, 2)) && ask(processors("GrpTRES", 8, 3)));
    let run = "GrpTRESRunMins";
    assert!(!ask(processors(run, 100, 40)) && ask(processors(run, 100, 41)));
    // Without `safe`, a job may start while any minutes are left.
    assert!(!ask(processors("GrpTRESMins", 100, 99)) && ask(processors("GrpTRESMins", 100, 100)));
    let wall = |most, used| limit("GrpWall", Unit::Minutes, most, used);
    assert!(!ask(wall(60, 59)) && ask(wall(60, 60)));
    let single = |most| limit("MaxWallPJ", Unit::Minutes, most, 0);
    assert!(!ask(single(10)) && ask(single(9)));
}

#[test]
fn with_safe_limits_a_job_must_be_able_to_end() {
    let safe = Site { enforced: Enforcement::Safely, ..site() };
    let ask = |used, running, most| {
        let run = LimitKind { name: "GrpTRESRunMins", unit: Unit::Nodes };
        let run = Limit { kind: run, most: None, used: running };
        let minutes = limit("GrpTRESMins", Unit::Nodes, most, used);
        over(&safe, &usage(&[("q", run), ("q", minutes)], &[]), &job("1", 3)).is_some()
    };
    // The job uses 30 node-minutes.
    assert!(!ask(50, 20, 100) && ask(50, 21, 100) && ask(71, 0, 100));
    // If a factor scales the usage, the daemon cannot predict it, so Slurm decides.
    let mut scaled = safe.clone();
    scaled.qos.get_mut("q").unwrap().plain_usage = false;
    let full = usage(&[("q", limit("GrpTRESMins", Unit::Nodes, 1, 1))], &[]);
    assert_eq!(over(&scaled, &full, &job("1", 3)), None);
}

#[test]
fn jobs_that_may_start_are_counted() {
    let site = site();
    let said = usage(&[("q", limit("GrpTRES", Unit::Nodes, 6, 1))], &[]);
    let mut limits = Limits::new(Rules { site: &site, usage: &said }, &Ledger::default());
    let other = SlurmJob { qos: "over".into(), ..job("9", 1) };
    assert!(limits.touches(&job("1", 3), &job("2", 3)) && !limits.touches(&job("1", 3), &other));
    limits.take(&job("1", 3));
    assert!(limits.over(&job("2", 3)).is_some() && limits.over(&job("3", 2)).is_none());
}

#[test]
fn slurms_reasons_tell_whom_a_limit_keeps_back() {
    let one = job("7_1", 1);
    let same_array = SlurmJob { user: 2, ..job("7_2", 1) };
    let same_user = SlurmJob { account: "b".into(), ..job("8", 1) };
    let same_account = SlurmJob { user: 2, qos: "r".into(), ..job("8", 1) };
    for (reason, array, user, account) in [
        ("JobArrayTaskLimit", true, false, false),
        ("QOSMaxJobsPerUserLimit", false, true, false),
        ("QOSMaxNodePerAccount", true, false, false),
        ("QOSGrpNodeLimit", true, true, false),
        ("AssocGrpJobsLimit", true, false, true),
        ("AssocMaxJobsLimit", false, false, false),
        ("QOSMaxWallDurationPerJobLimit", false, false, false),
        ("PartitionNodeLimit", false, false, false),
    ] {
        let kin = LimitScope::of(&one, reason);
        let all = [kin.has(&same_array), kin.has(&same_user), kin.has(&same_account)];
        assert!(is_limit(reason) && all == [array, user, account], "{reason}: {all:?}");
    }
    assert!(!is_limit("Licenses") && !is_limit("JobHeldUser") && !is_limit("Dependency"));
}
