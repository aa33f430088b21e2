//! The parts of the site's Slurm configuration that affect job order, limits and preemption. Only
//! operators can change them. The daemon reads them at startup and every minute. QOS come from
//! slurmdbd; while it does not answer, the daemon uses the previous values.

use std::collections::HashMap;
use std::time::Duration;

use crate::calls::{Bounds, Call, Question, capture};
use crate::ledger::times::time_limit;
use crate::names::{NodeName, hosts, number};
use crate::{Config, SlurmError};

/// Limits on each request to slurmdbd.
const ACCOUNT_BOUNDS: Bounds = Bounds { time: Duration::from_secs(10), output: 64 << 20 };

/// The assumed maximum time between runs of Slurm's schedulers, in seconds.
const MAX_INTERVAL_S: u64 = 600;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Site {
    /// True if priorities are first come, first served. Closing a job's gate must then restore its
    /// old priority.
    pub(crate) basic: bool,
    pub(crate) enforced: Enforcement,
    /// The time within which Slurm examines a job after its gate opens, in seconds.
    pub(crate) looks_s: u64,
    pub(crate) preemption: Preemption,
    /// The treatment of preempted jobs, unless their QOS or partition overrides it.
    pub(crate) mode: Mode,
    /// The minimum run time before a job can be preempted, in seconds.
    pub(crate) exempt_s: u64,
    pub(crate) partitions: HashMap<String, Partition>,
    pub(crate) qos: HashMap<String, Qos>,
    /// The reason why required QOS are unknown.
    pub(crate) unknown: Option<String>,
}

/// The limits that Slurm enforces (`AccountingStorageEnforce`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Enforcement {
    #[default]
    Nothing,
    Limits,
    /// Limits are enforced, and a job starts only if the remaining minutes cover its time limit.
    Safely,
}

/// The rule that decides which jobs may preempt others (`PreemptType`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Preemption {
    #[default]
    Off,
    ByQos,
    ByPartition,
}

/// Slurm's treatment of a preempted job (`PreemptMode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Off,
    Requeue,
    Cancel,
    /// The job keeps its nodes, so no box becomes free. Includes gang scheduling.
    Suspend,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) tier: u64,
    pub(crate) mode: Mode,
    pub(crate) grace_s: u64,
    pub(crate) qos: Option<String>,
    /// The numbers of processors and nodes.
    pub(crate) processors: (u64, u64),
    /// The nodes, or none if jobs cannot start in the partition.
    pub(crate) nodes: Vec<NodeName>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Qos {
    /// True if this QOS's limits override those of the partition's QOS.
    pub(crate) over_partition: bool,
    /// The QOS whose jobs this one may preempt.
    pub(crate) preempts: Vec<String>,
    /// The treatment of preempted jobs, if it differs from the cluster's.
    pub(crate) mode: Option<Mode>,
    pub(crate) exempt_s: Option<u64>,
    pub(crate) grace_s: u64,
    /// True if usage is not scaled (`UsageFactor` is 1).
    pub(crate) plain_usage: bool,
    /// True if this QOS scales the limits of associations (`LimitFactor` is set).
    pub(crate) scales: bool,
}

impl Mode {
    fn of(text: &str) -> Mode {
        let has = |word: &str| text.split(',').any(|one| one.trim().eq_ignore_ascii_case(word));
        match () {
            () if has("SUSPEND") || has("GANG") => Mode::Suspend,
            () if has("REQUEUE") => Mode::Requeue,
            () if has("CANCEL") => Mode::Cancel,
            () => Mode::Off,
        }
    }

    /// Returns true if preempted jobs release their nodes.
    pub(crate) fn frees(self) -> bool {
        matches!(self, Mode::Requeue | Mode::Cancel)
    }
}

impl Site {
    /// Reads the configuration from Slurm.
    ///
    /// # Errors
    /// Returns an error if slurmctld does not answer.
    pub(crate) fn read(last: Option<&Site>) -> Result<Site, SlurmError> {
        let mut site = Site::of(
            &capture(Question::Show, &["config"])?,
            &capture(Question::Show, &["partition", "-o"])?,
        );
        if site.enforced != Enforcement::Nothing || site.preemption == Preemption::ByQos {
            match accounts() {
                Ok(text) => site.qos = read_qos(&text),
                Err(error) => {
                    site.qos = last.map_or_else(HashMap::new, |last| last.qos.clone());
                    site.unknown = Some(error.to_string());
                }
            }
        }
        Ok(site)
    }

