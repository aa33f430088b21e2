//! `pavior slurm check`: what is missing in a running cluster's configuration.

use pavior_kernel::shown_bytes;

use crate::ask::{Call, LIMITS, Question, capture};
use crate::ledger::Ledger;
use crate::names::NodeName;
use crate::{Config, LICENCE, SlurmError};

/// What was found: faults, each with what to do, and warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What must be put right.
    pub faults: Vec<String>,
    /// What might be better otherwise.
    pub warnings: Vec<String>,
}

/// Asks a running cluster.
///
/// # Errors
/// If Slurm does not answer.
pub fn check(config: &Config) -> Result<Findings, SlurmError> {
    let shown = capture(Question::Show, &["config"])?;
    let partition = capture(Question::Show, &["partition", &config.partition, "-o"])?;
    let reservations = capture(Question::Show, &["reservation", "-o"])?;
    let ledger = Ledger::read(config)?;
    let mut found = judge(config, &shown, &partition, &reservations, &ledger);
    let gate = try_gate(config)?;
    found.faults.extend(gate.faults);
    found.warnings.extend(gate.warnings);
    Ok(found)
}

/// Tries whether the gate is there and as new as this program: it must refuse a job whose comment
/// has a line break. Slurm only tests the job, and queues nothing.
pub(crate) fn try_gate(config: &Config) -> Result<Findings, SlurmError> {
    let partition = format!("--partition={}", config.partition);
    let arguments = [&partition, "--comment=pavior check\ngate", "-o", "/dev/null", "--wrap=true"];
    let call = Call { question: Question::Test, arguments: &arguments, environment: &[] };
    let said = call.run(LIMITS)?;
    Ok(judge_gate(said.status.success(), &said.complaints))
}

fn judge_gate(accepted: bool, said: &[u8]) -> Findings {
    let text = String::from_utf8_lossy(said);
    let mut found = Findings::default();
    if text.contains("pavior: ") && text.contains("control characters") {
        return found;
    }
    if accepted {
        found.faults.push(
            "job_submit.lua: the gate that is installed is older than this program (control \
             characters in comments pass), or none is: run pavior slurm install DIR, and put \
             job_submit.lua beside slurm.conf"
                .into(),
        );
    } else {
        let said = shown_bytes(said.trim_ascii());
        found
            .warnings
            .push(format!("whether the gate is as new as this program is not known: {said}"));
    }
    found
}

fn judge(
    config: &Config,
    shown: &str,
    partition: &str,
    reservations: &str,
    ledger: &Ledger,
) -> Findings {
    let value = |key: &str| {
        let line = shown
            .lines()
            .find(|line| line.split('=').next().is_some_and(|name| name.trim() == key));
        line.and_then(|line| line.split_once('=')).map_or("", |(_, value)| value.trim())
    };
    let has = |key: &str, word: &str| value(key).split(',').any(|one| one.trim() == word);
    let mut found = Findings::default();
    let mut fault = |missing: bool, text: String| {
        if missing {
            found.faults.push(text);
        }
    };
    let licence = format!("{LICENCE}:1");
    fault(!has("Licenses", &licence), format!("slurm.conf: add Licenses={licence}"));
    fault(
        !has("JobSubmitPlugins", "lua"),
        "slurm.conf: add JobSubmitPlugins=lua, and put job_submit.lua beside it".into(),
    );
    fault(
        !reservations.lines().any(|line| line.starts_with(&format!("ReservationName={LICENCE} "))),
        format!(
            "run: scontrol create reservation ReservationName={LICENCE} Licenses={licence} \
             Users=root StartTime=now Duration=UNLIMITED Flags=LICENSE_ONLY"
        ),
    );
    fault(
        !partition.contains("OverSubscribe=EXCLUSIVE"),
        format!("slurm.conf: add OverSubscribe=EXCLUSIVE to PartitionName={}", config.partition),
    );
    fault(
        value("TopologyPlugin").contains("torus"),
        "slurm.conf: TopologyPlugin=topology/flat (none before 23.11): torus3d refuses node lists"
            .into(),
    );
    found.faults.extend(unmatched(config, ledger));
    if !has("SlurmctldParameters", "disable_job_shrink") {
        found.warnings.push(
            "slurm.conf: SlurmctldParameters=disable_job_shrink keeps running jobs whole".into(),
        );
    }
    if value("SchedulerParameters").contains("bf_licenses") {
        found.warnings.push(
            "slurm.conf: bf_licenses stops the main scheduler at waiting jobs; leave it out".into(),
        );
    }
    if !value("SchedulerParameters").contains("batch_sched_delay") {
        found.warnings.push(
            "slurm.conf: SchedulerParameters=bf_interval=1,batch_sched_delay=1 starts jobs sooner"
                .into(),
        );
    }
    found
}

/// Nodes that only the configuration has, or only the partition.
fn unmatched(config: &Config, ledger: &Ledger) -> Vec<String> {
    let known = |name: &NodeName| ledger.nodes.iter().any(|node| node.name == *name);
    let missing: Vec<&NodeName> = config.names.iter().filter(|name| !known(name)).collect();
    let strangers = ledger.nodes.iter().filter(|node| !config.nodes.contains_key(&node.name));
    let strangers: Vec<&str> = strangers.map(|node| node.name.as_str()).collect();
    let mut faults = Vec::new();
    if let Some(first) = missing.first() {
        faults.push(format!(
            "{} nodes of the configuration are not in partition {}, first {first}",
            missing.len(),
            config.partition
        ));
    }
    if let Some(first) = strangers.first() {
        faults.push(format!(
            "{} nodes of the partition are not in the configuration, first {first}",
            strangers.len()
        ));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_thing_is_named_with_its_line() {
        let text = "machine = \"mesh:2\"\nnodes = \"n{}\"\npartition = \"p\"\n";
        let config = Config::parse(text).unwrap();
        let found =
            judge(&config, "TopologyPlugin = topology/torus3d\n", "", "", &Ledger::default());
        assert_eq!(found.faults.len(), 6);
        for word in ["Licenses=", "JobSubmit", "reservation", "EXCLUSIVE", "flat", "2 nodes"] {
            assert!(found.faults.iter().any(|fault| fault.contains(word)), "{word}");
        }
        assert_eq!(found.warnings.len(), 2);
    }

    #[test]
    fn a_gate_that_is_older_than_the_program_is_a_fault() {
        let new = b"sbatch: error: pavior: a comment cannot have control characters\n";
        assert_eq!(judge_gate(false, new), Findings::default());
        let old = judge_gate(true, b"sbatch: Job 7 to start at 2026-11-25T01:00:00\n");
        assert!(old.faults[0].contains("older") && old.warnings.is_empty(), "{old:?}");
        let unknown = judge_gate(false, b"allocation failure: \x1b[31mdown\n");
        assert!(unknown.faults.is_empty() && !unknown.warnings[0].contains('\x1b'), "{unknown:?}");
    }
}
