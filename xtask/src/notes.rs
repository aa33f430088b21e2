//! Notes written by tests for the end of a run: skipped parts, and the attacks that were tried.
//!
//! The format of the notes is described in `xtask/trials`.

use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable with the path of the notes file.
pub(crate) const NOTES: &str = "PAVIOR_NOTES";

/// If this variable is set, as in `.ci/run`, a skipped part is a failure.
const REQUIRE_ALL: &str = "PAVIOR_REQUIRE_ALL";

/// The name of the notes file, in the folder for build output.
pub(crate) const FILE: &str = "notes.txt";

/// Returns the path of the notes file.
pub(crate) fn path(root: &Path) -> PathBuf {
    root.join("target").join(FILE)
}

/// Starts an empty notes file.
pub(crate) fn begin(root: &Path) {
    let _ = fs::create_dir_all(root.join("target"));
    let _ = fs::remove_file(path(root));
}

/// Notes that a part of the checks was skipped.
pub(crate) fn skip(root: &Path, what: &str, why: &str) {
    eprintln!("SKIPPED: {what}: {why}");
    let file = fs::OpenOptions::new().create(true).append(true).open(path(root));
    let line = format!("skipped\t{what}\t{why}\n");
    let written = file.and_then(|mut file| std::io::Write::write_all(&mut file, line.as_bytes()));
    written.expect("the file of notes can be written");
}

/// Returns the skipped parts, without duplicates.
pub(crate) fn skipped(root: &Path) -> Vec<String> {
    let told = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        ["skipped", what, why] => Some(format!("{what} ({why})")),
        _ => None,
    };
    let mut all: Vec<String> = read(root).lines().filter_map(told).collect();
    all.sort();
    all.dedup();
    all
}

/// Returns the last line of a run, as an error if the run failed.
pub(crate) fn verdict(skipped: &[String], required: bool) -> Result<String, String> {
    match skipped {
        [] => Ok("all checks passed".to_string()),
        all if required => Err(format!("{REQUIRE_ALL} is set; NOT tried here: {}", all.join(", "))),
        all => Ok(format!("all checks passed; NOT tried here: {}", all.join(", "))),
    }
}

/// Returns true if nothing may be skipped.
pub(crate) fn all_required() -> bool {
    std::env::var_os(REQUIRE_ALL).is_some()
}

/// Returns the attacks as a Markdown table, ordered by area.
pub(crate) fn attacks(root: &Path) -> String {
    let text = read(root);
    let row = |line| match str::split(line, '\t').collect::<Vec<_>>()[..] {
        ["attack", area, attack, tried, failed] => {
            Some(format!("| {area} | {attack} | {tried} | {failed} |"))
        }
        _ => None,
    };
    let mut rows: Vec<String> = text.lines().filter_map(row).collect();
    rows.sort();
    rows.dedup();
    let head = "| area | attack | tried | failed |\n|---|---|---:|---:|\n";
    rows.into_iter().fold(head.to_string(), |table, row| table + &row + "\n")
}

fn read(root: &Path) -> String {
    fs::read_to_string(path(root)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_tried_is_named_at_the_end() {
        let root = std::env::temp_dir().join(format!("pavior-notes-{}", std::process::id()));
        begin(&root);
        assert_eq!(verdict(&skipped(&root), true), Ok("all checks passed".to_string()));
        skip(&root, "the page", "no Chromium");
        skip(&root, "the page", "no Chromium");
        let all = skipped(&root);
        assert_eq!(all, ["the page (no Chromium)"]);
        let end = "all checks passed; NOT tried here: the page (no Chromium)";
        assert_eq!(verdict(&all, false), Ok(end.to_string()));
        assert!(verdict(&all, true).unwrap_err().contains("the page"));
        fs::remove_dir_all(root).unwrap();
    }
}
