//! A control plane in a temporary directory, with replicas of the daemon and with nodes that exist
//! only as objects.

pub(crate) mod objects;
pub(crate) mod parts;
pub(crate) mod plain_http;
pub(crate) mod replicas;
pub(crate) mod requests;
mod waiting;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::in_force;
use crate::kubelets::Kubelets;
use objects::creation_path;
pub(crate) use requests::User;

/// The controllers to run, including the node controllers.
const CONTROLLERS: &str = "job-controller,garbage-collector-controller,namespace-controller,\
                           pod-garbage-collector-controller,disruption-controller,\
                           node-lifecycle-controller,taint-eviction-controller";

/// The environment variable that makes a missing cluster an error.
const REQUIRED: &str = "PAVIOR_REQUIRE_KUBERNETES";

/// The Kubernetes release to test: the newest one unless another is requested.
pub(crate) static RELEASE: LazyLock<String> =
    LazyLock::new(|| std::env::var("PAVIOR_KUBE_RELEASE").unwrap_or_else(|_| "1.37".to_string()));

/// Returns true if the policy that adds the gate and the resource is available.
pub(crate) fn mutates() -> bool {
    !matches!(RELEASE.as_str(), "1.34" | "1.35")
}

pub(crate) struct Cluster {
    folder: TempDir,
    port: u16,
    _ports: TcpListener,
    controllers: &'static str,
    runtime: Arc<Runtime>,
    admin: Client,
    alice: Client,
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
    /// `None` if no control plane is available.
    pub(crate) fn start(what: &str, sides: [u16; 3]) -> Option<Cluster> {
        let mut cluster = Cluster::bare(what, CONTROLLERS, "RequestResponse")?;
        cluster.kubelets.start(&cluster.runtime, cluster.admin.clone());
        cluster.add_nodes(sides);
        cluster.apply();
        Some(cluster)
    }

    /// Starts a cluster without nodes, without our objects and without a stand-in for kubelets. The
    /// audit log level is `Metadata` or `RequestResponse`.
    pub(crate) fn bare(what: &str, controllers: &'static str, audit: &str) -> Option<Cluster> {
        let folder = tempfile::tempdir().expect("there is room");
        let (port, ports) = reserve_ports();
        let mut command = Command::new(script());
        command.args(["start", RELEASE.as_str()]).arg(folder.path()).env("PORT", port.to_string());
        command.env("CONTROLLERS", controllers).env("AUDIT", audit);
        let output = command.stdin(Stdio::null()).output().expect("bash is there");
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_string();
            pavior_trials::skipped(what, &why, REQUIRED);
            return None;
        }
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = Arc::new(runtime.worker_threads(2).enable_all().build().unwrap());
        Some(Cluster {
            admin: client(&runtime, folder.path(), "admin"),
            alice: client(&runtime, folder.path(), "user"),
            folder,
            port,
            _ports: ports,
            controllers,
            runtime,
            replicas: Vec::new(),
            kubelets: Kubelets::default(),
        })
    }

    /// Creates the nodes of a mesh or torus.
    pub(crate) fn add_nodes(&self, sides: [u16; 3]) {
        let [width, depth, height] = sides;
        for at in 0..width * depth * height {
            let [x, y, z] = [at % width, at / width % depth, at / width / depth];
            self.add_node(&format!("n{x}-{y}-{z}"));
        }
    }

    /// Installs our objects and the users' permissions.
    pub(crate) fn apply(&self) {
        let image = Some("registry.invalid/pavior:0.1.0".to_string());
        let no_mutation = !mutates();
        let manifests = pavior_kube::Manifests { no_mutation, image, resource: None, kueue: true };
        let text = manifests.text().unwrap();
        for part in text.split("\n---\n") {
            let object: Value = serde_saphyr::from_str(part).expect("manifests are YAML");
            self.good(User::Admin, "POST", &creation_path(&object), &object);
        }
        // Users may do anything that no policy forbids.
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": { "name": "users" },
            "rules": [{ "apiGroups": ["", "batch", "pavior.dev"], "verbs": ["*"],
                        "resources": ["pods", "jobs", "placements", "placements/status"] }],
        });
        self.good(User::Admin, "POST", &creation_path(&role), &role);
        self.grant("users", "User", "alice");
        let namespace = "/api/v1/namespaces/default";
        self.until("the namespace", || self.try_get(namespace).is_ok());
        self.until("the policies", || in_force::hold(self));
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
        self.good(User::Admin, "POST", &creation_path(&rights), &rights);
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
        self.create(User::Admin, &creation_path(&machine), &machine);
    }

    pub(crate) fn label(&self, node: &str, label: &str, value: &str) {
        let body = json!({ "metadata": { "labels": { label: value } } });
        self.patch(&format!("/api/v1/nodes/{node}"), &body);
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
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

/// Reserves ten ports for a cluster. The cluster does not use the last port, whose listener keeps
/// other test runs on this host from reserving the same ports.
fn reserve_ports() -> (u16, TcpListener) {
    // Each test run begins at a different port.
    let begin = (std::process::id() % 1000) as u16;
    let mut blocks = (begin..1000).chain(0..begin).map(|block| 20_000 + 10 * block);
    let reserve = |first| Some((first, TcpListener::bind(("127.0.0.1", first + 9)).ok()?));
    blocks.find_map(reserve).expect("a port is free")
}

#[test]
fn clusters_reserve_different_ports() {
    let (first, second) = (reserve_ports(), reserve_ports());
    assert!(first.0.abs_diff(second.0) >= 10);
}
