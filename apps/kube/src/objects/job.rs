//! `batch/v1` Jobs.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde::{Deserialize, Deserializer};

use super::kueue::Quota;
use super::object::{
    BOX, Condition, GLOBAL_INDEX, Object as _, SECONDS, SHAPE, parse_digits, resource, slim,
};
use super::pod::PodSpec;

/// A Job, reduced to the fields that matter for its placement.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Job {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) spec: JobSpec,
    #[serde(default)]
    pub(crate) status: JobStatus,
    /// The Kueue quota, if our admission check applies to the Job.
    #[serde(skip)]
    pub(crate) quota: Option<Quota>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct JobSpec {
    pub(crate) parallelism: Option<u32>,
    pub(crate) completions: Option<u32>,
    pub(crate) completion_mode: Option<String>,
    pub(crate) suspend: Option<bool>,
    pub(crate) active_deadline_seconds: Option<u64>,
    pub(crate) template: Template,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Template {
    /// True if the annotations request Kueue's topology-aware scheduling.
    #[serde(default, rename = "metadata", deserialize_with = "uses_topology")]
    pub(crate) uses_topology: bool,
    #[serde(default)]
    pub(crate) spec: PodSpec,
}

/// A pod template's metadata, which is parsed but not stored.
#[derive(Default, Deserialize)]
struct TemplateMetadata {
    annotations: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct JobStatus {
    pub(crate) succeeded: Option<u32>,
    /// The number of failed indexes of a Job with `backoffLimitPerIndex`.
    #[serde(deserialize_with = "index_count")]
    pub(crate) failed_indexes: u32,
    /// The completion time, which is set only if the Job succeeded.
    pub(crate) completion_time: Option<Time>,
    pub(crate) conditions: Vec<Condition>,
}

resource!(Job, NamespaceResourceScope, "batch", "v1", "jobs");

impl Job {
    /// Returns the requested shape as written, or `None` if the Job has no shape.
    pub(crate) fn shape(&self) -> Option<&str> {
        self.annotation(SHAPE)
    }

    /// Returns the controller's uid if the Job shares a box with the other Jobs in its set.
    pub(crate) fn set(&self) -> Option<&str> {
        self.owner_id().filter(|_| self.shares_box())
    }

    /// Returns true if the Job shares a box with its controller's other Jobs.
    pub(crate) fn shares_box(&self) -> bool {
        self.annotation(BOX) == Some("set")
    }

    /// Returns the Job's number within its set.
    pub(crate) fn global_index(&self) -> Option<u32> {
        self.label(GLOBAL_INDEX).and_then(parse_digits)
    }

    /// Returns true if the Job has succeeded or failed. Its last pods may still be running, because
    /// `SuccessCriteriaMet` and `FailureTarget` are set before all pods have ended.
    pub(crate) fn is_finished(&self) -> bool {
        let ends = ["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"];
        ends.iter().any(|kind| Condition::holds(&self.status.conditions, kind))
    }

    /// Returns the completion time in seconds since 1970.
    pub(crate) fn completed(&self) -> Option<i64> {
        Some(self.status.completion_time.as_ref()?.0.as_second())
    }

    pub(crate) fn is_suspended(&self) -> bool {
        self.spec.suspend == Some(true)
    }

    /// Returns the number of indexes that are not finished.
    pub(crate) fn remaining(&self) -> u32 {
        let all = self.spec.completions.or(self.spec.parallelism).unwrap_or(1);
        let ended = self.status.succeeded.unwrap_or(0).saturating_add(self.status.failed_indexes);
        all.saturating_sub(ended)
    }

    pub(crate) fn has_quota(&self) -> bool {
        self.quota.as_ref().is_some_and(|quota| quota.reserved)
    }

    /// Returns true if the Job is suspended and has no quota, and therefore needs no box.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_suspended() && !self.has_quota()
    }

    /// Returns the Job's maximum run time in seconds, if limited.
    pub(crate) fn seconds(&self) -> Option<u64> {
        let annotation = self.annotation(SECONDS).and_then(parse_digits);
        let limits = [annotation, self.spec.active_deadline_seconds];
        limits.into_iter().flatten().filter(|&seconds| seconds > 0).min()
    }
}

/// Counts the indexes in a list such as `1,3-5`.
fn index_count<'de, D: Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
    let text = Option::<String>::deserialize(input)?.unwrap_or_default();
    let count = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    Ok(text.split(',').filter_map(count).fold(0, u32::saturating_add))
}

/// Returns true if a template's annotations request topology-aware scheduling.
fn uses_topology<'de, D: Deserializer<'de>>(input: D) -> Result<bool, D::Error> {
    let metadata = Option::<TemplateMetadata>::deserialize(input)?.unwrap_or_default();
    let annotations = metadata.annotations.unwrap_or_default();
    let modes = ["required", "preferred", "unconstrained"];
    Ok(modes
        .iter()
        .any(|mode| annotations.contains_key(&format!("kueue.x-k8s.io/podset-{mode}-topology"))))
}
