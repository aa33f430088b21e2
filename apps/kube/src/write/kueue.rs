//! Writes to Kueue objects: the state of our check on a Workload, and the conditions of our
//! AdmissionCheck, of which this daemon is the only writer.

use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

use super::{WriteError, Writer, precondition, second, steps};
use crate::objects::{AdmissionCheck, ObjectRef, Workload};

impl Writer {
    /// Writes our check at its position in a Workload. Null members and Kueue's own members are
    /// left unchanged.
    pub(super) async fn check(
        &self,
        workload: &ObjectRef,
        at: usize,
        check: &str,
        state: &[(&str, Value)],
    ) -> Result<(), WriteError> {
        let own = format!("/status/admissionChecks/{at}");
        let version = &workload.version;
        let mut patch = vec![
            json!({ "op": "test", "path": "/metadata/resourceVersion", "value": version }),
            json!({ "op": "test", "path": format!("{own}/name"), "value": check }),
        ];
        let given = state.iter().filter(|(_, value)| !value.is_null());
        patch.extend(given.map(|(member, value)| {
            json!({ "op": "add", "path": format!("{own}/{member}"), "value": value })
        }));
        let workloads: Api<Workload> = self.near(workload)?;
        let patch = steps(Value::Array(patch))?;
        self.change(workloads.patch_status(&workload.name, &PatchParams::default(), &patch)).await
    }

    /// Marks an AdmissionCheck as active.
    pub(super) async fn activate(&self, check: &ObjectRef) -> Result<(), WriteError> {
        let active = json!({
            "type": "Active", "status": "True", "reason": "Active",
            "message": "Jobs are placed before they are admitted",
            "lastTransitionTime": second(),
        });
        let status = json!({ "conditions": [active] });
        let body = Patch::Merge(json!({ "metadata": precondition(check), "status": status }));
        let checks: Api<AdmissionCheck> = Api::all(self.client.clone());
        self.change(checks.patch_status(&check.name, &PatchParams::default(), &body)).await
    }
}
