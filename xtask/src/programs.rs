//! The test programs created by a single build, and the steps that run them.
//!
//! The programs run as under cargo, but without its lock, so tests that wait run at the same time
//! as builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{notes, process, steps};

/// The list of the programs, one per line: package folder, target name, path.
const LIST: &str = "target/checks/programs";

/// A program that contains tests.
struct Program {
    /// The folder of its package, relative to the root.
    folder: String,
    /// `it` for a package's integration tests, otherwise the name of a library or program.
    target: String,
    path: PathBuf,
}

/// Builds all tests, the examples and the program, and writes the list of the test programs.
pub(crate) fn build(root: &Path) -> Vec<String> {
    let words = "test --workspace --all-features --no-run --message-format=json-render-diagnostics";
    let list = process::checked(root, words).stderr(std::process::Stdio::inherit()).output();
    let written = match list {
        Ok(built) if built.status.success() => {
            let messages = String::from_utf8_lossy(&built.stdout);
            let list: String = messages.lines().filter_map(|line| of_message(root, line)).collect();
            fs::create_dir_all(root.join("target/checks"))
                .and_then(|()| fs::write(root.join(LIST), list))
                .map_err(|error| format!("{LIST}: {error}"))
        }
        Ok(_) => Err(format!("failed: cargo {words}")),
        Err(error) => Err(format!("cargo: {error}")),
    };
    written.err().into_iter().collect()
}

/// Returns the list entry for a cargo message about a program with tests.
fn of_message(root: &Path, line: &str) -> Option<String> {
    let message: Value = serde_json::from_str(line).ok()?;
    let path = message["executable"].as_str()?;
    if message["profile"]["test"] != true {
        return None;
    }
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.strip_prefix(root).ok()?;
    Some(format!("{}\t{}\t{path}\n", folder.display(), message["target"]["name"].as_str()?))
}

impl Program {
    /// Returns true if the program runs a server, a cluster or a browser, in a separate step.
    fn waits(&self) -> bool {
        self.target == "it" && (self.folder == BROWSER || steps::waits(&self.folder))
    }
}

/// Runs the tests of all programs that satisfy a predicate, optionally under another program.
fn tests(
    root: &Path,
    is_run: impl Fn(&Program) -> bool,
    before: &[&str],
    arguments: &[&str],
) -> Vec<String> {
    let list = match fs::read_to_string(root.join(LIST)) {
        Ok(list) => list,
        Err(error) => return vec![format!("{LIST}: {error}; cargo xtask step build")],
    };
    let programs = list.lines().filter_map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
        [folder, target, path] => {
            Some(Program { folder: folder.into(), target: target.into(), path: path.into() })
        }
        _ => None,
    });
    let programs: Vec<Program> = programs.filter(is_run).collect();
    if programs.is_empty() {
        return vec![format!("{LIST} contains none of these tests; cargo xtask step build")];
    }
    let failed = programs.iter().filter_map(|program| {
        println!("     Running {} of {}", program.target, program.folder);
        let path = program.path.to_string_lossy();
        let words = [before, &[&*path], arguments].concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(root.join(&program.folder)).envs([process::SIZE]);
        let failed = process::run(&mut command).is_err();
        failed.then(|| format!("failed: {} of {}", program.target, program.folder))
    });
    failed.collect()
}

/// Runs the tests that do not wait.
pub(crate) fn others(root: &Path) -> Vec<String> {
    tests(root, |program| !program.waits(), &[], &["--quiet"])
}

/// Runs a package's waiting tests, a few at a time.
pub(crate) fn waiting(root: &Path, folder: &str) -> Vec<String> {
    let is_run = |program: &Program| program.waits() && program.folder == folder;
    tests(root, is_run, &[], &["--test-threads", "4"])
}

/// The package whose tests need the page that runs the engine.
pub(crate) const BROWSER: &str = "apps/browser";

/// Runs the tests of the vectors, which contain the unsafe call, under valgrind.
pub(crate) fn memory(root: &Path) -> Vec<String> {
    if !process::is_installed("valgrind") {
        return notes::skip("the unsafe call under valgrind", "valgrind is not installed");
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
    let line = |message: &str| of_message(Path::new("/root"), message);
    let listed = "apps/kube\tit\t/root/target/debug/deps/it-1\n";
    assert_eq!(line(&message(true)).as_deref(), Some(listed));
    assert_eq!(line(&message(false)), None);
}
