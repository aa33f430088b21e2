//! Waits for conditions, and reports the cluster's state if a condition does not hold in time.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::Cluster;
use super::objects::JOBS;

impl Cluster {
    /// Waits up to ten minutes for a condition to hold.
    pub(crate) fn until(&self, what: &str, holds: impl FnMut() -> bool) {
        self.within(600, what, holds);
    }

    /// Waits up to `seconds` seconds for a condition to hold.
    pub(crate) fn within(&self, seconds: u64, what: &str, mut holds: impl FnMut() -> bool) {
        let began = Instant::now();
        while !holds() {
            let late = began.elapsed() > Duration::from_secs(seconds);
            assert!(!late, "{what}; {}\n{}", self.log(), self.state());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Returns the number of complete Jobs.
    pub(crate) fn complete(&self) -> usize {
        let is = |job: &&Value| {
            let mut all = job["status"]["conditions"].as_array().into_iter().flatten();
            all.any(|one| one["type"] == "Complete" && one["status"] == "True")
        };
        self.items(JOBS).iter().filter(is).count()
    }

    /// Returns the end of the replicas' log.
    pub(crate) fn log(&self) -> String {
        let text = std::fs::read_to_string(self.path().join("log/pavior")).unwrap_or_default();
        text.chars().rev().take(2000).collect::<Vec<_>>().into_iter().rev().collect()
    }

    /// Describes Jobs and pods, one per line.
    fn state(&self) -> String {
        let mut lines = Vec::new();
        let get = |path| self.try_get(path).unwrap_or_default();
        for job in get(JOBS)["items"].as_array().into_iter().flatten() {
            lines.push(format!("{} {}", job["metadata"]["name"], job["status"]));
        }
        for pod in get("/api/v1/pods")["items"].as_array().into_iter().flatten() {
            let (about, spec) = (&pod["metadata"], &pod["spec"]);
            let times = [&about["name"], &about["deletionTimestamp"]].map(Value::to_string);
            let place = ["nodeName", "schedulingGates", "affinity"].map(|it| spec[it].to_string());
            lines.push(format!("{} {} {}", times.join(" "), place.join(" "), pod["status"]));
        }
        lines.truncate(40);
        lines.join("\n")
    }
}
