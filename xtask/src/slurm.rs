//! The releases of Slurm that `pavior slurm` is tried with.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cargo::run_with;

/// As `examples/slurm/release.sh` takes them.
const RELEASES: [&str; 3] = ["22.05", "24.11", "testing"];

/// What the names of the tests with a real Slurm end with.
pub(crate) const TESTS: &[&str] = &["slurm_22_05", "slurm_24_11", "slurm_testing"];

/// Has the releases made, so that the tests do not wait for each, and says which they are. What
/// cannot be made the tests leave out, loudly.
pub(crate) fn prepare(root: &Path) {
    for release in RELEASES {
        for accounting in ["", "1"] {
            let mut command = Command::new(root.join("examples/slurm/release.sh"));
            command.args(["version", release]).env("ACCOUNTING", accounting);
            let said = command.stdin(Stdio::null()).output();
            let said = said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_string());
            if let (Ok(version), "") = (said, accounting) {
                let missing = if version.is_empty() { "cannot be had here" } else { &version };
                eprintln!("Slurm {release}: {missing}");
            }
        }
    }
}

/// Runs the whole story of `pavior slurm` on a release, with the seeds 1 to 5 or others.
pub(crate) fn story(root: &Path, arguments: &[String]) -> Vec<String> {
    let usage = || vec![format!("cargo xtask slurm RELEASE [SEED ...]: {}", RELEASES.join(", "))];
    let Some((release, seeds)) = arguments.split_first() else { return usage() };
    if !RELEASES.contains(&release.as_str())
        || seeds.iter().any(|seed| seed.parse::<u64>().is_err())
    {
        return usage();
    }
    let seeds = if seeds.is_empty() { "1 2 3 4 5".to_string() } else { seeds.join(" ") };
    let test = format!("a_cluster_of_64_nodes::slurm_{}", release.replace('.', "_"));
    let tests = ["test", "-p", "pavior-slurm", "--test", "it", &test, "--", "--nocapture"];
    let variables = [("PAVIOR_SLURM_SEEDS", seeds.as_str()), ("PAVIOR_REQUIRE_SLURM", "1")];
    if run_with(root, &tests, &variables) {
        Vec::new()
    } else {
        vec![format!("the story of pavior slurm failed on {release}")]
    }
}
