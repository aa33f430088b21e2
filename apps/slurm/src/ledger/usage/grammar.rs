//! Parsers for the output of `scontrol -o show assoc_mgr` and for array throttles. Operators choose
//! all names in this output. An association's comment, which comes last on its line, may contain
//! any text. To prevent forgery, each kind of record is requested separately, and two records with
//! the same owner are both ignored.

use std::collections::HashMap;

use super::{Association, Limit, LimitKind, Member, QosLimits, Throttle, Unit};
use crate::names::number;

/// Slurm's names for limits on the number of jobs.
const JOBS: &[&str] = &["GrpJobs", "MaxJobs", "MaxJobsPA", "MaxJobsPU"];
/// Slurm's names for TRES limits.
const RESOURCES: &[&str] = &[
    "GrpTRES",
    "GrpTRESMins",
    "GrpTRESRunMins",
    "MaxTRESPA",
    "MaxTRESPU",
    "MaxTRESRunMinsPA",
    "MaxTRESRunMinsPU",
    "MaxTRESPJ",
    "MaxTRESMinsPJ",
];
/// Wall-clock limits, in minutes.
const WALL: &[&str] = &["GrpWall", "MaxWallPJ"];

/// Parses the QOS records. Also returns the number of malformed records.
pub(super) fn parse_qos(text: &str) -> (HashMap<String, QosLimits>, usize) {
    parse_records(text, "QOS=", parse_qos_line)
}

/// Parses the association records. Also returns the number of malformed records.
pub(super) fn parse_associations(text: &str) -> (HashMap<Member, Association>, usize) {
    parse_records(text, "ClusterName=", parse_association)
}

fn parse_records<K: std::hash::Hash + Eq, V>(
    text: &str,
    start: &str,
    parse: impl Fn(&str) -> Option<(K, V)>,
) -> (HashMap<K, V>, usize) {
    let mut found: HashMap<K, Option<V>> = HashMap::new();
    let mut unreadable = 0;
    for line in text.lines().filter(|line| line.starts_with(start)) {
        match parse(line) {
            Some((key, value)) => {
                let twice = found.contains_key(&key);
                unreadable += usize::from(twice);
                found.insert(key, if twice { None } else { Some(value) });
            }
            None => unreadable += 1,
        }
    }
    (found.into_iter().filter_map(|(key, value)| Some((key, value?))).collect(), unreadable)
}

/// Parses `QOS=name(1) ... Account Limits= acc={...} User Limits= joe(1001)={...}`, where either
/// list may be `No Accounts` or `No Users`. Slurm 22.05 prints `1001={...}`.
fn parse_qos_line(line: &str) -> Option<(String, QosLimits)> {
    let (head, rest) = line.split_once("Account Limits=")?;
    let (accounts, users) = rest.split_once("User Limits=")?;
    let (name, _) = head.strip_prefix("QOS=")?.split_once('(')?;
    let mut qos = QosLimits { group: parse_limits(head)?, ..QosLimits::default() };
    for (account, inside) in parse_braces(accounts)? {
        qos.accounts.insert(account.to_string(), parse_limits(inside)?);
    }
    for (user, inside) in parse_braces(users)? {
        qos.users.insert(user_number(user)?, parse_limits(inside)?);
    }
    Some((name.to_string(), qos))
}

/// Parses the pairs in a list such as ` name={...} name={...}`.
fn parse_braces(text: &str) -> Option<Vec<(&str, &str)>> {
    let (mut rest, mut found) = (text.trim(), Vec::new());
    if matches!(rest, "No Accounts" | "No Users") {
        return Some(found);
    }
    while !rest.is_empty() {
        let (name, after) = rest.split_once("={")?;
        let (inside, after) = after.split_once('}')?;
        found.push((name, inside));
        rest = after.trim();
    }
    Some(found)
}

/// Parses `1001` or `joe(1001)`.
fn user_number(text: &str) -> Option<u32> {
    match text.strip_suffix(')') {
        Some(text) => number(text.rsplit_once('(')?.1),
        None => number(text),
    }
}

