//! The packages of Debian that have what the checks try the doors with, and what packs a release.

use std::path::Path;
use std::process::{Command, Stdio};

const PACKAGES: &[&str] = &[
    // pavior slurm, with the machine's own release and others; its gate without Slurm.
    "slurm-wlm",
    "slurm-wlm-basic-plugins",
    "slurm-client",
    "slurmctld",
    "slurmd",
    "munge",
    "debootstrap",
    "lua5.1",
    // Instruction counts.
    "valgrind",
    // pavior serve.
    "chromium",
    "postgresql",
    // pavior kube: a clock that is wrong, and an image.
    "faketime",
    "buildah",
    // The Python package, and a sweep on Slurm.
    "python3-venv",
    "jq",
    // A release.
    "binutils",
    "systemd",
];

/// The page's bundle. A Node that is there already need not be Debian's.
const NODE: &[&str] = &["nodejs", "npm"];

/// Installs what is missing.
pub(crate) fn install(root: &Path) -> Vec<String> {
    let mut packages = PACKAGES.to_vec();
    if !succeeds(Command::new("npm").arg("--version")) {
        packages.extend(NODE);
    }
    if succeeds(Command::new("dpkg").arg("--status").args(&packages)) {
        return Vec::new();
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(&packages);
    // No service is started: the tests run programs of their own in directories of their own.
    install.env("DEBIAN_FRONTEND", "noninteractive").env("RUNLEVEL", "1").current_dir(root);
    if succeeds(Command::new("apt-get").args(["update", "-qq"])) && succeeds(&mut install) {
        return Vec::new();
    }
    vec![format!("as root, on Debian: apt-get install {}", packages.join(" "))]
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
