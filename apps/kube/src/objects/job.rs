//! Jobs of `batch/v1`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::Deserialize;

use super::{BOX, GLOBAL_INDEX, PodSpec, SECONDS, SHAPE, resource, slim};
use crate::objects::{Known as _, Uid};
use crate::quota::Quota;

/// A Job, as far as a placement hangs on it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Job {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    #[serde(default)]
    pub(crate) spec: JobSpec,
    #[serde(default)]
    pub(crate) status: JobStatus,
    /// What Kueue says of it, if it asks us.
    #[serde(skip)]
    pub(crate) quota: Option<Quota>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobSpec {
    pub(crate) parallelism: Option<u32>,
    pub(crate) completions: Option<u32>,
    pub(crate) completion_mode: Option<String>,
    pub(crate) suspend: Option<bool>,
    pub(crate) active_deadline_seconds: Option<u64>,
    #[serde(default)]
    pub(crate) template: Template,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Template {
    /// Whether Kueue's topology-aware scheduling is asked for.
    #[serde(default, rename = "metadata", deserialize_with = "topology")]
    pub(crate) topology: bool,
    #[serde(default)]
    pub(crate) spec: PodSpec,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobStatus {
    pub(crate) succeeded: Option<u32>,
    /// Of one that is complete.
    pub(crate) completion_time: Option<Time>,
    #[serde(default)]
    pub(crate) conditions: Vec<Condition>,
}

/// A condition of an object.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Condition {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) status: String,
    #[serde(default)]
    pub(crate) reason: String,
    #[serde(default)]
    pub(crate) message: String,
}

impl Condition {
    /// Whether a condition of this kind holds.
    pub(crate) fn holds(all: &[Condition], kind: &str) -> bool {
        all.iter().any(|one| one.kind == kind && one.status == "True")
    }
}

resource!(Job, NamespaceResourceScope, "batch", "v1", "jobs");

impl Job {
    /// The shape that it asks for, as it is written; none for a Job that is not placed.
    pub(crate) fn shape(&self) -> Option<&str> {
        self.annotation(SHAPE)
    }

    /// What controls it, if it is of a set.
    pub(crate) fn set(&self) -> Option<Uid> {
        self.owner().filter(|_| self.is_of_a_set())
    }

    /// Whether it gets a box together with the other Jobs of what controls it.
    pub(crate) fn is_of_a_set(&self) -> bool {
        self.annotation(BOX) == Some("set")
    }

    /// Its number among the Jobs of its set.
    pub(crate) fn global_index(&self) -> Option<u32> {
        let text = self.label(GLOBAL_INDEX)?;
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| digits)
    }

    /// Whether it has ended, well or not.
    pub(crate) fn is_over(&self) -> bool {
        let ends = ["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"];
        ends.iter().any(|kind| Condition::holds(&self.status.conditions, kind))
    }

    /// When it was complete, in seconds since 1970; none if it is not.
    pub(crate) fn completed(&self) -> Option<i64> {
        Some(self.status.completion_time.as_ref()?.0.as_second())
    }

    /// Whether it is not to have pods.
    pub(crate) fn is_suspended(&self) -> bool {
        self.spec.suspend == Some(true)
    }

    /// How many pods it has yet to bring to an end.
    pub(crate) fn left(&self) -> u32 {
        let all = self.spec.completions.or(self.spec.parallelism).unwrap_or(1);
        all.saturating_sub(self.status.succeeded.unwrap_or(0))
    }

    /// Whether it has quota and waits for its place, or keeps the place, until it is admitted.
    pub(crate) fn has_quota(&self) -> bool {
        self.quota.as_ref().is_some_and(|quota| quota.reserved)
    }

    /// Whether it is not to have pods, nor a place for them.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_suspended() && !self.has_quota()
    }

    /// How long it is said to run, in seconds.
    pub(crate) fn seconds(&self) -> Option<u64> {
        let written = self.annotation(SECONDS).and_then(|text| text.parse().ok());
        let given = [written, self.spec.active_deadline_seconds];
        given.into_iter().flatten().filter(|&seconds| seconds > 0).min()
    }
}

/// Whether annotations of a template ask Kueue to place its pods.
fn topology<'de, D: serde::Deserializer<'de>>(input: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    struct Metadata {
        #[serde(default)]
        annotations: Option<BTreeMap<String, String>>,
    }
    let asks = ["required", "preferred", "unconstrained"]
        .map(|how| format!("kueue.x-k8s.io/podset-{how}-topology"));
    let metadata = Option::<Metadata>::deserialize(input)?;
    let annotations = metadata.and_then(|metadata| metadata.annotations);
    Ok(annotations.is_some_and(|all| asks.iter().any(|name| all.contains_key(name))))
}
