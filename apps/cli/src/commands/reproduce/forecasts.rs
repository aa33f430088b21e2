//! Runs the forecast study, which predicts when the jobs in a log will start.

use std::path::Path;

use pavior::experiments::{Provenance, forecast_points};
use pavior_studies::forecasts::{self, JudgedLog};

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use crate::progress::Bar;
use crate::{files, logs, pool};

pub(super) fn run(args: &ReproduceArgs, out: &Path) -> Result<(), Failure> {
    for (given, option, why) in [
        (args.alternatives, "--alternatives", "the forecast study has no alternative readings"),
        (args.sweep.resume, "--resume", "the forecast study can only be run as a whole"),
    ] {
        if given {
            return Err(Failure::usage(format!("{option}: {why}")));
        }
    }
    let specification = forecasts::specification(args.quick)
        .map_err(|error| super::paper_failure(Path::new(""), error))?;
    let _lock = super::begin(args, out)?;
    let table = out.join("forecasts.csv");
    let folder = logs::folder(args.logs.clone().unwrap_or_default());
    let scores = Bar::during(forecasts::NAME, |bar| {
        pool::install(args.sweep.pool.threads, || {
            forecast_points(&specification, &folder, forecasts::FUTURES, bar)
        })
    })?;
    let judged = JudgedLog::all(&specification, scores?);
    let write = |out: &mut dyn std::io::Write| {
        forecasts::write(&judged, out).map_err(std::io::Error::other)
    };
    files::write_whole(&table, write)?;
    let Provenance { version, command } = super::provenance(&args.paper, args);
    let text = format!("`{command}`, Pavior {version}\n\n{}\n", forecasts::in_words(&judged));
    files::write_whole(&out.join("forecasts.md"), |out| out.write_all(text.as_bytes()))?;
    eprintln!("written to {}", files::shown(out));
    print(args.sweep.output.format(), &judged)
}

/// The headers of the printed table, each with the column of the study that it shows.
const SHOWN: [(&str, &str); 13] = [
    ("log", "log"),
    ("jobs", "jobs"),
    ("waited", "waited"),
    ("held", "held"),
    ("small", "small_held"),
    ("middle", "middle_held"),
    ("large", "large_held"),
    ("loss (h)", "loss_h"),
    ("plan", "plan_loss_h"),
    ("corrected", "corrected_loss_h"),
    ("past waits", "past_waits_loss_h"),
    ("holds", "holds"),
    ("leads", "leads"),
];

/// Returns the positions of the columns of [`SHOWN`] in a row of the study.
fn places() -> [usize; SHOWN.len()] {
    let place = |name| JudgedLog::COLUMNS.iter().position(|&column| column == name);
    SHOWN.map(|(_, name)| place(name).expect("a column of the study"))
}

fn print(format: Format, judged: &[JudgedLog]) -> Result<(), Failure> {
    let rows: Vec<Vec<String>> = judged.iter().map(JudgedLog::cells).collect();
    match format {
        Format::Csv => output::csv(&JudgedLog::COLUMNS, &rows),
        Format::Json => output::json(&output::objects(&JudgedLog::COLUMNS, 2, &rows)),
        Format::Table => {
            let places = places();
            let rows = rows.iter().map(|row| places.map(|place| row[place].clone()).to_vec());
            let headers = SHOWN.map(|(header, _)| header);
            Table::new(&headers, 1).with_rows(rows).print(output::width())?;
            output::plain("\n")?;
            output::text(&forecasts::in_words(judged), output::width())
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_shown_columns_exist() {
        let places = super::places();
        assert!(places.is_sorted(), "the columns are shown in the order of the study");
    }
}
