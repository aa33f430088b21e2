//! How Kueue is told. Of a Workload our own check is written, and nothing else.

use serde_json::{Value, json};

use super::{Carrier, MERGE, Unchanged, path, precondition, second};
use crate::objects::{AdmissionCheck, Workload};
use crate::plan::Seen;

impl Carrier {
    /// Writes how our check stands, at its place among the checks of a Workload. What is null, and
    /// members that are Kueue's, stay as they are.
    pub(super) async fn check(
        &self,
        workload: &Seen,
        at: usize,
        check: &str,
        state: &[(&str, Value)],
    ) -> Result<(), Unchanged> {
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
        let path = path::<Workload>(workload)? + "/status";
        self.send("PATCH", &path, "application/json-patch+json", &patch).await
    }

    /// Says that a check is looked after.
    pub(super) async fn activate(&self, check: &Seen) -> Result<(), Unchanged> {
        let active = json!({
            "type": "Active", "status": "True", "reason": "Active",
            "message": "Jobs are placed before they are admitted",
            "lastTransitionTime": second(),
        });
        let status = json!({ "conditions": [active] });
        let body = json!({ "metadata": precondition(check), "status": status });
        let path = path::<AdmissionCheck>(check)? + "/status";
        self.send("PATCH", &path, MERGE, &body).await
    }
}
