//! Limits of arrays, QOS and associations on the jobs that may start.
//!
//! The daemon adds the expected usage of jobs with open gates to the usage that Slurm reports, so
//! it never opens more gates than a limit allows. The rules are Slurm's (`acct_policy.c`): a limit
//! of the first QOS overrides the same limit of the second, and both override the association's.
//! The first QOS is the partition's, unless the job's QOS has `OverPartQOS`. The daemon counts
//! jobs, nodes, processors, node-minutes and processor-minutes. Slurm handles other limits (memory,
//! GRES, billing): if an opened job is waiting because of one, the daemon closes its gate
//! immediately.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::ledger::site::{Enforcement, Site};
use crate::ledger::usage::{Association, Limit, LimitKind, Member, Unit, Usage};
use crate::ledger::{Ledger, Phase, SlurmJob};
use crate::plan::world::Rules;

/// A limit and its usage, which some jobs share.
#[derive(Clone, Debug)]
struct Meter {
    kind: LimitKind,
    /// A description of the limit's owner.
    of: String,
    most: u64,
    used: u64,
    /// True if starting a job increases the usage.
    adds: bool,
}

/// The owner of a limit, which identifies a meter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Owner {
    Array(u32),
    Qos(String, Option<u32>, Option<String>),
    Association(Member),
}

/// The properties of jobs that determine their limits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Class {
    partition: String,
    qos: String,
    account: String,
    user: u32,
    array: Option<u32>,
}

/// A cycle's limits and their usage.
pub(crate) struct Limits<'a> {
    site: &'a Site,
    usage: &'a Usage,
    /// The number of tasks that hold nodes, by array.
    tasks: HashMap<u32, u64>,
    meters: Vec<Meter>,
    places: HashMap<(Owner, LimitKind), usize>,
    classes: HashMap<Class, Rc<[usize]>>,
}

/// The maximum number of associations in a lineage, in case it contains a cycle.
const MAX_ANCESTORS: usize = 64;

