//! The first hour of docs/kubernetes.md, as it stands, on a real control plane.

use std::path::Path;
use std::process::Command;

/// What is missing where nothing is tried.
const REQUIRED: &str = "PAVIOR_REQUIRE_KUBERNETES";

#[test]
fn the_first_hour_of_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/kubernetes.md")).unwrap();
    let block = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let script = root.join("examples/kubernetes/control-plane.sh");
    let made = Command::new(&script).args(["make", "1.37"]).output().unwrap();
    if !made.status.success() {
        let why = String::from_utf8_lossy(&made.stderr).trim().to_string();
        return pavior_trials::skipped("the first hour with Kubernetes", &why, REQUIRED);
    }
    let folder = tempfile::tempdir().unwrap();
    let toy = folder.path().join("toy");
    let block = format!("set -e -m\n{}", block.replace("/tmp/toy", toy.to_str().unwrap()));
    let program = Path::new(env!("CARGO_BIN_EXE_pavior")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.arg("-c").arg(&block).current_dir(&root).env("PATH", path).env("PORT", "17443");
    let output = bash.output().unwrap();
    let stop = Command::new(&script).arg("stop").arg(&toy).status();
    let said = String::from_utf8_lossy(&output.stdout);
    let log = std::fs::read_to_string(toy.join("log/pavior")).unwrap_or_default();
    let told = format!("{said}\n{}\n{log}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && stop.is_ok(), "{told}");
    for line in [
        "default/train  2x2x2  ",
        "2x2x2@0,0,0",
        "n1-1-1",
        "job     default/train",
        "job.batch \"train\" deleted",
    ] {
        assert!(said.contains(line), "{line}: {told}");
    }
}
