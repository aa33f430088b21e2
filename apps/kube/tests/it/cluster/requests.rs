//! Requests to the API server.

use serde_json::{Value, json};

use super::Cluster;
use super::objects::{JOBS, job};

/// The account that sends a request.
#[derive(Clone, Copy)]
pub(crate) enum User {
    Admin,
    Alice,
}

/// The reason why a request failed.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The HTTP status, or `None` if there was no response.
    pub(crate) code: Option<u16>,
    pub(crate) message: String,
}

impl Refusal {
    /// Returns true if a policy refused the request with a message that contains `word`.
    pub(crate) fn is_invalid(&self, word: &str) -> bool {
        self.code == Some(422) && self.message.contains(word)
    }
}

impl Cluster {
    /// Sends a request, as a merge patch if the method is `PATCH`. Returns the response.
    pub(crate) fn ask(
        &self,
        user: User,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Value, Refusal> {
        let client = match user {
            User::Admin => &self.admin,
            User::Alice => &self.alice,
        };
        let kind =
            if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let text = if body.is_null() { Vec::new() } else { serde_json::to_vec(body).unwrap() };
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header("content-type", kind).body(text).unwrap();
        self.runtime.block_on(client.request::<Value>(request)).map_err(|error| match error {
            kube::Error::Api(status) => {
                Refusal { code: Some(status.code), message: status.message.clone() }
            }
            error => Refusal { code: None, message: error.to_string() },
        })
    }

    /// Sends a request that must succeed.
    pub(crate) fn good(&self, user: User, method: &str, path: &str, body: &Value) -> Value {
        self.ask(user, method, path, body).unwrap_or_else(|why| panic!("{method} {path}: {why:?}"))
    }

    pub(crate) fn try_get(&self, path: &str) -> Result<Value, Refusal> {
        self.ask(User::Admin, "GET", path, &Value::Null)
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.good(User::Admin, "GET", path, &Value::Null)
    }

    /// Returns the objects in a list.
    pub(crate) fn items(&self, path: &str) -> Vec<Value> {
        serde_json::from_value(self.get(path)["items"].take()).unwrap()
    }

    /// Sends a merge patch as the administrator.
    pub(crate) fn patch(&self, path: &str, body: &Value) {
        self.good(User::Admin, "PATCH", path, body);
    }

    /// Creates an object, retrying until it exists. If a response was lost, the object may already
    /// exist when the request is retried.
    pub(crate) fn create(&self, user: User, path: &str, object: &Value) {
        let exists = || match self.ask(user, "POST", path, object) {
            Ok(_) => true,
            Err(refusal) => refusal.code == Some(409),
        };
        self.until(&format!("{} exists in {path}", object["metadata"]["name"]), exists);
    }

    /// Creates, as Alice, a Job whose pods run for `run_s` seconds.
    pub(crate) fn job(&self, name: &str, shape: &str, run_s: u32) {
        self.good(User::Alice, "POST", JOBS, &job(name, shape, run_s));
    }

    /// Deletes, as Alice, a Job and then, in the background, its pods.
    pub(crate) fn delete_job(&self, name: &str) -> Result<Value, Refusal> {
        let how = json!({ "propagationPolicy": "Background" });
        self.ask(User::Alice, "DELETE", &format!("{JOBS}/{name}"), &how)
    }

    /// Returns the number of a Job's pods that have succeeded.
    pub(crate) fn succeeded(&self, jobs: &str, name: &str) -> Value {
        self.get(&format!("{jobs}/{name}"))["status"]["succeeded"].clone()
    }

    /// Checks that a user's Job is rejected, and that the reason contains `word` and is escaped.
    pub(crate) fn refuses(&self, wrong: &Value, word: &str) {
        let refusal = self.ask(User::Alice, "POST", JOBS, wrong).expect_err(word);
        assert!(refusal.is_invalid(word), "{refusal:?}");
        let raw = ["\u{1b}", "failed expression"];
        assert!(!raw.iter().any(|text| refusal.message.contains(text)), "{refusal:?}");
    }
}