impl<'a> Limits<'a> {
    pub(crate) fn new(rules: Rules<'a>, ledger: &Ledger) -> Limits<'a> {
        let Rules { site, usage } = rules;
        let mut tasks = HashMap::new();
        let holds = |job: &&SlurmJob| job.phase != Phase::Pending;
        for array in ledger.jobs.iter().filter(holds).filter_map(|job| job.name.array()) {
            *tasks.entry(array).or_insert(0) += 1;
        }
        let (meters, places, classes) = (Vec::new(), HashMap::new(), HashMap::new());
        Limits { site, usage, tasks, meters, places, classes }
    }

    /// Describes the limit that a job would exceed if it started now, or returns `None`.
    pub(crate) fn over(&mut self, job: &SlurmJob) -> Option<String> {
        let class = self.class(job);
        let meters = class.iter().map(|&at| &self.meters[at]);
        let mut over = meters.filter(|meter| {
            let wanted = self.wanted(job, meter.kind);
            wanted > 0 && meter.used.saturating_add(wanted) > meter.most
        });
        over.next().map(Meter::words)
    }

    /// Adds the usage of a job that may start.
    pub(crate) fn take(&mut self, job: &SlurmJob) {
        for &at in self.class(job).iter() {
            let wanted = self.wanted(job, self.meters[at].kind);
            let meter = &mut self.meters[at];
            if meter.adds {
                meter.used = meter.used.saturating_add(wanted);
            }
        }
    }

    /// Returns true if any limit applies to a job.
    pub(crate) fn concern(&mut self, job: &SlurmJob) -> bool {
        !self.class(job).is_empty()
    }

    /// Returns true if two jobs share a limit.
    pub(crate) fn touches(&mut self, one: &SlurmJob, other: &SlurmJob) -> bool {
        let (one, other) = (self.class(one), self.class(other));
        one.iter().any(|meter| other.contains(meter))
    }

    /// Returns the amount of a limit that a job would use.
    fn wanted(&self, job: &SlurmJob, kind: LimitKind) -> u64 {
        let nodes = u64::from(job.nodes);
        let amount = match kind.unit {
            Unit::Jobs | Unit::Minutes => 1,
            Unit::Nodes => nodes,
            Unit::Processors => {
                let partition = self.site.partitions.get(&job.partition);
                let (processors, count) =
                    partition.map_or((0, 0), |partition| partition.processors);
                nodes.saturating_mul(if count == 0 { 1 } else { processors.div_ceil(count) })
            }
        };
        let minutes = job.limit.map_or(0, |limit| limit.div_ceil(60));
        match kind.name {
            // Without `safe`, a job may start as long as any minutes are left.
            "GrpTRESMins" | "GrpWall" if self.site.enforced != Enforcement::Safely => 1,
            "MaxWallPJ" | "GrpWall" => minutes,
            name if name.contains("Mins") => amount.saturating_mul(minutes),
            _ => amount,
        }
    }

    /// Returns the meters that apply to a job's class.
    fn class(&mut self, job: &SlurmJob) -> Rc<[usize]> {
        let class = Class {
            partition: job.partition.clone(),
            qos: job.qos.clone(),
            account: job.account.clone(),
            user: job.user,
            array: job.name.array(),
        };
        if let Some(found) = self.classes.get(&class) {
            return Rc::clone(found);
        }
        let meters: Rc<[usize]> = self.meters_of(&class).into();
        self.classes.insert(class, Rc::clone(&meters));
        meters
    }

    fn meters_of(&mut self, class: &Class) -> Vec<usize> {
        let mut meters = Vec::new();
        if let Some((array, &most)) =
            class.array.and_then(|array| Some((array, self.usage.throttles.get(&array)?)))
        {
            let kind = LimitKind { name: "ArrayTaskThrottle", unit: Unit::Jobs };
            let used = self.tasks.get(&array).copied().unwrap_or(0);
            let limit = Limit { kind, most: Some(most), used };
            meters.push(self.meter(Owner::Array(array), format!("array {array}"), &limit, used));
        }
        if self.site.enforced == Enforcement::Nothing {
            return meters;
        }
        let set = self.of_qos(class, &mut meters);
        self.of_associations(class, &set, &mut meters);
        meters
    }

    /// Adds the limits of the job's QOS and the partition's QOS. Returns the kinds that are set.
    fn of_qos(&mut self, class: &Class, meters: &mut Vec<usize>) -> HashSet<LimitKind> {
        let usage = self.usage;
        let own = self.site.qos.get(&class.qos);
        let mut names = vec![self.site.qos_of(&class.partition).unwrap_or(""), &class.qos];
        if own.is_some_and(|qos| qos.over_partition) {
            names.reverse();
        }
        names.dedup();
        let mut set = HashSet::new();
        for name in names {
            let Some(qos) = usage.qos.get(name) else { continue };
            let (user, account) = (class.user, &class.account);
            let parts = [
                (Some(&qos.group), Owner::Qos(name.into(), None, None), format!("QOS {name}")),
                (
                    qos.users.get(&user),
                    Owner::Qos(name.into(), Some(user), None),
                    format!("QOS {name}, user {user}"),
                ),
                (
                    qos.accounts.get(account),
                    Owner::Qos(name.into(), None, Some(account.clone())),
                    format!("QOS {name}, account {account}"),
                ),
            ];
            let mut here = Vec::new();
            for (limits, owner, of) in parts {
                for limit in limits.into_iter().flatten() {
                    if limit.most.is_none() || set.contains(&limit.kind) {
                        continue;
                    }
                    here.push(limit.kind);
                    if let Some(used) = self.used(class, limits.map_or(&[], |all| all), limit) {
                        meters.push(self.meter(owner.clone(), of.clone(), limit, used));
                    }
                }
            }
            set.extend(here);
        }
        set
    }

    fn of_associations(
        &mut self,
        class: &Class,
        set: &HashSet<LimitKind>,
        meters: &mut Vec<usize>,
    ) {
        let usage = self.usage;
        let is_scaled = self.site.qos.get(&class.qos).is_some_and(|qos| qos.scales)
            || self
                .site
                .qos_of(&class.partition)
                .is_some_and(|name| self.site.qos.get(name).is_some_and(|qos| qos.scales));
        let is_set =
            |name: &str, unit: Unit| set.iter().any(|kind| kind.name == name && kind.unit == unit);
        for (generation, (member, association)) in lineage(usage, class).enumerate() {
            for limit in &association.limits {
                let LimitKind { name, unit } = limit.kind;
                let is_overruled = match name {
                    "MaxJobs" => is_set("MaxJobsPA", Unit::Jobs) || is_set("MaxJobsPU", Unit::Jobs),
                    _ => set.contains(&limit.kind),
                };
                // Only group limits are inherited from parent associations.
                let is_inherited = generation > 0 && !name.starts_with("Grp");
                let is_unknown =
                    is_scaled && matches!(name, "GrpTRES" | "MaxTRESPJ") && unit != Unit::Jobs;
                if limit.most.is_none() || is_overruled || is_inherited || is_unknown {
                    continue;
                }
                if let Some(used) = self.used(class, &association.limits, limit) {
                    let of = match member.user {
                        Some(user) => format!("account {}, user {user}", member.account),
                        None => format!("account {}", member.account),
                    };
                    meters.push(self.meter(Owner::Association(member.clone()), of, limit, used));
                }
            }
        }
    }

    /// Returns the usage of a limit, given all limits of its owner, or `None` if it is unknown.
    fn used(&self, class: &Class, all: &[Limit], limit: &Limit) -> Option<u64> {
        if !limit.kind.name.contains("Mins") {
            return Some(limit.used);
        }
        // The QOS scales its usage by a factor.
        if self.site.qos.get(&class.qos).is_some_and(|qos| !qos.plain_usage) {
            return None;
        }
        if limit.kind.name != "GrpTRESMins" || self.site.enforced != Enforcement::Safely {
            return Some(limit.used);
        }
        let run = LimitKind { name: "GrpTRESRunMins", unit: limit.kind.unit };
        let to_come = all.iter().find(|other| other.kind == run).map_or(0, |other| other.used);
        Some(limit.used.saturating_add(to_come))
    }

    fn meter(&mut self, owner: Owner, of: String, limit: &Limit, used: u64) -> usize {
        let (kind, most) = (limit.kind, limit.most.unwrap_or(u64::MAX));
        let is_safe = self.site.enforced == Enforcement::Safely;
        let adds = match kind.name {
            "GrpWall" => false,
            "GrpTRESMins" => is_safe,
            name => !name.ends_with("PJ"),
        };
        let next = self.meters.len();
        let place = *self.places.entry((owner, kind)).or_insert(next);
        if place == next {
            self.meters.push(Meter { kind, of, most, used, adds });
        }
        place
    }
}

/// Returns a job's association, followed by its ancestors.
fn lineage<'a>(
    usage: &'a Usage,
    class: &Class,
) -> impl Iterator<Item = (&'a Member, &'a Association)> + use<'a> {
    let (account, user) = (class.account.clone(), Some(class.user));
    let own = |partition: &str| {
        let (account, partition) = (account.clone(), partition.to_string());
        usage.associations.get_key_value(&Member { account, user, partition })
    };
    let first = own(&class.partition).or_else(|| own(""));
    let of_account = move |account: &str| {
        let account = account.to_string();
        usage.associations.get_key_value(&Member { account, ..Member::default() })
    };
    let next = move |(member, association): &(&'a Member, &'a Association)| match member.user {
        Some(_) => of_account(&member.account),
        None => of_account(association.parent.as_deref()?),
    };
    std::iter::successors(first, next).take(MAX_ANCESTORS)
}

