use super::*;
use crate::site::{Partition, Qos};

/// What Slurm 24.11.5 and 26.05.5 said of a cluster with limits of every kind, on which jobs ran
/// and waited.
const QOS: [&str; 2] = [include_str!("qos-24.11.5.txt"), include_str!("qos-26.05.5.txt")];
const ASSOCIATIONS: [&str; 2] =
    [include_str!("assoc-24.11.5.txt"), include_str!("assoc-26.05.5.txt")];

fn limit(name: &'static str, unit: Unit, most: u64, used: u64) -> Limit {
    Limit { slot: Slot { name, unit }, most: Some(most), used }
}

fn finite(limits: &[Limit]) -> Vec<Limit> {
    limits.iter().filter(|limit| limit.most.is_some()).copied().collect()
}

fn job(name: &str, nodes: u32) -> SlurmJob {
    SlurmJob {
        name: name.parse().unwrap(),
        submitted: 1,
        phase: Phase::Pending,
        reason: "Licenses".into(),
        priority: 1,
        nodes,
        held: Vec::new(),
        named: Vec::new(),
        licences: crate::names::Licences::default(),
        start: None,
        limit: Some(600),
        end: None,
        partition: "p".into(),
        qos: "q".into(),
        account: "acc".into(),
        user: 1001,
        reservation: String::new(),
        demands: Ok(crate::demands::Demands::default()),
        comment: String::new(),
        bad_comment: false,
    }
}

#[test]
fn recorded_limits_are_read() {
    for text in QOS {
        let (qos, unreadable) = grammar::qos(text);
        assert_eq!((qos.len(), unreadable), (6, 0));
        assert!(finite(&qos["normal"].group).is_empty());
        let two = finite(&qos["two"].users[&1001]);
        assert_eq!(two, [limit("MaxJobsPU", Unit::Jobs, 2, 2)]);
        assert_eq!(finite(&qos["gnode"].group), [limit("GrpTRES", Unit::Nodes, 6, 4)]);
        let per = &qos["per"];
        assert_eq!(finite(&per.accounts["acc"]), [limit("MaxJobsPA", Unit::Jobs, 3, 0)]);
        assert_eq!(finite(&per.users[&1001]), [limit("MaxTRESPU", Unit::Nodes, 4, 0)]);
        let minutes = limit("GrpTRESMins", Unit::Processors, 1000, 0);
        assert_eq!(finite(&per.group), [minutes, limit("MaxWallPJ", Unit::Minutes, 60, 0)]);
    }
    for text in ASSOCIATIONS {
        let (all, unreadable) = grammar::associations(text);
        assert_eq!((all.len(), unreadable), (8, 0));
        let of = |account: &str, user: Option<u32>| {
            let account = account.to_string();
            &all[&Member { account, user, partition: String::new() }]
        };
        assert_eq!(of("acc", None).parent.as_deref(), Some("root"));
        assert_eq!(of("sub", None).parent.as_deref(), Some("acc"));
        assert_eq!(finite(&of("sub", None).limits), [limit("GrpJobs", Unit::Jobs, 4, 0)]);
        let joe = finite(&of("acc", Some(1001)).limits);
        let jobs = limit("MaxJobs", Unit::Jobs, 5, 3);
        assert_eq!(joe, [jobs, limit("MaxTRESPJ", Unit::Nodes, 8, 0)]);
        let acc = finite(&of("acc", None).limits);
        let nodes = limit("GrpTRES", Unit::Nodes, 12, 9);
        assert!(acc.contains(&nodes), "{acc:?}");
    }
}

#[test]
fn what_22_05_says_of_users_is_read() {
    let text = "QOS=q(7) GrpJobs=N(1) GrpWall=10(3.25) GrpTRES=cpu=N(2),node=9(1) \
                Account Limits= acc={MaxJobsPA=N(1) MaxTRESPA=node=N(1)} \
                User Limits= 1001={MaxJobsPU=2(1) MaxTRESPU=cpu=N(2),node=N(1)} \
                1002={MaxJobsPU=2(0)}";
    let (qos, unreadable) = grammar::qos(text);
    assert_eq!(
        (finite(&qos["q"].users[&1001]), unreadable),
        (vec![limit("MaxJobsPU", Unit::Jobs, 2, 1)], 0)
    );
    let group = finite(&qos["q"].group);
    assert_eq!(
        group,
        [limit("GrpWall", Unit::Minutes, 10, 3), limit("GrpTRES", Unit::Nodes, 9, 1)]
    );
}

