//! `pavior slurm`: allocates boxes of nodes to jobs on an unmodified Slurm cluster.

use std::path::Path;

use pavior_slurm::{Config, DaemonOptions, SlurmError};

use crate::args::{SlurmArgs, SlurmCommand};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &SlurmArgs) -> Result<(), Failure> {
    // Clap does not support required global options.
    let Some(path) = args.config.as_deref() else {
        return Err(Failure::usage("pavior slurm requires --config FILE"));
    };
    if args.command.is_some() && (args.dry_run || args.once || args.observe.is_some()) {
        let reason = "--dry-run, --once and --observe apply only to the daemon";
        return Err(Failure::usage(reason));
    }
    let config = Config::read(path)?;
    if let Some(address) = &args.observe {
        return Ok(pavior_slurm::observe(path, config, address)?);
    }
    match &args.command {
        None => {
            let options = DaemonOptions { dry_run: args.dry_run, once: args.once };
            Ok(pavior_slurm::run(path, config, options)?)
        }
        Some(SlurmCommand::Uninstall) => uninstall(&config),
        Some(SlurmCommand::Check) => check(&config),
        Some(SlurmCommand::Install { dir: folder }) => install(&config, path, folder),
        Some(SlurmCommand::Why { job }) => {
            output::plain(&(pavior_slurm::why(&config, job)? + "\n"))
        }
    }
}

/// Prints missing settings and advice. The exit status is 1 if any settings are missing.
fn check(config: &Config) -> Result<(), Failure> {
    let found = pavior_slurm::check(config)?;
    let mut text = output::labeled("missing", &found.faults);
    text += &output::labeled("advice ", &found.warnings);
    if found.faults.is_empty() {
        text += "ready    no settings missing\n";
        return output::plain(&text);
    }
    output::plain(&text)?;
    Err(Failure::Other(format!("{} missing", output::count(found.faults.len() as u64, "setting"))))
}

/// Uninstalls Pavior from Slurm, and prints the changes made and any remaining manual steps.
fn uninstall(config: &Config) -> Result<(), Failure> {
    let removal = pavior_slurm::uninstall(config)?;
    let done = output::labeled("done", &removal.done);
    output::plain(&(done + &output::labeled("left", &removal.left)))
}

fn install(config: &Config, path: &Path, folder: &Path) -> Result<(), Failure> {
    let absolute = std::path::absolute(path)?;
    let program = std::env::current_exe()?;
    let text = pavior_slurm::install(config, &absolute, &program, folder)?;
    output::plain(&text)
}

impl From<SlurmError> for Failure {
    /// Converts a Slurm error. Bad configurations, conflicts and unknown jobs are usage errors.
    fn from(error: SlurmError) -> Failure {
        match error {
            SlurmError::Config(_) | SlurmError::Conflict(_) | SlurmError::UnknownJob(_) => {
                Failure::usage(error)
            }
            SlurmError::Unfit(_) => Failure::Unfit(error.to_string()),
            _ => Failure::other(error),
        }
    }
}
