//! Random disturbances of a cluster. Some of them last a few seconds.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pavior::Stream;
use serde_json::{Value, json};

use crate::cluster::objects::{JOBS, PODS};
use crate::cluster::{Cluster, User, requests::Refusal};

/// A function that ends a disturbance. It returns false if it must be called again.
type End = Box<dyn Fn(&Cluster) -> bool>;

/// A cluster and its ongoing disturbances.
pub(crate) struct Chaos {
    pub(crate) cluster: Cluster,
    draw: Stream,
    pub(crate) counts: BTreeMap<&'static str, usize>,
    ends: Vec<(Instant, End)>,
}

impl Chaos {
    pub(crate) fn new(cluster: Cluster, seed: u64, purpose: &str) -> Chaos {
        let draw = Stream::new(seed, 0, purpose);
        Chaos { cluster, draw, counts: BTreeMap::new(), ends: Vec::new() }
    }

    pub(crate) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.draw.below(bound as u64) as usize
    }

    /// Returns the name of a random node in a grid with these sides.
    pub(crate) fn node(&mut self, sides: [usize; 3]) -> String {
        let [x, y, z] = sides.map(|side| self.below(side));
        format!("n{x}-{y}-{z}")
    }

    /// Returns a random object that matches, or `None` if no object does or the API server is down.
    pub(crate) fn object(&mut self, path: &str, matches: impl Fn(&Value) -> bool) -> Option<Value> {
        let list = self.cluster.try_get(path).ok()?;
        let found: Vec<&Value> =
            list["items"].as_array()?.iter().filter(|it| matches(it)).collect();
        let index = self.below(found.len());
        found.get(index).map(|&object| object.clone())
    }

    /// Returns the path of a random running pod that matches.
    pub(crate) fn running_pod(&mut self, matches: impl Fn(&Value) -> bool) -> Option<String> {
        let runs = |pod: &Value| pod["status"]["phase"] == "Running" && matches(pod);
        let pod = self.object(PODS, runs)?;
        Some(format!("{PODS}/{}", pod["metadata"]["name"].as_str()?))
    }

    /// Deletes a running pod that matches. Returns true if one was deleted.
    pub(crate) fn delete_pod(&mut self, matches: impl Fn(&Value) -> bool) -> bool {
        let pod = self.running_pod(matches);
        let delete = |path: String| self.cluster.ask(User::Alice, "DELETE", &path, &Value::Null);
        pod.is_some_and(|path| delete(path).is_ok())
    }

    /// Cordons a node for six seconds, unless the API server is down.
    pub(crate) fn cordon(&mut self, node: &str) -> bool {
        let path = format!("/api/v1/nodes/{node}");
        let set = move |cluster: &Cluster, cordoned: bool| {
            change(cluster, User::Admin, &path, &json!({ "spec": { "unschedulable": cordoned } }))
        };
        set(&self.cluster, true) && self.end_after(6, move |cluster| set(cluster, false))
    }

    /// Suspends a Job for four seconds, unless the API server is down.
    pub(crate) fn suspend(&mut self, job: &str) -> bool {
        let path = format!("{JOBS}/{job}");
        let set = move |cluster: &Cluster, suspended: bool| {
            change(cluster, User::Alice, &path, &json!({ "spec": { "suspend": suspended } }))
        };
        set(&self.cluster, true) && self.end_after(4, move |cluster| set(cluster, false))
    }

    /// Keeps a node from reporting for a minute.
    pub(crate) fn silence(&mut self, node: String) -> bool {
        self.cluster.kubelets.silent.lock().unwrap().insert(node.clone());
        self.end_after(60, move |cluster| {
            cluster.kubelets.silent.lock().unwrap().remove(&node);
            true
        })
    }

    pub(crate) fn pause_replica(&mut self, replica: usize, seconds: u64) -> bool {
        self.cluster.pause_replica(replica, true);
        self.end_after(seconds, move |cluster| {
            cluster.pause_replica(replica, false);
            true
        })
    }

    /// Schedules the end of a disturbance. Always returns true.
    fn end_after(&mut self, seconds: u64, end: impl Fn(&Cluster) -> bool + 'static) -> bool {
        self.ends.push((Instant::now() + Duration::from_secs(seconds), Box::new(end)));
        true
    }

    /// Ends the disturbances that have lasted long enough.
    pub(crate) fn end_due(&mut self) {
        let now = Instant::now();
        self.ends.retain(|(at, end)| *at > now || !end(&self.cluster));
    }

    /// Ends all disturbances.
    pub(crate) fn end_all(&mut self) {
        while !self.ends.is_empty() {
            self.ends.retain(|(_, end)| !end(&self.cluster));
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Patches an object. Returns true if the object has been changed or no longer exists.
fn change(cluster: &Cluster, user: User, path: &str, body: &Value) -> bool {
    let response = cluster.ask(user, "PATCH", path, body);
    matches!(response, Ok(_) | Err(Refusal { code: Some(404), .. }))
}
