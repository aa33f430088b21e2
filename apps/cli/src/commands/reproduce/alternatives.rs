//! Runs and ranks alternative readings of details that a paper leaves open.

use std::path::Path;

use pavior::experiments::Publication;
use pavior_studies::{self as studies, Closeness, Paper, Readings};

use super::{Task, paper_failure, print, provenance};
use crate::args::ReproduceArgs;
use crate::failure::Failure;

pub(super) fn run(paper: &Paper, args: &ReproduceArgs, out: &Path) -> Result<(), Failure> {
    let Some(readings) = paper.readings() else {
        let papers_with_readings =
            Paper::built_in().iter().filter(|paper| paper.readings().is_some());
        let names: Vec<&str> = papers_with_readings.map(|paper| paper.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "`{}` has no alternative readings; these papers do: {}",
            paper.name,
            names.join(", ")
        )));
    };
    let in_paper = |error| paper_failure(Path::new(&args.paper), error);
    let task = Task {
        text: readings.experiment(args.quick).map_err(in_paper)?,
        specification: readings.specification(args.quick).map_err(in_paper)?,
        name: paper.name.clone(),
        out,
    };
    let from = provenance(&args.paper, args);
    let ranking = task.run(args, |specification, samples| {
        let ranking = readings.judge(specification, samples).map_err(in_paper)?;
        let sections = vec![readings.section(&ranking)];
        let lead = readings.lead(paper, args.quick);
        let mut files = specification.publish(samples, &from, lead, sections)?;
        files.extend(tables(readings, &ranking).map_err(Failure::other)?);
        Ok((ranking, files))
    })?;
    print::alternatives(args.sweep.output.format(), readings, &ranking)
}

/// Returns the files to write in addition to the usual result files.
fn tables(readings: &Readings, ranking: &[Closeness]) -> Result<Vec<Publication>, csv::Error> {
    let (mut table, mut statements) = (Vec::new(), Vec::new());
    readings.write(ranking, &mut table)?;
    studies::write_statements(&readings.statements(ranking), &mut statements)?;
    let file = |name: &str, bytes: Vec<u8>| Publication { name: name.to_string(), bytes };
    Ok(vec![
        file("alternatives.csv", table),
        file("alternatives.md", readings.markdown(ranking).into_bytes()),
        file("statements.csv", statements),
    ])
}
