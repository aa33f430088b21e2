//! Limits set by arrays, QOSes and associations, which restrict the jobs that may start.
//!
//! The daemon adds the expected usage of jobs with open gates to the usage that Slurm reports, so
//! it never opens more gates than a limit allows. The rules are Slurm's (`acct_policy.c`): a limit
//! in the first QOS overrides the same limit in the second, and both override the association's.
//! The first QOS is the partition's, unless the job's QOS has `OverPartQOS`. The daemon counts
//! jobs, nodes, processors, node-minutes and processor-minutes. It leaves other limits (memory,
//! GRES, billing) to Slurm. If such a limit keeps an opened job waiting, the daemon immediately
//! closes the job's gate.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::ledger::site::{Enforcement, Site};
use crate::ledger::usage::{Association, Limit, LimitKind, Member, Throttle, Unit, Usage};
use crate::ledger::{Ledger, Phase, SlurmJob};
use crate::plan::world::Rules;

/// The maximum number of associations in a lineage, in case of a cyclic lineage.
const MAX_ANCESTORS: usize = 64;

/// A limit and its usage, which several jobs may share.
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

/// The properties that determine which limits apply to a job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Class {
    partition: String,
    qos: String,
    account: String,
    user: u32,
    array: Option<u32>,
}

/// The limits that apply in a cycle, and their usage.
pub(crate) struct Limits<'a> {
    site: &'a Site,
    usage: &'a Usage,
    /// The number of tasks that hold nodes, for each array.
    tasks: HashMap<u32, u64>,
    meters: Vec<Meter>,
    meter_index: HashMap<(Owner, LimitKind), usize>,
    classes: HashMap<Class, Rc<[usize]>>,
}

