//! Other readings of what a paper leaves open, and which comes closest.

use std::path::Path;

use pavior_experiments::Publication;
use pavior_experiments::papers::{self, Alternatives, Closeness};

use super::{Task, print, provenance};
use crate::args::ReproduceArgs;
use crate::failure::Failure;

pub(super) fn run(args: &ReproduceArgs, out: &Path) -> Result<(), Failure> {
    let found = papers::ALTERNATIVES.iter().find(|one| one.paper == args.paper);
    let Some(alternatives) = found else {
        let names: Vec<&str> = papers::ALTERNATIVES.iter().map(|one| one.paper).collect();
        return Err(Failure::usage(format!(
            "no other readings are declared for `{}`; they are for: {}",
            args.paper,
            names.join(", ")
        )));
    };
    let task = Task {
        text: alternatives.experiment(args.quick),
        specification: alternatives.specification(args.quick),
        name: alternatives.paper.to_string(),
        out,
    };
    let from = provenance(alternatives.paper, args);
    let mut ranking = Vec::new();
    task.run(args, |specification, samples| {
        ranking = alternatives.judge(specification, samples);
        let sections = vec![alternatives.section(&ranking)];
        let mut files =
            specification.publish(samples, &from, alternatives.lead(args.quick), sections)?;
        let own = tables(alternatives, &ranking);
        files.extend(own.map_err(|error| Failure::Other(error.to_string()))?);
        Ok(files)
    })?;
    print::alternatives(args.sweep.format, alternatives, &ranking)
}

/// The files besides those of every experiment.
fn tables(
    alternatives: &Alternatives,
    ranking: &[Closeness],
) -> Result<Vec<Publication>, csv::Error> {
    let (mut readings, mut statements) = (Vec::new(), Vec::new());
    alternatives.write(ranking, &mut readings)?;
    papers::write_statements(&alternatives.statements(ranking), &mut statements)?;
    let file = |name: &str, bytes: Vec<u8>| Publication { name: name.to_string(), bytes };
    Ok(vec![
        file("alternatives.csv", readings),
        file("alternatives.md", alternatives.markdown(ranking).into_bytes()),
        file("statements.csv", statements),
    ])
}