impl Meter {
    fn words(&self) -> String {
        let Meter { kind, of, most, used, .. } = self;
        let unit = match kind.unit {
            Unit::Jobs => "jobs",
            Unit::Nodes => "nodes",
            Unit::Processors => "processors",
            Unit::Minutes => "minutes",
        };
        let minutes = if kind.name.contains("Mins") { " minutes" } else { "" };
        format!("{} of {of}: {most} {unit}{minutes}, {used} used or reserved", kind.name)
    }
}

/// Returns true if Slurm's reason why a job is waiting is a limit that the job would exceed.
pub(crate) fn is_limit(reason: &str) -> bool {
    let is_of_accounts = reason.starts_with("QOS") || reason.starts_with("Assoc");
    is_of_accounts
        || matches!(
            reason,
            "JobArrayTaskLimit"
                | "PartitionNodeLimit"
                | "PartitionTimeLimit"
                | "AccountNotAllowed"
                | "AccountingPolicy"
                | "InvalidAccount"
                | "InvalidQOS"
                | "MaxMemPerLimit"
                | "ReservationNotAllowed"
        )
}

/// The jobs that share a limit, according to Slurm's reason: those that match all fields that are
/// set. If no field is set, the limit applies only to the job itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LimitScope {
    array: Option<u32>,
    qos: Option<String>,
    account: Option<String>,
    user: Option<u32>,
}

impl LimitScope {
    pub(crate) fn of(job: &SlurmJob, reason: &str) -> LimitScope {
        let (array, qos) = (job.name.array(), Some(job.qos.clone()));
        let (account, user) = (Some(job.account.clone()), Some(job.user));
        let none = LimitScope::default();
        let is_of_qos = reason.starts_with("QOS");
        match reason {
            "JobArrayTaskLimit" => LimitScope { array, ..none },
            _ if reason.contains("PerJob") || reason.contains("PerNode") => none,
            _ if reason.starts_with("QOSGrp") => LimitScope { qos, ..none },
            _ if is_of_qos && reason.contains("PerUser") => LimitScope { qos, user, ..none },
            _ if is_of_qos && reason.contains("PerAccount") => LimitScope { qos, account, ..none },
            _ if reason.starts_with("AssocGrp") => LimitScope { account, ..none },
            _ if reason.starts_with("Assoc") => LimitScope { account, user, ..none },
            _ => none,
        }
    }

    pub(crate) fn has(&self, job: &SlurmJob) -> bool {
        *self != LimitScope::default()
            && self.array.is_none_or(|array| job.name.array() == Some(array))
            && self.qos.as_ref().is_none_or(|qos| job.qos == *qos)
            && self.account.as_ref().is_none_or(|account| job.account == *account)
            && self.user.is_none_or(|user| job.user == user)
    }
}

#[cfg(test)]
mod tests;
