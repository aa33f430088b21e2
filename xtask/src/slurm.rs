//! The Slurm releases with which `pavior slurm` is tested.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cargo::{LONG, run_with};
use crate::commands::Arguments;

/// Names for `examples/slurm/release.sh`.
const RELEASES: [&str; 3] = ["22.05", "24.11", "testing"];

/// Prepares the releases in advance, so that the tests do not have to wait for them, and reports
/// their versions. The tests skip missing ones with a message.
pub(crate) fn prepare(root: &Path) -> Vec<String> {
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
    Vec::new()
}

/// Runs the complete `pavior slurm` scenario on a release, with seeds.
pub(crate) fn story(root: &Path, given: &Arguments) -> Vec<String> {
    let release = given.words[0].as_str();
    if !RELEASES.contains(&release) {
        return vec![format!("`{release}` is not one of the releases {}", RELEASES.join(", "))];
    }
    let test = format!("a_cluster_of_64_nodes::slurm_{}", release.replace('.', "_"));
    let tests = ["test", "-p", "pavior-slurm", "--test", "it", &test, "--", "--nocapture"];
    let seeds = match given.seeds() {
        Ok(seeds) => seeds,
        Err(problem) => return vec![problem],
    };
    let variables = [LONG, ("PAVIOR_SEEDS", &seeds), ("PAVIOR_REQUIRE_SLURM", "1")];
    if run_with(root, &tests, &variables) {
        Vec::new()
    } else {
        vec![format!("the story of pavior slurm failed on {release}")]
    }
}
