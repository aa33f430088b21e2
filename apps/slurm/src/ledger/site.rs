//! The parts of the site's Slurm configuration that affect job order, limits and preemption. Only
//! operators can change them. The daemon reads them at startup, every minute, and when a job
//! arrives. QOSes come from slurmdbd. While slurmdbd does not respond, the daemon uses the previous
//! values.

use std::collections::HashMap;

use pavior::text::shown_bytes;

use crate::calls::{Call, Query};
use crate::ledger::qos::{self, Qos};
use crate::ledger::times::time_limit;
use crate::names::{NodeName, node_lists, number};
use crate::{CallFault, Config, SlurmError};

/// The longest time that we assume between runs of a Slurm scheduler, in seconds.
const MAX_INTERVAL_S: u64 = 600;

/// The site's Slurm configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Site {
    /// True if jobs run first come, first served. If so, closing a job's gate must restore the
    /// job's old priority.
    pub(crate) is_fifo: bool,
    pub(crate) enforced: Enforcement,
    /// The time, in seconds, that Slurm may take to examine a job after its gate opens.
    pub(crate) examination_s: u64,
    pub(crate) preemption: Preemption,
    /// The default preemption mode, which QOSes and partitions can override.
    pub(crate) mode: Mode,
    /// The minimum time that a job must run before it can be preempted, in seconds.
    pub(crate) exempt_s: u64,
    pub(crate) partitions: HashMap<String, Partition>,
    pub(crate) qos: HashMap<String, Qos>,
    /// The reason why the required QOSes are unknown, or `None` if they are known.
    pub(crate) unknown: Option<String>,
}

/// The limits that Slurm enforces (`AccountingStorageEnforce`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Enforcement {
    #[default]
    Nothing,
    Limits,
    /// Slurm enforces limits and starts a job only if the remaining minutes cover its time limit.
    Safely,
}

/// The rule that determines which jobs may preempt others (`PreemptType`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Preemption {
    #[default]
    Off,
    ByQos,
    ByPartition,
}

/// A preemption mode (`PreemptMode`), which determines what happens to preempted jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Off,
    Requeue,
    Cancel,
    /// The job keeps its nodes, so no box is freed. This mode also represents gang scheduling.
    Suspend,
}

/// A partition's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) tier: u64,
    pub(crate) mode: Mode,
    pub(crate) grace_s: u64,
    pub(crate) qos: Option<String>,
    pub(crate) processors: u64,
    /// The number of nodes, including those that jobs cannot use.
    pub(crate) total_nodes: u64,
    /// The nodes. Empty if jobs cannot start in the partition.
    pub(crate) nodes: Vec<NodeName>,
}

impl Mode {
    pub(super) fn of(text: &str) -> Mode {
        let has = |word: &str| text.split(',').any(|one| one.trim().eq_ignore_ascii_case(word));
        if has("SUSPEND") || has("GANG") {
            Mode::Suspend
        } else if has("REQUEUE") {
            Mode::Requeue
        } else if has("CANCEL") {
            Mode::Cancel
        } else {
            Mode::Off
        }
    }

    /// Returns true if preempted jobs release their nodes.
    pub(crate) fn releases_nodes(self) -> bool {
        matches!(self, Mode::Requeue | Mode::Cancel)
    }
}

