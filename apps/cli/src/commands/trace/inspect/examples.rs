//! Finds an example of each kind of skipped or out-of-order line.

use std::path::Path;

use pavior::files::FileError;
use pavior::text::shown;
use pavior::workload::inspect::LogSummary;
use pavior::workload::traces::{Format, Lines};
use serde::Serialize;

use crate::failure::Failure;
use crate::files;

/// The maximum number of characters in an example.
const MAX_EXAMPLE_CHARS: usize = 120;

/// The first line that was skipped for a given reason or is out of order.
#[derive(Serialize)]
pub(super) struct Example {
    pub(super) reason: &'static str,
    pub(super) line: u64,
    pub(super) text: String,
}

/// Reads examples from a log with one job per line: the first line that was skipped for each
/// reason, and the first that is out of order. Examples are taken only from regular files, because
/// standard input and pipes cannot be read twice.
///
/// # Errors
/// Returns an error if the file can no longer be read.
pub(super) fn examples(path: &Path, summary: &LogSummary) -> Result<Vec<Example>, Failure> {
    let skipped = summary.skipped.iter().map(|one| (one.reason, &one.found.lines));
    let all = skipped.chain([("submits_back", &summary.submits_back.lines)]);
    let mut wanted: Vec<(u64, &str)> =
        all.filter_map(|(reason, lines)| Some((*lines.first()?, reason))).collect();
    wanted.sort_unstable();
    let mut examples = Vec::new();
    let Some(&(last, _)) = wanted.last() else { return Ok(examples) };
    let is_regular = path != Path::new("-") && path.is_file();
    if !is_regular || summary.format.is_some_and(Format::is_document) {
        return Ok(examples);
    }
    let text = pavior::files::open(path, files::lines().without_lines())?;
    let mut lines = Lines::new(text).with_long_lines();
    let mut wanted = wanted.into_iter().peekable();
    let error = |error| FileError::content(path, shown(&format!("{error}")).to_string());
    while lines.number < last && lines.advance().map_err(error)? {
        while let Some((line, reason)) = wanted.next_if(|&(line, _)| line == lines.number) {
            let text = String::from_utf8_lossy(lines.line());
            let text = text.trim().chars().take(MAX_EXAMPLE_CHARS).collect();
            examples.push(Example { reason, line, text });
        }
    }
    Ok(examples)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::process::Command;

    use pavior::workload::traces::ReadOptions;

    use super::*;

    const LOG: &str = "0 4 60\n1 2 x\n2 2 30\n";

    fn summary() -> LogSummary {
        let options = ReadOptions { lenient: true, ..ReadOptions::default() };
        LogSummary::read(Format::Sim, LOG.as_bytes(), &options, None).unwrap()
    }

    #[test]
    fn a_pipe_is_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.sim");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        // Keep this end open, so that a second read would find the log instead of blocking.
        let mut pipe = fs::File::options().read(true).write(true).open(&path).unwrap();
        pipe.write_all(LOG.as_bytes()).unwrap();
        assert_eq!(examples(&path, &summary()).unwrap().len(), 0);
    }

    #[test]
    fn an_error_in_the_second_read_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.sim");
        fs::write(&path, LOG).unwrap();
        assert_eq!(examples(&path, &summary()).unwrap()[0].text, "1 2 x");
        fs::write(&path, vec![b'x'; 2 << 20]).unwrap();
        assert!(examples(&path, &summary()).is_err());
    }
}
