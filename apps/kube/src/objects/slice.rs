//! `Slice` of GKE: cubes of TPU chips that are joined. Its controller is another's.

use serde::{Deserialize, Serialize};

use super::job::Condition;
use super::{Known as _, Placement, Uid, resource, slim};

/// The label of nodes whose cube is in a Slice, with its name.
pub(crate) const OF_SLICE: &str = "cloud.google.com/gke-tpu-slice";
/// The annotations of a Slice of ours that name its machine, and its record.
pub(crate) const OF_MACHINE: &str = "pavior.dev/machine";
pub(crate) const OF_NAMESPACE: &str = "pavior.dev/namespace";
pub(crate) const OF_RECORD: &str = "pavior.dev/placement";

/// What begins the names of our Slices; the uid of the record follows. At most 49 characters of
/// `[-a-z0-9]` are allowed.
const OURS: &str = "pavior-";

/// A Slice.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Slice {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    pub(crate) spec: SliceSpec,
    #[serde(default)]
    pub(crate) status: SliceStatus,
}

/// What is never changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SliceSpec {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// In chips: multiples of 4 that do not decrease.
    pub(crate) topology: String,
    /// The cubes, by the label of their nodes.
    pub(crate) partition_ids: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct SliceStatus {
    #[serde(default)]
    pub(crate) conditions: Vec<Condition>,
}

resource!(Slice, ClusterResourceScope, "accelerator.gke.io", "v1beta1", "slices");

/// What can be done with a Slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It may become usable.
    Forming,
    Usable,
    /// It never will be again: it is to be deleted.
    Lost,
}

impl Slice {
    /// The name of the Slice of a record. A record that is made anew has another.
    pub(crate) fn name_for(record: &Placement) -> String {
        format!("{OURS}{}", record.uid().0)
    }

    /// The record that a Slice of a machine belongs to: namespace, name and uid.
    pub(crate) fn record(&self, machine: &str) -> Option<(&str, &str, Uid)> {
        let uid = self.name().strip_prefix(OURS)?;
        let own = self.annotation(OF_MACHINE) == Some(machine);
        let (namespace, name) = (self.annotation(OF_NAMESPACE)?, self.annotation(OF_RECORD)?);
        own.then(|| (namespace, name, Uid(uid.to_string())))
    }

    fn ready(&self) -> Option<&Condition> {
        self.status.conditions.iter().find(|one| one.kind == "Ready")
    }

    /// Its state in the controller's word.
    pub(crate) fn reason(&self) -> &str {
        if Condition::holds(&self.status.conditions, "SliceCreationFailed") {
            return "SliceCreationFailed";
        }
        self.ready().map_or("SliceNotCreated", |ready| ready.reason.as_str())
    }

    /// What its controller says beside.
    pub(crate) fn message(&self) -> &str {
        self.ready().map_or("", |ready| ready.message.as_str())
    }

    /// What can be done with it. A state that is not known may pass.
    pub(crate) fn phase(&self) -> Phase {
        match self.reason() {
            _ if self.is_going() => Phase::Lost,
            "ACTIVE" | "ACTIVE_DEGRADED" => Phase::Usable,
            "FAILED" | "SliceCreationFailed" | "DEACTIVATING" | "INCOMPLETE" => Phase::Lost,
            _ => Phase::Forming,
        }
    }
}
