//! The test programs created by a single build and the steps that run them.
//!
//! They run as under cargo, but without its lock, so tests that wait run at the same time as
//! builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{cargo, notes};

/// The build of all tests, with the examples and the program.
const BUILD: [&str; 5] = [
    "test",
    "--workspace",
    "--all-features",
    "--no-run",
    "--message-format=json-render-diagnostics",
];

/// The list of the programs, one per line: folder of the package, name of the target, path.
const LIST: &str = "target/checks/programs";

/// A program with tests.
struct Program {
    /// The folder of its package, from the root.
    folder: String,
    /// `it` for the integration tests of a package, otherwise the name of a library or program.
    target: String,
    path: PathBuf,
}

/// Builds all tests and writes the list of their programs.
pub(crate) fn build(root: &Path) -> Vec<String> {
    let list = cargo::output_with(root, &BUILD, &cargo::CHECKED).map(|messages| {
        messages.lines().filter_map(|line| of_message(root, line)).collect::<String>()
    });
    let written = list.and_then(|list| {
        let file = root.join(LIST);
        fs::create_dir_all(root.join("target/checks")).map_err(|error| error.to_string())?;
        fs::write(file, list).map_err(|error| format!("{LIST}: {error}"))
    });
    written.err().into_iter().collect()
}

/// Returns the list's line for a cargo message about a program with tests.
fn of_message(root: &Path, line: &str) -> Option<String> {
    let message: Value = serde_json::from_str(line).ok()?;
    let path = message["executable"].as_str()?;
    if message["profile"]["test"] != true {
        return None;
    }
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.strip_prefix(root).ok()?;
    Some(format!("{}\t{}\t{path}\n", folder.display(), message["target"]["name"].as_str()?))
}

fn programs(root: &Path) -> Result<Vec<Program>, String> {
    let text = fs::read_to_string(root.join(LIST));
    let text = text.map_err(|error| format!("{LIST}: {error}; cargo xtask step build"))?;
    let of_line = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        [folder, target, path] => {
            Some(Program { folder: folder.into(), target: target.into(), path: path.into() })
        }
        _ => None,
    };
    Ok(text.lines().filter_map(of_line).collect())
}

/// Packages whose integration tests run a server, a cluster or a browser: each is a separate step.
const WAITING: [&str; 4] = ["apps/serve", "apps/slurm", "apps/kube", "apps/browser"];

impl Program {
    fn waits(&self) -> bool {
        self.target == "it" && WAITING.contains(&self.folder.as_str())
    }

    /// Runs the tests, optionally under another program.
    fn run(&self, root: &Path, before: &[&str], arguments: &[&str]) -> bool {
        let own = self.path.to_string_lossy();
        let words = [before, &[&*own], arguments].concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(root.join(&self.folder));
        command.env(notes::NOTES, notes::path(root)).env(cargo::SIZE.0, cargo::SIZE.1);
        println!("     Running {} of {}", self.target, self.folder);
        command.status().is_ok_and(|status| status.success())
    }
}

/// Runs the tests of all programs that satisfy a predicate.
fn tests(root: &Path, is_run: impl Fn(&Program) -> bool, arguments: &[&str]) -> Vec<String> {
    let programs = match programs(root) {
        Ok(programs) => programs,
        Err(problem) => return vec![problem],
    };
    let own: Vec<&Program> = programs.iter().filter(|program| is_run(program)).collect();
    if own.is_empty() {
        return vec![format!("{LIST} names none of these tests")];
    }
    let failed = own.iter().filter(|program| !program.run(root, &[], arguments));
    failed.map(|program| format!("failed: {} of {}", program.target, program.folder)).collect()
}

/// Runs the tests that do not wait.
pub(crate) fn others(root: &Path) -> Vec<String> {
    tests(root, |program| !program.waits(), &["--quiet"])
}

/// The number of tests of a waiting program that run at a time.
const AT_A_TIME: &str = "4";

/// Runs the tests of one of the waiting programs.
fn waiting(root: &Path, folder: &str) -> Vec<String> {
    let arguments = ["--test-threads", AT_A_TIME];
    tests(root, |program| program.waits() && program.folder == folder, &arguments)
}

pub(crate) fn serve(root: &Path) -> Vec<String> {
    waiting(root, WAITING[0])
}

pub(crate) fn slurm(root: &Path) -> Vec<String> {
    waiting(root, WAITING[1])
}

pub(crate) fn kube(root: &Path) -> Vec<String> {
    waiting(root, WAITING[2])
}

pub(crate) fn browser(root: &Path) -> Vec<String> {
    waiting(root, WAITING[3])
}

/// The processor features that `mesh/src/search/vectors.rs` tests for. Miri answers that test from
/// the flags of the compiler.
const VECTORS: &str = "-C target-feature=+avx2,+bmi1,+bmi2,+lzcnt,+popcnt";

/// The tests that use these features.
const VECTOR_TESTS: &str = "search::vectors";

/// Runs the vector tests under Miri if a nightly toolchain has it, otherwise under valgrind.
pub(crate) fn memory(root: &Path) -> Vec<String> {
    let miri = |arguments: &[&str]| {
        let mut command = Command::new("rustup");
        command.args(["run", "nightly", "cargo", "miri"]).args(arguments);
        command.current_dir(root).env("RUSTFLAGS", VECTORS);
        command
    };
    let is_there = |mut command: Command| command.output().is_ok_and(|said| said.status.success());
    if is_there(miri(&["--version"])) {
        let test = ["test", "--quiet", "--package", "pavior-mesh", "--lib", VECTOR_TESTS];
        let passed = miri(&test).status().is_ok_and(|status| status.success());
        return if passed { Vec::new() } else { vec!["failed: Miri".to_string()] };
    }
    let mut version = Command::new("valgrind");
    version.arg("--version");
    if !is_there(version) {
        let why = "neither a nightly toolchain with Miri nor valgrind";
        notes::skip(root, "the one unsafe call", why);
        return Vec::new();
    }
    let valgrind = ["valgrind", "--quiet", "--error-exitcode=1"];
    let programs = match programs(root) {
        Ok(programs) => programs,
        Err(problem) => return vec![problem],
    };
    let own = programs.iter().find(|program| program.target == "pavior_mesh");
    if own.is_some_and(|program| program.run(root, &valgrind, &[VECTOR_TESTS])) {
        Vec::new()
    } else {
        vec!["failed: the vectors under valgrind".to_string()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_with_tests_are_listed() {
        let message = |test: bool| {
            serde_json::json!({
                "reason": "compiler-artifact",
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
        assert_eq!(line("not JSON"), None);
    }
}
