//! `pavior reproduce`: the papers' experiments, figure by figure and number by number.

mod all;
mod alternatives;
mod print;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use pavior_experiments::papers::{self, Paper, Verdicts};
use pavior_experiments::{Provenance, Publication, Samples, Shard, Specification};

use crate::args::{ReproduceArgs, SweepArgs};
use crate::commands::experiment::{self, Folder};
use crate::failure::Failure;
use crate::store::{Directory, Run};

pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    let kind = if args.alternatives { "-alternatives" } else { "" };
    let usual = || PathBuf::from(format!("reproduction-{}{kind}", args.paper));
    let out = args.out.clone().unwrap_or_else(usual);
    if args.alternatives {
        return alternatives::run(args, &out);
    }
    if args.paper == "all" {
        return all::run(args, &out);
    }
    let paper = papers::ALL.iter().find(|paper| paper.name == args.paper);
    let verdicts = one(paper.expect("clap knows the papers"), &out, args)?;
    print::verdicts(args.sweep.format, &[verdicts], &out)
}

/// Runs the experiment of a paper, and judges its statements.
fn one(paper: &Paper, out: &Path, args: &ReproduceArgs) -> Result<Verdicts, Failure> {
    let task = Task {
        text: (paper.experiment)(args.quick),
        specification: paper.specification(args.quick),
        name: paper.name.to_string(),
        out,
    };
    let from = provenance(paper.name, args);
    let mut verdicts = None;
    task.run(args, |specification, samples| {
        let statements = paper.judge(specification, samples);
        let sections = papers::sections(&statements);
        let all =
            [Verdicts { name: paper.name, title: paper.title, source: paper.source, statements }];
        let mut files = specification.publish(samples, &from, paper.lead(args.quick), sections)?;
        files
            .extend(papers::files(&all, &from).map_err(|error| Failure::Other(error.to_string()))?);
        let [own] = all;
        verdicts = Some(own);
        Ok(files)
    })?;
    Ok(verdicts.expect("a task that ended well was published"))
}

/// The command that makes the same numbers again.
fn provenance(paper: &str, args: &ReproduceArgs) -> Provenance {
    let option = |name: &str, given: bool| if given { format!(" --{name}") } else { String::new() };
    let options = option("alternatives", args.alternatives) + &option("quick", args.quick);
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_string(),
        command: format!("pavior reproduce {paper}{options}"),
    }
}

/// An experiment of a paper, to be run in a directory.
struct Task<'p> {
    text: String,
    specification: Specification,
    name: String,
    out: &'p Path,
}

impl Task<'_> {
    /// Runs what is not known yet, and writes what `publish` makes of it.
    fn run(
        &self,
        args: &ReproduceArgs,
        publish: impl FnOnce(&Specification, &Samples) -> Result<Vec<Publication>, Failure>,
    ) -> Result<(), Failure> {
        let Task { text, specification, name, out } = self;
        let logs = Folder { folder: PathBuf::new(), open: Mutex::new(HashMap::new()) };
        let run = Run {
            name: specification.name.clone(),
            fingerprint: specification
                .fingerprint(env!("CARGO_PKG_VERSION"), &logs)
                .map_err(Failure::usage)?,
            paper: Some((name.clone(), args.quick)),
            shard: "1/1".to_string(),
        };
        let directory = Directory::open(out)?;
        let SweepArgs { resume, threads, .. } = args.sweep;
        let known = directory.begin(&run, text, specification, resume)?;
        let whole = Shard::WHOLE;
        let samples =
            experiment::sweep(specification, known, whole, &logs, &directory, threads, out)?;
        directory.finish(&run, &publish(specification, &samples)?)?;
        eprintln!("written to {}", out.display());
        Ok(())
    }
}
