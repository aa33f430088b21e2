//! Runs cargo and other programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The environment variable for the test size (see `xtask/trials`), and its value for each run.
pub(crate) const SIZE: (&str, &str) = (pavior_trials::SIZE, "checks");
pub(crate) const LONG: (&str, &str) = (pavior_trials::SIZE, "long");

/// Environment variables for all checks. They turn documentation warnings into errors, and disable
/// incremental builds so that instruction counts are comparable.
pub(crate) const CHECKED: [(&str, &str); 2] =
    [("RUSTDOCFLAGS", "-D warnings"), ("CARGO_INCREMENTAL", "0")];

/// Returns a command that runs the current cargo in the root directory with the given arguments.
pub(crate) fn cargo(root: &Path, words: &str) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(words.split_whitespace()).current_dir(root).envs([SIZE]);
    cargo
}

/// Returns a cargo command whose build output is shared with all checks.
pub(crate) fn checked(root: &Path, words: &str) -> Command {
    let mut cargo = cargo(root, words);
    cargo.envs(CHECKED);
    cargo
}

/// Builds only the program with all interfaces, and returns its path.
pub(crate) fn program(root: &Path) -> Result<PathBuf, String> {
    run(&mut checked(root, "build --quiet --package pavior-cli --all-features"))?;
    Ok(root.join("target/debug/pavior"))
}

/// Builds the program with the features that the tests use, and returns its path. Any other set of
/// features would cause most crates to be built twice.
pub(crate) fn program_of_tests(root: &Path) -> Result<PathBuf, String> {
    run(&mut checked(root, "test --workspace --all-features --no-run --quiet"))?;
    Ok(root.join("target/debug/pavior"))
}

/// Returns the output of `cargo metadata`, without the dependency graph if `words` contains
/// `--no-deps`.
pub(crate) fn metadata(root: &Path, words: &str) -> Result<Value, String> {
    let words = format!("metadata --locked --format-version 1 {words}");
    let text = output(&mut cargo(root, &words))?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
}

/// Returns the elements of a JSON array, or no elements if the value is not an array.
pub(crate) fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns a string from a JSON object, or an empty string if there is none.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Runs a command and shows its output. Returns an error if the command fails.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("failed: {}", shown(command))),
        Err(error) => Err(format!("{}: {error}", shown(command))),
    }
}

/// Returns a command's output. An error includes everything that the command printed.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", shown(command)))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(printed);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("failed: {}: {}{}", shown(command), printed.trim(), errors.trim()))
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
