//! Limits on the lengths of lines, functions and pages of results, the line budget, and banned
//! calls, each with its replacement.
//!
//! The text is expected in the format of rustfmt: a function ends at the first line that is a
//! closing brace at its own indentation.

use std::path::Path;

use crate::{budget, results, rust_files, sources, words};

const COLUMNS: usize = 100;
const FUNCTION_LINES: usize = 70;

/// A banned call, the places where it is banned, and its replacement.
struct Ban {
    text: &'static str,
    /// Path prefixes below which it is banned.
    below: &'static [&'static str],
    /// Path prefixes and endings that are exempt.
    except: &'static [&'static str],
    instead: &'static str,
}

const CRATES: &[&str] = &["crates/"];
const EVERYWHERE: &[&str] = &["crates/", "apps/", "xtask/"];

const BANS: &[Ban] = &[
    Ban {
        text: "println!(",
        below: CRATES,
        except: &[],
        instead: "a returned value: only apps/ print (tests may)",
    },
    Ban {
        text: "std::fs",
        below: CRATES,
        except: &["crates/files/"],
        instead: "pavior_files, or a reader or writer as an argument",
    },
    Ban {
        text: "std::env::",
        below: CRATES,
        except: &["crates/experiments/src/directory/note.rs"],
        instead: "an argument: only apps/ look at their surroundings",
    },
    Ban {
        text: "Instant::now",
        below: EVERYWHERE,
        except: &[
            "simulation/src/stopwatch.rs",
            "crates/experiments/src/directory/note.rs",
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
        text: "SystemTime::now",
        below: CRATES,
        except: &["crates/experiments/src/directory/note.rs"],
        instead: "an argument: no result may depend on a clock",
    },
    Ban {
        text: ".ln()",
        below: CRATES,
        except: &[],
        instead: "libm::log: the same bytes on every processor",
    },
    Ban {
        text: ".exp()",
        below: CRATES,
        except: &[],
        instead: "libm::exp: the same bytes on every processor",
    },
    Ban {
        text: ".powf(",
        below: CRATES,
        except: &[],
        instead: "libm::pow: the same bytes on every processor",
    },
    Ban { text: "dbg!(", below: EVERYWHERE, except: &[], instead: "nothing" },
    Ban { text: "todo!(", below: EVERYWHERE, except: &[], instead: "the code" },
    Ban { text: "unimplemented!(", below: EVERYWHERE, except: &[], instead: "the code" },
    Ban { text: "#[ignore", below: EVERYWHERE, except: &[], instead: "a test that runs" },
];

/// Returns all problems, one per line.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let pages = ["src", "try"].map(|part| root.join("crates/viewer/page").join(part));
    let pages = pages.iter().flat_map(|folder| sources(folder, "ts"));
    for file in rust_files(root).into_iter().chain(pages) {
        let Ok(text) = std::fs::read_to_string(&file) else {
            problems.push(format!("{}: cannot be read", file.display()));
            continue;
        };
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        problems.extend(of_file(&name, &text));
    }
    problems.extend(results::problems(root));
    problems.extend(budget::problems(root));
    problems.extend(words::problems(root));
    problems
}

/// Returns the problems in a file; in languages other than Rust, only lines that are too long.
/// Tests, benches, examples and build scripts may use every call.
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
    let mut words = line.trim_start().split_inclusive([' ', '(']);
    loop {
        match words.next()?.trim_end() {
            "pub" | "const" | "async" | "unsafe" | "pub(crate)" | "pub(super)" => {}
            "pub(" => {
                words.next()?;
            }
            "fn" => break,
            _ => return None,
        }
    }
    line.split("fn ").nth(1)?.split(['(', '<']).next()
}

fn banned(name: &str, number: usize, line: &str) -> Option<String> {
    let trimmed = line.trim_start();
    if trimmed.starts_with("//") {
        return None;
    }
    let ban = BANS.iter().find(|ban| {
        line.contains(ban.text)
            && ban.below.iter().any(|below| name.starts_with(below))
            && !ban.except.iter().any(|path| name.starts_with(path) || name.ends_with(path))
    })?;
    Some(format!("{name}:{number}: `{}` is banned; use {}", ban.text, ban.instead))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_and_functions_are_found() {
        for (begin, end) in [("// ", ""), ("//! ```\n// ", ""), ("a(\"", "\");")] {
            let of = |columns: usize| {
                let line = begin.lines().last().unwrap_or_default().len() + end.len();
                let text = format!("{begin}{}{end}\n", "é".repeat(columns - line));
                of_file("crates/x/tests/a.rs", &text)
            };
            assert!(of(100).is_empty());
            assert!(of(101)[0].ends_with(": 101 columns of 100"), "{begin}");
        }
        let page = format!("{}\nfn a() {{\n{}}}\n", "é".repeat(101), "\n".repeat(100));
        assert_eq!(
            of_file("crates/x/page/src/a.ts", &page).len(),
            1,
            "functions are not looked at"
        );
        let address = format!("// https://example.org/{}\n", "a".repeat(100));
        assert!(of_file("crates/x/src/a.rs", &address).is_empty());
        let body = "    let _ = 0;\n".repeat(69);
        let function = format!("pub(crate) fn far() {{\n{body}}}\n");
        assert!(of_file("crates/x/src/a.rs", &function)[0].contains("`far` has 71 lines"));
        let body = "    let _ = 0;\n".repeat(68);
        assert!(of_file("crates/x/src/a.rs", &format!("fn near() {{\n{body}}}\n")).is_empty());
        assert!(of_file("crates/x/src/a.rs", "fn declared();\n").is_empty());
    }

    #[test]
    fn banned_calls_are_found_with_their_replacement() {
        let found = |name: &str, line: &str| of_file(name, line).join("");
        assert!(found("crates/x/src/a.rs", "let y = x.ln();").contains("libm::log"));
        assert!(found("crates/x/src/a.rs", "// x.ln() would differ").is_empty());
        assert!(found("apps/cli/src/a.rs", "println!(\"\");").is_empty());
        assert!(found("crates/x/src/a.rs", "println!(\"\");").contains("banned"));
        assert!(found("crates/simulation/src/stopwatch.rs", "Instant::now()").is_empty());
        assert!(found("crates/x/src/a.rs", "#[cfg(test)]\nmod tests { println!() }").is_empty());
    }
}
