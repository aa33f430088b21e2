//! Invocations of the cargo that runs this program.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::notes;

/// The variable with the size of a test run, as the checks and measurements use it
/// (`xtask/trials`).
pub(crate) const SIZE: (&str, &str) = ("PAVIOR_SIZE", "checks");
pub(crate) const LONG: (&str, &str) = ("PAVIOR_SIZE", "long");

/// The build of the program with the features that the tests use. Other features would build most
/// of it twice.
const TESTS: [&str; 5] = ["test", "--workspace", "--all-features", "--no-run", "--quiet"];

fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments).current_dir(root).env(notes::NOTES, notes::path(root));
    cargo.envs([SIZE]);
    cargo
}

/// Returns the output of a cargo command or the reason why it failed.
pub(crate) fn output(root: &Path, arguments: &[&str]) -> Result<String, String> {
    output_with(root, arguments, &[])
}

/// Returns the output of a cargo command with these variables.
pub(crate) fn output_with(
    root: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Result<String, String> {
    let output = command(root, arguments)
        .envs(variables.iter().copied())
        .output()
        .map_err(|error| format!("cargo {}: {error}", arguments.join(" ")))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("failed: cargo {}: {}", arguments.join(" "), said.trim()))
    }
}

/// The variables set for all checks: documentation warnings are denied, and instructions are
/// counted in a non-incremental build.
pub(crate) const CHECKED: [(&str, &str); 2] =
    [("RUSTDOCFLAGS", "-D warnings"), ("CARGO_INCREMENTAL", "0")];

/// Returns true if a cargo command succeeds, run as all checks do.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> bool {
    run_with(root, arguments, &CHECKED)
}

/// Returns true if a cargo command succeeds with these variables.
pub(crate) fn run_with(root: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> bool {
    let status = command(root, arguments).envs(variables.iter().copied()).status();
    status.is_ok_and(|status| status.success())
}

/// Builds only the program, with all its interfaces.
pub(crate) fn every_door(root: &Path) -> Result<PathBuf, String> {
    let build = ["build", "--quiet", "--package", "pavior-cli", "--all-features"];
    if run(root, &build) {
        Ok(root.join("target/debug/pavior"))
    } else {
        Err("the program cannot be built".to_string())
    }
}

/// Builds the program from the current sources, as the tests do.
pub(crate) fn program(root: &Path) -> Result<PathBuf, String> {
    if run(root, &TESTS) {
        Ok(root.join("target/debug/pavior"))
    } else {
        Err("the program cannot be built".to_string())
    }
}
