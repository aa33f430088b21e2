//! The `pavior slurm check` command, which reports missing or unsuitable settings in a cluster.

use std::path::Path;

use pavior::text::shown;

use crate::calls::{Call, Query};
use crate::config::NoteField;
use crate::gate::loaded::loaded_gate;
use crate::ledger::reservations::Reservation;
use crate::ledger::site::{Mode, Preemption, Site, partition_record, value};
use crate::ledger::{Ledger, NodeDifference};
use crate::names::number;
use crate::setup::lists::{List, Lists};
use crate::{Config, SlurmError};

/// The results of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Faults and their remedies.
    pub faults: Vec<String>,
    /// Recommendations.
    pub warnings: Vec<String>,
}

/// Checks a running cluster.
///
/// # Errors
/// Returns an error if Slurm does not respond.
pub fn check(config: &Config) -> Result<Findings, SlurmError> {
    let loaded = Call::new(Query::Show, &["config"]).answer()?;
    let ledger = Ledger::read(config)?;
    // If slurmctld runs on another host, this host should have its own copy of the file.
    let file = Lists::from_file(Path::new(value(&loaded, "SLURM_CONF")));
    let mut findings = Findings {
        faults: Lists::loaded(&loaded).problems(file.as_ref(), config),
        warnings: advice(config, &loaded),
    };
    findings.faults.extend(conf_faults(config, &loaded, &ledger.reservations));
    let difference = NodeDifference::new(config, &ledger);
    findings.faults.extend(difference.faults(config));
    findings.warnings.extend(cloud_advice(config, &loaded, &difference));
    for name in &config.partitions {
        let record = partition_record(name)?;
        findings.faults.extend(partition_faults(config, name, record.as_deref()));
    }
    let site = Site::read(None)?;
    findings.warnings.extend(preemption_advice(config, &loaded, &site));
    let unknown =
        |error: &String| format!("cannot read the QOS records, so limits are unknown: {error}");
    findings.faults.extend(site.unknown.iter().map(unknown));
    let ungated = |name: &str| {
        format!(
            "slurm.conf: jobs in partition {} can use the machine's nodes but bypass the gate; add \
             this partition to partitions in pavior.toml, or remove the machine's nodes from this \
             partition",
            shown(name)
        )
    };
    findings.warnings.extend(site.ungated(config).into_iter().map(ungated));
    findings.faults.extend(loaded_gate(config)?.fault(config));
    Ok(findings)
}

/// Returns faults in the reservation, in the topology and in the field configured for notes.
fn conf_faults(config: &Config, loaded: &str, reservations: &[Reservation]) -> Vec<String> {
    let value = |key: &str| value(loaded, key);
    let name = &config.license;
    let mut faults = Vec::new();
    if !reservations.iter().any(|reservation| reservation.name == *name) {
        faults.push(format!(
            "the reservation {name} does not exist; run: scontrol create reservation \
             ReservationName={name} Licenses={name}:1 Users=root StartTime=now \
             Duration=UNLIMITED Flags=LICENSE_ONLY"
        ));
    }
    if value("TopologyPlugin").contains("torus") {
        faults.push(
            "slurm.conf: torus3d rejects node lists; use TopologyPlugin=topology/flat \
             (topology/none before Slurm 23.11)"
                .into(),
        );
    }
    if config.note_field == NoteField::Extra {
        if release(value("SLURM_VERSION")) < (23, 2) {
            faults.push("pavior.toml: tell = \"extra\" requires Slurm 23.02 or later".into());
        }
        if value("SchedulerParameters").contains("extra_constraints") {
            faults.push(
                "pavior.toml: tell = \"extra\" conflicts with slurm.conf, where extra_constraints \
                 makes Slurm interpret the extra field as node constraints"
                    .into(),
            );
        }
    }
    faults
}

