//! Reads and writes the active replica's Lease.

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, PostParams};

use super::{WriteError, Writer, reason};

/// The namespace of the program and its Lease.
pub(crate) const NAMESPACE: &str = "pavior-system";
pub(crate) const LEASE: &str = "pavior-kube";

impl Writer {
    pub(crate) async fn lease(&self) -> Result<Option<Lease>, WriteError> {
        self.answer(self.leases().get_opt(LEASE)).await.map_err(reason)
    }

    /// Creates the Lease, or replaces it if it has not changed since it was read.
    pub(crate) async fn write_lease(&self, lease: &Lease) -> Result<Lease, WriteError> {
        let leases = self.leases();
        if lease.metadata.resource_version.is_none() {
            return self.create(&leases, lease).await;
        }
        self.answer(leases.replace(LEASE, &PostParams::default(), lease)).await.map_err(reason)
    }

    fn leases(&self) -> Api<Lease> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }
}
