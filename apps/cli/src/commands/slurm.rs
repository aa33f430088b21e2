//! `pavior slurm`: allocates boxes of nodes to the jobs of an unmodified Slurm cluster.

use std::path::Path;

use pavior_slurm::{Config, DaemonOptions, SlurmError};

use crate::args::{SlurmArgs, SlurmCommand};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &SlurmArgs) -> Result<(), Failure> {
    let path = args.config.as_deref();
    let path = path.ok_or_else(|| Failure::usage("pavior slurm needs --config FILE"))?;
    if args.command.is_some() && (args.dry_run || args.once || args.observe.is_some()) {
        let reason =
            "--dry-run, --once and --observe apply to the daemon, not to its other commands";
        return Err(Failure::usage(reason));
    }
    let config = Config::read(path).map_err(failure)?;
    if let Some(address) = &args.observe {
        return pavior_slurm::observe(path, config, address).map_err(failure);
    }
    match &args.command {
        None => {
            let options = DaemonOptions { dry_run: args.dry_run, once: args.once };
            pavior_slurm::run(path, config, options).map_err(failure)
        }
        Some(SlurmCommand::Uninstall) => uninstall(&config),
        Some(SlurmCommand::Check) => check(&config),
        Some(SlurmCommand::Install { dir }) => install(&config, path, dir),
        Some(SlurmCommand::Why { job }) => {
            output::plain(&(pavior_slurm::why(&config, job).map_err(failure)? + "\n"))
        }
    }
}

/// Prints missing settings. Ends with exit status 1 if any are missing.
fn check(config: &Config) -> Result<(), Failure> {
    let found = pavior_slurm::check(config).map_err(failure)?;
    let mut text = String::new();
    for fault in &found.faults {
        text += &format!("missing  {fault}\n");
    }
    for warning in &found.warnings {
        text += &format!("advice   {warning}\n");
    }
    if found.faults.is_empty() {
        text += "ready    nothing is missing\n";
        return output::plain(&text);
    }
    output::plain(&text)?;
    Err(Failure::Other(format!("missing: {}", found.faults.len())))
}

/// Prints the changes, and the remaining manual steps.
fn uninstall(config: &Config) -> Result<(), Failure> {
    let removal = pavior_slurm::uninstall(config).map_err(failure)?;
    let line = |word: &'static str| move |text: &String| format!("{word}  {text}\n");
    let done = removal.done.iter().map(line("done"));
    output::plain(&done.chain(removal.left.iter().map(line("left"))).collect::<String>())
}

fn install(config: &Config, path: &Path, folder: &Path) -> Result<(), Failure> {
    let absolute = std::path::absolute(path)?;
    let program = std::env::current_exe()?;
    let text = pavior_slurm::install(config, &absolute, &program, folder).map_err(failure)?;
    output::plain(&text)
}

/// Converts an error. An invalid configuration or an unknown job is a usage error.
fn failure(error: SlurmError) -> Failure {
    match error {
        SlurmError::Config(_) | SlurmError::UnknownJob(_) => Failure::usage(error),
        SlurmError::Unfit(_) => Failure::Unfit(error.to_string()),
        _ => Failure::other(error),
    }
}
