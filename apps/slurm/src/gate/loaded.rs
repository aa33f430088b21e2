//! Determines which gate slurmctld has loaded, by submitting a test job with a special comment. The
//! gate rejects this job with a message that contains the gate's checksum. Slurm never queues test
//! jobs. The comment ends with a line break, which the comment of an accepted job never contains.

use std::path::Path;

use pavior::text::shown_bytes;

use crate::calls::{Call, Query};
use crate::{Config, SlurmError, gate};

/// The gate that slurmctld has loaded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LoadedGate {
    /// The gate that this program generates for this configuration.
    Current,
    /// The current gate, but without protection against users who change waiting jobs.
    Unguarded,
    /// A gate from another version or configuration.
    Other,
    Absent,
    /// Unknown, because something other than the gate rejected the test job. The text is the
    /// rejection message.
    Unknown(String),
}

/// Determines which gate is loaded for a configuration.
///
/// # Errors
/// Returns an error if the command cannot be run or does not respond.
pub(crate) fn loaded_gate(config: &Config) -> Result<LoadedGate, SlurmError> {
    let partition = format!("--partition={}", config.partitions[0]);
    let comment = format!("--comment=pavior-check {}\n", config.license);
    // Before calling the gate, some sites reject jobs without a time limit.
    let arguments = [&partition, &comment, "--time=1", "-o", "/dev/null", "--wrap=true"];
    let output = Call::new(Query::Test, &arguments).run()?;
    Ok(LoadedGate::from_reply(config, output.status.success(), &output.stderr))
}

impl LoadedGate {
    /// Determines the loaded gate from Slurm's reply to the test job.
    fn from_reply(config: &Config, is_accepted: bool, stderr: &[u8]) -> LoadedGate {
        let text = String::from_utf8_lossy(stderr);
        let module = gate::module(config);
        let checksum = gate::checksum(&module).expect("a gate has its checksum");
        match text.split_once(&format!("pavior: gate {} ", config.license)) {
            Some((_, rest)) if !rest.starts_with(checksum) => LoadedGate::Other,
            Some((_, rest)) if rest.contains("changes open") => LoadedGate::Unguarded,
            Some(_) => LoadedGate::Current,
            None if is_accepted => LoadedGate::Absent,
            None => LoadedGate::Unknown(shown_bytes(stderr.trim_ascii())),
        }
    }

    /// Returns true if any version of the gate is loaded.
    pub(crate) fn is_installed(&self) -> bool {
        matches!(self, LoadedGate::Current | LoadedGate::Unguarded | LoadedGate::Other)
    }

    /// Describes the fault and how to fix it. Returns `None` for the current gate.
    pub(crate) fn fault(&self, config: &Config) -> Option<String> {
        let text = match self {
            LoadedGate::Current => return None,
            LoadedGate::Unguarded => {
                "it calls pavior.submit but not pavior.modify, so users can change waiting jobs; \
                 add slurm_job_modify = pavior.modify(slurm_job_modify)"
                    .into()
            }
            LoadedGate::Other => {
                "slurmctld has loaded a gate for another version or configuration; run pavior \
                 slurm install DIR again (DIR is the directory that contains slurm.conf), and then \
                 touch your job_submit.lua to make Slurm reload the gate"
                    .into()
            }
            LoadedGate::Absent => format!(
                "it is missing or does not call the gate; run pavior slurm install DIR, where DIR \
                 is the directory that contains slurm.conf; if you have your own job_submit.lua, \
                 add these lines at its end, before it returns:\n{}",
                gate::calls(config, Path::new("DIR"))
            ),
            LoadedGate::Unknown(message) => format!(
                "cannot determine whether slurmctld has loaded the gate, because something else \
                 rejects the test job ({message}); allow one-minute jobs in your own \
                 job_submit.lua, and in JobSubmitPlugins, put lua before any plugins that reject \
                 such jobs"
            ),
        };
        Some(format!("job_submit.lua: {text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reply_identifies_a_gate() {
        let config = Config::of_machine("mesh:2");
        let module = gate::module(&config);
        let sum = gate::checksum(&module).unwrap();
        let gate =
            |sum: &str, more: &str| format!("sbatch: error: pavior: gate pavior {sum}, {more}");
        let accepted = "sbatch: Job 7 to start at 2026-11-25T01:00:00\n";
        for (is_accepted, complaints, is_installed, words) in [
            (false, gate(sum, "changes open"), true, "pavior.modify"),
            (false, gate("0123456789abcdef", "changes guarded"), true, "another version"),
            (true, accepted.into(), false, "dofile"),
            (false, "allocation failure: \x1b[31mdown\n".into(), false, "cannot determine"),
        ] {
            let loaded = LoadedGate::from_reply(&config, is_accepted, complaints.as_bytes());
            let fault = loaded.fault(&config).unwrap();
            assert!(fault.contains(words) && !fault.contains('\x1b'), "{fault}");
            assert_eq!(loaded.is_installed(), is_installed, "{complaints}");
        }
        let guarded = gate(sum, "changes guarded");
        let current = LoadedGate::from_reply(&config, false, guarded.as_bytes());
        assert_eq!((current.fault(&config), current.is_installed()), (None, true));
        // The module assembles its message from these parts.
        assert!(module.contains("\"guarded\" or \"open\"") && module.contains(", changes \""));
    }
}
