//! Finds the command that replays a log, and examples of skipped lines.

use std::path::Path;

use pavior::Grid;
use pavior::workload::inspect::LogSummary;
use pavior::workload::traces::{Format, Lines};
use serde::Serialize;

use crate::failure::Failure;
use crate::files;

/// The first line skipped for a given reason.
#[derive(Serialize)]
pub(super) struct Example {
    pub(super) reason: &'static str,
    pub(super) line: u64,
    pub(super) text: String,
}

/// The maximum number of characters in an example.
const MAX_EXAMPLE_CHARS: usize = 120;

/// Reads the first line that was skipped for each reason, from a log with one job per line. There
/// are no examples for standard input, which cannot be read twice.
pub(super) fn examples(path: &Path, summary: &LogSummary) -> Result<Vec<Example>, Failure> {
    let first = |(reason, found): (&'static str, &[u64])| Some((*found.first()?, reason));
    let skipped = summary.skipped.iter().map(|one| (one.reason, one.found.lines.as_slice()));
    let back = ("submits_back", summary.submits_back.lines.as_slice());
    let mut wanted: Vec<(u64, &str)> = skipped.chain([back]).filter_map(first).collect();
    wanted.sort_unstable();
    let mut examples = Vec::new();
    let Some(&(last, _)) = wanted.last() else { return Ok(examples) };
    if path == Path::new("-") || summary.format.is_some_and(Format::is_document) {
        return Ok(examples);
    }
    let text = pavior::files::open(path, files::lines().without_lines())?;
    let (mut lines, mut wanted) =
        (Lines::new(text).with_long_lines(), wanted.into_iter().peekable());
    // The file has been read before, so errors are unlikely.
    while lines.number < last && lines.advance().is_ok_and(|found| found) {
        while let Some((line, reason)) = wanted.next_if(|&(line, _)| line == lines.number) {
            let text = String::from_utf8_lossy(lines.line());
            let text = text.trim().chars().take(MAX_EXAMPLE_CHARS).collect();
            examples.push(Example { reason, line, text });
        }
    }
    Ok(examples)
}

/// Returns the command that replays a log. If no grid is given, the command uses the most compact
/// mesh of the size in the header. Returns `None` if that size is unknown.
pub(super) fn command(path: &Path, grid: Option<&Grid>, summary: &LogSummary) -> Option<String> {
    let machine = match grid {
        Some(grid) => grid.to_string(),
        None => compact_mesh(summary.machine_size?)?,
    };
    let path = path.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    let path = if !path.is_empty() && path.chars().all(is_plain) && !path.starts_with('-') {
        path.into_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    };
    let follows = if summary.dependencies.followed > 0 { " --dependencies" } else { "" };
    Some(format!(
        "pavior simulate --trace {path} --machine {machine} --strategy tff --scheduler \
         easy{follows}"
    ))
}

/// Returns the mesh with at most three axes and the smallest surface.
fn compact_mesh(nodes: u64) -> Option<String> {
    let divisors = |of: u64| (1..=65_535).take_while(move |side| side * side <= of && of > 0);
    let mut best: Option<(u64, [u64; 3])> = None;
    for z in divisors(nodes).take_while(|side| side * side * side <= nodes) {
        if nodes % z != 0 {
            continue;
        }
        let rest = nodes / z;
        for y in divisors(rest).filter(|y| rest % y == 0) {
            let x = rest / y;
            let sides = [x.saturating_mul(y), y.saturating_mul(z), x.saturating_mul(z)];
            let surface = sides.into_iter().fold(0, u64::saturating_add);
            if x <= 65_535 && best.is_none_or(|(least, _)| surface < least) {
                best = Some((surface, [x, y, z]));
            }
        }
    }
    let (_, sides) = best?;
    let axes = 1 + (1..3).filter(|&axis| sides[axis] > 1).count();
    let sides: Vec<String> = sides[..axes].iter().map(ToString::to_string).collect();
    let text = format!("mesh:{}", sides.join("x"));
    text.parse::<Grid>().ok().map(|_| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_of_a_size_is_the_most_compact_mesh() {
        for (nodes, expected) in [
            (1, Some("mesh:1")),
            (7, Some("mesh:7")),
            (12, Some("mesh:3x2x2")),
            (128, Some("mesh:8x4x4")),
            (1152, Some("mesh:12x12x8")),
            (40_960, Some("mesh:40x32x32")),
            (0, None),
            (u64::MAX, None),
        ] {
            assert_eq!(compact_mesh(nodes).as_deref(), expected, "{nodes}");
        }
    }
}