    fn of(config: &str, partitions: &str) -> Site {
        let value = |key: &str| value(config, key);
        let has = |key: &str, word: &str| value(key).split(',').any(|one| one.trim() == word);
        let exempt = value("PreemptExemptTime");
        let mode = Mode::of(value("PreemptMode"));
        Site {
            basic: is_basic(config),
            enforced: match () {
                () if has("AccountingStorageEnforce", "safe") => Enforcement::Safely,
                () if has("AccountingStorageEnforce", "limits") => Enforcement::Limits,
                () => Enforcement::Nothing,
            },
            looks_s: looks(value("SchedulerType"), value("SchedulerParameters")),
            // The daemon starts jobs with the highest priority, which would exempt them from
            // preemption.
            preemption: match value("PreemptType") {
                _ if value("PreemptParameters").contains("min_exempt_priority") => Preemption::Off,
                _ if mode == Mode::Off => Preemption::Off,
                "preempt/qos" => Preemption::ByQos,
                "preempt/partition_prio" => Preemption::ByPartition,
                _ => Preemption::Off,
            },
            mode,
            exempt_s: time_limit(exempt).ok().flatten().unwrap_or(0),
            partitions: partitions.lines().filter_map(read_partition).collect(),
            qos: HashMap::new(),
            unknown: None,
        }
    }

    /// Returns the tier of a partition. Jobs in higher tiers come first.
    pub(crate) fn tier(&self, partition: &str) -> u64 {
        self.partitions.get(partition).map_or(1, |partition| partition.tier)
    }

    /// Returns the partitions that contain nodes of the machine but are not configured. Jobs in
    /// these partitions start without a gate.
    pub(crate) fn ungated(&self, config: &Config) -> Vec<&str> {
        let has = |node: &NodeName| config.nodes.contains_key(node);
        let others = self.partitions.iter().filter(|(name, partition)| {
            !config.partitions.contains(name) && partition.nodes.iter().any(has)
        });
        let mut names: Vec<&str> = others.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn qos_of(&self, partition: &str) -> Option<&str> {
        self.partitions.get(partition)?.qos.as_deref()
    }
}

/// Returns the value of a key in the output of `scontrol show config`.
pub(crate) fn value<'a>(shown: &'a str, key: &str) -> &'a str {
    let line =
        shown.lines().find(|line| line.split('=').next().is_some_and(|name| name.trim() == key));
    line.and_then(|line| line.split_once('=')).map_or("", |(_, value)| value.trim())
}

/// Returns true if Slurm's priorities are first come, first served.
pub(crate) fn is_basic(config: &str) -> bool {
    value(config, "PriorityType") == "priority/basic"
}

/// Returns the maximum time between runs of Slurm's schedulers, in seconds, plus a third for the
/// run itself. They often run earlier, for example when a job is submitted, ends or is changed.
fn looks(scheduler: &str, parameters: &str) -> u64 {
    let interval = |key: &str, usual: u64| {
        let mut all = parameters.split(',').filter_map(|one| one.trim().split_once('='));
        all.find(|(name, _)| *name == key).and_then(|(_, text)| number(text)).unwrap_or(usual)
    };
    let interval = match scheduler {
        "sched/backfill" => interval("bf_interval", 30),
        _ => interval("sched_interval", 60),
    };
    (interval + interval.div_ceil(3)).min(MAX_INTERVAL_S)
}

/// Requests the QOS from slurmdbd.
fn accounts() -> Result<String, SlurmError> {
    let format =
        "format=Name,Flags,Preempt,PreemptMode,PreemptExemptTime,GraceTime,UsageFactor,LimitFactor";
    let arguments = &["qos", "-n", "-P", format];
    let call = Call { question: Question::Accounts, arguments, environment: &[] };
    call.answer(ACCOUNT_BOUNDS)
}

/// Parses a line of `scontrol show partition -o`.
fn read_partition(line: &str) -> Option<(String, Partition)> {
    let of = |key: &str| {
        line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('=')).unwrap_or("")
    };
    let count = |key: &str| number::<u32>(of(key)).map_or(0, u64::from);
    let name = of("PartitionName");
    let partition = Partition {
        tier: number::<u32>(of("PriorityTier")).map_or(1, u64::from),
        mode: Mode::of(of("PreemptMode")),
        grace_s: count("GraceTime"),
        qos: Some(of("QoS")).filter(|qos| !qos.is_empty() && *qos != "N/A").map(Into::into),
        processors: (count("TotalCPUs"), count("TotalNodes")),
        nodes: match of("State") {
            "UP" | "DRAIN" => hosts::expand(of("Nodes")).unwrap_or_default(),
            _ => Vec::new(),
        },
    };
    (!name.is_empty()).then(|| (name.to_string(), partition))
}

fn read_qos(text: &str) -> HashMap<String, Qos> {
    text.lines().filter_map(one_qos).collect()
}

