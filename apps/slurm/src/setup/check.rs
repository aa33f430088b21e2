//! `pavior slurm check`: reports missing or unsuitable settings of a running cluster.

use std::collections::HashSet;
use std::path::Path;

use pavior::text::shown_bytes;

use crate::calls::{CALL_BOUNDS, Call, Question, capture};
use crate::config::NoteField;
use crate::gate::loaded::loaded_gate;
use crate::ledger::Ledger;
use crate::ledger::site::{Mode, Preemption, Site, value};
use crate::names::{NodeName, number};
use crate::setup::lists::{List, Lists};
use crate::{Config, SlurmError};

/// The results of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Faults and their remedies.
    pub faults: Vec<String>,
    /// Advice.
    pub warnings: Vec<String>,
}

/// Checks a running cluster.
///
/// # Errors
/// Returns an error if Slurm does not answer.
pub fn check(config: &Config) -> Result<Findings, SlurmError> {
    let shown = capture(Question::Show, &["config"])?;
    let reservations = capture(Question::Show, &["reservation", "-o"])?;
    let ledger = Ledger::read(config)?;
    // If slurmctld runs on another host, this host should have a copy of the file.
    let file = Lists::of_file(Path::new(value(&shown, "SLURM_CONF")));
    let mut found = judge(config, (&shown, file.as_ref()), &reservations, &ledger);
    for name in &config.partitions {
        found.faults.extend(judge_partition(config, name, partition(name)?.as_deref()));
    }
    let site = Site::read(None)?;
    found.warnings.extend(preemption_advice(config, &shown, &site));
    let unknown = |error: &String| format!("cannot read QOS, so limits are unknown: {error}");
    found.faults.extend(site.unknown.iter().map(unknown));
    let ungated = |name: &str| {
        format!(
            "slurm.conf: jobs in partition {} start on the machine's nodes without the gate: add \
             this partition to partitions in pavior.toml, or remove the nodes from it",
            pavior::text::shown(name)
        )
    };
    found.warnings.extend(site.ungated(config).into_iter().map(ungated));
    found.faults.extend(loaded_gate(config)?.fault(config));
    Ok(found)
}

/// Returns Slurm's description of a partition, or `None` if it does not exist.
pub(crate) fn partition(name: &str) -> Result<Option<String>, SlurmError> {
    let (question, arguments) = (Question::Show, &["partition", name, "-o"]);
    let said = Call { question, arguments, environment: &[] }.run(CALL_BOUNDS)?;
    let output = String::from_utf8_lossy(&said.stdout);
    match (said.status.success(), output.contains("not found")) {
        (true, _) => Ok(Some(output.into_owned())),
        (false, true) => Ok(None),
        (false, false) => {
            let message = shown_bytes(said.stderr.trim_ascii());
            Err(SlurmError::Failed { command: "scontrol", message })
        }
    }
}

fn judge(
    config: &Config,
    (shown, file): (&str, Option<&Lists>),
    reservations: &str,
    ledger: &Ledger,
) -> Findings {
    let value = |key: &str| value(shown, key);
    let has = |key: &str, word: &str| value(key).split(',').any(|one| one.trim() == word);
    let mut found = Findings::default();
    let mut fault = |missing: bool, text: String| {
        if missing {
            found.faults.push(text);
        }
    };
    let name = &config.licence;
    for text in Lists::shown(shown).faults(file, config) {
        fault(true, text);
    }
    fault(
        !reservations.lines().any(|line| line.starts_with(&format!("ReservationName={name} "))),
        format!(
            "the reservation {name} does not exist; run: scontrol create reservation \
             ReservationName={name} Licenses={name}:1 Users=root StartTime=now \
             Duration=UNLIMITED Flags=LICENSE_ONLY"
        ),
    );
    fault(
        value("TopologyPlugin").contains("torus"),
        "slurm.conf: use TopologyPlugin=topology/flat (topology/none before 23.11), because \
         torus3d rejects node lists"
            .into(),
    );
    let extra = config.tell == NoteField::Extra;
    fault(
        extra && release(value("SLURM_VERSION")) < (23, 2),
        "pavior.toml: tell = \"extra\" requires Slurm 23.02 or later".into(),
    );
    fault(
        extra && value("SchedulerParameters").contains("extra_constraints"),
        "pavior.toml: tell = \"extra\" conflicts with extra_constraints in slurm.conf, which makes \
         Slurm interpret that field"
            .into(),
    );
    let unmatched = NodeDifference::of(config, ledger);
    found.faults.extend(unmatched.faults(config));
    let lists = Lists::shown(shown);
    found.warnings = advice(shown, |list| lists.line(list, config));
    let powers_off = !matches!(value("SuspendProgram"), "" | "(null)");
    if powers_off && !unmatched.missing.is_empty() && !has("PrivateData", "cloud") {
        found.warnings.push(format!(
            "slurm.conf: add {}, because Slurm 22.05 hides powered-off cloud nodes",
            lists.line(List::Private, config)
        ));
    }
    found
}

