use super::*;
use crate::ledger::qos::Qos;
use crate::ledger::site::Partition;
use crate::ledger::usage::tests::limit;

fn job(name: &str, nodes: u32) -> SlurmJob {
    SlurmJob { qos: "q".into(), ..SlurmJob::waiting(name, nodes) }
}

fn site() -> Site {
    let qos = |over_partition| Qos { over_partition, is_unscaled: true, ..Qos::default() };
    let part = Partition {
        qos: Some("part".into()),
        processors: 32,
        total_nodes: 16,
        ..Partition::default()
    };
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
    let mut usage = Usage::default();
    for (name, limit) in qos {
        usage.qos.entry((*name).into()).or_default().group.push(*limit);
    }
    for (account, user, parent, limit) in associations {
        let member = Member { account: (*account).into(), user: *user, partition: String::new() };
        let association = Rc::make_mut(&mut usage.associations).entry(member).or_default();
        association.parent = parent.map(Into::into);
        association.limits.push(*limit);
    }
    usage
}

fn exceeded(site: &Site, usage: &Usage, job: &SlurmJob) -> Option<String> {
    Limits::new(Rules { site, usage }, &Ledger::default()).exceeded_by(job)
}

#[test]
fn a_qos_limit_overrides_the_second_qos_and_associations() {
    let jobs = |most, used| limit("GrpJobs", Unit::Jobs, most, used);
    let open = jobs(9, 0);
    let full = jobs(1, 1);
    let acc = |limit| ("acc", Some(1001), None, limit);
    let q = |name: &str| SlurmJob { qos: name.into(), ..job("1", 1) };
    let site = site();
    let is_over = |usage: Usage, name: &str| exceeded(&site, &usage, &q(name)).is_some();
    assert!(is_over(usage(&[("part", full), ("q", open)], &[]), "q"));
    assert!(!is_over(usage(&[("part", open), ("q", full)], &[]), "q"));
    assert!(is_over(usage(&[("part", open), ("over", full)], &[]), "over"));
    assert!(!is_over(usage(&[("part", open)], &[acc(full)]), "q"));
    assert!(is_over(usage(&[], &[acc(full)]), "q"));
    // No limits are enforced.
    let free = Site { enforced: Enforcement::Nothing, ..site.clone() };
    assert_eq!(exceeded(&free, &usage(&[("q", full)], &[]), &q("q")), None);
}

#[test]
fn only_group_limits_are_inherited() {
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
    let words = exceeded(&site(), &tree(nodes("GrpTRES", 7)), &job("1", 2)).unwrap();
    assert_eq!(words, "GrpTRES of account top: 8 nodes, 7 used or reserved");
    assert_eq!(exceeded(&site(), &tree(nodes("GrpTRES", 6)), &job("1", 2)), None);
    assert_eq!(exceeded(&site(), &tree(nodes("MaxTRESPJ", 0)), &job("1", 9)), None);
    let own = usage(&[], &[("acc", Some(1001), None, nodes("MaxTRESPJ", 0))]);
    assert!(exceeded(&site(), &own, &job("1", 9)).is_some());
}

#[test]
fn minutes_and_processors_are_counted() {
    let ask = |limit| exceeded(&site(), &usage(&[("q", limit)], &[]), &job("1", 3)).is_some();
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
fn with_safe_limits_the_remaining_minutes_cover_the_time_limit() {
    let safe = Site { enforced: Enforcement::Safely, ..site() };
    let ask = |used, running, most| {
        let run = LimitKind { name: "GrpTRESRunMins", unit: Unit::Nodes };
        let run = Limit { kind: run, most: None, used: running };
        let minutes = limit("GrpTRESMins", Unit::Nodes, most, used);
        exceeded(&safe, &usage(&[("q", run), ("q", minutes)], &[]), &job("1", 3)).is_some()
    };
    // The job uses 30 node-minutes.
    assert!(!ask(50, 20, 100) && ask(50, 21, 100) && ask(71, 0, 100));
    // If usage is scaled, the daemon cannot predict it, so the decision is left to Slurm.
    let mut scaled = safe.clone();
    scaled.qos.get_mut("q").unwrap().is_unscaled = false;
    let full = usage(&[("q", limit("GrpTRESMins", Unit::Nodes, 1, 1))], &[]);
    assert_eq!(exceeded(&scaled, &full, &job("1", 3)), None);
}

#[test]
fn reserved_usage_counts() {
    let site = site();
    let usage = usage(&[("q", limit("GrpTRES", Unit::Nodes, 6, 1))], &[]);
    let mut limits = Limits::new(Rules { site: &site, usage: &usage }, &Ledger::default());
    let other = SlurmJob { qos: "over".into(), ..job("9", 1) };
    assert!(limits.share_meter(&job("1", 3), &job("2", 3)));
    assert!(!limits.share_meter(&job("1", 3), &other));
    limits.reserve(&job("1", 3));
    assert!(limits.exceeded_by(&job("2", 3)).is_some());
    assert!(limits.exceeded_by(&job("3", 2)).is_none());
}
