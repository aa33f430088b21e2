//! The limits of arrays, QOS and associations: how many more jobs may start.
//!
//! Slurm says its limits and what is used of them. To that is added what jobs would use whose gate
//! is open, so that no more gates are opened than jobs may start. The rules are Slurm's
//! (`acct_policy.c`): a limit of the first QOS goes before the same of the second, and both go
//! before the association's; of the partition's QOS and the job's, the partition's is the first
//! unless the job's has `OverPartQOS`.
//!
//! Counted are jobs, nodes, processors, and minutes of both. What is counted in other ways (memory,
//! GRES, billing) is left to Slurm: it gives an opened job the limit as its reason, and its gate is
//! closed at once.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::ledger::{Ledger, Phase, SlurmJob};
use crate::site::{Enforced, Site};

mod grammar;
mod reader;

pub(crate) use reader::Reader;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    Jobs,
    Nodes,
    Processors,
    /// Of wall clock time.
    Minutes,
}

/// A limit of Slurm's: its name, and of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
}

/// What Slurm says of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) slot: Slot,
    /// `None` without one.
    pub(crate) most: Option<u64>,
    pub(crate) used: u64,
}

/// A QOS with its limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QosLimits {
    pub(crate) group: Vec<Limit>,
    pub(crate) accounts: HashMap<String, Vec<Limit>>,
    /// By the number of the user.
    pub(crate) users: HashMap<u32, Vec<Limit>>,
}

/// Of whom an association is: an account, perhaps a user of it, perhaps in one partition alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Member {
    pub(crate) account: String,
    pub(crate) user: Option<u32>,
    pub(crate) partition: String,
}

/// An association with its limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Association {
    pub(crate) parent: Option<String>,
    pub(crate) limits: Vec<Limit>,
}

/// All that Slurm says of limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) qos: HashMap<String, QosLimits>,
    pub(crate) associations: HashMap<Member, Association>,
    /// How many tasks of an array may run at once, where that is limited.
    pub(crate) throttles: HashMap<u32, u64>,
}

/// A limit that some jobs share, and what they use of it.
#[derive(Clone, Debug)]
struct Meter {
    slot: Slot,
    /// Whose it is.
    of: String,
    most: u64,
    used: u64,
    /// Whether a job that starts adds to what is used.
    adds: bool,
}

/// What tells meters apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Owner {
    Array(u32),
    Qos(String, Option<u32>, Option<String>),
    Association(Member),
}

/// Jobs alike in what limits them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Class {
    partition: String,
    qos: String,
    account: String,
    user: u32,
    array: Option<u32>,
}

/// The limits of a cycle, and what is used of them.
pub(crate) struct Limits<'a> {
    site: &'a Site,
    said: &'a Said,
    /// The tasks of each array that hold nodes.
    tasks: HashMap<u32, u64>,
    meters: Vec<Meter>,
    places: HashMap<(Owner, Slot), usize>,
    classes: HashMap<Class, Rc<[usize]>>,
}

/// The most ancestors of an association.
const DEPTH: usize = 64;

