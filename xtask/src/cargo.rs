//! Calls of cargo, the one that runs this program.

use std::path::Path;
use std::process::Command;

/// What a cargo command prints, or why it failed.
pub(crate) fn output(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo {}: {error}", arguments.join(" ")))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("failed: cargo {}: {}", arguments.join(" "), said.trim()))
    }
}

/// Whether a cargo command succeeds, warnings of the documentation denied.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> bool {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(arguments)
        .current_dir(root)
        .env("RUSTDOCFLAGS", "-D warnings")
        // The counts of instructions are those of a build that is not incremental.
        .env("CARGO_INCREMENTAL", "0")
        .status();
    status.is_ok_and(|status| status.success())
}
