//! What a release has, installed and used as users do: in a Debian without anything of Pavior,
//! which keeps no change.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{copy, make_folder};
use crate::notes;

/// Makes the chroots, and runs commands in them.
const CHROOT: &str = "examples/slurm/release.sh";

/// Installs and uses everything, in the chroot.
const STORY: &str = "xtask/installed.sh";

/// What the story runs with the wheel.
const EXAMPLE: &str = "apps/python/examples/first.py";

/// The Debians, as `release.sh` takes them.
fn debian(version: &str) -> Result<String, String> {
    match version {
        "12" | "13" => Ok(format!("clean-{version}")),
        other => Err(format!("cargo xtask installed VERSION: 12 or 13 of Debian, not {other}")),
    }
}

/// Makes the chroot of the checks, if it can be made; [`check`] says why it cannot.
pub(crate) fn prepare(root: &Path) -> Vec<String> {
    let _ = make("clean-13", root);
    Vec::new()
}

/// Installs and uses the release in `dist/` in a clean Debian, 13 if none is named.
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

/// Does so with another folder in Debian 13; without its chroot it is left out, loudly.
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

/// Has a chroot made, or says why it cannot be made.
fn make(name: &str, root: &Path) -> Result<(), String> {
    let mut make = Command::new(root.join(CHROOT));
    let output = make.args(["make", name]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{CHROOT}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; "))
}

/// Runs the story in a chroot that sees a copy of the release.
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
