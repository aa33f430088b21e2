//! Limits on the lengths of lines, functions and result pages, the line budget, and banned calls,
//! each with its replacement.
//!
//! The text must be formatted by rustfmt: a function ends at the first line that is a closing brace
//! at its own indentation.

use std::path::Path;

use crate::{budget, sources, words};

const COLUMNS: usize = 100;
const FUNCTION_LINES: usize = 70;
const PAGE_LINES: usize = 100;

/// Banned calls, where they are banned, and their replacement.
struct Ban {
    texts: &'static [&'static str],
    /// Path prefixes below which the calls are banned.
    below: &'static [&'static str],
    /// Path prefixes and endings that are exempt.
    except: &'static [&'static str],
    instead: &'static str,
}

const CRATES: &[&str] = &["crates/"];
const EVERYWHERE: &[&str] = &["crates/", "apps/", "xtask/"];
const NOTE: &str = "crates/experiments/src/directory/note.rs";

const BANS: &[Ban] = &[
    Ban {
        texts: &["println!("],
        below: CRATES,
        except: &[],
        instead: "a returned value: only apps/ print (tests may)",
    },
    Ban {
        texts: &["std::fs"],
        below: CRATES,
        except: &["crates/files/"],
        instead: "pavior_files, or a reader or writer as an argument",
    },
    Ban {
        texts: &["std::env::", "SystemTime::now"],
        below: CRATES,
        except: &[NOTE],
        instead: "an argument: no result may depend on a clock or a variable",
    },
    Ban {
        texts: &["Instant::now"],
        below: EVERYWHERE,
        except: &[
            NOTE,
            "simulation/src/stopwatch.rs",
            "serve/src/clock.rs",
            "slurm/src/calls.rs",
            "apps/kube/src/daemon/",
            "apps/kube/src/page/",
            "apps/kube/src/read/",
            "serve/src/http/write_timeout.rs",
            "serve/src/storage/claim.rs",
            "xtask/src/check.rs",
            "xtask/trials/src/browser.rs",
        ],
        instead: "pavior_simulation::Stopwatch: no result may depend on a clock",
    },
    Ban {
        texts: &[".ln()", ".exp()", ".powf("],
        below: CRATES,
        except: &[],
        instead: "libm: the same bytes on every processor",
    },
    Ban {
        texts: &["dbg!(", "todo!(", "unimplemented!("],
        below: EVERYWHERE,
        except: &[],
        instead: "finished code",
    },
    Ban { texts: &["#[ignore"], below: EVERYWHERE, except: &[], instead: "a test that runs" },
];

/// Returns all problems, one per line.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let pages = ["src", "try"].map(|part| root.join("crates/viewer/page").join(part));
    let pages = pages.iter().flat_map(|folder| sources(folder, "ts"));
    for file in sources(root, "rs").into_iter().chain(pages) {
        let Ok(text) = std::fs::read_to_string(&file) else {
            problems.push(format!("{}: cannot be read", file.display()));
            continue;
        };
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        problems.extend(of_file(&name, &text));
    }
    problems.extend(of_results(root));
    problems.extend(budget::problems(root));
    problems.extend(words::problems(root));
    problems
}

/// Returns the result pages that are too long, or that have the same name as a page in docs/.
/// Longer tables belong in CSV files next to the page.
fn of_results(root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    for page in sources(&root.join("results"), "md") {
        let path = page.strip_prefix(root).unwrap_or(&page).display();
        let lines = std::fs::read_to_string(&page).unwrap_or_default().lines().count();
        if lines > PAGE_LINES {
            problems.push(format!("{path}: {lines} lines; a page of results has {PAGE_LINES}"));
        }
        let name = page.file_name().unwrap_or_default();
        if name != "README.md" && root.join("docs").join(name).exists() {
            problems.push(format!("{path}: docs/ has a page with the same name"));
        }
    }
    problems
}

/// Returns the problems in a file; in languages other than Rust, only lines that are too long.
/// Tests, benches, examples and build scripts may use any call.
fn of_file(name: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    if Path::new(name).extension().is_none_or(|extension| extension != "rs") {
        return long_lines(name, &lines);
    }
    let code = lines.iter().position(|line| *line == "#[cfg(test)]").unwrap_or(lines.len());
    // A build script communicates with cargo over standard output.
    let others = ["/tests/", "/benches/", "/examples/", "/build.rs", "/build/"];
    let is_source = !others.iter().any(|part| name.contains(part));
    let mut problems = long_functions(name, &lines);
    problems.extend(long_lines(name, &lines));
    if is_source && name != "xtask/src/tidy.rs" {
        for (index, line) in lines[..code].iter().enumerate() {
            problems.extend(banned(name, index + 1, line));
        }
    }
    problems
}

