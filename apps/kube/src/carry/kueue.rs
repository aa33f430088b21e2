//! How Kueue is told. Of a Workload our own check is written, and nothing else.

use serde_json::{Value, json};

use super::{Carrier, MERGE, Unchanged, path, precondition, second};
use crate::objects::{AdmissionCheck, Workload};
use crate::plan::Seen;

impl Carrier {
    /// Writes how our check stands, at its place among the checks of a Workload.
    pub(super) async fn check(
        &self,
        workload: &Seen,
        at: usize,
        check: &str,
        state: &Value,
    ) -> Result<(), Unchanged> {
        let own = format!("/status/admissionChecks/{at}");
        let version = &workload.version;
        let patch = json!([
            { "op": "test", "path": "/metadata/resourceVersion", "value": version },
            { "op": "test", "path": format!("{own}/name"), "value": check },
            { "op": "replace", "path": own, "value": state },
        ]);
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
