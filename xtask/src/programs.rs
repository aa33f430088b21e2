//! The test programs, which are all built together, and the steps that run them.
//!
//! The programs run as they do under cargo, but without cargo's lock, so builds do not block them.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::process::{self, text};
use crate::{Problems, notes, steps};

/// The file that contains cargo's messages about the built programs, one per line.
const LIST: &str = "target/checks/programs.jsonl";

/// The package whose tests require the built page.
pub(crate) const BROWSER: &str = "apps/browser";

/// A program that contains tests.
#[derive(Debug, PartialEq)]
struct Program {
    /// The directory of the program's package, relative to the root.
    folder: String,
    /// `it` for a package's integration tests; otherwise, the name of a library or program.
    target: String,
    path: String,
}

/// Builds all tests, the examples and the program, and writes the list of programs.
pub(crate) fn build(root: &Path) -> Problems {
    let words = "test --workspace --all-features --no-run --message-format=json-render-diagnostics";
    let built = process::checked(root, words).stderr(std::process::Stdio::inherit()).output();
    let built = built.map_err(|error| format!("cargo: {error}"))?;
    if !built.status.success() {
        return Err(format!("failed: cargo {words}"));
    }
    let written = fs::create_dir_all(root.join("target/checks"))
        .and_then(|()| fs::write(root.join(LIST), built.stdout));
    written.map(|()| Vec::new()).map_err(|error| format!("{LIST}: {error}"))
}

impl Program {
    /// Parses a message. Returns `None` if the message does not describe a program with tests.
    fn of_message(root: &Path, line: &str) -> Option<Program> {
        let message: Value = serde_json::from_str(line).ok()?;
        let path = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
        let folder =
            Path::new(text(&message, "manifest_path")).parent()?.strip_prefix(root).ok()?;
        let target = text(&message["target"], "name").to_string();
        Some(Program { folder: folder.display().to_string(), target, path: path.to_string() })
    }

    /// Returns true if the program runs servers, clusters or browsers, and so has its own step.
    fn waits(&self) -> bool {
        self.target == "it" && (self.folder == BROWSER || steps::waits(&self.folder))
    }
}

/// Runs the tests in the selected programs, optionally under a tool such as valgrind.
fn tests(
    root: &Path,
    is_run: impl Fn(&Program) -> bool,
    before: &[&str],
    arguments: &[&str],
) -> Problems {
    let list = fs::read_to_string(root.join(LIST));
    let list = list.map_err(|error| format!("{LIST}: {error}; run cargo xtask step build"))?;
    let programs = list.lines().filter_map(|line| Program::of_message(root, line));
    let programs: Vec<Program> = programs.filter(is_run).collect();
    if programs.is_empty() {
        return Err(format!("{LIST} lists none of these tests; run cargo xtask step build"));
    }
    let failed = programs.iter().filter_map(|program| {
        println!("     Running {} in {}", program.target, program.folder);
        let words = [before, &[&program.path], arguments].concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(root.join(&program.folder)).envs([process::SIZE]);
        let failed = process::run(&mut command).is_err();
        failed.then(|| format!("failed: {} in {}", program.target, program.folder))
    });
    Ok(failed.collect())
}

/// Runs all tests that do not have their own step.
pub(crate) fn others(root: &Path) -> Problems {
    tests(root, |program| !program.waits(), &[], &["--quiet"])
}

/// Runs a package's integration tests four at a time, because they mostly wait.
pub(crate) fn waiting(root: &Path, folder: &str) -> Problems {
    let is_run = |program: &Program| program.waits() && program.folder == folder;
    tests(root, is_run, &[], &["--test-threads", "4"])
}

/// Runs the tests for the vector code under valgrind, because the code contains an unsafe call.
pub(crate) fn memory(root: &Path) -> Problems {
    if !pavior_trials::is_installed("valgrind") {
        let why = "valgrind is not installed";
        return Ok(notes::skip("the unsafe call under valgrind", why));
    }
    let valgrind = ["valgrind", "--quiet", "--error-exitcode=1"];
    let is_run = |program: &Program| program.target == "pavior_mesh";
    tests(root, is_run, &valgrind, &["search::vectors"])
}

#[test]
fn programs_with_tests_are_listed() {
    let message = |test: bool| {
        serde_json::json!({
            "manifest_path": "/root/apps/kube/Cargo.toml",
            "target": { "name": "it" },
            "profile": { "test": test },
            "executable": "/root/target/debug/deps/it-1",
        })
        .to_string()
    };
    let program = |message: &str| Program::of_message(Path::new("/root"), message);
    let path = "/root/target/debug/deps/it-1".to_string();
    let listed = Program { folder: "apps/kube".to_string(), target: "it".to_string(), path };
    assert_eq!(program(&message(true)), Some(listed));
    assert_eq!(program(&message(false)), None);
}
