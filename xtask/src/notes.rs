//! Notes left by steps and tests for the end of a run: skipped parts and attacks.
//!
//! `xtask/trials` describes the format.

use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable that turns skipped parts into errors. `.ci/run` sets it.
const REQUIRE_ALL: &str = "PAVIOR_REQUIRE_ALL";

pub(crate) fn path(root: &Path) -> PathBuf {
    root.join("target/notes.txt")
}

/// Deletes the notes left by earlier runs.
pub(crate) fn begin(root: &Path) {
    let _ = fs::create_dir_all(root.join("target"));
    let _ = fs::remove_file(path(root));
}

/// Records that a part of the checks was skipped. Returns an empty list of problems.
pub(crate) fn skip(part: &str, why: &str) -> Vec<String> {
    pavior_trials::skipped(part, why, REQUIRE_ALL);
    Vec::new()
}

/// Returns the skipped parts, without duplicates.
pub(crate) fn skipped(root: &Path) -> Vec<String> {
    sorted(root, |fields| match fields {
        ["skipped", part, why] => Some(format!("{part} ({why})")),
        _ => None,
    })
}

/// Returns the last line to print for a run, as an error if the run failed.
pub(crate) fn verdict(skipped: &[String], required: bool) -> Result<String, String> {
    match skipped {
        [] => Ok("all checks passed".to_string()),
        all if required => {
            Err(format!("NOT run, although {REQUIRE_ALL} is set: {}", all.join(", ")))
        }
        all => Ok(format!("all checks passed; NOT run here: {}", all.join(", "))),
    }
}

pub(crate) fn all_required() -> bool {
    std::env::var_os(REQUIRE_ALL).is_some()
}

/// Returns the attacks as a Markdown table, sorted by area.
pub(crate) fn attacks(root: &Path) -> String {
    let rows = sorted(root, |fields| match fields {
        ["attack", area, attack, tried, failed] => {
            Some(format!("| {area} | {attack} | {tried} | {failed} |"))
        }
        _ => None,
    });
    format!("| area | attack | tried | failed |\n|---|---|---:|---:|\n{}\n", rows.join("\n"))
}

/// Returns the strings that `text` extracts from the notes, sorted and without duplicates.
fn sorted(root: &Path, text: impl Fn(&[&str]) -> Option<String>) -> Vec<String> {
    let notes = fs::read_to_string(path(root)).unwrap_or_default();
    let mut texts: Vec<String> =
        notes.lines().filter_map(|line| text(&line.split('\t').collect::<Vec<_>>())).collect();
    texts.sort();
    texts.dedup();
    texts
}

#[test]
fn skipped_parts_are_listed_at_the_end() {
    let root = std::env::temp_dir().join(format!("pavior-notes-{}", std::process::id()));
    begin(&root);
    assert_eq!(verdict(&skipped(&root), true), Ok("all checks passed".to_string()));
    fs::write(path(&root), "skipped\ta page\tno Chromium\n".repeat(2)).unwrap();
    let all = skipped(&root);
    assert_eq!(all, ["a page (no Chromium)"]);
    let end = "all checks passed; NOT run here: a page (no Chromium)";
    assert_eq!(verdict(&all, false), Ok(end.to_string()));
    assert!(verdict(&all, true).unwrap_err().contains("a page"));
    fs::remove_dir_all(root).unwrap();
}
