//! The Debian packages with the programs that the checks of the interfaces use, and those needed to
//! package a release.

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
    // pavior kube: a wrong clock, and a container image.
    "faketime",
    "buildah",
    // The Python package and a sweep on Slurm.
    "python3-venv",
    "jq",
    // A release.
    "binutils",
    "systemd",
];

/// For the page's bundle. Node may already be installed from another source.
const NODE: &[&str] = &["nodejs", "npm"];

/// Installs the missing packages.
pub(crate) fn install(root: &Path) -> Vec<String> {
    let mut packages = PACKAGES.to_vec();
    if !succeeds(Command::new("npm").arg("--version")) {
        packages.extend(NODE);
    }
    // For the page that runs the engine.
    let _ = succeeds(Command::new("rustup").args(["target", "add", "wasm32-unknown-unknown"]));
    if succeeds(Command::new("dpkg").arg("--status").args(&packages)) {
        return Vec::new();
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(&packages);
    // No service is started, because the tests run their own programs in their own directories.
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
