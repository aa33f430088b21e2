//! A control plane in a temporary directory, with replicas of the daemon and with nodes that exist
//! only as objects.

pub(crate) mod objects;
mod parts;
pub(crate) mod plain_http;
pub(crate) mod replicas;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::in_force;
use crate::kubelets::Kubelets;
use objects::{JOBS, job, place};

/// The controllers to run, including the node controllers.
const CONTROLLERS: &str = "job-controller,garbage-collector-controller,namespace-controller,\
                           pod-garbage-collector-controller,disruption-controller,\
                           node-lifecycle-controller,taint-eviction-controller";

/// The environment variable that makes a missing cluster an error.
const REQUIRED: &str = "PAVIOR_REQUIRE_KUBERNETES";

static NEXT: AtomicU16 = AtomicU16::new(0);

/// Returns the release to test: the newest, unless another is requested.
pub(crate) fn release() -> &'static str {
    match std::env::var("PAVIOR_KUBE_RELEASE") {
        Ok(release) => release.leak(),
        Err(_) => "1.37",
    }
}

/// Returns true if the policy that adds the gate and the resource is available.
pub(crate) fn mutates(release: &str) -> bool {
    !matches!(release, "1.34" | "1.35")
}

/// The account that sends a request.
#[derive(Clone, Copy)]
pub(crate) enum User {
    Admin,
    Alice,
}

pub(crate) struct Cluster {
    folder: TempDir,
    release: &'static str,
    port: u16,
    controllers: &'static str,
    runtime: Arc<Runtime>,
    admin: Client,
    user: Client,
    pub(crate) replicas: Vec<Child>,
    pub(crate) kubelets: Kubelets,
}

fn script() -> PathBuf {
    example("control-plane.sh")
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kubernetes").join(name)
}

impl Cluster {
    /// Starts a cluster whose nodes form a mesh or torus and are named `n{x}-{y}-{z}`. Returns
    /// `None` if none is available.
    pub(crate) fn start(what: &str, release: &'static str, sides: [u16; 3]) -> Option<Cluster> {
        let mut cluster = Cluster::bare(what, release, CONTROLLERS, "RequestResponse")?;
        cluster.kubelets.start(&cluster.runtime, cluster.admin.clone());
        cluster.prepare(sides);
        Some(cluster)
    }

    /// Starts a cluster without nodes, without our objects and without a stand-in for kubelets. The
    /// audit log level is `Metadata` or `RequestResponse`.
    pub(crate) fn bare(
        what: &str,
        release: &'static str,
        controllers: &'static str,
        audit: &str,
    ) -> Option<Cluster> {
        let folder = tempfile::tempdir().expect("there is room");
        let port =
            20_000 + 10 * (NEXT.fetch_add(1, Ordering::Relaxed) + std::process::id() as u16 % 1000);
        let mut command = Command::new(script());
        command.args(["start", release]).arg(folder.path()).env("PORT", port.to_string());
        command.env("CONTROLLERS", controllers).env("AUDIT", audit);
        let said = command.stdin(Stdio::null()).output().expect("bash is there");
        if !said.status.success() {
            let why = String::from_utf8_lossy(&said.stderr).trim().to_string();
            pavior_trials::skipped(what, &why, REQUIRED);
            return None;
        }
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = Arc::new(runtime.worker_threads(2).enable_all().build().unwrap());
        let [admin, user] = ["admin", "user"].map(|who| client(&runtime, folder.path(), who));
        let kubelets = Kubelets::default();
        let replicas = Vec::new();
        Some(Cluster {
            folder,
            release,
            port,
            controllers,
            runtime,
            admin,
            user,
            replicas,
            kubelets,
        })
    }

    fn prepare(&self, sides: [u16; 3]) {
        self.add_nodes(sides);
        self.apply();
    }

    /// Creates the nodes of a mesh or torus.
    pub(crate) fn add_nodes(&self, sides: [u16; 3]) {
        for z in 0..sides[2] {
            for y in 0..sides[1] {
                for x in 0..sides[0] {
                    self.add_node(&format!("n{x}-{y}-{z}"));
                }
            }
        }
    }

