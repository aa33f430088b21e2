//! The growth of cost with machines, queues and clients: the output of the relevant benches, for
//! this checkout alone, or compared with an earlier commit in the same run.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;

/// A bench and its sizes.
struct Part {
    what: &'static str,
    package: &'static str,
    bench: &'static str,
    arguments: &'static [&'static str],
    sizes: &'static [(&'static str, &'static str)],
}

const PARTS: &[Part] = &[
    Part {
        what: "50,000 drawn jobs by machine and scheduler",
        package: "pavior-scheduling",
        bench: "growth",
        arguments: &[],
        sizes: &[],
    },
    Part {
        what: "a refused lease, a grant and an end with 10 to 100,000 leases",
        package: "pavior-serve",
        bench: "refusals",
        arguments: &[],
        sizes: &[],
    },
    Part {
        what: "connections and watchers",
        package: "pavior-serve",
        bench: "load",
        arguments: &[],
        sizes: &[("PAVIOR_LOAD_S", "5"), ("PAVIOR_LOAD_RECORDS", "100000")],
    },
    Part {
        what: "header hops of the network",
        package: "pavior-network",
        bench: "engines",
        arguments: &[],
        sizes: &[],
    },
    Part {
        what: "`connected` beside `ff`",
        package: "pavior-allocation",
        bench: "cost",
        arguments: &["ff,connected"],
        sizes: &[],
    },
];

impl Part {
    /// Returns its output in a checkout. Everything is built into one folder, so two checkouts
    /// share build output.
    fn output(&self, checkout: &Path, target: &Path) -> Result<String, String> {
        let call = ["bench", "--quiet", "--profile", "dev", "--all-features"];
        let which = ["--package", self.package, "--bench", self.bench, "--"];
        let arguments = [&call[..], &which[..], self.arguments].concat();
        let target = target.to_string_lossy();
        let variables = [&[("CARGO_TARGET_DIR", &*target)], self.sizes].concat();
        cargo::output_with(checkout, &arguments, &variables)
    }
}

/// Prints the output of each part, next to its output at a commit, if one is given.
pub(crate) fn measure(root: &Path, commit: Option<&str>) -> Vec<String> {
    let base = match commit.map(|commit| Base::of(root, commit)).transpose() {
        Ok(base) => base,
        Err(problem) => return vec![problem],
    };
    let target = root.join("target");
    let mut problems = Vec::new();
    for part in PARTS {
        println!("== {}", part.what);
        let before = base.as_ref().map(|base| part.output(&base.0, &target));
        let now = match part.output(root, &target) {
            Ok(now) => now,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        match before {
            None => print!("{now}"),
            Some(Ok(before)) => beside(&before, &now).iter().for_each(|line| println!("{line}")),
            // The bench may be newer than the commit.
            Some(Err(problem)) => print!("before: {problem}\n{now}"),
        }
    }
    problems
}

/// A temporary checkout of an earlier commit.
struct Base(PathBuf);

impl Base {
    fn of(root: &Path, commit: &str) -> Result<Base, String> {
        let folder = root.join("target/growth");
        // Removes the remains of an interrupted run.
        drop(Base(folder.clone()));
        let add = ["worktree", "add", "--force", "--quiet", "--detach"];
        let mut git = Command::new("git");
        git.current_dir(root).args(add).arg("--end-of-options").arg(&folder).arg(commit);
        match git.status() {
            Ok(status) if status.success() => Ok(Base(folder)),
            Ok(_) => Err(format!("`{}` is not a commit of this repository", commit.escape_debug())),
            Err(error) => Err(format!("git: {error}")),
        }
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        let folder = &self.0;
        let parent = folder.parent().unwrap_or(folder);
        let remove = ["worktree", "remove", "--force"];
        // Git itself reports if it cannot remove something.
        let _ = folder
            .is_dir()
            .then(|| Command::new("git").current_dir(parent).args(remove).arg(folder).status());
    }
}

/// Compares two outputs line by line: equal parts appear once, different numbers with their ratio.
fn beside(before: &str, now: &str) -> Vec<String> {
    let count = |line: &str| line.split_whitespace().count();
    let mut lines = Vec::new();
    let (mut old, mut new) = (before.lines(), now.lines());
    loop {
        match (old.next(), new.next()) {
            (None, None) => return lines,
            (Some(old), Some(new)) if old == new => lines.push(new.to_string()),
            (Some(old), Some(new)) if count(old) == count(new) => lines.push(compared(old, new)),
            (old, new) => {
                lines.extend(old.map(|old| format!("before: {old}")));
                lines.extend(new.map(|new| format!("now:    {new}")));
            }
        }
    }
}

/// Compares two lines with the same number of words.
fn compared(old: &str, new: &str) -> String {
    let words = |line: &str| line.split_whitespace().map(str::to_string).collect::<Vec<String>>();
    let (old, new) = (words(old), words(new));
    let told = |index: usize| {
        let (one, other) = (&old[index], &new[index]);
        if one == other {
            return other.clone();
        }
        match (number(&old, index), number(&new, index)) {
            (Some(was), Some(is)) if is > 0.0 => format!("{one} -> {other} ({:.2}x)", was / is),
            _ => format!("{one} -> {other}"),
        }
    };
    (0..new.len()).map(told).collect::<Vec<String>>().join(" ")
}

/// Parses a number in a line, in seconds if a unit of time is attached or follows.
fn number(words: &[String], index: usize) -> Option<f64> {
    let word = words[index].trim_end_matches([',', ';']);
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let (digits, unit) = word.split_at(end);
    let value: f64 = digits.parse().ok()?;
    let behind = words.get(index + 1).map_or("", String::as_str);
    let unit = if unit.is_empty() { behind } else { unit };
    let known = [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3)];
    let scale = known.iter().find(|(name, _)| *name == unit).map_or(1.0, |(_, scale)| *scale);
    Some(value * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_stands_side_by_side_with_its_ratio() {
        let before = "a\tb\nmesh:4x4\teasy\t2.00 s\t00ff\n16 connections: 400, p99 1.5ms\n\
                      median 2 ms\nend";
        let now = "a\tb\nmesh:4x4\teasy\t1.00 s\t00fe\n16 connections: 800, p99 1.5ms\n\
                   median 500 µs\n";
        assert_eq!(
            beside(before, now),
            [
                "a\tb",
                "mesh:4x4 easy 2.00 -> 1.00 (2.00x) s 00ff -> 00fe",
                "16 connections: 400, -> 800, (0.50x) p99 1.5ms",
                "median 2 -> 500 (4.00x) ms -> µs",
                "before: end",
            ]
        );
    }
}
