//! Asks slurmctld which gate it has loaded: a job with a certain comment, which Slurm only tests,
//! is refused by the gate with its checksum. Nothing is queued.

use std::path::Path;

use pavior_kernel::shown_bytes;

use crate::ask::{Call, LIMITS, Question};
use crate::check::Findings;
use crate::{Config, SlurmError, gate, install};

/// Tries whether the gate is loaded, and is the one that this program writes for this
/// configuration.
pub(crate) fn try_gate(config: &Config) -> Result<Findings, SlurmError> {
    let partition = format!("--partition={}", config.partitions[0]);
    let comment = format!("--comment=pavior-check {}\n", config.licence);
    let arguments = [&partition, &comment, "-o", "/dev/null", "--wrap=true"];
    let (question, environment) = (Question::Test, &[]);
    let said = Call { question, arguments: &arguments, environment }.run(LIMITS)?;
    Ok(judge(config, said.status.success(), &said.complaints))
}

fn judge(config: &Config, accepted: bool, said: &[u8]) -> Findings {
    let text = String::from_utf8_lossy(said);
    let mut found = Findings::default();
    let fault = |text: String| Findings { faults: vec![text], warnings: Vec::new() };
    let module = gate::module(config);
    let own = gate::checksum(&module).unwrap_or_default();
    let answer = format!("pavior: gate {} ", config.licence);
    let renew = "run pavior slurm install DIR again, DIR beside slurm.conf; if job_submit.lua is \
                 your own, touch it then: Slurm reads the gate again when it changes";
    match text.split_once(&answer) {
        Some((_, rest)) if !rest.starts_with(own) => fault(format!(
            "job_submit.lua: the gate that slurmctld has loaded is of another version or \
             configuration: {renew}"
        )),
        Some((_, rest)) if rest.contains("changes open") => fault(
            "job_submit.lua: calls pavior.submit, but not pavior.modify: users can change waiting \
             jobs; add slurm_job_modify = pavior.modify(slurm_job_modify)"
                .into(),
        ),
        Some(_) => found,
        None if text.contains("pavior: ") => fault(format!(
            "job_submit.lua: the gate that slurmctld has loaded is older than this program: {renew}"
        )),
        None if accepted => fault(format!(
            "job_submit.lua: there is none, or it does not call the gate: run pavior slurm install \
             DIR, DIR beside slurm.conf; a job_submit.lua of your own needs at its end, before it \
             returns:\n{}",
            install::calls(config, Path::new("DIR"))
        )),
        None => {
            let said = shown_bytes(said.trim_ascii());
            found.warnings.push(format!("whether the gate is loaded is not known: {said}"));
            found
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_is_understood() {
        let text = "machine = \"mesh:2\"\nnodes = \"n{}\"\npartition = \"p\"\n";
        let config = Config::parse(text).unwrap();
        let faults = |accepted: bool, said: &str| judge(&config, accepted, said.as_bytes()).faults;
        let module = gate::module(&config);
        let sum = gate::checksum(&module).unwrap();
        let says =
            |sum: &str, more: &str| format!("sbatch: error: pavior: gate pavior {sum}, {more}");
        assert_eq!(
            judge(&config, false, says(sum, "changes guarded").as_bytes()),
            Findings::default()
        );
        let open = faults(false, &says(sum, "changes open"));
        assert!(open[0].contains("pavior.modify"), "{open:?}");
        let another = faults(false, &says("0123456789abcdef", "changes guarded"));
        assert!(another[0].contains("another version"), "{another:?}");
        let older = faults(false, "pavior: a comment cannot have line breaks");
        assert!(older[0].contains("older"), "{older:?}");
        let none = faults(true, "sbatch: Job 7 to start at 2026-11-25T01:00:00\n");
        assert!(none[0].contains("does not call") && none[0].contains("dofile"), "{none:?}");
        let unknown = judge(&config, false, b"allocation failure: \x1b[31mdown\n");
        assert!(unknown.faults.is_empty() && !unknown.warnings[0].contains('\x1b'), "{unknown:?}");
    }
}
