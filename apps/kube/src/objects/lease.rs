//! Leases of `coordination.k8s.io/v1`.

use serde::Deserialize;

use super::{resource, slim};

/// Who acts.
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
    /// The copy that acts; none if it was given back.
    pub(crate) fn holder(&self) -> Option<&str> {
        self.spec.holder_identity.as_deref().filter(|holder| !holder.is_empty())
    }
}
