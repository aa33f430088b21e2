//! Leases of `coordination.k8s.io/v1`.

use std::time::Duration;

use serde::Deserialize;

use super::object::{resource, slim};

/// The namespace of the program and its Lease.
pub(crate) const NAMESPACE: &str = "pavior-system";
/// The name of the Lease.
pub(crate) const LEASE_NAME: &str = "pavior-kube";
/// The time before an unrenewed Lease expires.
pub(crate) const LEASE_TIME: Duration = Duration::from_secs(15);

/// The Lease of the active replica.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Lease {
    #[serde(deserialize_with = "slim")]
    pub(crate) metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    #[serde(default)]
    pub(crate) spec: LeaseSpec,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeaseSpec {
    pub(crate) holder_identity: Option<String>,
    pub(crate) lease_transitions: Option<u32>,
}

resource!(Lease, NamespaceResourceScope, "coordination.k8s.io", "v1", "leases");

impl Lease {
    /// Returns the holder, or `None` if the Lease was released.
    pub(crate) fn holder(&self) -> Option<&str> {
        self.spec.holder_identity.as_deref().filter(|holder| !holder.is_empty())
    }
}