#[test]
fn a_record_that_cannot_be_read_costs_itself_alone() {
    let good = "QOS=a(1) GrpJobs=2(0) Account Limits=No Accounts User Limits=No Users";
    for bad in [
        "QOS=b(2) GrpJobs=x(0) Account Limits=No Accounts User Limits=No Users",
        "QOS=b(2) GrpJobs=2(0) Account Limits=No Accounts",
        "QOS=b(2) GrpTRES=node Account Limits=No Accounts User Limits=No Users",
        "QOS=b(2) GrpJobs=2(0) Account Limits= acc={MaxJobsPA=N(1) User Limits=No Users",
        "QOS=b(2) GrpJobs=2(0) Account Limits=No Accounts User Limits= joe={MaxJobsPU=1(0)}",
        "QOS=b(2) GrpJobs=99999999999999999999(0) Account Limits=No Accounts User Limits=No Users",
    ] {
        let (qos, unreadable) = grammar::qos(&format!("{good}\n{bad}\n"));
        assert_eq!((qos.len(), unreadable), (1, 1), "{bad}");
    }
}

/// A comment of an association's may hold any text, line breaks included.
#[test]
fn a_comment_forges_no_record() {
    let line = |jobs: u32, comment: &str| {
        format!(
            "ClusterName=c Account=acc UserName=joe(1001) Partition= Priority=0 ID=5 \
             ParentAccount= GrpJobs={jobs}(0) MaxJobs= Comment={comment}\n"
        )
    };
    let (all, unreadable) = grammar::associations(&line(3, "GrpJobs=0(0) UserName=x"));
    assert_eq!((all.len(), unreadable), (1, 0));
    assert_eq!(finite(&all.values().next().unwrap().limits)[0].most, Some(3));
    // Said twice: neither is believed.
    let forged = line(3, "x") + &line(0, "y");
    assert_eq!(grammar::associations(&forged).0.len(), 0);
    let (qos, _) = grammar::qos(&line(3, "a\nQOS=b(2) GrpJobs=0(0)"));
    assert!(qos.is_empty());
}

#[test]
fn throttles_are_read() {
    let said = grammar::throttles("7_[1-10%2]\n8_[3,5-7]\n9\n9_4\n10_[1%x]\n11_[1\n");
    assert_eq!(said, [(7, 2)].into());
    let text = "JobId=8 ArrayJobId=7 ArrayTaskId=1 JobName=x ArrayTaskThrottle=9\n\
                JobId=7 ArrayJobId=7 ArrayTaskId=2 ArrayTaskThrottle=3 JobName=y\n";
    assert_eq!(grammar::throttle_of(text, 7), Some(3));
    assert_eq!(grammar::throttle_of(text, 8), None);
    assert_eq!(grammar::throttle_of("", 7), None);
}

fn site() -> Site {
    let qos = |over_partition| Qos { over_partition, plain_usage: true, ..Qos::default() };
    let part = Partition { qos: Some("part".into()), processors: (32, 16), ..Partition::default() };
    Site {
        enforced: Enforced::Limits,
        partitions: [("p".into(), part)].into(),
        qos: [("q".into(), qos(false)), ("over".into(), qos(true)), ("part".into(), qos(false))]
            .into(),
        ..Site::default()
    }
}

