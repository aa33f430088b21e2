//! All papers: a directory each, and one report above them.

use std::path::Path;

use pavior_experiments::directory;
use pavior_files::Lock;
use pavior_studies::{self as studies, Paper};

use super::{ALL, one, print, provenance};
use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::files;

pub(super) fn run(args: &ReproduceArgs, out: &Path) -> Result<(), Failure> {
    let here = files::shown(out);
    if directory::note(out)?.is_some() {
        return Err(Failure::usage(format!(
            "{here} holds an experiment; choose another --out for all papers"
        )));
    }
    if !args.sweep.resume && !pavior_files::is_empty(out)? {
        return Err(Failure::usage(format!(
            "{here} is not empty; --resume goes on with a reproduction of all papers, --out \
             chooses another directory"
        )));
    }
    let Some(_lock) = Lock::take(out)? else {
        return Err(Failure::usage(format!(
            "{here} is in use: another process is working in it; one at a time"
        )));
    };
    let mut verdicts = Vec::new();
    let published = Paper::published();
    for (index, paper) in published.iter().enumerate() {
        eprintln!("{} ({} of {})", paper.name, index + 1, published.len());
        verdicts.push(one(paper, &paper.name, &out.join(&paper.name), args)?);
    }
    let from = provenance(ALL, args);
    let files = pavior_studies::files(&verdicts, &from)
        .map_err(|error| Failure::Other(error.to_string()))?;
    for file in files.iter().chain([&studies::index(&verdicts, args.quick, &from)]) {
        files::write_whole(&out.join(&file.name), |out| out.write_all(&file.bytes))?;
    }
    eprintln!("written to {here}");
    print::verdicts(args.sweep.format, &verdicts, out)
}