impl<'a> Limits<'a> {
    pub(crate) fn new(rules: Rules<'a>, ledger: &Ledger) -> Limits<'a> {
        let Rules { site, usage } = rules;
        let mut tasks = HashMap::new();
        let holds = |job: &&SlurmJob| job.phase != Phase::Pending;
        for array in ledger.jobs.iter().filter(holds).filter_map(|job| job.name.array()) {
            *tasks.entry(array).or_insert(0) += 1;
        }
        let (meters, meter_index, classes) = (Vec::new(), HashMap::new(), HashMap::new());
        Limits { site, usage, tasks, meters, meter_index, classes }
    }

    /// Describes the limit, if any, that a job would exceed if it started now.
    pub(crate) fn exceeded_by(&mut self, job: &SlurmJob) -> Option<String> {
        let meters = self.meters_for(job);
        let meters = meters.iter().map(|&at| &self.meters[at]);
        let mut exceeded = meters.filter(|meter| {
            let usage = self.usage_of(job, meter.kind);
            usage > 0 && meter.used.saturating_add(usage) > meter.most
        });
        exceeded.next().map(Meter::description)
    }

    /// Adds the expected usage of a job that may start.
    pub(crate) fn reserve(&mut self, job: &SlurmJob) {
        for &at in self.meters_for(job).iter() {
            let usage = self.usage_of(job, self.meters[at].kind);
            let meter = &mut self.meters[at];
            if meter.adds {
                meter.used = meter.used.saturating_add(usage);
            }
        }
    }

    /// Returns true if any limit applies to a job.
    pub(crate) fn apply_to(&mut self, job: &SlurmJob) -> bool {
        !self.meters_for(job).is_empty()
    }

    /// Returns true if two jobs share a limit.
    pub(crate) fn share_meter(&mut self, one: &SlurmJob, other: &SlurmJob) -> bool {
        let (one, other) = (self.meters_for(one), self.meters_for(other));
        one.iter().any(|meter| other.contains(meter))
    }

    /// Returns how much of a limit a job would use.
    fn usage_of(&self, job: &SlurmJob, kind: LimitKind) -> u64 {
        let nodes = u64::from(job.nodes);
        let amount = match kind.unit {
            Unit::Jobs | Unit::Minutes => 1,
            Unit::Nodes => nodes,
            Unit::Processors => {
                let partition = self.site.partitions.get(&job.partition);
                let per_node = partition
                    .filter(|partition| partition.total_nodes > 0)
                    .map_or(1, |partition| partition.processors.div_ceil(partition.total_nodes));
                nodes.saturating_mul(per_node)
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

    /// Returns the indexes of all meters that apply to a job.
    fn meters_for(&mut self, job: &SlurmJob) -> Rc<[usize]> {
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
        self.add_throttle(class, &mut meters);
        if self.site.enforced == Enforcement::Nothing {
            return meters;
        }
        let set = self.add_qos_limits(class, &mut meters);
        self.add_association_limits(class, &set, &mut meters);
        meters
    }

    /// Adds the throttle of the task's array. Assumes that an unknown throttle is 1.
    fn add_throttle(&mut self, class: &Class, meters: &mut Vec<usize>) {
        let Some(array) = class.array else { return };
        let (most, of) = match self.usage.throttles.get(&array) {
            None | Some(Throttle::Unlimited) => return,
            Some(Throttle::Tasks(most)) => (*most, format!("array {array}")),
            Some(Throttle::Unknown) => (1, format!("array {array} (limit not yet known)")),
        };
        let kind = LimitKind { name: "ArrayTaskThrottle", unit: Unit::Jobs };
        let used = self.tasks.get(&array).copied().unwrap_or(0);
        let limit = Limit { kind, most: Some(most), used };
        meters.push(self.meter(Owner::Array(array), of, &limit, used));
    }

    /// Adds the limits of the job's QOS and the partition's QOS. Returns the kinds that are set.
    fn add_qos_limits(&mut self, class: &Class, meters: &mut Vec<usize>) -> HashSet<LimitKind> {
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
                let Some(limits) = limits else { continue };
                for limit in limits {
                    if limit.most.is_none() || set.contains(&limit.kind) {
                        continue;
                    }
                    here.push(limit.kind);
                    if let Some(used) = self.used(class, limits, limit) {
                        meters.push(self.meter(owner.clone(), of.clone(), limit, used));
                    }
                }
            }
            set.extend(here);
        }
        set
    }

    fn add_association_limits(
        &mut self,
        class: &Class,
        set: &HashSet<LimitKind>,
        meters: &mut Vec<usize>,
    ) {
        let usage = self.usage;
        let names = [Some(class.qos.as_str()), self.site.qos_of(&class.partition)];
        let mut scales = names.into_iter().flatten().filter_map(|name| self.site.qos.get(name));
        let is_scaled = scales.any(|qos| qos.scales_limits);
        let is_set =
            |name: &str, unit: Unit| set.iter().any(|kind| kind.name == name && kind.unit == unit);
        let applies = |limit: &Limit, generation: usize| {
            let LimitKind { name, unit } = limit.kind;
            let is_overruled = match name {
                "MaxJobs" => is_set("MaxJobsPA", Unit::Jobs) || is_set("MaxJobsPU", Unit::Jobs),
                _ => set.contains(&limit.kind),
            };
            // Only group limits are inherited from parent associations.
            let is_inherited = generation > 0 && !name.starts_with("Grp");
            let is_unknown =
                is_scaled && matches!(name, "GrpTRES" | "MaxTRESPJ") && unit != Unit::Jobs;
            limit.most.is_some() && !is_overruled && !is_inherited && !is_unknown
        };
        for (generation, (member, association)) in lineage(usage, class).enumerate() {
            let of = match member.user {
                Some(user) => format!("account {}, user {user}", member.account),
                None => format!("account {}", member.account),
            };
            for limit in association.limits.iter().filter(|limit| applies(limit, generation)) {
                if let Some(used) = self.used(class, &association.limits, limit) {
                    let owner = Owner::Association(member.clone());
                    meters.push(self.meter(owner, of.clone(), limit, used));
                }
            }
        }
    }

    /// Returns a limit's usage, based on all of the owner's limits. Returns `None` if the usage is
    /// unknown.
    fn used(&self, class: &Class, all: &[Limit], limit: &Limit) -> Option<u64> {
        if !limit.kind.name.contains("Mins") {
            return Some(limit.used);
        }
        // If the QOS scales its usage by a factor other than 1, the usage is unknown.
        if self.site.qos.get(&class.qos).is_some_and(|qos| !qos.is_unscaled) {
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
        let index = *self.meter_index.entry((owner, kind)).or_insert(next);
        if index == next {
            self.meters.push(Meter { kind, of, most, used, adds });
        }
        index
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
    fn description(&self) -> String {
        let Meter { kind, of, most, used, .. } = self;
        let unit = match (kind.unit, kind.name.contains("Mins")) {
            (Unit::Jobs, _) => "jobs",
            (Unit::Nodes, false) => "nodes",
            (Unit::Nodes, true) => "node-minutes",
            (Unit::Processors, false) => "processors",
            (Unit::Processors, true) => "processor-minutes",
            (Unit::Minutes, _) => "minutes",
        };
        format!("{} of {of}: {most} {unit}, {used} used or reserved", kind.name)
    }
}

#[cfg(test)]
mod tests;
