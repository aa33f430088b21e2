//! `pavior reproduce`: runs the experiments from papers, and checks the papers' statements.

mod all;
mod alternatives;
mod forecasts;
mod print;

use std::path::{Path, PathBuf};

use pavior::experiments::directory::{self, Reproduced};
use pavior::experiments::{Provenance, Publication, Samples, Shard, Specification};
use pavior::files::{Limits, Lock};
use pavior_studies::{self as studies, Paper, PaperError, Verdicts};

use crate::args::ReproduceArgs;
use crate::commands::experiment;
use crate::failure::Failure;
use crate::{files, logs, run_directory};

/// The argument that selects all built-in papers.
const ALL_PAPERS: &str = "all";

pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    if args.paper == ALL_PAPERS && !args.alternatives {
        return all::run(args, &folder(args, ALL_PAPERS));
    }
    if args.paper == studies::forecasts::NAME {
        return forecasts::run(args, &folder(args, studies::forecasts::NAME));
    }
    let built_in = Paper::built_in().iter().find(|paper| paper.name == args.paper);
    let users_paper;
    let paper = if let Some(paper) = built_in {
        paper
    } else {
        users_paper = open(&args.paper)?;
        &users_paper
    };
    let out = folder(args, &paper.name);
    if args.alternatives {
        return alternatives::run(paper, args, &out);
    }
    let verdicts = judge(paper, &args.paper, &out, args)?;
    print::verdicts(args.sweep.output.format(), &[verdicts], &out)
}

/// Locks a results directory. The directory must not belong to an experiment, and must be empty
/// unless an earlier run is being resumed.
fn begin(args: &ReproduceArgs, out: &Path) -> Result<Lock, Failure> {
    let here = files::shown(out);
    let all = args.paper == ALL_PAPERS;
    if directory::note(out)?.is_some() {
        let name = if all { "all papers" } else { &args.paper };
        let message = format!(
            "{here} already contains an experiment; use --out to choose another directory for \
             {name}"
        );
        return Err(Failure::usage(message));
    }
    if !args.sweep.resume && !pavior::files::is_empty(out)? {
        let how = "use --resume to continue reproducing all papers, or ";
        let how = if all { how } else { "" };
        let message = format!("{here} is not empty; {how}use --out to choose another directory");
        return Err(Failure::usage(message));
    }
    files::lock(out)
}

fn folder(args: &ReproduceArgs, name: &str) -> PathBuf {
    let kind = if args.alternatives { "-alternatives" } else { "" };
    args.out.clone().unwrap_or_else(|| PathBuf::from(format!("reproduction-{name}{kind}")))
}

/// Opens a user's own paper.
fn open(path: &str) -> Result<Paper, Failure> {
    let names = studies::NAMES.join(", ");
    let folder = Path::new(path);
    if !folder.is_dir() {
        return Err(Failure::usage(format!(
            "`{path}` is neither a known paper nor a paper directory; known papers: {names}, {} \
             and {ALL_PAPERS}",
            studies::forecasts::NAME
        )));
    }
    let whole = folder.canonicalize().ok();
    let name = whole.as_deref().and_then(Path::file_name).unwrap_or(folder.as_os_str());
    let read = |name: &str| {
        let file = folder.join(name);
        if !file.exists() {
            return Ok(None);
        }
        let text = pavior::files::read_text(&file, Limits::DOCUMENT);
        text.map(Some).map_err(|error| error.to_string())
    };
    Paper::open(&name.to_string_lossy(), &read).map_err(|error| paper_failure(folder, error))
}

/// Converts an error in one of a paper's files to a failure that underlines the invalid part.
fn paper_failure(folder: &Path, error: PaperError) -> Failure {
    let file = folder.join(error.file);
    match error.place {
        Some((text, span)) => Failure::in_file(&file, &text, error.reason, &span),
        None => Failure::usage(format!("{}: {}", files::shown(&file), error.reason)),
    }
}

/// Runs a paper's experiment, and checks the paper's statements against the results.
fn judge(paper: &Paper, path: &str, out: &Path, args: &ReproduceArgs) -> Result<Verdicts, Failure> {
    let in_paper = |error| paper_failure(Path::new(path), error);
    let task = Task {
        text: paper.experiment(args.quick).map_err(in_paper)?,
        specification: paper.specification(args.quick).map_err(in_paper)?,
        name: paper.name.clone(),
        out,
    };
    let from = provenance(path, args);
    task.run(args, |specification, samples| {
        let statements = paper.judge(specification, samples, args.quick).map_err(in_paper)?;
        let verdicts = Verdicts::of(paper, statements);
        let sections = studies::sections(&verdicts);
        let mut files = specification.publish(samples, &from, paper.lead(args.quick), sections)?;
        let all = std::slice::from_ref(&verdicts);
        files.extend(studies::files(all, &from).map_err(Failure::other)?);
        Ok((verdicts, files))
    })
}

/// Returns the command that reproduces the numbers.
fn provenance(paper: &str, args: &ReproduceArgs) -> Provenance {
    let option = |name: &str, given: bool| if given { format!(" --{name}") } else { String::new() };
    let options = option("alternatives", args.alternatives) + &option("quick", args.quick);
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_string(),
        command: format!("pavior reproduce {paper}{options}"),
    }
}

/// A run of a paper's experiment in a directory.
struct Task<'p> {
    text: String,
    specification: Specification,
    name: String,
    out: &'p Path,
}

impl Task<'_> {
    /// Runs the missing replications, and passes all results to `judge`. Writes the files in
    /// `judge`'s result, and returns the rest of that result.
    fn run<T>(
        &self,
        args: &ReproduceArgs,
        judge: impl FnOnce(&Specification, &Samples) -> Result<(T, Vec<Publication>), Failure>,
    ) -> Result<T, Failure> {
        let Task { text, specification, name, out } = self;
        if args.logs.is_some() && !specification.reads_files() {
            return Err(Failure::usage(format!(
                "--logs: the experiment in {name} does not read a job log"
            )));
        }
        let files = logs::folder(args.logs.clone().unwrap_or_default());
        let reproduced = Some(Reproduced { paper: name.clone(), quick: args.quick });
        let run = run_directory::run(specification, &files, reproduced, "1/1".to_string())?;
        let (mut open, known) =
            run_directory::begin(out, &run, text, specification, args.sweep.resume_options())?;
        let (whole, threads) = (Shard::WHOLE, args.sweep.pool.threads);
        let samples = experiment::sweep(specification, known, whole, &files, &mut open, threads)?;
        let (judgment, files) = judge(specification, &samples)?;
        run_directory::finish(&open, &files)?;
        Ok(judgment)
    }
}
