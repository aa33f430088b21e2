//! `pavior reproduce all`: reproduces each paper in its own directory, and writes one report.

use std::path::Path;

use pavior_studies::{self as studies, Paper};

use super::{ALL_PAPERS, begin, judge, print, provenance};
use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::files;

pub(super) fn run(args: &ReproduceArgs, out: &Path) -> Result<(), Failure> {
    let _lock = begin(args, out)?;
    let mut verdicts = Vec::new();
    let published = Paper::published();
    for (index, paper) in published.iter().enumerate() {
        eprintln!("{} ({} of {})", paper.name, index + 1, published.len());
        verdicts.push(judge(paper, &paper.name, &out.join(&paper.name), args)?);
    }
    let from = provenance(ALL_PAPERS, args);
    let files = pavior_studies::files(&verdicts, &from).map_err(Failure::other)?;
    for file in files.iter().chain([&studies::index(&verdicts, args.quick, &from)]) {
        files::write_whole(&out.join(&file.name), |out| out.write_all(&file.bytes))?;
    }
    eprintln!("written to {}", files::shown(out));
    print::verdicts(args.sweep.output.format(), &verdicts, out)
}