/// Parses the year and month of a release such as 22.05.8. Other text counts as older than all
/// releases.
fn release(text: &str) -> (u32, u32) {
    let mut parts = text.split('.').map(|part| number::<u32>(part).unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

fn judge_partition(config: &Config, name: &str, partition: Option<&str>) -> Vec<String> {
    let Some(partition) = partition else {
        return vec![format!("slurm.conf: there is no partition {name}")];
    };
    let word = |text: &str| partition.split_whitespace().any(|word| word == text);
    let mut faults = Vec::new();
    // Slurm prints the first form up to 25.11 and the second since 26.05.
    if !word("OverSubscribe=EXCLUSIVE") && !word("Exclusive=NODE") {
        faults.push(format!("slurm.conf: add OverSubscribe=EXCLUSIVE to PartitionName={name}"));
    }
    let nodes = config.grid.nodes();
    if !word(&format!("TotalNodes={nodes}")) {
        faults.push(format!(
            "slurm.conf: partition {name} does not have the {nodes} nodes of {}",
            config.grid
        ));
    }
    faults
}

/// Returns advice based on the output of `scontrol show config`.
fn advice(shown: &str, line: impl Fn(List) -> String) -> Vec<String> {
    let value = |key: &str| value(shown, key);
    let scheduler = value("SchedulerParameters");
    let mut advice = Vec::new();
    let mut if_so = |so: bool, text: String| {
        if so {
            advice.push(text);
        }
    };
    if_so(
        !value("SlurmctldParameters").split(',').any(|one| one.trim() == "disable_job_shrink"),
        format!("slurm.conf: add {}, so that running jobs cannot shrink", line(List::Slurmctld)),
    );
    if_so(
        scheduler.contains("bf_licenses"),
        "slurm.conf: remove bf_licenses, which stops the main scheduler at gated jobs".into(),
    );
    if_so(
        !scheduler.contains("batch_sched_delay"),
        format!("slurm.conf: add {}, so that jobs start sooner", line(List::Scheduler)),
    );
    advice
}

/// Returns warnings about preemption settings that do not work with boxes.
fn preemption_advice(config: &Config, shown: &str, site: &Site) -> Vec<String> {
    let mut advice = Vec::new();
    let parameters = value(shown, "PreemptParameters");
    if parameters.contains("min_exempt_priority") {
        advice.push(
            "slurm.conf: PreemptParameters=min_exempt_priority exempts all jobs, because the \
             daemon starts them with the highest priority: no job is preempted"
                .into(),
        );
    }
    if site.preemption == Preemption::Off {
        return advice;
    }
    let suspends = |mode: Mode| mode == Mode::Suspend;
    let partitions = config.partitions.iter().filter_map(|name| site.partitions.get(name));
    let by_partition = site.preemption == Preemption::ByPartition;
    let by_qos = site.preemption == Preemption::ByQos;
    if suspends(site.mode)
        || by_partition && partitions.into_iter().any(|partition| suspends(partition.mode))
        || by_qos && site.qos.values().any(|qos| qos.mode.is_some_and(suspends))
    {
        advice.push(
            "slurm.conf: PreemptMode=SUSPEND or GANG leaves preempted jobs on their nodes, so no \
             box becomes free, and such jobs are not preempted; use REQUEUE or CANCEL"
                .into(),
        );
    }
    if shown.lines().any(|line| line.starts_with("PreemptMode") && line.contains("WITHIN")) {
        advice.push(
            "slurm.conf: PreemptMode=WITHIN compares priorities, but all running jobs have the \
             highest priority: no job is preempted within its QOS"
                .into(),
        );
    }
    advice
}

/// The nodes that are only in the configuration or only in the partitions.
pub(crate) struct NodeDifference<'a> {
    pub(crate) missing: Vec<&'a NodeName>,
    pub(crate) strangers: Vec<&'a NodeName>,
}

impl<'a> NodeDifference<'a> {
    pub(crate) fn of(config: &'a Config, ledger: &'a Ledger) -> NodeDifference<'a> {
        let known: HashSet<&NodeName> = ledger.nodes.iter().map(|node| &node.name).collect();
        let strangers = known.iter().filter(|name| !config.nodes.contains_key(name));
        let mut strangers: Vec<&NodeName> = strangers.copied().collect();
        strangers.sort_unstable();
        let missing = config.names.iter().filter(|name| !known.contains(name)).collect();
        NodeDifference { missing, strangers }
    }

    pub(crate) fn faults(&self, config: &Config) -> Vec<String> {
        let of = |nodes: &[&NodeName], text: String| {
            nodes
                .first()
                .map(|first| format!("{} nodes in {text}, starting with {first}", nodes.len()))
        };
        let partition = &config.partition;
        let missing =
            of(&self.missing, format!("the configuration are not in partition {partition}"));
        let strangers =
            of(&self.strangers, format!("partition {partition} are not in the configuration"));
        missing.into_iter().chain(strangers).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::site::Qos;

    fn config(more: &str) -> Config {
        let text = "machine = \"mesh:2\"\nnodes = \"n{}\"\npartition = \"p\"\n";
        Config::parse(&format!("{text}{more}")).unwrap()
    }

    #[test]
    fn each_missing_thing_is_named_with_its_line() {
        let shown = "TopologyPlugin = topology/torus3d\n";
        let found = judge(&config(""), (shown, None), "", &Ledger::default());
        assert_eq!(found.faults.len(), 5);
        for word in ["Licenses=", "JobSubmit", "reservation", "flat", "2 nodes"] {
            assert!(found.faults.iter().any(|fault| fault.contains(word)), "{word}");
        }
        assert_eq!(found.warnings.len(), 2);
        let shown = "SuspendProgram = /off\nPrivateData = jobs\n";
        let found = judge(&config(""), (shown, None), "", &Ledger::default());
        assert!(found.warnings.iter().any(|text| text.contains("PrivateData=jobs,cloud")));
        let shown = "SLURM_VERSION = 22.05.8\nSchedulerParameters = extra_constraints\n";
        let found = judge(&config("tell = \"extra\"\n"), (shown, None), "", &Ledger::default());
        assert_eq!(found.faults.iter().filter(|fault| fault.contains("tell =")).count(), 2);
    }

    #[test]
    fn partitions_as_each_release_shows_them() {
        let faults = |text: &str| judge_partition(&config(""), "p", Some(text)).join("; ");
        assert_eq!(faults("PartitionName=p OverSubscribe=EXCLUSIVE TotalCPUs=2 TotalNodes=2"), "");
        assert_eq!(faults("PartitionName=p Exclusive=NODE TotalCPUs=2 TotalNodes=2"), "");
        let wrong = faults("PartitionName=p OverSubscribe=NO Exclusive=NO TotalNodes=20");
        assert!(
            wrong.contains("EXCLUSIVE") && wrong.contains("does not have the 2 nodes"),
            "{wrong}"
        );
        assert!(judge_partition(&config(""), "p", None)[0].contains("no partition p"));
    }

    #[test]
    fn what_does_not_work_is_said() {
        let by_qos = |low: Qos| Site {
            preemption: Preemption::ByQos,
            mode: Mode::Requeue,
            qos: [("low".into(), low)].into(),
            ..Site::default()
        };
        let config = "machine = \"mesh:2\"\nnodes = \"n{}\"\npartition = \"lo\"\n";
        let config = Config::parse(config).unwrap();
        let words = |shown: &str, site: &Site| preemption_advice(&config, shown, site).join("\n");
        assert_eq!(words("", &by_qos(Qos::default())), "");
        let suspend = by_qos(Qos { mode: Some(Mode::Suspend), ..Qos::default() });
        assert!(words("", &suspend).contains("SUSPEND"));
        let within = words("PreemptMode = REQUEUE,WITHIN\n", &by_qos(Qos::default()));
        assert!(within.contains("within its QOS"), "{within}");
        let exempt = words("PreemptParameters = min_exempt_priority=5\n", &Site::default());
        assert!(exempt.contains("min_exempt_priority"), "{exempt}");
    }
}
