//! Runs the commands from the section "First hour" in docs/kubernetes.md, unchanged, on a real
//! control plane.

use std::path::Path;
use std::process::Command;

/// The environment variable that makes a missing prerequisite an error.
const REQUIRED: &str = "PAVIOR_REQUIRE_KUBERNETES";

/// Runs a script that starts a control plane in `/tmp/toy`, and returns its output. Returns `None`
/// if a control plane cannot be started.
fn followed(what: &str, script: &str, port: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let control = root.join("examples/kubernetes/control-plane.sh");
    let made = Command::new(&control).args(["make", "1.37"]).output().unwrap();
    if !made.status.success() {
        let why = String::from_utf8_lossy(&made.stderr).trim().to_string();
        pavior_trials::skipped(what, &why, REQUIRED);
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let toy = folder.path().join("toy");
    let script = format!("set -e -m\n{}", script.replace("/tmp/toy", toy.to_str().unwrap()));
    let program = Path::new(env!("CARGO_BIN_EXE_pavior")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.arg("-c").arg(&script).current_dir(&root).env("PATH", path).env("PORT", port);
    let output = bash.output().unwrap();
    let stop = Command::new(&control).arg("stop").arg(&toy).status();
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
    let log = std::fs::read_to_string(toy.join("log/pavior")).unwrap_or_default();
    let all_text = format!("{output_text}\n{}\n{log}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && stop.is_ok(), "{all_text}");
    Some(output_text)
}

/// Builds the image with the program that was built for the tests, because a release build takes
/// too long. If the program is not statically linked, its libraries are added to the image.
#[test]
fn the_image_starts_and_reports_ready() {
    let what = "the image of pavior kube";
    if Command::new("buildah").arg("--version").output().is_err() {
        return pavior_trials::skipped(what, "there is no buildah", REQUIRED);
    }
    let script = r#"
        examples/kubernetes/control-plane.sh start 1.37 /tmp/toy
        export KUBECONFIG=/tmp/toy/kubeconfig PATH="/tmp/toy/bin:$PATH"
        pavior kube manifests --image localhost/pavior:test | kubectl apply -f - >/dev/null
        kubectl wait --for=condition=Established crd/machines.pavior.dev --timeout=60s
        export BUILDER="buildah --root /tmp/toy/store --runroot /tmp/toy/run --storage-driver vfs"
        examples/kubernetes/image.sh "$(command -v pavior)" localhost/pavior:test >/dev/null
        container=$($BUILDER from localhost/pavior:test)
        # Certificates come with a pod's account; here they are given, and are not looked at.
        $BUILDER run --isolation chroot --volume /tmp/toy/pavior.kubeconfig:/kubeconfig:ro \
          --volume /tmp/toy/keys/apiserver.crt:/ca.crt:ro --env SSL_CERT_FILE=/ca.crt \
          --env KUBECONFIG=/kubeconfig "$container" -- \
          /pavior kube --probes=127.0.0.1:18446 2>/tmp/toy/log/pavior &
        tries=0
        until curl -sf http://127.0.0.1:18446/readyz; do
          sleep 0.2
          tries=$((tries + 1))
          [ $tries -lt 300 ]
        done
        curl -sf http://127.0.0.1:18446/healthz
        pid=$(pgrep -f '^/pavior kube --probes=127.0.0.1:18446')
        grep -m 1 ^Uid: "/proc/$pid/status"
        kill "$pid"
    "#;
    let Some(output_text) = followed(what, script, "18443") else { return };
    assert!(output_text.contains("ok\nok\nUid:\t65532"), "{output_text}");
}

#[test]
fn the_first_hour_of_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/kubernetes.md")).unwrap();
    let block = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let Some(all_text) = followed("the first hour with Kubernetes", block, "17443") else { return };
    for line in [
        "default/train  2x2x2  ",
        "2x2x2@0,0,0",
        "n1-1-1",
        "job     default/train",
        "job.batch \"train\" deleted",
    ] {
        assert!(all_text.contains(line), "{line}: {all_text}");
    }
}
