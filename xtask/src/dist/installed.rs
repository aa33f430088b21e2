//! A release, installed and used like a user would, in a Debian system that contains no part of
//! Pavior and keeps no changes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{copy, make_folder};
use crate::notes;

/// The script that creates the chroots and runs commands in them.
const CHROOT: &str = "examples/slurm/release.sh";

/// The script that installs and uses everything in the chroot.
const STORY: &str = "xtask/installed.sh";

/// The program that the script runs with the wheel.
const EXAMPLE: &str = "apps/python/examples/first.py";

/// Returns the name of a Debian version for `release.sh`.
fn debian(version: &str) -> Result<String, String> {
    match version {
        "12" | "13" => Ok(format!("clean-{version}")),
        other => Err(format!("cargo xtask installed VERSION: 12 or 13 of Debian, not {other}")),
    }
}

/// Creates the chroot for the checks if possible; [`check`] reports the reason if not.
pub(crate) fn prepare(root: &Path) -> Vec<String> {
    let _ = make("clean-13", root);
    Vec::new()
}

/// Installs and uses the release in `dist/` in a clean Debian, version 13 by default.
pub(crate) fn installed(root: &Path, version: Option<&str>) -> Vec<String> {
    let release = root.join("dist");
    if !release.join("SHA256SUMS").is_file() {
        return vec!["there is no release in dist/: cargo xtask dist makes it".to_string()];
    }
    let tried = debian(version.unwrap_or("13")).and_then(|name| {
        make(&name, root)?;
        story(root, &release, &name)
    });
    tried.err().into_iter().collect()
}

/// Does the same with another folder in Debian 13. Without its chroot, the step is skipped with a
/// message.
pub(super) fn check(root: &Path, release: &Path) -> Vec<String> {
    let debian = "clean-13";
    match make(debian, root) {
        Ok(()) => story(root, release, debian).err().into_iter().collect(),
        Err(why) => {
            notes::skip(root, "a release in a clean Debian 13", &why);
            Vec::new()
        }
    }
}

/// Creates a chroot or returns the reason why it cannot.
fn make(name: &str, root: &Path) -> Result<(), String> {
    let mut make = Command::new(root.join(CHROOT));
    let output = make.args(["make", name]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{CHROOT}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; "))
}

/// Runs the script in a chroot that contains a copy of the release.
fn story(root: &Path, release: &Path, debian: &str) -> Result<(), String> {
    let seen = root.join("target/installed");
    let _ = fs::remove_dir_all(&seen);
    make_folder(&seen)?;
    for name in super::files(release)? {
        copy(&release.join(&name), &seen.join(&name))?;
    }
    for file in [STORY, EXAMPLE] {
        let from = root.join(file);
        copy(&from, &seen.join(from.file_name().unwrap_or_default()))?;
    }
    let mut run = Command::new(root.join(CHROOT));
    run.args(["run", debian]).arg(&seen).arg("bash").arg(seen.join("installed.sh")).arg(&seen);
    let status = run.stdin(Stdio::null()).status();
    if status.is_ok_and(|status| status.success()) {
        Ok(())
    } else {
        Err(format!("the release does not work in {debian} (cargo xtask installed)"))
    }
}
