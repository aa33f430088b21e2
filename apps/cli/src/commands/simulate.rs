//! `pavior simulate`: compares strategies and schedulers.
//!
//! Converts the options to a specification, and runs it like an experiment.

use pavior::experiments::{
    Environment, NoStore, Policy, Recording, Setting, Shard, Specification, SweepError,
};

use crate::args::SimulateArgs;
use crate::commands::{experiment, records, results};
use crate::failure::Failure;
use crate::progress::Bar;
use crate::{log_notes, logs, pool, settings};

pub(crate) fn run(args: &SimulateArgs) -> Result<(), Failure> {
    let mut typed = args.parameters.settings();
    if args.results.no_timing {
        typed.push(Setting::new("timing", "false"));
    }
    let mut specification = settings::specification(&typed, "simulate")?;
    experiment::say_left_out(&specification);
    run_logs_once(&mut specification);
    if args.parameters.typed("trace").is_some() && args.parameters.typed("machine").is_none() {
        let machine = specification.points.first().and_then(|point| point.get("machine"));
        eprintln!(
            "note: --machine was not given, so the log is replayed on {}",
            machine.unwrap_or_default()
        );
    }
    let files = records::Files::plan(&args.results, &specification)?;
    let (folder, recording) = (logs::folder(""), Recording::default());
    let samples = Bar::during("simulate", |bar| {
        let recording = files.are_wanted().then_some(&recording);
        let environment = Environment { files: &folder, progress: bar, recording, stop: None };
        pool::install(args.pool.threads, || {
            specification.run(Vec::new(), Shard::WHOLE, environment, &mut NoStore)
        })
    })?;
    log_notes::print_log_notes(&folder);
    log_notes::print_rejected(&specification, &folder)?;
    if samples.is_ok() {
        log_notes::print_placed(&specification, &folder)?;
    }
    let samples = samples.map_err(|error| match error {
        SweepError::Input(error) => Failure::from_input(error),
        other => Failure::usage(other),
    })?;
    files.write(&specification, recording)?;
    let same_jobs = results::check_stuck_jobs(&specification, &samples);
    let format = args.results.output.format();
    let named = args.parameters.typed("metrics");
    results::print(format, named, &specification, &samples)?;
    same_jobs
}

/// Sets the number of replications to one if a log is replayed without any random choices.
fn run_logs_once(specification: &mut Specification) {
    if specification.draws() {
        return;
    }
    let has_several = match specification.policy {
        Policy::Fixed(count) => count > 1,
        Policy::Precision { .. } => true,
    };
    if has_several {
        eprintln!(
            "note: replaying this log involves no randomness, so only one replication is run"
        );
    }
    specification.policy = Policy::Fixed(1);
    specification.targets.clear();
}
