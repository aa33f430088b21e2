//! Kubernetes nodes.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Taint;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;

use super::object::{Condition, Object as _, resource, slim};

/// A node, reduced to the fields that matter for a machine.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Node {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) spec: NodeSpec,
    #[serde(default)]
    pub(crate) status: NodeStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NodeSpec {
    pub(crate) unschedulable: bool,
    pub(crate) taints: Vec<Taint>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NodeStatus {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) allocatable: BTreeMap<String, String>,
}

resource!(Node, ClusterResourceScope, "", "v1", "nodes");

impl Node {
    /// Returns true if new pods may start on the node, provided that they tolerate its taints.
    pub(crate) fn accepts_pods(&self) -> bool {
        Condition::holds(&self.status.conditions, "Ready") && !self.spec.unschedulable
    }

    /// Returns true if the node has all of the labels in a selector.
    pub(crate) fn is_selected(&self, selector: &BTreeMap<String, String>) -> bool {
        selector.iter().all(|(label, value)| self.label(label) == Some(value))
    }

    /// Returns true if the node has any amount of a resource.
    pub(crate) fn offers(&self, resource: &str) -> bool {
        self.status.allocatable.get(resource).is_some_and(|amount| amount != "0")
    }
}