/// Parses the year and month of a release such as 22.05.8. Treats any other text as older than
/// every release.
fn release(text: &str) -> (u32, u32) {
    let mut parts = text.split('.').map(|part| number::<u32>(part).unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// Returns a partition's faults. `record` describes the partition, if there is one.
fn partition_faults(config: &Config, name: &str, record: Option<&str>) -> Vec<String> {
    let Some(record) = record else {
        return vec![format!("slurm.conf: partition {name} does not exist")];
    };
    let has = |setting: &str| record.split_whitespace().any(|word| word == setting);
    let mut faults = Vec::new();
    // Slurm prints the first form up to release 25.11 and the second from 26.05 on.
    if !has("OverSubscribe=EXCLUSIVE") && !has("Exclusive=NODE") {
        faults.push(format!("slurm.conf: add OverSubscribe=EXCLUSIVE to PartitionName={name}"));
    }
    let nodes = config.grid.nodes();
    if !has(&format!("TotalNodes={nodes}")) {
        faults.push(format!(
            "slurm.conf: partition {name} does not have as many nodes as {} ({nodes})",
            config.grid
        ));
    }
    faults
}

/// Returns advice based on the output of `scontrol show config`.
fn advice(config: &Config, loaded: &str) -> Vec<String> {
    let line = |list: List| Lists::loaded(loaded).line(list, config);
    let scheduler = value(loaded, "SchedulerParameters");
    let mut advice = Vec::new();
    if !has_word(loaded, "SlurmctldParameters", "disable_job_shrink") {
        let line = line(List::Slurmctld);
        advice.push(format!("slurm.conf: add {line} to prevent running jobs from shrinking"));
    }
    if scheduler.contains("bf_licenses") {
        advice.push(
            "slurm.conf: bf_licenses makes the main scheduler stop at gated jobs; remove \
             bf_licenses"
                .into(),
        );
    }
    if !scheduler.contains("batch_sched_delay") {
        let line = line(List::Scheduler);
        advice.push(format!("slurm.conf: add {line} to make jobs start sooner"));
    }
    advice
}

/// Returns advice if nodes may be missing only because Slurm hides them.
fn cloud_advice(config: &Config, loaded: &str, difference: &NodeDifference<'_>) -> Option<String> {
    let powers_off = !matches!(value(loaded, "SuspendProgram"), "" | "(null)");
    let is_hidden =
        powers_off && !difference.missing.is_empty() && !has_word(loaded, "PrivateData", "cloud");
    is_hidden.then(|| {
        format!(
            "slurm.conf: Slurm 22.05 hides powered-off cloud nodes; add {}",
            Lists::loaded(loaded).line(List::Private, config)
        )
    })
}

/// Returns true if a key's comma-separated value contains a word.
fn has_word(loaded: &str, key: &str, word: &str) -> bool {
    value(loaded, key).split(',').any(|one| one.trim() == word)
}

/// Returns warnings about preemption settings that do not work with boxes.
fn preemption_advice(config: &Config, loaded: &str, site: &Site) -> Vec<String> {
    let mut advice = Vec::new();
    let parameters = value(loaded, "PreemptParameters");
    if parameters.contains("min_exempt_priority") {
        advice.push(
            "slurm.conf: PreemptParameters=min_exempt_priority prevents all preemption, because \
             the daemon starts every job with the highest priority"
                .into(),
        );
    }
    if site.preemption == Preemption::Off {
        return advice;
    }
    let suspends = |mode: Mode| mode == Mode::Suspend;
    let mut partitions = config.partitions.iter().filter_map(|name| site.partitions.get(name));
    let by_partition = site.preemption == Preemption::ByPartition;
    let by_qos = site.preemption == Preemption::ByQos;
    if suspends(site.mode)
        || by_partition && partitions.any(|partition| suspends(partition.mode))
        || by_qos && site.qos.values().any(|qos| qos.mode.is_some_and(suspends))
    {
        advice.push(
            "slurm.conf: with PreemptMode=SUSPEND or GANG, preempted jobs would stay on their \
             nodes and free no box, so jobs subject to these modes are not preempted; use REQUEUE \
             or CANCEL"
                .into(),
        );
    }
    if value(loaded, "PreemptMode").contains("WITHIN") {
        advice.push(
            "slurm.conf: PreemptMode=WITHIN compares priorities, but all running jobs have the \
             highest priority, so no job is preempted within its QOS"
                .into(),
        );
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::qos::Qos;

    fn config() -> Config {
        Config::of_machine("mesh:2")
    }

    #[test]
    fn each_fault_contains_the_remedy() {
        let found = conf_faults(&config(), "TopologyPlugin = topology/torus3d\n", &[]);
        assert!(found.len() == 2 && found[0].contains("reservation") && found[1].contains("flat"));
        let loaded = "SLURM_VERSION = 22.05.8\nSchedulerParameters = extra_constraints\n";
        let extra = Config::with_lines("mesh:2", "tell = \"extra\"\n");
        let found = conf_faults(&extra, loaded, &[]);
        assert_eq!(found.iter().filter(|fault| fault.contains("tell =")).count(), 2);
        assert_eq!(advice(&config(), "").len(), 2);
    }

    #[test]
    fn missing_nodes_are_a_fault_and_may_be_hidden() {
        let (config, ledger) = (config(), Ledger::default());
        let difference = NodeDifference::new(&config, &ledger);
        let fault = "2 nodes in the configuration but not in partition p, starting with n0";
        assert_eq!(difference.faults(&config), [fault]);
        let advice = |loaded: &str| cloud_advice(&config, loaded, &difference);
        let text = advice("SuspendProgram = /off\nPrivateData = jobs\n").unwrap();
        assert!(text.contains("PrivateData=jobs,cloud"), "{text}");
        assert_eq!(advice("PrivateData = jobs\n"), None);
    }

    #[test]
    fn partitions_of_each_release_are_checked() {
        let faults = |text: &str| partition_faults(&config(), "p", Some(text)).join("; ");
        assert_eq!(faults("PartitionName=p OverSubscribe=EXCLUSIVE TotalCPUs=2 TotalNodes=2"), "");
        assert_eq!(faults("PartitionName=p Exclusive=NODE TotalCPUs=2 TotalNodes=2"), "");
        let wrong = faults("PartitionName=p OverSubscribe=NO Exclusive=NO TotalNodes=20");
        assert!(wrong.contains("EXCLUSIVE") && wrong.contains("as mesh:2"), "{wrong}");
        assert!(partition_faults(&config(), "p", None)[0].contains("partition p does not exist"));
    }

    #[test]
    fn unsuitable_preemption_settings_are_reported() {
        let by_qos = |low: Qos| Site {
            preemption: Preemption::ByQos,
            mode: Mode::Requeue,
            qos: [("low".into(), low)].into(),
            ..Site::default()
        };
        let words =
            |loaded: &str, site: &Site| preemption_advice(&config(), loaded, site).join("\n");
        assert_eq!(words("", &by_qos(Qos::default())), "");
        let suspend = by_qos(Qos { mode: Some(Mode::Suspend), ..Qos::default() });
        assert!(words("", &suspend).contains("SUSPEND"));
        let within = words("PreemptMode = REQUEUE,WITHIN\n", &by_qos(Qos::default()));
        assert!(within.contains("within its QOS"), "{within}");
        let exempt = words("PreemptParameters = min_exempt_priority=5\n", &Site::default());
        assert!(exempt.contains("min_exempt_priority"), "{exempt}");
    }
}
