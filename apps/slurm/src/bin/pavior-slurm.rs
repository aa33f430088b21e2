//! The daemon as a standalone program for tests; users run `pavior slurm` instead. Usage:
//! `pavior-slurm [--config] FILE [COMMAND ...]`.

use std::path::Path;
use std::process::ExitCode;

use pavior_slurm::{
    Config, DaemonOptions, SlurmError, check, install, observe, run, uninstall, why,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The toy cluster's script passes `slurm --config`, which is ignored here.
    let rest: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .filter(|word| !["slurm", "--config"].contains(word))
        .collect();
    match act(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if matches!(error, SlurmError::Unfit(_)) { 3 } else { 1 })
        }
    }
}

fn act(rest: &[&str]) -> Result<(), SlurmError> {
    let Some((path, rest)) = rest.split_first() else {
        return Err(SlurmError::Config("a configuration file is required".into()));
    };
    let path = Path::new(path);
    let config = Config::read(path)?;
    match rest {
        [] => run(path, config, DaemonOptions::default()),
        ["--dry-run"] => run(path, config, DaemonOptions { dry_run: true, once: false }),
        ["--observe", address] => observe(path, config, address),
        ["install", folder] => {
            let text = install(&config, path, Path::new("pavior"), Path::new(folder))?;
            println!("{text}");
            Ok(())
        }
        ["uninstall"] => {
            println!("{:?}", uninstall(&config)?);
            Ok(())
        }
        ["check"] => {
            println!("{:?}", check(&config)?);
            Ok(())
        }
        ["why", job] => {
            println!("{}", why(&config, job)?);
            Ok(())
        }
        _ => Err(SlurmError::Config(format!("unknown command: {}", rest.join(" ")))),
    }
}