/// Parses `Name|Flags|Preempt|PreemptMode|PreemptExemptTime|GraceTime|UsageFactor|LimitFactor`.
fn one_qos(line: &str) -> Option<(String, Qos)> {
    let fields: Vec<&str> = line.split('|').collect();
    let &[name, flags, preempts, mode, exempt, grace, usage, factor] = &fields[..] else {
        return None;
    };
    let flag = |word: &str| flags.split(',').any(|one| one.eq_ignore_ascii_case(word));
    let mode = Some(mode).filter(|mode| !mode.is_empty() && !mode.eq_ignore_ascii_case("cluster"));
    let seconds = |text: &str| time_limit(text).ok().flatten();
    let qos = Qos {
        over_partition: flag("OverPartQOS"),
        preempts: preempts.split(',').filter(|one| !one.is_empty()).map(Into::into).collect(),
        mode: mode.map(Mode::of),
        exempt_s: if exempt.is_empty() { None } else { seconds(exempt) },
        grace_s: seconds(grace).unwrap_or(0),
        plain_usage: usage.is_empty() || usage.parse() == Ok(1.0f64),
        scales: !factor.is_empty(),
    };
    Some((name.to_string(), qos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_24_11_says_is_read() {
        let config = "AccountingStorageEnforce = associations,limits,qos,safe\n\
                      PreemptMode             = GANG,SUSPEND\n\
                      PreemptType             = preempt/qos\n\
                      PreemptExemptTime       = 00:02:00\n\
                      PriorityType            = priority/multifactor\n";
        let partitions = "PartitionName=hi QoS=N/A GraceTime=30 PriorityTier=10 \
                          PreemptMode=REQUEUE TotalCPUs=32 TotalNodes=16\n\
                          PartitionName=mesh QoS=part PriorityTier=1 PreemptMode=OFF\n";
        let site = Site::of(config, partitions);
        assert_eq!((site.basic, site.enforced), (false, Enforcement::Safely));
        assert_eq!((site.preemption, site.mode), (Preemption::ByQos, Mode::Suspend));
        assert_eq!((site.exempt_s, site.tier("hi"), site.tier("no")), (120, 10, 1));
        assert_eq!((site.qos_of("hi"), site.qos_of("mesh")), (None, Some("part")));
        let hi = &site.partitions["hi"];
        assert_eq!((hi.mode, hi.grace_s, hi.processors), (Mode::Requeue, 30, (32, 16)));
    }

    #[test]
    fn partitions_over_the_machine_that_are_not_gated_are_found() {
        let text = "machine = \"mesh:2\"\nnodes = \"n{}\"\npartition = \"p\"\n";
        let config = Config::parse(text).unwrap();
        let partitions = "PartitionName=p Nodes=n[0-1] State=UP\n\
                          PartitionName=debug Nodes=m0,n[1-3] State=UP\n\
                          PartitionName=off Nodes=n[0-1] State=DOWN\n\
                          PartitionName=other Nodes=m[0-9] State=UP\n\
                          PartitionName=none Nodes=(null) State=UP\n";
        assert_eq!(Site::of("", partitions).ungated(&config), ["debug"]);
    }

    #[test]
    fn a_look_takes_as_long_as_the_scheduler_sleeps() {
        let looks = |parameters: &str| looks("sched/backfill", parameters);
        assert_eq!((looks("(null)"), looks("bf_interval=1,bf_continue")), (40, 2));
        assert_eq!((looks("bf_window=9, bf_interval=60"), looks("bf_interval=x")), (80, 40));
        assert_eq!(looks("bf_interval=4000000"), MAX_INTERVAL_S);
        assert_eq!(super::looks("sched/builtin", "bf_interval=1"), 80);
    }

    #[test]
    fn highest_priorities_may_be_exempt_and_then_nothing_is_preempted() {
        let config = "PreemptMode = REQUEUE\nPreemptType = preempt/partition_prio\n";
        assert_eq!(Site::of(config, "").preemption, Preemption::ByPartition);
        let exempt = format!("{config}PreemptParameters = min_exempt_priority=100\n");
        assert_eq!(Site::of(&exempt, "").preemption, Preemption::Off);
        assert_eq!(Site::of("PreemptMode = OFF\nPreemptType = preempt/qos\n", "").mode, Mode::Off);
    }

    #[test]
    fn qos_of_sacctmgr_are_read() {
        let text = "normal|||cluster||00:00:00|1.000000|\n\
                    high|DenyOnLimit,OverPartQOS|low,normal|cancel|00:10:00|00:01:00|0.5|2\n\
                    torn|x\n";
        let qos = read_qos(text);
        assert_eq!(qos.len(), 2);
        let normal = &qos["normal"];
        assert!(normal.plain_usage && !normal.scales && normal.preempts.is_empty());
        assert_eq!((normal.mode, normal.exempt_s, normal.over_partition), (None, None, false));
        let high = &qos["high"];
        assert_eq!(high.preempts, ["low", "normal"]);
        assert_eq!((high.mode, high.exempt_s, high.grace_s), (Some(Mode::Cancel), Some(600), 60));
        assert!(high.over_partition && high.scales && !high.plain_usage);
    }
}