    /// Installs our objects and the users' permissions.
    pub(crate) fn apply(&self) {
        let image = Some("registry.invalid/pavior:0.1.0".to_string());
        let no_mutation = !mutates(self.release);
        let manifests = pavior_kube::Manifests { no_mutation, image, resource: None, kueue: true };
        let text = manifests.text().unwrap();
        for part in text.split("\n---\n") {
            let object: Value = serde_saphyr::from_str(part).expect("manifests are YAML");
            self.good(User::Admin, "POST", &place(&object), &object);
        }
        // Users may do anything that no policy forbids.
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": { "name": "users" },
            "rules": [{ "apiGroups": ["", "batch", "pavior.dev"], "verbs": ["*"],
                        "resources": ["pods", "jobs", "placements", "placements/status"] }],
        });
        self.good(User::Admin, "POST", &place(&role), &role);
        self.grant("users", "User", "alice");
        let namespace = "/api/v1/namespaces/default";
        self.until("the namespace", || {
            self.ask(User::Admin, "GET", namespace, &Value::Null).is_ok()
        });
        self.until("the policies", || in_force::hold(self));
    }

    /// Checks that a user's Job is rejected with a reason that contains `word` but no raw text.
    pub(crate) fn refuses(&self, wrong: &serde_json::Value, word: &str) {
        let (code, message) =
            self.ask(User::Alice, "POST", JOBS, wrong).expect_err("it is refused");
        assert_eq!(code, 422, "{message}");
        assert!(message.contains(word), "{message}");
        assert!(!message.contains('\u{1b}') && !message.contains("failed expression"), "{message}");
    }

    /// Binds a ClusterRole to a user or group.
    pub(crate) fn grant(&self, role: &str, kind: &str, name: &str) {
        let group = "rbac.authorization.k8s.io";
        let rights = json!({
            "apiVersion": format!("{group}/v1"), "kind": "ClusterRoleBinding",
            "metadata": { "name": format!("{role}-{name}") },
            "roleRef": { "apiGroup": group, "kind": "ClusterRole", "name": role },
            "subjects": [{ "kind": kind, "name": name, "apiGroup": group }],
        });
        self.good(User::Admin, "POST", &place(&rights), &rights);
    }

    pub(crate) fn add_node(&self, name: &str) {
        let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } });
        self.good(User::Admin, "POST", "/api/v1/nodes", &node);
        let amount = json!({ "cpu": "8", "memory": "32Gi", "pods": "20" });
        let ready = json!({ "type": "Ready", "status": "True", "reason": "Toy" });
        let status = json!({
            "status": { "capacity": amount, "allocatable": amount, "conditions": [ready] },
        });
        self.patch(&format!("/api/v1/nodes/{name}/status"), &status);
    }

    /// Sends a merge patch as the administrator.
    pub(crate) fn patch(&self, path: &str, body: &Value) {
        self.good(User::Admin, "PATCH", path, body);
    }

    /// Creates a Machine with all nodes.
    pub(crate) fn machine(&self, grid: &str) {
        self.machine_with(grid, &json!({}));
    }

    /// Creates a Machine with additional members in its spec.
    pub(crate) fn machine_with(&self, grid: &str, more: &Value) {
        let mut machine = json!({
            "apiVersion": "pavior.dev/v1alpha1", "kind": "Machine", "metadata": { "name": "pod" },
            "spec": { "grid": grid, "nodes": { "pattern": "n{x}-{y}-{z}" } },
        });
        for (key, value) in more.as_object().unwrap() {
            machine["spec"][key] = value.clone();
        }
        self.until("the definition of machines", || {
            self.ask(User::Admin, "POST", &place(&machine), &machine).is_ok()
        });
    }

    /// Sends a request. Returns the response, or a rejection's code and message.
    pub(crate) fn ask(
        &self,
        user: User,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Value, (u16, String)> {
        let client = match user {
            User::Admin => &self.admin,
            User::Alice => &self.user,
        };
        let kind =
            if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let text = if body.is_null() { Vec::new() } else { serde_json::to_vec(body).unwrap() };
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header("content-type", kind).body(text).unwrap();
        match self.runtime.block_on(client.request::<Value>(request)) {
            Ok(value) => Ok(value),
            Err(kube::Error::Api(status)) => Err((status.code, status.message.clone())),
            Err(error) => Err((0, error.to_string())),
        }
    }

    /// Sends a request that must succeed.
    pub(crate) fn good(&self, user: User, method: &str, path: &str, body: &Value) -> Value {
        self.ask(user, method, path, body).unwrap_or_else(|why| panic!("{method} {path}: {why:?}"))
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.good(User::Admin, "GET", path, &Value::Null)
    }

    /// Creates a Job for Alice whose pods run for `run_s` seconds.
    pub(crate) fn job(&self, name: &str, shape: &str, run_s: u32) {
        let made = self.ask(User::Alice, "POST", JOBS, &job(name, shape, run_s));
        made.unwrap_or_else(|why| panic!("{name}: {why:?}"));
    }

    /// Waits at most ten minutes until a condition holds.
    pub(crate) fn until(&self, what: &str, holds: impl FnMut() -> bool) {
        self.within(600, what, holds);
    }

    /// Waits at most `seconds` seconds until a condition holds.
    pub(crate) fn within(&self, seconds: u64, what: &str, mut holds: impl FnMut() -> bool) {
        let began = Instant::now();
        while !holds() {
            let late = began.elapsed() > Duration::from_secs(seconds);
            assert!(!late, "{what}; {}\n{}", self.log(), self.state());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn label(&self, node: &str, label: &str, value: &str) {
        let body = json!({ "metadata": { "labels": { label: value } } });
        self.patch(&format!("/api/v1/nodes/{node}"), &body);
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Describes Jobs and pods, one per line.
    fn state(&self) -> String {
        let mut lines = Vec::new();
        let get = |path| self.ask(User::Admin, "GET", path, &Value::Null).unwrap_or_default();
        for job in get(JOBS)["items"].as_array().into_iter().flatten() {
            lines.push(format!("{} {}", job["metadata"]["name"], job["status"]));
        }
        for pod in get("/api/v1/pods")["items"].as_array().into_iter().flatten() {
            let (about, spec) = (&pod["metadata"], &pod["spec"]);
            lines.push(format!(
                "{} {} {} {} {} {}",
                about["name"],
                about["deletionTimestamp"],
                spec["nodeName"],
                spec["schedulingGates"],
                spec["affinity"],
                pod["status"]
            ));
        }
        lines.truncate(40);
        lines.join("\n")
    }

    /// Returns the number of complete Jobs.
    pub(crate) fn complete(&self) -> usize {
        let jobs = self.get(JOBS);
        let is = |job: &&Value| {
            let mut all = job["status"]["conditions"].as_array().into_iter().flatten();
            all.any(|one| one["type"] == "Complete" && one["status"] == "True")
        };
        jobs["items"].as_array().into_iter().flatten().filter(is).count()
    }

    pub(crate) fn log(&self) -> String {
        let text = std::fs::read_to_string(self.path().join("log/pavior")).unwrap_or_default();
        text.chars().rev().take(2000).collect::<Vec<_>>().into_iter().rev().collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for replica in &mut self.replicas {
            let _ = replica.kill();
            let _ = replica.wait();
        }
        let _ = Command::new(script()).arg("stop").arg(self.path()).status();
    }
}

fn client(runtime: &Runtime, folder: &Path, who: &str) -> Client {
    let path = folder.join(format!("{who}.kubeconfig"));
    let kubeconfig = Kubeconfig::read_from(path).expect("the script wrote it");
    runtime.block_on(async {
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
        Client::try_from(config).unwrap()
    })
}
