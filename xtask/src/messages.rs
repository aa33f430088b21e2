//! Checks that the program contains the messages quoted in docs/troubleshooting.md.
//!
//! The messages are formatted as code in the first column of a table, with an ellipsis for each
//! variable part. The pieces between ellipses must occur in the sources.

use std::path::Path;

use crate::{Problems, sources};

const PAGE: &str = "docs/troubleshooting.md";

/// The length of the shortest piece that is checked.
const LEAST: usize = 6;

pub(crate) fn problems(root: &Path) -> Problems {
    let page = std::fs::read_to_string(root.join(PAGE));
    let page = page.map_err(|error| format!("{PAGE}: {error}"))?;
    let files = ["apps", "crates"].iter().flat_map(|folder| sources(&root.join(folder), "rs"));
    let files = files.filter(|file| !file.iter().any(|part| part == "tests"));
    let texts = files.filter_map(|file| std::fs::read_to_string(file).ok());
    let program: String = texts.map(|text| joined(&text)).collect();
    Ok(missing(&page, &program))
}

fn missing(page: &str, program: &str) -> Vec<String> {
    let of_line = |(index, line): (usize, &str)| {
        let message = line.strip_prefix("| `")?.split_once('`')?.0;
        let pieces = message.split('…').map(str::trim).filter(|piece| piece.len() >= LEAST);
        let pieces: Vec<&str> = pieces.collect();
        let lost = pieces.iter().find(|piece| !program.contains(**piece));
        let lost = if pieces.is_empty() { Some(&message) } else { lost };
        lost.map(|lost| format!("{PAGE}:{}: the program has no message `{lost}`", index + 1))
    };
    page.lines().enumerate().filter_map(of_line).collect()
}

/// Joins string literals that continue on the next line, and unescapes quotes.
fn joined(source: &str) -> String {
    let text: String = source.split("\\\n").map(str::trim_start).collect();
    text.replace("\\\"", "\"")
}

#[test]
fn missing_messages_are_found() {
    let program = joined("(\"one \\\n    two {} \\\"three four\\\"\");\n");
    let page = "| message | do |\n|---|---|\n| `one two … \"three four\"` | `other` |\n\
                | `one … five six` | a |\n| `a … b` | a |\n";
    assert_eq!(
        missing(page, &program),
        [
            "docs/troubleshooting.md:4: the program has no message `five six`",
            "docs/troubleshooting.md:5: the program has no message `a … b`",
        ]
    );
}
