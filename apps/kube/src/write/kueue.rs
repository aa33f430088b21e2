//! Writes to Kueue objects. Only this daemon writes the state of our check on a Workload and the
//! conditions of our AdmissionCheck.

use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

use super::{WriteError, Writer, now_for_condition, precondition, steps};
use crate::objects::{AdmissionCheck, ObjectRef, Workload};
use crate::plan::CheckUpdate;

impl Writer {
    /// Updates our check on a Workload. Members that only Kueue writes are left unchanged.
    pub(super) async fn update_check(&self, update: &CheckUpdate) -> Result<(), WriteError> {
        self.verify_placement(update.placement.as_ref()).await?;
        let (workload, answer) = (&update.workload, &update.answer);
        let path = format!("/status/admissionChecks/{}", update.index);
        let version = &workload.version;
        let mut patch = vec![
            json!({ "op": "test", "path": "/metadata/resourceVersion", "value": version }),
            json!({ "op": "test", "path": format!("{path}/name"), "value": update.check }),
        ];
        let members = [
            ("state", Some(json!(answer.state.name()))),
            ("message", Some(json!(answer.message))),
            ("lastTransitionTime", Some(json!(now_for_condition()))),
            ("requeueAfterSeconds", answer.retry_delay_s.map(Value::from)),
        ];
        patch.extend(members.into_iter().filter_map(|(member, value)| {
            Some(json!({ "op": "add", "path": format!("{path}/{member}"), "value": value? }))
        }));
        let workloads: Api<Workload> = self.namespaced(workload)?;
        let patch = steps(Value::Array(patch))?;
        self.change(workloads.patch_status(&workload.name, &PatchParams::default(), &patch)).await
    }

    /// Marks an AdmissionCheck as active. The merge patch replaces all of the check's conditions.
    pub(super) async fn activate(&self, check: &ObjectRef) -> Result<(), WriteError> {
        let active = json!({
            "type": "Active", "status": "True", "reason": "Active",
            "message": "Jobs are placed before they are admitted",
            "lastTransitionTime": now_for_condition(),
        });
        let status = json!({ "conditions": [active] });
        let body = Patch::Merge(json!({ "metadata": precondition(check), "status": status }));
        let checks: Api<AdmissionCheck> = Api::all(self.client.clone());
        self.change(checks.patch_status(&check.name, &PatchParams::default(), &body)).await
    }
}
