//! Control plane components and other controllers.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::plain_http::request;
use super::{Cluster, RELEASE, REQUIRED, example, script};

/// The parts of the control plane.
pub(crate) const PARTS: &[&str] =
    &["etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager"];

impl Cluster {
    /// Kills and restarts a component of the control plane.
    pub(crate) fn restart_part(&self, part: &str) {
        self.kill_part(part);
        self.run_part(part);
    }

    /// Starts a killed component of the control plane and waits until it is ready.
    pub(crate) fn run_part(&self, part: &str) {
        let mut command = Command::new(script());
        command.args(["run", RELEASE.as_str()]).arg(self.path()).arg(part);
        command.env("PORT", self.port.to_string()).env("CONTROLLERS", self.controllers);
        command.stdin(Stdio::null());
        assert!(command.status().unwrap().success(), "{part} did not restart");
    }

    /// Starts `kueue` or `jobset` with its objects and webhooks. Returns false if that fails.
    pub(crate) fn start_controller(&self, name: &str) -> bool {
        let output = self.controller("start", name).output().expect("bash is there");
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_string();
            pavior_trials::skipped(name, &why, REQUIRED);
        }
        output.status.success()
    }

    /// Kills and restarts `kueue` or `jobset`.
    pub(crate) fn restart_controller(&self, name: &str) {
        self.kill_part(name);
        assert!(self.controller("run", name).status().unwrap().success(), "{name} did not restart");
    }

    fn controller(&self, what: &str, name: &str) -> Command {
        let mut command = Command::new(example("controllers.sh"));
        command.args([what, name]).arg(self.path()).env("PORT", self.port.to_string());
        command.stdin(Stdio::null());
        command
    }

    /// Kills a component of the control plane, or a controller.
    pub(crate) fn kill_part(&self, part: &str) {
        let pid = std::fs::read_to_string(self.path().join(format!("{part}.pid"))).unwrap();
        // Sending the signal fails if the component has already exited.
        let _ = Command::new("kill").args(["-9", pid.trim()]).status();
        // The component is not a child process, so we cannot wait for it to exit. Give it time to
        // close its port.
        std::thread::sleep(Duration::from_millis(300));
    }

    /// Compacts etcd and restarts the API server.
    pub(crate) fn compact(&self) {
        let etcd = format!("127.0.0.1:{}", self.port + 1);
        let post = |path: &str, body: &Value| {
            let (head, answer) = request(&etcd, "POST", path, &body.to_string());
            assert!(head.contains(" 200 "), "{head}: {answer}");
            serde_json::from_str::<Value>(&answer).expect("etcd answers in JSON")
        };
        // Every response includes the revision. The key is `/` in Base64.
        let range = post("/v3/kv/range", &json!({ "key": "Lw==" }));
        let revision = &range["header"]["revision"];
        post("/v3/kv/compaction", &json!({ "revision": revision, "physical": true }));
        self.restart_part("kube-apiserver");
    }
}
