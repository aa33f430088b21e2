//! Checks that the messages quoted in docs/troubleshooting.md exist in the program.
//!
//! A message is the code in the first column of a table. An ellipsis in it represents a part that
//! varies; each piece in between is searched for in the string literals of the sources.

use std::path::Path;

use crate::rust_files;

const PAGE: &str = "docs/troubleshooting.md";

/// The minimum length of a significant piece.
const LEAST: usize = 6;

/// Returns every message that is not found in the sources.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let Ok(page) = std::fs::read_to_string(root.join(PAGE)) else {
        return vec![format!("{PAGE}: cannot be read")];
    };
    let files = ["apps", "crates"].iter().flat_map(|folder| rust_files(&root.join(folder)));
    let files = files.filter(|file| !file.iter().any(|part| part == "tests"));
    let sources: Vec<String> =
        files.filter_map(|file| Some(joined(&std::fs::read_to_string(file).ok()?))).collect();
    let missing = quoted(&page).into_iter().filter_map(|(line, message)| {
        let is_there = |piece: &str| sources.iter().any(|source| source.contains(piece));
        let pieces = message.split('…').map(str::trim).filter(|piece| piece.len() >= LEAST);
        let pieces: Vec<&str> = pieces.collect();
        let lost = pieces.iter().find(|piece| !is_there(piece));
        let lost = if pieces.is_empty() { Some(&message) } else { lost };
        lost.map(|lost| format!("{PAGE}:{line}: no message of the program has `{lost}`"))
    });
    missing.collect()
}

/// Returns the messages quoted on a page, with their lines.
fn quoted(page: &str) -> Vec<(usize, &str)> {
    page.lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let message = line.strip_prefix("| `")?.split_once('`')?.0;
            Some((index + 1, message))
        })
        .collect()
}

/// Joins string literals that continue on the next line, with quotes as they are displayed.
fn joined(source: &str) -> String {
    let mut text = String::new();
    let mut lines = source.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(begun) = line.strip_suffix('\\') else {
            text += line;
            text.push('\n');
            continue;
        };
        text += begun;
        if let Some(next) = lines.peek_mut() {
            *next = next.trim_start();
        }
    }
    text.replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_over_two_lines_are_joined() {
        assert_eq!(joined("a(\"one \\\n    two\");\n"), "a(\"one two\");\n");
    }

    #[test]
    fn messages_are_the_code_of_the_first_column() {
        let page = "| message | do |\n|---|---|\n| `a … b` | `c` |\n| d | `e` |\n";
        assert_eq!(quoted(page), [(3, "a … b")]);
    }

    #[test]
    fn the_page_quotes_what_the_program_says() {
        let problems = problems(&crate::root());
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
}
