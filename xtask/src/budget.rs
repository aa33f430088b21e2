//! The line budget: the table in ARCHITECTURE.md has the maximum number of lines that each part may
//! have.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const PAGE: &str = "ARCHITECTURE.md";

/// The first line of the table.
const HEAD: &str = "| part | folders | Rust | Python, TypeScript, shell |";

/// The number of lines by which a limit may exceed the count. A commit that removes more lowers the
/// limit.
const SLACK: usize = 100;

/// A row of the table: a part of the repository and its limits.
#[derive(Debug, PartialEq)]
struct Part {
    name: String,
    folders: Vec<String>,
    limits: Lines,
}

/// Lines of Rust, and of the other languages that are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Lines {
    rust: usize,
    other: usize,
}

impl Lines {
    fn plus(self, other: Lines) -> Lines {
        Lines { rust: self.rust + other.rust, other: self.other + other.other }
    }

    fn at_most(self, other: Lines) -> Lines {
        Lines { rust: self.rust.min(other.rust), other: self.other.min(other.other) }
    }
}

/// Compares the lines of each part with the table.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let compared = page(root).and_then(|page| Ok(of_parts(&table(&page)?, &files(root)?)));
    compared.unwrap_or_else(|problem| vec![problem])
}

/// Updates the table with the current counts where they are lower.
pub(crate) fn lower(root: &Path) -> Vec<String> {
    let lowered = page(root).and_then(|page| {
        let (mut parts, files) = (table(&page)?, files(root)?);
        for index in 0..parts.len() {
            parts[index].limits = parts[index].limits.at_most(count(&parts, index, &files));
        }
        std::fs::write(root.join(PAGE), with_table(&page, &parts))
            .map_err(|error| format!("{PAGE}: {error}"))
    });
    lowered.err().into_iter().collect()
}

/// Reads the page with the table.
fn page(root: &Path) -> Result<String, String> {
    std::fs::read_to_string(root.join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))
}

/// Returns the counted files with their lines.
fn files(root: &Path) -> Result<Vec<(String, Lines)>, String> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git ls-files: {error}"))?;
    if !listed.status.success() {
        return Err("git ls-files: the budget counts the files of a git checkout".to_string());
    }
    let names = String::from_utf8_lossy(&listed.stdout);
    let files = names.split('\0').filter_map(|name| {
        // Links lead to files that are counted in their own place; deleted files are still listed.
        let path = root.join(name);
        let is_file = path.symlink_metadata().is_ok_and(|data| data.is_file());
        let text = is_file.then(|| std::fs::read(path).unwrap_or_default())?;
        Some((name.to_string(), lines(name, &text)?))
    });
    Ok(files.collect())
}

/// Counts the lines of a file or returns `None` if its language is not counted.
fn lines(name: &str, text: &[u8]) -> Option<Lines> {
    let count = String::from_utf8_lossy(text).lines().count();
    let extension = Path::new(name).extension().and_then(|end| end.to_str());
    match extension {
        Some("rs") => Some(Lines { rust: count, other: 0 }),
        Some("py" | "pyi" | "ts" | "sh") => Some(Lines { rust: 0, other: count }),
        None if text.starts_with(b"#!") => Some(Lines { rust: 0, other: count }),
        _ => None,
    }
}

/// Reads the rows of the table; the last one, with the sums, is left out.
fn table(page: &str) -> Result<Vec<Part>, String> {
    let mut rows = page.lines().skip_while(|line| *line != HEAD).skip(2);
    let parts: Option<Vec<Part>> = rows
        .by_ref()
        .take_while(|line| line.starts_with('|') && !line.starts_with("| all |"))
        .map(part)
        .collect();
    let parts = parts.ok_or_else(|| format!("{PAGE}: a row of the budget cannot be read"))?;
    if parts.is_empty() { Err(format!("{PAGE}: no table `{HEAD}`")) } else { Ok(parts) }
}

fn part(row: &str) -> Option<Part> {
    let mut cells = row.split('|').map(str::trim).skip(1);
    let name = cells.next()?.to_string();
    let folders = cells.next()?.split_whitespace().map(str::to_string).collect();
    let mut number = || cells.next()?.replace(',', "").parse().ok();
    Some(Part { name, folders, limits: Lines { rust: number()?, other: number()? } })
}

/// Returns the page with its table replaced by this one.
fn with_table(page: &str, parts: &[Part]) -> String {
    let mut table = format!("{HEAD}\n|---|---|---:|---:|\n");
    let sum = parts.iter().fold(Lines::default(), |sum, part| sum.plus(part.limits));
    let mut row = |name: &str, folders: &str, lines: Lines| {
        let numbers = format!("{} | {}", grouped(lines.rust), grouped(lines.other));
        let _ = writeln!(table, "| {name} | {folders} | {numbers} |");
    };
    for part in parts {
        row(&part.name, &part.folders.join(" "), part.limits);
    }
    row("all", "", sum);
    let begin = page.find(HEAD).unwrap_or(page.len());
    let length: usize = page[begin..]
        .split_inclusive('\n')
        .take_while(|line| line.starts_with('|'))
        .map(str::len)
        .sum();
    format!("{}{table}{}", &page[..begin], &page[begin + length..])
}

