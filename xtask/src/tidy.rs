//! Checks line lengths, result page lengths, the line budget, the wording of comments, and a
//! declaration in each library. Clippy checks function lengths and banned calls.

use std::path::Path;

use crate::{Problems, budget, sources, words};

const COLUMNS: usize = 100;
const PAGE_LINES: usize = 100;

/// The part of the attribute with which a library bans the calls listed in `clippy.toml`.
const BANS: &str = "clippy::disallowed_methods))]";

/// Returns all problems, one per line.
pub(crate) fn problems(root: &Path) -> Problems {
    let mut problems = Vec::new();
    let pages = ["src", "try"].map(|part| root.join("crates/viewer/page").join(part));
    let pages = pages.iter().flat_map(|folder| sources(folder, "ts"));
    for file in sources(root, "rs").into_iter().chain(pages) {
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        match std::fs::read_to_string(&file) {
            Ok(text) => problems.extend(of_file(&name, &text)),
            Err(error) => problems.push(format!("{name}: {error}")),
        }
    }
    problems.extend(of_results(root));
    problems.extend(words::problems(root));
    problems.extend(budget::problems(root)?);
    Ok(problems)
}

/// Finds result pages that are too long, or that have the same name as a page in docs/. Long tables
/// belong in CSV files next to the page.
fn of_results(root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    for page in sources(&root.join("results"), "md") {
        let path = page.strip_prefix(root).unwrap_or(&page).display();
        let lines = std::fs::read_to_string(&page).unwrap_or_default().lines().count();
        if lines > PAGE_LINES {
            problems.push(format!("{path}: {lines} lines; the limit is {PAGE_LINES}"));
        }
        let name = page.file_name().unwrap_or_default();
        if name != "README.md" && root.join("docs").join(name).exists() {
            problems.push(format!("{path}: docs/ has a page with the same name"));
        }
    }
    problems
}

/// Finds ignored tests, libraries that ban no calls, and long lines (rustfmt does not break them in
/// comments, strings or macros). Lines with URLs are exempt.
fn of_file(name: &str, text: &str) -> Vec<String> {
    let of_line = |(index, line): (usize, &str)| {
        let columns = line.chars().count();
        let has_url = line.contains("https://") || line.contains("http://");
        let problem = if columns > COLUMNS && !has_url {
            format!("{columns} columns; the limit is {COLUMNS}")
        } else if line.trim_start().starts_with("#[ignore") {
            "an ignored test; all tests must run".to_string()
        } else {
            return None;
        };
        Some(format!("{name}:{}: {problem}", index + 1))
    };
    let mut problems: Vec<String> = text.lines().enumerate().filter_map(of_line).collect();
    if name.ends_with("src/lib.rs") && !text.contains(BANS) {
        problems
            .push(format!("{name}: bans no calls; copy the first attribute from another library"));
    }
    problems
}

#[test]
fn long_lines_ignored_tests_and_libraries_without_bans_are_found() {
    let long = "é".repeat(101);
    for (name, text, problem) in [
        ("crates/x/src/a.rs", "é".repeat(100), ""),
        ("crates/x/src/a.rs", long.clone(), "crates/x/src/a.rs:1: 101 columns; the limit is 100"),
        ("crates/x/page/src/a.ts", format!("a\n{long}"), ":2: 101 columns"),
        ("crates/x/src/a.rs", format!("// https://example.org/{long}\n"), ""),
        ("crates/x/src/a.rs", "    #[ignore = \"slow\"]\n".to_string(), ":1: an ignored test"),
        ("crates/x/src/lib.rs", "#![allow(a)]\n".to_string(), "bans no calls"),
        ("crates/x/src/lib.rs", format!("#![cfg_attr(not(test), deny({BANS}\n"), ""),
    ] {
        let found = of_file(name, &text);
        assert!(found.len() == usize::from(!problem.is_empty()), "{name}: {found:?}");
        assert!(found.concat().contains(problem), "{name}: {found:?}");
    }
}
