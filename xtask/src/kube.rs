//! The releases of Kubernetes that `pavior kube` is tried with.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cargo::run_with;

/// As `examples/kubernetes/control-plane.sh` takes them; the last is the one of the checks.
const RELEASES: [&str; 4] = ["1.34", "1.35", "1.36", "1.37"];

/// Has the control plane, Kueue and JobSet built, so that the tests do not wait for them. What
/// cannot be built the tests leave out, loudly.
pub(crate) fn prepare(root: &Path) {
    let newest = RELEASES[RELEASES.len() - 1];
    for (script, arguments) in
        [("control-plane.sh", &["make", newest][..]), ("controllers.sh", &["make"])]
    {
        let mut command = Command::new(root.join("examples/kubernetes").join(script));
        command.args(arguments).stdin(Stdio::null());
        if let Ok(made) = command.output() {
            eprintln!("Kubernetes: {}", String::from_utf8_lossy(&made.stdout).trim());
        }
    }
}

/// Runs everything that disturbs a cluster on a release, with the seeds 1 to 5 or others; or all
/// tests as the checks run them, on each release but theirs.
pub(crate) fn storm(root: &Path, arguments: &[String]) -> Vec<String> {
    let usage = || {
        let releases = RELEASES.join(", ");
        vec![format!("cargo xtask kube RELEASE [SEED ...]: {releases}; or older; or speed")]
    };
    let Some((release, seeds)) = arguments.split_first() else { return usage() };
    match release.as_str() {
        "speed" => return speed(root),
        "older" => {
            let older = &RELEASES[..RELEASES.len() - 1];
            return older.iter().flat_map(|release| tests(root, release, &[])).collect();
        }
        _ => {}
    }
    let numbers = seeds.iter().all(|seed| seed.parse::<u64>().is_ok());
    if !RELEASES.contains(&release.as_str()) || !numbers {
        return usage();
    }
    let seeds = if seeds.is_empty() { "1 2 3 4 5".to_string() } else { seeds.join(" ") };
    tests(root, release, &[("PAVIOR_KUBE_SEEDS", seeds.as_str())])
}

/// The tests on a release. With seeds they make more Jobs.
fn tests(root: &Path, release: &str, seeds: &[(&str, &str)]) -> Vec<String> {
    let tests = ["test", "-p", "pavior-kube", "--test", "it", "--", "--nocapture"];
    let mut variables = vec![("PAVIOR_KUBE_RELEASE", release), ("PAVIOR_REQUIRE_KUBERNETES", "1")];
    variables.extend(seeds);
    let passed = run_with(root, &tests, &variables);
    if passed { Vec::new() } else { vec![format!("the tests of pavior kube failed on {release}")] }
}

/// Measures how long 4,096 pods take, with boxes and without.
fn speed(root: &Path) -> Vec<String> {
    let tests = ["test", "-p", "pavior-kube", "--test", "speed", "--", "--nocapture"];
    let passed = run_with(root, &tests, &[("PAVIOR_REQUIRE_KUBERNETES", "1")]);
    if passed { Vec::new() } else { vec!["4,096 pods took longer with boxes".to_string()] }
}