impl<'a> Limits<'a> {
    pub(crate) fn new(site: &'a Site, said: &'a Said, ledger: &Ledger) -> Limits<'a> {
        let mut tasks = HashMap::new();
        let holds = |job: &&SlurmJob| job.phase != Phase::Pending;
        for array in ledger.jobs.iter().filter(holds).filter_map(|job| job.name.array()) {
            *tasks.entry(array).or_insert(0) += 1;
        }
        let (meters, places, classes) = (Vec::new(), HashMap::new(), HashMap::new());
        Limits { site, said, tasks, meters, places, classes }
    }

    /// The limit that a job would pass if it started now, in words; `None` if it may start.
    pub(crate) fn over(&mut self, job: &SlurmJob) -> Option<String> {
        let class = self.class(job);
        let meters = class.iter().map(|&at| &self.meters[at]);
        let mut over = meters.filter(|meter| {
            let wanted = self.wanted(job, meter.slot);
            wanted > 0 && meter.used.saturating_add(wanted) > meter.most
        });
        over.next().map(Meter::words)
    }

    /// Counts a job that may start.
    pub(crate) fn take(&mut self, job: &SlurmJob) {
        for &at in self.class(job).iter() {
            let wanted = self.wanted(job, self.meters[at].slot);
            let meter = &mut self.meters[at];
            if meter.adds {
                meter.used = meter.used.saturating_add(wanted);
            }
        }
    }

    /// Whether anything limits a job.
    pub(crate) fn concern(&mut self, job: &SlurmJob) -> bool {
        !self.class(job).is_empty()
    }

    /// Whether starting one of two jobs may matter to the other.
    pub(crate) fn touches(&mut self, one: &SlurmJob, other: &SlurmJob) -> bool {
        let (one, other) = (self.class(one), self.class(other));
        one.iter().any(|meter| other.contains(meter))
    }

    /// What a job uses of a limit.
    fn wanted(&self, job: &SlurmJob, slot: Slot) -> u64 {
        let nodes = u64::from(job.nodes);
        let amount = match slot.unit {
            Unit::Jobs | Unit::Minutes => 1,
            Unit::Nodes => nodes,
            Unit::Processors => {
                let partition = self.site.partitions.get(&job.partition);
                let (all, of) = partition.map_or((0, 0), |partition| partition.processors);
                nodes.saturating_mul(if of == 0 { 1 } else { all.div_ceil(of) })
            }
        };
        let minutes = job.limit.map_or(0, |limit| limit.div_ceil(60));
        match slot.name {
            // Without `safe` a job may start while anything is left.
            "GrpTRESMins" | "GrpWall" if self.site.enforced != Enforced::Safely => 1,
            "MaxWallPJ" | "GrpWall" => minutes,
            name if name.contains("Mins") => amount.saturating_mul(minutes),
            _ => amount,
        }
    }

    /// The meters of a job's class.
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
            class.array.and_then(|array| Some((array, self.said.throttles.get(&array)?)))
        {
            let slot = Slot { name: "ArrayTaskThrottle", unit: Unit::Jobs };
            let used = self.tasks.get(&array).copied().unwrap_or(0);
            let limit = Limit { slot, most: Some(most), used };
            meters.push(self.meter(Owner::Array(array), format!("array {array}"), &limit, used));
        }
        if self.site.enforced == Enforced::Nothing {
            return meters;
        }
        let set = self.of_qos(class, &mut meters);
        self.of_associations(class, &set, &mut meters);
        meters
    }

    /// The limits of the job's QOS and the partition's; returns which are set.
    fn of_qos(&mut self, class: &Class, meters: &mut Vec<usize>) -> HashSet<Slot> {
        let said = self.said;
        let own = self.site.qos.get(&class.qos);
        let mut names = vec![self.site.qos_of(&class.partition).unwrap_or(""), &class.qos];
        if own.is_some_and(|qos| qos.over_partition) {
            names.reverse();
        }
        names.dedup();
        let mut set = HashSet::new();
        for name in names {
            let Some(qos) = said.qos.get(name) else { continue };
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
                    if limit.most.is_none() || set.contains(&limit.slot) {
                        continue;
                    }
                    here.push(limit.slot);
                    if let Some(used) = self.used(class, limits.map_or(&[], |all| all), limit) {
                        meters.push(self.meter(owner.clone(), of.clone(), limit, used));
                    }
                }
            }
            set.extend(here);
        }
        set
    }

    fn of_associations(&mut self, class: &Class, set: &HashSet<Slot>, meters: &mut Vec<usize>) {
        let said = self.said;
        let scaled = self.site.qos.get(&class.qos).is_some_and(|qos| qos.scales)
            || self
                .site
                .qos_of(&class.partition)
                .is_some_and(|name| self.site.qos.get(name).is_some_and(|qos| qos.scales));
        let is_set =
            |name: &str, unit: Unit| set.iter().any(|slot| slot.name == name && slot.unit == unit);
        for (generation, (member, association)) in lineage(said, class).enumerate() {
            for limit in &association.limits {
                let Slot { name, unit } = limit.slot;
                let overruled = match name {
                    "MaxJobs" => is_set("MaxJobsPA", Unit::Jobs) || is_set("MaxJobsPU", Unit::Jobs),
                    _ => set.contains(&limit.slot),
                };
                // Those that are not of the group are the user's own, whoever its parents are.
                let inherited = generation > 0 && !name.starts_with("Grp");
                let unknown =
                    scaled && matches!(name, "GrpTRES" | "MaxTRESPJ") && unit != Unit::Jobs;
                if limit.most.is_none() || overruled || inherited || unknown {
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

    /// What is used of a limit, among all of its kind; `None` if it cannot be told.
    fn used(&self, class: &Class, all: &[Limit], limit: &Limit) -> Option<u64> {
        if !limit.slot.name.contains("Mins") {
            return Some(limit.used);
        }
        // Usage that is counted more or less than it is.
        if self.site.qos.get(&class.qos).is_some_and(|qos| !qos.plain_usage) {
            return None;
        }
        if limit.slot.name != "GrpTRESMins" || self.site.enforced != Enforced::Safely {
            return Some(limit.used);
        }
        let run = Slot { name: "GrpTRESRunMins", unit: limit.slot.unit };
        let to_come = all.iter().find(|other| other.slot == run).map_or(0, |other| other.used);
        Some(limit.used.saturating_add(to_come))
    }

    fn meter(&mut self, owner: Owner, of: String, limit: &Limit, used: u64) -> usize {
        let (slot, most) = (limit.slot, limit.most.unwrap_or(u64::MAX));
        let safely = self.site.enforced == Enforced::Safely;
        let adds = match slot.name {
            "GrpWall" => false,
            "GrpTRESMins" => safely,
            name => !name.ends_with("PJ"),
        };
        let next = self.meters.len();
        let place = *self.places.entry((owner, slot)).or_insert(next);
        if place == next {
            self.meters.push(Meter { slot, of, most, used, adds });
        }
        place
    }
}

/// A job's association and its ancestors.
fn lineage<'a>(
    said: &'a Said,
    class: &Class,
) -> impl Iterator<Item = (&'a Member, &'a Association)> + use<'a> {
    let (account, user) = (class.account.clone(), Some(class.user));
    let own = |partition: &str| {
        let (account, partition) = (account.clone(), partition.to_string());
        said.associations.get_key_value(&Member { account, user, partition })
    };
    let first = own(&class.partition).or_else(|| own(""));
    let of_account = move |account: &str| {
        let account = account.to_string();
        said.associations.get_key_value(&Member { account, ..Member::default() })
    };
    let next = move |(member, association): &(&'a Member, &'a Association)| match member.user {
        Some(_) => of_account(&member.account),
        None => of_account(association.parent.as_deref()?),
    };
    std::iter::successors(first, next).take(DEPTH)
}

impl Meter {
    fn words(&self) -> String {
        let Meter { slot, of, most, used, .. } = self;
        let unit = match slot.unit {
            Unit::Jobs => "jobs",
            Unit::Nodes => "nodes",
            Unit::Processors => "processors",
            Unit::Minutes => "minutes",
        };
        let minutes = if slot.name.contains("Mins") { " minutes" } else { "" };
        format!("{} of {of}: {most} {unit}{minutes}, {used} used or about to be", slot.name)
    }
}

/// Whether Slurm's reason for a job is a limit that it would pass.
pub(crate) fn is_limit(reason: &str) -> bool {
    // A job that waits for another's end and the like is no matter of limits.
    let of_accounts = reason.starts_with("QOS") || reason.starts_with("Assoc");
    of_accounts
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

/// The jobs that a limit keeps back together, as far as Slurm's reason tells it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kin {
    Array(u32),
    Qos(String),
    QosUser(String, u32),
    QosAccount(String, String),
    Account(String),
    User(String, u32),
    /// None but itself.
    Alone,
}

impl Kin {
    pub(crate) fn of(job: &SlurmJob, reason: &str) -> Kin {
        let (qos, account, user) = (job.qos.clone(), job.account.clone(), job.user);
        let alone = reason.contains("PerJob") || reason.contains("PerNode");
        match (reason, job.name.array()) {
            ("JobArrayTaskLimit", Some(array)) => Kin::Array(array),
            _ if alone => Kin::Alone,
            (reason, _) if reason.starts_with("QOSGrp") => Kin::Qos(qos),
            (reason, _) if reason.starts_with("QOS") && reason.contains("PerUser") => {
                Kin::QosUser(qos, user)
            }
            (reason, _) if reason.starts_with("QOS") && reason.contains("PerAccount") => {
                Kin::QosAccount(qos, account)
            }
            (reason, _) if reason.starts_with("AssocGrp") => Kin::Account(account),
            (reason, _) if reason.starts_with("Assoc") => Kin::User(account, user),
            _ => Kin::Alone,
        }
    }

    pub(crate) fn has(&self, job: &SlurmJob) -> bool {
        match self {
            Kin::Array(array) => job.name.array() == Some(*array),
            Kin::Qos(qos) => job.qos == *qos,
            Kin::QosUser(qos, user) => job.qos == *qos && job.user == *user,
            Kin::QosAccount(qos, account) => job.qos == *qos && job.account == *account,
            Kin::Account(account) => job.account == *account,
            Kin::User(account, user) => job.account == *account && job.user == *user,
            Kin::Alone => false,
        }
    }
}

#[cfg(test)]
mod tests;
