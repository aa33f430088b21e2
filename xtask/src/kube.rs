//! The Kubernetes releases with which `pavior kube` is tested.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cargo::{LONG, run_with};
use crate::commands::Arguments;

/// Names for `examples/kubernetes/control-plane.sh`. The checks use the last one.
const RELEASES: [&str; 4] = ["1.34", "1.35", "1.36", "1.37"];

/// Builds the control plane, Kueue and JobSet in advance, so that the tests do not have to wait for
/// them. The tests skip missing ones with a message. The gigabytes that Go downloads and compiles
/// are removed; the programs are kept.
pub(crate) fn prepare(root: &Path) -> Vec<String> {
    let newest = RELEASES[RELEASES.len() - 1];
    let caches = root.join("target/go");
    for (script, arguments) in
        [("control-plane.sh", &["make", newest][..]), ("controllers.sh", &["make"])]
    {
        let mut command = Command::new(root.join("examples/kubernetes").join(script));
        command.args(arguments).stdin(Stdio::null());
        command.env("GOMODCACHE", caches.join("modules")).env("GOCACHE", caches.join("built"));
        if let Ok(made) = command.output() {
            eprintln!("Kubernetes: {}", String::from_utf8_lossy(&made.stdout).trim());
        }
    }
    // Go makes the folders of modules read-only.
    let _ = Command::new("chmod").args(["-R", "u+w"]).arg(&caches).stderr(Stdio::null()).status();
    let _ = std::fs::remove_dir_all(caches);
    Vec::new()
}

/// Runs all disruptions of a cluster on a release, with seeds; or all tests from the checks, on
/// each release not covered by them; or a measurement.
pub(crate) fn storm(root: &Path, given: &Arguments) -> Vec<String> {
    let release = given.words[0].as_str();
    match release {
        "speed" => return speed(root),
        "older" => {
            let older = &RELEASES[..RELEASES.len() - 1];
            return older.iter().flat_map(|release| tests(root, release, &[])).collect();
        }
        _ => {}
    }
    if !RELEASES.contains(&release) {
        let releases = RELEASES.join(", ");
        return vec![format!("`{release}` is not `older`, `speed` or a release: {releases}")];
    }
    match given.seeds() {
        Ok(seeds) => tests(root, release, &[LONG, ("PAVIOR_SEEDS", &seeds)]),
        Err(problem) => vec![problem],
    }
}

/// Runs the tests on a release. With seeds they create more Jobs.
fn tests(root: &Path, release: &str, seeds: &[(&str, &str)]) -> Vec<String> {
    let tests = ["test", "-p", "pavior-kube", "--test", "it", "--", "--nocapture"];
    let mut variables = vec![("PAVIOR_KUBE_RELEASE", release), ("PAVIOR_REQUIRE_KUBERNETES", "1")];
    variables.extend(seeds);
    let passed = run_with(root, &tests, &variables);
    if passed { Vec::new() } else { vec![format!("the tests of pavior kube failed on {release}")] }
}

/// Measures the time for 4,096 pods, with and without boxes.
fn speed(root: &Path) -> Vec<String> {
    let tests = ["test", "-p", "pavior-kube", "--test", "speed", "--", "--nocapture"];
    let passed = run_with(root, &tests, &[("PAVIOR_REQUIRE_KUBERNETES", "1")]);
    if passed { Vec::new() } else { vec!["4,096 pods took longer with boxes".to_string()] }
}
