//! How a change is written. The API server refuses it if the object is not the one that was seen.

mod kueue;
mod unless;

use kube::Client;
use kube::core::Resource;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::lease;
use crate::objects::{
    GATE, GROUP, Known as _, Lease, Machine, MachineStatus, Node, Placement, Pod, VERSION,
};
use crate::plan::{Act, Seen, Waiting};

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unchanged {
    /// The object is not as it was seen, or is gone: it is looked at again.
    #[error("the object has changed")]
    Changed,
    /// The API server is asked too much, or is not well.
    #[error("the API server is busy or not well")]
    Busy,
    /// It refuses, for good.
    #[error("{0}")]
    Refused(String),
}

/// Writes to the API server.
#[derive(Clone)]
pub(crate) struct Carrier {
    client: Client,
}

impl Carrier {
    pub(crate) fn new(client: Client) -> Carrier {
        Carrier { client }
    }

    /// Makes a change.
    pub(crate) async fn carry(&self, act: &Act) -> Result<(), Unchanged> {
        match act {
            Act::Propose { job, placement } => {
                let owner = json!({
                    "apiVersion": "batch/v1", "kind": "Job", "name": job.name, "uid": job.uid,
                    "controller": true,
                });
                let metadata = json!({ "name": job.uid, "ownerReferences": [owner] });
                let body = json!({
                    "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "Placement",
                    "metadata": metadata, "spec": placement,
                });
                let path = Placement::url_path(&(), Some(plain(&job.namespace)?));
                self.send("POST", &path, "application/json", &body).await
            }
            Act::Confirm { placement } => {
                let body = json!({
                    "metadata": precondition(placement), "status": { "confirmed": true },
                });
                let path = path::<Placement>(placement)? + "/status";
                self.send("PATCH", &path, MERGE, &body).await
            }
            Act::Withdraw { placement, unless, .. } => {
                self.unless(unless.as_ref()).await?;
                let body = json!({ "preconditions": precondition(placement) });
                let path = path::<Placement>(placement)?;
                self.send("DELETE", &path, "application/json", &body).await
            }
            Act::Open { pod, patch } => {
                let path = path::<Pod>(pod)?;
                self.send("PATCH", &path, "application/json-patch+json", patch).await
            }
            Act::Remove { pod, unless, .. } => {
                self.unless(unless.as_ref()).await?;
                let body = json!({ "preconditions": { "uid": pod.uid } });
                self.send("DELETE", &path::<Pod>(pod)?, "application/json", &body).await
            }
            Act::Check { workload, at, check, state, message, again_s, record } => {
                self.stands(record.as_ref()).await?;
                let own = [
                    ("state", json!(state)),
                    ("message", json!(message)),
                    ("lastTransitionTime", json!(second())),
                    ("requeueAfterSeconds", json!(again_s)),
                ];
                self.check(workload, *at, check, &own).await
            }
            Act::Activate { check } => self.activate(check).await,
            Act::Offer { node, resource } => {
                let amount = json!({ resource: "1" });
                let status = json!({ "capacity": amount, "allocatable": amount });
                let body = json!({ "metadata": { "uid": node.uid }, "status": status });
                let path = path::<Node>(node)? + "/status";
                self.send("PATCH", &path, MERGE, &body).await
            }
        }
    }

    /// Tells what a machine is like.
    pub(crate) async fn status(
        &self,
        machine: &Seen,
        status: &MachineStatus,
    ) -> Result<(), Unchanged> {
        let mut status = serde_json::to_value(status).unwrap_or_default();
        // A merge leaves out what is not named.
        status["fault"] = status.get("fault").cloned().unwrap_or(Value::Null);
        let body = json!({ "metadata": { "uid": machine.uid }, "status": status });
        let path = path::<Machine>(machine)? + "/status";
        self.send("PATCH", &path, MERGE, &body).await
    }

    /// Tells a Job what it waits for, as an event on it.
    pub(crate) async fn tell(&self, waiting: &Waiting, at: &str) -> Result<(), Unchanged> {
        let job = &waiting.job;
        let involved = json!({
            "apiVersion": "batch/v1", "kind": "Job", "namespace": job.namespace, "name": job.name,
            "uid": job.uid,
        });
        let (kind, reason) =
            if waiting.never { ("Warning", "NeverPlaced") } else { ("Normal", "WaitsForPlace") };
        let message: String = waiting.why.chars().take(1024).collect();
        let body = json!({
            "apiVersion": "v1", "kind": "Event", "type": kind, "reason": reason,
            "metadata": { "generateName": "pavior-", "namespace": job.namespace },
            "involvedObject": involved, "message": message, "source": { "component": "pavior" },
            "firstTimestamp": at, "lastTimestamp": at, "count": 1,
        });
        let path = format!("/api/v1/namespaces/{}/events", plain(&job.namespace)?);
        self.send("POST", &path, "application/json", &body).await
    }