/// Finds lines that are too long: rustfmt does not change comments, strings and macros. A line with
/// a URL is exempt, because a URL cannot be split.
fn long_lines(name: &str, lines: &[&str]) -> Vec<String> {
    let columns = lines.iter().map(|line| line.chars().count());
    let long = columns.enumerate().filter(|&(at, columns)| {
        columns > COLUMNS && !lines[at].contains("https://") && !lines[at].contains("http://")
    });
    long.map(|(at, columns)| format!("{name}:{}: {columns} columns of {COLUMNS}", at + 1)).collect()
}

fn long_functions(name: &str, lines: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(function) = function_name(line) else { continue };
        let indent = " ".repeat(line.len() - line.trim_start().len());
        let (closing, signature) = (format!("{indent}}}"), format!("{indent})"));
        // A declaration without a body ends with its signature.
        let ends = |(index, line): (usize, &&str)| {
            *line == closing || line.ends_with(';') && (index == 0 || line.starts_with(&signature))
        };
        let end = lines[start..].iter().enumerate().position(ends);
        let length = end.map_or(0, |end| end + 1);
        if length > FUNCTION_LINES {
            problems.push(format!(
                "{name}:{}: `{function}` has {length} lines; a function has at most \
                 {FUNCTION_LINES}",
                start + 1
            ));
        }
    }
    problems
}

/// Returns the name of the function whose definition begins on a line.
pub(crate) fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.trim_start().split_once("fn ")?;
    let is_modifier = |word: &str| {
        // `pub(in path)` is two words.
        word.starts_with("pub")
            || word.ends_with(')')
            || ["const", "async", "unsafe"].contains(&word)
    };
    before.split_whitespace().all(is_modifier).then(|| after.split(['(', '<']).next())?
}

fn banned(name: &str, number: usize, line: &str) -> Option<String> {
    if line.trim_start().starts_with("//") {
        return None;
    }
    let applies = |ban: &&Ban| {
        ban.below.iter().any(|below| name.starts_with(below))
            && !ban.except.iter().any(|path| name.starts_with(path) || name.ends_with(path))
    };
    let find = |ban: &Ban| {
        let text = ban.texts.iter().find(|text| line.contains(**text))?;
        Some(format!("{name}:{number}: `{text}` is banned; use {}", ban.instead))
    };
    BANS.iter().filter(applies).find_map(find)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_and_functions_are_found() {
        let long = "é".repeat(101);
        let function = |lines: usize| format!("fn far() {{\n{}}}\n", "a();\n".repeat(lines - 2));
        for (name, text, problem) in [
            ("crates/x/tests/a.rs", "é".repeat(100), ""),
            ("crates/x/tests/a.rs", long.clone(), "crates/x/tests/a.rs:1: 101 columns of 100"),
            ("crates/x/page/src/a.ts", format!("{}{long}", function(99)), ":100: 101 columns"),
            ("crates/x/src/a.rs", format!("// https://example.org/{long}\n"), ""),
            ("crates/x/src/a.rs", function(70), ""),
            ("crates/x/src/a.rs", format!("pub(crate) {}", function(71)), "`far` has 71 lines"),
            ("crates/x/src/a.rs", "fn declared();\n".to_string(), ""),
        ] {
            let found = of_file(name, &text);
            assert!(found.len() == usize::from(!problem.is_empty()), "{name}: {found:?}");
            assert!(found.concat().contains(problem), "{name}: {found:?}");
        }
    }

    #[test]
    fn banned_calls_are_found_with_their_replacement() {
        let found = |name: &str, line: &str| of_file(name, line).join("");
        assert!(found("crates/x/src/a.rs", "let y = x.ln();").contains("libm"));
        assert!(found("crates/x/src/a.rs", "// x.ln() would differ").is_empty());
        assert!(found("apps/cli/src/a.rs", "println!(\"\");").is_empty());
        assert!(found("crates/x/src/a.rs", "println!(\"\");").contains("banned"));
        assert!(found("crates/simulation/src/stopwatch.rs", "Instant::now()").is_empty());
        assert!(found("crates/x/src/a.rs", "#[cfg(test)]\nmod tests { println!() }").is_empty());
    }
}