/// Formats a number with commas between groups of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).expect("digits are ASCII"))
        .collect();
    groups.join(",")
}

/// Sums the lines of the files whose longest matching folder belongs to a part.
fn count(parts: &[Part], index: usize, files: &[(String, Lines)]) -> Lines {
    let own = files.iter().filter(|(name, _)| owner(parts, name) == Some(index));
    own.fold(Lines::default(), |sum, (_, lines)| sum.plus(*lines))
}

/// Returns the part to which a file belongs.
fn owner(parts: &[Part], file: &str) -> Option<usize> {
    parts.iter().position(|part| {
        part.folders.iter().any(|folder| {
            file.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
        })
    })
}

fn of_parts(parts: &[Part], files: &[(String, Lines)]) -> Vec<String> {
    let homeless = files.iter().filter(|(name, _)| owner(parts, name).is_none());
    let mut problems: Vec<String> =
        homeless.map(|(name, _)| format!("{PAGE}: no part of the budget has {name}")).collect();
    for (index, part) in parts.iter().enumerate() {
        let counted = count(parts, index, files);
        let pairs = [
            ("Rust", counted.rust, part.limits.rust),
            ("other languages", counted.other, part.limits.other),
        ];
        for (language, lines, limit) in pairs {
            let name = &part.name;
            if lines > limit {
                problems.push(format!(
                    "{PAGE}: {name} has {lines} lines of {language}, its budget is {limit}: remove \
                     lines, or raise the limit in a commit of its own that says why"
                ));
            } else if limit - lines > SLACK {
                problems.push(format!(
                    "{PAGE}: {name} has {lines} lines of {language}, its budget is {limit}: \
                     `cargo xtask tidy --lower` lowers it"
                ));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(rust: &str) -> String {
        let row =
            format!("| core | crates/a crates/b | {rust} | 0 |\n| tools | xtask | 10 | 1,024 |");
        format!("# A\n\n{HEAD}\n|---|---|---:|---:|\n{row}\n| all |  | 0 | 0 |\n\nEnd.\n")
    }

    fn files(rust: usize) -> Vec<(String, Lines)> {
        let rust_file = |name: &str, rust| (name.to_string(), Lines { rust, other: 0 });
        let script = ("xtask/a.sh".to_string(), Lines { rust: 0, other: 1024 });
        vec![rust_file("crates/a/src/lib.rs", rust), rust_file("xtask/src/main.rs", 10), script]
    }

    #[test]
    fn a_part_above_or_far_below_its_limit_is_a_problem() {
        let parts = table(&page("1,500")).unwrap();
        assert_eq!(parts[0].folders, ["crates/a", "crates/b"]);
        assert_eq!(of_parts(&parts, &files(1500)), Vec::<String>::new());
        assert_eq!(of_parts(&parts, &files(1400)), Vec::<String>::new());
        assert!(of_parts(&parts, &files(1501))[0].contains("core has 1501 lines of Rust"));
        assert!(of_parts(&parts, &files(1399))[0].contains("--lower"));
    }

    #[test]
    fn every_counted_file_belongs_to_a_part() {
        let parts = table(&page("0")).unwrap();
        let stray = [("crates/ab/src/lib.rs".to_string(), Lines { rust: 1, other: 0 })];
        assert!(of_parts(&parts, &stray)[0].contains("no part of the budget has crates/ab"));
        assert!(table("# A\n").is_err());
        assert!(table(&page("many")).is_err());
    }

    #[test]
    fn the_table_is_written_with_its_sum_and_nothing_else_changes() {
        let mut parts = table(&page("1,500")).unwrap();
        parts[0].limits.rust = 1_234_567;
        let written = with_table(&page("1,500"), &parts);
        assert_eq!(table(&written).unwrap(), parts);
        assert!(written.contains("| core | crates/a crates/b | 1,234,567 | 0 |\n"), "{written}");
        assert!(written.contains("| all |  | 1,234,577 | 1,024 |\n\nEnd.\n"), "{written}");
        assert!(written.starts_with("# A\n\n"));
    }

    #[test]
    fn scripts_without_an_extension_are_counted() {
        assert_eq!(lines(".ci/run", b"#!/bin/sh\na\n"), Some(Lines { rust: 0, other: 2 }));
        assert_eq!(lines("a.pyi", b"a\n"), Some(Lines { rust: 0, other: 1 }));
        assert_eq!(lines("a.csv", b"a\n"), None);
        assert_eq!(lines("LICENSE", b"a\n"), None);
    }
}