/// Parses `ClusterName=c Account=acc UserName=joe(1001) Partition= ... ParentAccount=root(1) ...`.
fn parse_association(line: &str) -> Option<(Member, Association)> {
    // The comment, which comes last, may contain any text.
    let line = line.split(" Comment=").next()?;
    let of = |key: &str| line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let user = of("UserName")?;
    let parent = of("ParentAccount")?;
    let member = Member {
        account: of("Account")?.to_string(),
        user: if user.is_empty() { None } else { Some(user_number(user)?) },
        partition: of("Partition")?.to_string(),
    };
    let parent = parent.split_once('(').map(|(parent, _)| parent.to_string());
    Some((member, Association { parent, limits: parse_limits(line)? }))
}

/// Parses the limits in `key=value` words and skips all other keys.
fn parse_limits(text: &str) -> Option<Vec<Limit>> {
    let mut found = Vec::new();
    let mut add = |name: &'static str, unit: Unit, value: &str| {
        // An unset limit has no value.
        if !value.is_empty() {
            let (most, used) = parse_amount(value)?;
            found.push(Limit { kind: LimitKind { name, unit }, most, used });
        }
        Some(())
    };
    for (key, value) in text.split(' ').filter_map(|word| word.split_once('=')) {
        let named = |names: &[&'static str]| names.iter().copied().find(|name| *name == key);
        if let Some(name) = named(JOBS) {
            add(name, Unit::Jobs, value)?;
        } else if let Some(name) = named(WALL) {
            add(name, Unit::Minutes, value)?;
        } else if let Some(name) = named(RESOURCES) {
            for part in value.split(',').filter(|part| !part.is_empty()) {
                let (resource, value) = part.split_once('=')?;
                match resource {
                    "node" => add(name, Unit::Nodes, value)?,
                    "cpu" => add(name, Unit::Processors, value)?,
                    _ => {}
                }
            }
        }
    }
    Some(found)
}

/// Parses a limit (`None` if unlimited) and its usage, such as `N(3)`, `8(3)`, `8(3.25)` or `8`.
fn parse_amount(text: &str) -> Option<(Option<u64>, u64)> {
    let (most, used) = match text.split_once('(') {
        Some((most, used)) => (most, used.strip_suffix(')')?),
        None => (text, "0"),
    };
    let used = number(used.split_once('.').map_or(used, |(whole, _)| whole))?;
    let most = if most == "N" { None } else { Some(number(most)?) };
    Some((most, used))
}

/// Parses the throttles in a list of `squeue` identifiers, one per line, such as `7_[1-10%2]`.
/// Slurm 26.05 omits the throttle if some tasks have their own records.
pub(super) fn parse_throttles(text: &str) -> HashMap<u32, u64> {
    text.lines().filter_map(parse_throttle).collect()
}

fn parse_throttle(line: &str) -> Option<(u32, u64)> {
    let (array, tasks) = line.trim().split_once('_')?;
    let (_, most) = tasks.strip_prefix('[')?.strip_suffix(']')?.split_once('%')?;
    Some((number(array)?, number(most)?))
}

/// Finds an array's throttle in its records, as printed by `scontrol -o show job`. Only the text
/// before the job name is trusted. Returns `None` if there is no record of the array or if the
/// throttle is malformed.
pub(super) fn throttle_of(text: &str, array: u32) -> Option<Throttle> {
    let own = format!(" ArrayJobId={array} ");
    let heads = text.lines().filter_map(|line| line.split_once(" JobName=")).map(|(head, _)| head);
    let mut own = heads.filter(|head| head.starts_with("JobId=") && head.contains(&own)).peekable();
    own.peek()?;
    let mut words = own.flat_map(|head| head.split(' '));
    match words.find_map(|word| word.strip_prefix("ArrayTaskThrottle=")) {
        Some(most) => number(most).map(Throttle::Tasks),
        None => Some(Throttle::Unlimited),
    }
}
