//! The line budget: a table in ARCHITECTURE.md limits the lines in each part of the repository.

use std::path::Path;
use std::process::Command;

use crate::{Problems, process};

const PAGE: &str = "ARCHITECTURE.md";

/// The first line of the table.
const HEAD: &str = "| part | folders | Rust | Python, TypeScript, shell |";

/// The maximum number of lines by which a count may be below its limit. A commit that removes more
/// lines than this must lower the limit.
const SLACK: usize = 100;

/// Line counts: one for Rust, and one for all other languages combined.
type Lines = [usize; 2];

/// A table row.
struct Part {
    name: String,
    folders: String,
    limits: Lines,
}

/// Compares the line count of each part with the table.
pub(crate) fn problems(root: &Path) -> Problems {
    let (page, files) = read(root)?;
    of_page(&page, &files)
}

/// Lowers the limits in the table to the current counts.
pub(crate) fn lower(root: &Path) -> Result<(), String> {
    let (page, files) = read(root)?;
    std::fs::write(root.join(PAGE), lowered(&page, &files)?)
        .map_err(|error| format!("{PAGE}: {error}"))
}

/// Reads the page with the table, and counts the lines in each file.
fn read(root: &Path) -> Result<(String, Vec<(String, Lines)>), String> {
    let page =
        std::fs::read_to_string(root.join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
    let mut grep = Command::new("git");
    grep.args(["grep", "--untracked", "-I", "--count", "-e", ""]).current_dir(root);
    let counts = process::output(&mut grep)?;
    let of_line = |line: &str| {
        let (name, count) = line.rsplit_once(':')?;
        Some((name.to_string(), lines(root, name, count.parse().ok()?)?))
    };
    Ok((page, counts.lines().filter_map(of_line).collect()))
}

/// Assigns a file's line count to its language. Returns `None` for languages that are not counted.
fn lines(root: &Path, name: &str, count: usize) -> Option<Lines> {
    let is_script = || std::fs::read(root.join(name)).is_ok_and(|text| text.starts_with(b"#!"));
    match Path::new(name).extension().and_then(|end| end.to_str()) {
        Some("rs") => Some([count, 0]),
        Some("py" | "pyi" | "ts" | "sh") => Some([0, count]),
        None if is_script() => Some([0, count]),
        _ => None,
    }
}

fn part(row: &str) -> Option<Part> {
    let cells: Vec<&str> = row.strip_prefix('|')?.split('|').map(str::trim).collect();
    let [name, folders, rust, other, ""] = cells[..] else { return None };
    let number = |cell: &str| cell.replace(',', "").parse().ok();
    let limits = [number(rust)?, number(other)?];
    Some(Part { name: name.to_string(), folders: folders.to_string(), limits })
}

impl Part {
    fn contains(&self, file: &str) -> bool {
        let is_in = |folder| file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        self.folders.split_whitespace().any(is_in)
    }

    fn row(&self) -> String {
        let [rust, other] = self.limits.map(grouped);
        format!("| {} | {} | {rust} | {other} |", self.name, self.folders)
    }
}

/// Counts the lines in each part. A file counts toward the first part that contains it. Returns an
/// error if a file belongs to no part.
fn count(parts: &[Part], files: &[(String, Lines)]) -> Result<Vec<Lines>, String> {
    let mut counts = vec![[0, 0]; parts.len()];
    for (name, lines) in files {
        let owner = parts.iter().position(|part| part.contains(name));
        let owner = owner.ok_or(format!("{PAGE}: no part of the budget contains {name}"))?;
        for language in [0, 1] {
            counts[owner][language] += lines[language];
        }
    }
    Ok(counts)
}

/// Formats a number with commas between groups of three digits.
fn grouped(number: usize) -> String {
    match number / 1000 {
        0 => number.to_string(),
        thousands => format!("{},{:03}", grouped(thousands), number % 1000),
    }
}

/// Returns the parts in the table. Skips the row of totals, which lists no directories.
fn parts(page: &str) -> impl Iterator<Item = Part> {
    let rows =
        page.lines().skip_while(|line| *line != HEAD).take_while(|line| line.starts_with('|'));
    rows.filter_map(part).filter(|part| !part.folders.is_empty())
}

/// Returns the page with lowered limits and updated totals.
fn lowered(page: &str, files: &[(String, Lines)]) -> Result<String, String> {
    let mut parts: Vec<Part> = parts(page).collect();
    for (counted, part) in count(&parts, files)?.into_iter().zip(&mut parts) {
        part.limits = [0, 1].map(|language| part.limits[language].min(counted[language]));
    }
    let limits = [0, 1].map(|language| parts.iter().map(|part| part.limits[language]).sum());
    parts.push(Part { name: "all".to_string(), folders: String::new(), limits });
    let row = |line: &str| {
        let name = part(line).map(|part| part.name);
        let new = parts.iter().find(|part| name.as_ref() == Some(&part.name));
        new.map_or(line.to_string(), Part::row) + "\n"
    };
    Ok(page.lines().map(row).collect())
}

fn of_page(page: &str, files: &[(String, Lines)]) -> Problems {
    let parts: Vec<Part> = parts(page).collect();
    let mut problems = Vec::new();
    for (part, counted) in parts.iter().zip(count(&parts, files)?) {
        for (index, language) in ["Rust", "other languages"].into_iter().enumerate() {
            let (lines, limit) = (counted[index], part.limits[index]);
            let advice = if lines > limit {
                "remove lines, or raise the limit in a separate commit that explains why"
            } else if limit - lines > SLACK {
                "`cargo xtask budget` lowers it"
            } else {
                continue;
            };
            problems.push(format!(
                "{PAGE}: {} has {lines} lines of {language}; its budget is {limit} ({advice})",
                part.name
            ));
        }
    }
    Ok(problems)
}

#[test]
fn counts_are_compared_with_the_table() {
    let page = format!(
        "# A\n\n{HEAD}\n|---|---|---:|---:|\n| core | crates/a crates/b | 1,500 | 0 |\n\
         | tools | xtask | 10 | 1,024 |\n| all |  | 0 | 0 |\n\nEnd.\n"
    );
    let files = |rust: usize, name: &str| {
        let names = ["crates/a/src/lib.rs", "xtask/src/main.rs", "xtask/a.sh", name];
        let lines = [[rust, 0], [10, 0], [0, 1024], [0, 0]];
        names.map(str::to_string).into_iter().zip(lines).collect::<Vec<_>>()
    };
    for (rust, name, problem) in [
        (1500, "xtask/b.rs", ""),
        (1400, "xtask/b.rs", ""),
        (1501, "xtask/b.rs", "core has 1501 lines of Rust"),
        (1399, "xtask/b.rs", "`cargo xtask budget`"),
        (1500, "crates/ab/src/lib.rs", "no part of the budget contains crates/ab"),
    ] {
        let found = of_page(&page, &files(rust, name));
        let found = found.map_or_else(|problem| problem, |found| found.join("\n"));
        assert!(found.contains(problem) && found.is_empty() == problem.is_empty(), "{found}");
    }
    let lowered = lowered(&page, &files(1234, "xtask/b.rs"));
    let expected = page.replace("1,500", "1,234").replace("|  | 0 | 0 |", "|  | 1,244 | 1,024 |");
    assert_eq!(lowered, Ok(expected));
}
