//! Removes the gates that the daemon leaves behind.

use kube::Client;
use pavior::text::shown;

use crate::client::{connect, runtime};
use crate::error::KubeError;
use crate::objects::{Job, Object as _, Pod};
use crate::read::{ACTIVE_PODS, list};
use crate::write::{WriteError, Writer};

/// The maximum number of times to list the gated pods, which may change between two lists.
const MAX_ROUNDS: usize = 5;

/// The treatment of gated pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatedPods {
    /// The pods are listed.
    List,
    /// The gates are removed, so the scheduler may start the pods anywhere.
    Open,
}

/// The result of a removal: the opened pods, the remaining pods, and the Jobs to recreate.
#[derive(Debug, Default)]
pub struct Removal {
    /// Pods whose gate was removed. The scheduler may start them anywhere.
    pub opened: Vec<String>,
    /// Pods that are still gated, with any errors.
    pub left: Vec<String>,
    /// Jobs that must be recreated without the gate; otherwise, their new pods would be gated, too.
    pub jobs: Vec<String>,
}

/// Lists or opens gated pods, and lists the Jobs to recreate. The policies must already have been
/// removed, because they let only the daemon remove a gate.
///
/// # Errors
/// Returns an error if the cluster does not respond.
pub fn uninstall(treatment: GatedPods) -> Result<Removal, KubeError> {
    runtime()?.block_on(async { remove_gates(connect().await?, treatment).await })
}

async fn remove_gates(client: Client, treatment: GatedPods) -> Result<Removal, KubeError> {
    let writer = Writer::new(client.clone());
    let mut removal = Removal::default();
    for _ in 0..MAX_ROUNDS {
        removal.left.clear();
        let mut has_conflict = false;
        for pod in list::<Pod>(&client, ACTIVE_PODS).await? {
            if pod.spec.gate().is_none() || pod.is_terminating() {
                continue;
            }
            let name = format!("{}/{}", shown(pod.namespace()), shown(pod.name()));
            if treatment == GatedPods::List {
                removal.left.push(name);
                continue;
            }
            match writer.remove_gate(&pod).await {
                Ok(()) => removal.opened.push(name),
                Err(why @ WriteError::Unavailable) => {
                    return Err(KubeError::Unreachable(why.to_string()));
                }
                Err(why) => {
                    has_conflict |= matches!(why, WriteError::Conflict);
                    removal.left.push(format!("{name}: {why}"));
                }
            }
        }
        // A conflict means that the pod has changed or was deleted, as the next list will show.
        if !has_conflict {
            break;
        }
    }
    let jobs = list::<Job>(&client, "").await?;
    let gated =
        jobs.iter().filter(|job| !job.is_finished() && job.spec.template.spec.gate().is_some());
    let names = gated.map(|job| format!("{}/{}", shown(job.namespace()), shown(job.name())));
    removal.jobs = names.collect();
    removal.opened.sort_unstable();
    removal.left.sort_unstable();
    removal.jobs.sort_unstable();
    Ok(removal)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::daemon::stub_server::{Reply, Request, StubServer};
    use crate::objects::GATE;

    fn pods(names: &[&str]) -> Value {
        let pod = |name: &&str| {
            json!({
                "metadata": { "name": name, "namespace": "a", "uid": name, "resourceVersion": "1" },
                "spec": { "schedulingGates": [{ "name": GATE }] },
            })
        };
        json!({ "metadata": {}, "items": names.iter().map(pod).collect::<Vec<_>>() })
    }

    /// Opens the pods in the lists that the stub server sends in turn. The server answers each
    /// patch with the code that begins the pod's name.
    async fn open(lists: &[&[&str]]) -> (Result<Removal, KubeError>, StubServer) {
        let mut lists: Vec<Value> = lists.iter().rev().map(|names| pods(names)).collect();
        let server = StubServer::start(move |request: &Request| {
            match request.path.rsplit('/').next().unwrap().get(..3) {
                Some("job") => Reply::ok(pods(&[])),
                Some("pod") => Reply::ok(lists.pop().unwrap()),
                Some("200") => Reply::ok(json!({})),
                code => Reply::error(code.unwrap().parse().unwrap(), "no"),
            }
        });
        let server = server.await;
        (remove_gates(server.client.clone(), GatedPods::Open).await, server)
    }

    #[tokio::test]
    async fn pods_that_are_deleted_or_changed_meanwhile_are_not_left() {
        let (removal, _) = open(&[&["200-a", "404-b", "409-c"], &["200-c"]]).await;
        let removal = removal.unwrap();
        assert_eq!(removal.opened, ["a/200-a", "a/200-c"]);
        assert!(removal.left.is_empty(), "{:?}", removal.left);
        let (removal, _) = open(&[&["403-a", "200-b"]]).await;
        assert_eq!(removal.unwrap().left, ["a/403-a: no"]);
    }

    #[tokio::test]
    async fn an_unavailable_server_is_an_error_at_once() {
        let (removal, server) = open(&[&["200-a", "500-b", "500-c"]]).await;
        assert!(matches!(removal, Err(KubeError::Unreachable(_))), "{removal:?}");
        assert_eq!(server.requests("/pods/").len(), 2);
    }
}
