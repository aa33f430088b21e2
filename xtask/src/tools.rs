//! The Debian packages needed to check the interfaces and to package a release.

use std::path::Path;
use std::process::Command;

use crate::process;

const PACKAGES: &[&str] = &[
    // For `pavior slurm` with the machine's release and others, and for its gate without Slurm.
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
    // For `pavior kube`: a wrong clock, and a container image.
    "faketime",
    "buildah",
    // For the Python package and a sweep on Slurm.
    "python3-venv",
    "jq",
    // For a release.
    "binutils",
    "systemd",
];

/// Installs the missing packages.
pub(crate) fn install(root: &Path) -> Vec<String> {
    let mut packages = PACKAGES.to_vec();
    // For the page's bundle. Node may already be installed from another source.
    if !process::is_installed("npm") {
        packages.extend(["nodejs", "npm"]);
    }
    // For the page that runs the engine.
    let _ = process::output(
        Command::new("rustup").args(["target", "add", "wasm32-unknown-unknown"]).current_dir(root),
    );
    if process::output(Command::new("dpkg").arg("--status").args(&packages)).is_ok() {
        return Vec::new();
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(&packages);
    // No service is started, because the tests run their own programs in their own directories.
    install.env("DEBIAN_FRONTEND", "noninteractive").env("RUNLEVEL", "1");
    let installed = process::output(Command::new("apt-get").args(["update", "-qq"]))
        .and_then(|_| process::output(&mut install));
    installed.err().into_iter().collect()
}