    /// Makes the Lease one of a copy's: a new one, or the one that was seen.
    pub(crate) async fn hold(
        &self,
        seen: Option<&Lease>,
        own: &str,
        taken: bool,
    ) -> Result<(), Unchanged> {
        let transitions = seen.and_then(|lease| lease.spec.lease_transitions).unwrap_or(0);
        let version = seen.and_then(|lease| lease.meta().resource_version.clone());
        let body = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {
                "name": lease::NAME, "namespace": lease::NAMESPACE, "resourceVersion": version,
            },
            "spec": {
                "holderIdentity": own, "leaseDurationSeconds": lease::LASTS.as_secs(),
                "leaseTransitions": transitions.saturating_add(u32::from(taken)),
                "renewTime": micro_time(),
            },
        });
        let path = Lease::url_path(&(), Some(lease::NAMESPACE));
        if seen.is_none() {
            return self.send("POST", &path, "application/json", &body).await;
        }
        let path = format!("{path}/{}", lease::NAME);
        self.send("PUT", &path, "application/json", &body).await
    }

    /// Takes our gate from a pod, without a place.
    pub(crate) async fn free(&self, pod: &Pod) -> Result<(), Unchanged> {
        let Some(gate) = pod.gate() else { return Err(Unchanged::Changed) };
        let gate = format!("/spec/schedulingGates/{gate}");
        let patch = json!([
            { "op": "test", "path": "/metadata/uid", "value": pod.uid() },
            { "op": "test", "path": format!("{gate}/name"), "value": GATE },
            { "op": "remove", "path": gate },
        ]);
        let path = path::<Pod>(&Seen::of(pod))?;
        self.send("PATCH", &path, "application/json-patch+json", &patch).await
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        kind: &str,
        body: &impl Serialize,
    ) -> Result<(), Unchanged> {
        let refused = |error: &dyn std::fmt::Display| Unchanged::Refused(error.to_string());
        let body = serde_json::to_vec(body).map_err(|error| refused(&error))?;
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header("content-type", kind).body(body);
        let request = request.map_err(|error| refused(&error))?;
        let sent = self.client.request::<IgnoredAny>(request).await;
        match sent {
            // The answer is not looked at: what holds is what the watch says.
            Ok(_) | Err(kube::Error::SerdeError(_)) => Ok(()),
            Err(kube::Error::Api(status)) => Err(match (status.code, method) {
                // So the API server says that a test of a JSON patch failed.
                (422, "PATCH") if status.message.starts_with("the server rejected our request") => {
                    Unchanged::Changed
                }
                (404 | 409 | 410, _) => Unchanged::Changed,
                (429 | 500..=599, _) => Unchanged::Busy,
                _ => Unchanged::Refused(pavior::text::shown(&status.message).to_string()),
            }),
            Err(_) => Err(Unchanged::Busy),
        }
    }
}

/// This moment, as conditions write it.
fn second() -> String {
    k8s_openapi::jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// This moment, as Leases write it.
fn micro_time() -> String {
    k8s_openapi::jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

const MERGE: &str = "application/merge-patch+json";

fn precondition(seen: &Seen) -> Value {
    json!({ "uid": seen.uid, "resourceVersion": seen.version })
}

/// A name in a path. Those of the API server have no other characters.
fn plain(name: &str) -> Result<&str, Unchanged> {
    let right = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':');
    let is = !name.is_empty() && name != "." && name != ".." && name.bytes().all(right);
    is.then_some(name).ok_or_else(|| Unchanged::Refused("a name that is none".to_string()))
}

fn path<K: Resource<DynamicType = ()>>(seen: &Seen) -> Result<String, Unchanged> {
    let namespace = match seen.namespace.as_str() {
        "" => None,
        namespace => Some(plain(namespace)?),
    };
    Ok(format!("{}/{}", K::url_path(&(), namespace), plain(&seen.name)?))
}