fn said(qos: &[(&str, Limit)], associations: &[(&str, Option<u32>, Option<&str>, Limit)]) -> Said {
    let mut said = Said::default();
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

fn over(site: &Site, said: &Said, job: &SlurmJob) -> Option<String> {
    Limits::new(site, said, &Ledger::default()).over(job)
}

#[test]
fn the_first_qos_goes_before_the_second_and_both_before_associations() {
    let jobs = |most, used| limit("GrpJobs", Unit::Jobs, most, used);
    let open = jobs(9, 0);
    let full = jobs(1, 1);
    let acc = |limit| ("acc", Some(1001), None, limit);
    let q = |name: &str| SlurmJob { qos: name.into(), ..job("1", 1) };
    let site = site();
    let is_over = |said: Said, name: &str| over(&site, &said, &q(name)).is_some();
    assert!(is_over(said(&[("part", full), ("q", open)], &[]), "q"));
    assert!(!is_over(said(&[("part", open), ("q", full)], &[]), "q"));
    assert!(is_over(said(&[("part", open), ("over", full)], &[]), "over"));
    assert!(!is_over(said(&[("part", open)], &[acc(full)]), "q"));
    assert!(is_over(said(&[], &[acc(full)]), "q"));
    // Nothing is enforced.
    let free = Site { enforced: Enforced::Nothing, ..site.clone() };
    assert_eq!(over(&free, &said(&[("q", full)], &[]), &q("q")), None);
}

#[test]
fn groups_reach_from_parents_and_single_limits_do_not() {
    let nodes = |name, used| limit(name, Unit::Nodes, 8, used);
    let tree = |limit| {
        let none = Limit { slot: Slot { name: "GrpJobs", unit: Unit::Jobs }, most: None, used: 0 };
        said(
            &[],
            &[
                ("acc", Some(1001), None, none),
                ("acc", None, Some("top"), none),
                ("top", None, None, limit),
            ],
        )
    };
    let words = over(&site(), &tree(nodes("GrpTRES", 7)), &job("1", 2)).unwrap();
    assert_eq!(words, "GrpTRES of account top: 8 nodes, 7 used or about to be");
    assert_eq!(over(&site(), &tree(nodes("GrpTRES", 6)), &job("1", 2)), None);
    assert_eq!(over(&site(), &tree(nodes("MaxTRESPJ", 0)), &job("1", 9)), None);
    let own = said(&[], &[("acc", Some(1001), None, nodes("MaxTRESPJ", 0))]);
    assert!(over(&site(), &own, &job("1", 9)).is_some());
}

#[test]
fn minutes_and_processors_are_counted() {
    let ask = |limit| over(&site(), &said(&[("q", limit)], &[]), &job("1", 3)).is_some();
    // 3 nodes of 2 processors for 10 minutes.
    let processors = |name, most, used| limit(name, Unit::Processors, most, used);
    assert!(!ask(processors("GrpTRES", 8, 2)) && ask(processors("GrpTRES", 8, 3)));
    let run = "GrpTRESRunMins";
    assert!(!ask(processors(run, 100, 40)) && ask(processors(run, 100, 41)));
    // Without `safe` a job may start while anything is left.
    assert!(!ask(processors("GrpTRESMins", 100, 99)) && ask(processors("GrpTRESMins", 100, 100)));
    let wall = |most, used| limit("GrpWall", Unit::Minutes, most, used);
    assert!(!ask(wall(60, 59)) && ask(wall(60, 60)));
    let single = |most| limit("MaxWallPJ", Unit::Minutes, most, 0);
    assert!(!ask(single(10)) && ask(single(9)));
}

#[test]
fn with_safe_limits_a_job_must_be_able_to_end() {
    let safe = Site { enforced: Enforced::Safely, ..site() };
    let ask = |used, running, most| {
        let run = Slot { name: "GrpTRESRunMins", unit: Unit::Nodes };
        let run = Limit { slot: run, most: None, used: running };
        let minutes = limit("GrpTRESMins", Unit::Nodes, most, used);
        over(&safe, &said(&[("q", run), ("q", minutes)], &[]), &job("1", 3)).is_some()
    };
    // 30 node-minutes.
    assert!(!ask(50, 20, 100) && ask(50, 21, 100) && ask(71, 0, 100));
    // Usage that is counted more or less than it is cannot be told: Slurm decides.
    let mut scaled = safe.clone();
    scaled.qos.get_mut("q").unwrap().plain_usage = false;
    let full = said(&[("q", limit("GrpTRESMins", Unit::Nodes, 1, 1))], &[]);
    assert_eq!(over(&scaled, &full, &job("1", 3)), None);
}

#[test]
fn jobs_that_may_start_are_counted() {
    let site = site();
    let said = said(&[("q", limit("GrpTRES", Unit::Nodes, 6, 1))], &[]);
    let mut limits = Limits::new(&site, &said, &Ledger::default());
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
        let kin = Kin::of(&one, reason);
        let all = [kin.has(&same_array), kin.has(&same_user), kin.has(&same_account)];
        assert!(is_limit(reason) && all == [array, user, account], "{reason}: {all:?}");
    }
    assert!(!is_limit("Licenses") && !is_limit("JobHeldUser") && !is_limit("Dependency"));
}
