//! Asks slurmctld which gate it has loaded: a job with a certain comment, which Slurm only tests,
//! is refused by the gate with its checksum. Nothing is queued.

use std::path::Path;

use pavior::text::shown_bytes;

use crate::ask::{Call, LIMITS, Question};
use crate::check::Findings;
use crate::{Config, SlurmError, gate, install};

/// Tries whether the gate is loaded, and is the one that this program writes for this
/// configuration.
pub(crate) fn try_gate(config: &Config) -> Result<Findings, SlurmError> {
    let partition = format!("--partition={}", config.partitions[0]);
    let comment = format!("--comment=pavior-check {}\n", config.licence);
    // Sites refuse jobs without a time limit, some before the gate is asked.
    let arguments = [&partition, &comment, "--time=1", "-o", "/dev/null", "--wrap=true"];
    let (question, environment) = (Question::Test, &[]);
    let said = Call { question, arguments: &arguments, environment }.run(LIMITS)?;
    Ok(judge(config, said.status.success(), &said.complaints))
}

fn judge(config: &Config, accepted: bool, said: &[u8]) -> Findings {
    let text = String::from_utf8_lossy(said);
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
        Some(_) => Findings::default(),
        None if text.contains("pavior: ") => fault(format!(
            "job_submit.lua: the gate that slurmctld has loaded is older than this program: {renew}"
        )),
        None if accepted => fault(format!(
            "job_submit.lua: there is none, or it does not call the gate: run pavior slurm install \
             DIR, DIR beside slurm.conf; a job_submit.lua of your own needs at its end, before it \
             returns:\n{}",
            install::calls(config, Path::new("DIR"))
        )),
        None => fault(format!(
            "whether slurmctld has loaded the gate is not known: something else refuses the test \
             job ({}); let jobs of one minute pass in a job_submit.lua of your own, and put lua \
             before other JobSubmitPlugins that refuse them",
            shown_bytes(said.trim_ascii())
        )),
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
        let unknown = faults(false, "allocation failure: \x1b[31mdown\n");
        assert!(unknown[0].contains("is not known") && !unknown[0].contains('\x1b'), "{unknown:?}");
    }
}
