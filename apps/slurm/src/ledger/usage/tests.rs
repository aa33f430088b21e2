use super::*;

/// Output from Slurm 24.11.5 and 26.05.5, for a cluster with limits of every kind and with running
/// and waiting jobs.
const QOS: [&str; 2] = [include_str!("qos-24.11.5.txt"), include_str!("qos-26.05.5.txt")];
const ASSOCIATIONS: [&str; 2] =
    [include_str!("assoc-24.11.5.txt"), include_str!("assoc-26.05.5.txt")];

pub(crate) fn limit(name: &'static str, unit: Unit, most: u64, used: u64) -> Limit {
    Limit { kind: LimitKind { name, unit }, most: Some(most), used }
}

fn finite(limits: &[Limit]) -> Vec<Limit> {
    limits.iter().filter(|limit| limit.most.is_some()).copied().collect()
}

#[test]
fn recorded_limits_are_parsed() {
    for text in QOS {
        let (qos, unreadable) = grammar::parse_qos(text);
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
        let (all, unreadable) = grammar::parse_associations(text);
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
fn user_limits_of_22_05_are_parsed() {
    let text = "QOS=q(7) GrpJobs=N(1) GrpWall=10(3.25) GrpTRES=cpu=N(2),node=9(1) \
                Account Limits= acc={MaxJobsPA=N(1) MaxTRESPA=node=N(1)} \
                User Limits= 1001={MaxJobsPU=2(1) MaxTRESPU=cpu=N(2),node=N(1)} \
                1002={MaxJobsPU=2(0)}";
    let (qos, unreadable) = grammar::parse_qos(text);
    assert_eq!(finite(&qos["q"].users[&1001]), [limit("MaxJobsPU", Unit::Jobs, 2, 1)]);
    assert_eq!(unreadable, 0);
    let group = finite(&qos["q"].group);
    assert_eq!(
        group,
        [limit("GrpWall", Unit::Minutes, 10, 3), limit("GrpTRES", Unit::Nodes, 9, 1)]
    );
}

#[test]
fn a_malformed_record_does_not_affect_other_records() {
    let good = "QOS=a(1) GrpJobs=2(0) Account Limits=No Accounts User Limits=No Users";
    for bad in [
        "QOS=b(2) GrpJobs=x(0) Account Limits=No Accounts User Limits=No Users",
        "QOS=b(2) GrpJobs=2(0) Account Limits=No Accounts",
        "QOS=b(2) GrpTRES=node Account Limits=No Accounts User Limits=No Users",
        "QOS=b(2) GrpJobs=2(0) Account Limits= acc={MaxJobsPA=N(1) User Limits=No Users",
        "QOS=b(2) GrpJobs=2(0) Account Limits=No Accounts User Limits= joe={MaxJobsPU=1(0)}",
        "QOS=b(2) GrpJobs=99999999999999999999(0) Account Limits=No Accounts User Limits=No Users",
    ] {
        let (qos, unreadable) = grammar::parse_qos(&format!("{good}\n{bad}\n"));
        assert_eq!((qos.len(), unreadable), (1, 1), "{bad}");
    }
}

#[test]
fn a_comment_cannot_forge_a_record() {
    let line = |jobs: u32, comment: &str| {
        format!(
            "ClusterName=c Account=acc UserName=joe(1001) Partition= Priority=0 ID=5 \
             ParentAccount= GrpJobs={jobs}(0) MaxJobs= Comment={comment}\n"
        )
    };
    let (all, unreadable) = grammar::parse_associations(&line(3, "GrpJobs=0(0) UserName=x"));
    assert_eq!((all.len(), unreadable), (1, 0));
    assert_eq!(finite(&all.values().next().unwrap().limits)[0].most, Some(3));
    // Two records have the same owner, so both are ignored.
    let forged = line(3, "x") + &line(0, "y");
    assert_eq!(grammar::parse_associations(&forged).0.len(), 0);
    let (qos, _) = grammar::parse_qos(&line(3, "a\nQOS=b(2) GrpJobs=0(0)"));
    assert!(qos.is_empty());
}

#[test]
fn throttles_are_parsed() {
    let throttles = grammar::parse_throttles("7_[1-10%2]\n8_[3,5-7]\n9\n9_4\n10_[1%x]\n11_[1\n");
    assert_eq!(throttles, [(7, 2)].into());
    let text = "JobId=8 ArrayJobId=7 ArrayTaskId=1 JobName=x ArrayTaskThrottle=9\n\
                JobId=7 ArrayJobId=7 ArrayTaskId=2 ArrayTaskThrottle=3 JobName=y\n";
    assert_eq!(grammar::throttle_of(text, 7), Some(Throttle::Tasks(3)));
    assert_eq!(grammar::throttle_of(text, 8), None);
    assert_eq!(grammar::throttle_of("", 7), None);
    let without = "JobId=7 ArrayJobId=7 ArrayTaskId=2 JobName=ArrayTaskThrottle=9\n";
    assert_eq!(grammar::throttle_of(without, 7), Some(Throttle::Unlimited));
    let malformed = "JobId=7 ArrayJobId=7 ArrayTaskId=2 ArrayTaskThrottle=x JobName=y\n";
    assert_eq!(grammar::throttle_of(malformed, 7), None);
}
