//! The Debian packages needed to check the interfaces and to package a release.

use std::path::Path;
use std::process::Command;

use crate::{Problems, process};

const PACKAGES: &[&str] = &[
    // For `pavior slurm`, with the installed Slurm release and others, and for its gate plugin.
    "slurm-wlm",
    "slurm-wlm-basic-plugins",
    "slurm-client",
    "slurmctld",
    "slurmd",
    "munge",
    "debootstrap",
    "lua5.1",
    // For instruction counts.
    "valgrind",
    // For `pavior serve`.
    "chromium",
    "postgresql",
    // For `pavior kube`: fake clocks and container images.
    "faketime",
    "buildah",
    // For the Python package and sweeps on Slurm.
    "python3-venv",
    "jq",
    // For a release.
    "binutils",
    "systemd",
];

pub(crate) fn install(root: &Path) -> Problems {
    let mut packages = PACKAGES.to_vec();
    // For the page bundle. Node may already have been installed from another source.
    if !pavior_trials::is_installed("npm") {
        packages.extend(["nodejs", "npm"]);
    }
    // For the page that runs the engine.
    let _ = process::output(
        Command::new("rustup").args(["target", "add", "wasm32-unknown-unknown"]).current_dir(root),
    );
    if process::output(Command::new("dpkg").arg("--status").args(&packages)).is_ok() {
        return Ok(Vec::new());
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(&packages);
    // Services are not started, because the tests run their own instances.
    install.env("DEBIAN_FRONTEND", "noninteractive").env("RUNLEVEL", "1");
    process::output(Command::new("apt-get").args(["update", "-qq"]))?;
    process::output(&mut install).map(|_| Vec::new())
}