impl Site {
    /// Reads the configuration from Slurm.
    ///
    /// # Errors
    /// Returns an error if slurmctld does not respond.
    pub(crate) fn read(last: Option<&Site>) -> Result<Site, SlurmError> {
        let mut site = Site::of(
            &Call::new(Query::Show, &["config"]).answer()?,
            &Call::new(Query::Show, &["partition", "-o"]).answer()?,
        );
        if site.enforced != Enforcement::Nothing || site.preemption == Preemption::ByQos {
            match qos::read() {
                Ok(qos) => site.qos = qos,
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
        let enforcement = value("AccountingStorageEnforce");
        let enforces = |word: &str| enforcement.split(',').any(|one| one.trim() == word);
        let exempt = value("PreemptExemptTime");
        let mode = Mode::of(value("PreemptMode"));
        Site {
            is_fifo: is_fifo(config),
            enforced: if enforces("safe") {
                Enforcement::Safely
            } else if enforces("limits") {
                Enforcement::Limits
            } else {
                Enforcement::Nothing
            },
            examination_s: examination_s(value("SchedulerType"), value("SchedulerParameters")),
            // With `min_exempt_priority`, the high priority that the daemon gives to jobs would
            // exempt them from preemption.
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

    /// Returns a partition's tier. Jobs in higher tiers come first.
    pub(crate) fn tier(&self, partition: &str) -> u64 {
        self.partitions.get(partition).map_or(1, |partition| partition.tier)
    }

    /// Returns partitions that contain nodes of the machine but are not in the configuration. Jobs
    /// in these partitions start without a gate.
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

/// Returns true if Slurm schedules jobs first come, first served.
pub(crate) fn is_fifo(config: &str) -> bool {
    value(config, "PriorityType") == "priority/basic"
}

/// Returns the maximum interval between runs of Slurm's scheduler, in seconds, plus a third of this
/// interval to allow for the run itself. The scheduler often runs earlier, for example when a job
/// is submitted, ends or changes.
fn examination_s(scheduler: &str, parameters: &str) -> u64 {
    let interval = |key: &str, usual: u64| {
        let mut all = parameters.split(',').filter_map(|one| one.trim().split_once('='));
        all.find(|(name, _)| *name == key).and_then(|(_, text)| number(text)).unwrap_or(usual)
    };
    let interval = match scheduler {
        "sched/backfill" => interval("bf_interval", 30),
        _ => interval("sched_interval", 60),
    };
    interval.saturating_add(interval.div_ceil(3)).min(MAX_INTERVAL_S)
}

/// Returns Slurm's description of a partition, or `None` if none has this name.
pub(crate) fn partition_record(name: &str) -> Result<Option<String>, SlurmError> {
    let output = Call::new(Query::Show, &["partition", name, "-o"]).run()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        return Ok(Some(text.into_owned()));
    }
    if text.contains("not found") {
        return Ok(None);
    }
    let fault = CallFault::Failed(shown_bytes(output.stderr.trim_ascii()));
    Err(SlurmError::Call { command: "scontrol", fault })
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
        processors: count("TotalCPUs"),
        total_nodes: count("TotalNodes"),
        nodes: match of("State") {
            "UP" | "DRAIN" => node_lists::expand(of("Nodes")).unwrap_or_default(),
            _ => Vec::new(),
        },
    };
    (!name.is_empty()).then(|| (name.to_string(), partition))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_of_24_11_is_parsed() {
        let config = "AccountingStorageEnforce = associations,limits,qos,safe\n\
                      PreemptMode             = GANG,SUSPEND\n\
                      PreemptType             = preempt/qos\n\
                      PreemptExemptTime       = 00:02:00\n\
                      PriorityType            = priority/multifactor\n";
        let partitions = "PartitionName=hi QoS=N/A GraceTime=30 PriorityTier=10 \
                          PreemptMode=REQUEUE TotalCPUs=32 TotalNodes=16\n\
                          PartitionName=mesh QoS=part PriorityTier=1 PreemptMode=OFF\n";
        let site = Site::of(config, partitions);
        assert_eq!((site.is_fifo, site.enforced), (false, Enforcement::Safely));
        assert_eq!((site.preemption, site.mode), (Preemption::ByQos, Mode::Suspend));
        assert_eq!((site.exempt_s, site.tier("hi"), site.tier("no")), (120, 10, 1));
        assert_eq!((site.qos_of("hi"), site.qos_of("mesh")), (None, Some("part")));
        let hi = &site.partitions["hi"];
        assert_eq!((hi.mode, hi.grace_s), (Mode::Requeue, 30));
        assert_eq!((hi.processors, hi.total_nodes), (32, 16));
    }

    #[test]
    fn ungated_partitions_with_nodes_of_the_machine_are_found() {
        let config = Config::of_machine("mesh:2");
        let partitions = "PartitionName=p Nodes=n[0-1] State=UP\n\
                          PartitionName=debug Nodes=m0,n[1-3] State=UP\n\
                          PartitionName=off Nodes=n[0-1] State=DOWN\n\
                          PartitionName=other Nodes=m[0-9] State=UP\n\
                          PartitionName=none Nodes=(null) State=UP\n";
        assert_eq!(Site::of("", partitions).ungated(&config), ["debug"]);
    }

    #[test]
    fn the_examination_time_follows_the_scheduler_interval() {
        let backfill = |parameters: &str| examination_s("sched/backfill", parameters);
        assert_eq!((backfill("(null)"), backfill("bf_interval=1,bf_continue")), (40, 2));
        assert_eq!((backfill("bf_window=9, bf_interval=60"), backfill("bf_interval=x")), (80, 40));
        for long in [4_000_000, u64::MAX] {
            assert_eq!(backfill(&format!("bf_interval={long}")), MAX_INTERVAL_S);
        }
        assert_eq!(examination_s("sched/builtin", "bf_interval=1"), 80);
    }

    #[test]
    fn preemption_is_off_if_the_highest_priorities_are_exempt() {
        let config = "PreemptMode = REQUEUE\nPreemptType = preempt/partition_prio\n";
        assert_eq!(Site::of(config, "").preemption, Preemption::ByPartition);
        let exempt = format!("{config}PreemptParameters = min_exempt_priority=100\n");
        assert_eq!(Site::of(&exempt, "").preemption, Preemption::Off);
        assert_eq!(Site::of("PreemptMode = OFF\nPreemptType = preempt/qos\n", "").mode, Mode::Off);
    }
}
