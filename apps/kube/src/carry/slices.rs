//! How Slices are written.
//!
//! A record that was confirmed is read once more before its Slice is made, and so are all Slices:
//! a watch may lag. What is left is the time of one request. If the record is withdrawn within it,
//! the controller of Slices refuses one of two Slices with the same cube.

use serde::Deserialize;
use serde_json::json;

use super::{Carrier, MERGE, Unchanged, path, precondition};
use crate::objects::{
    FAILED, Job, Known as _, OF_MACHINE, OF_NAMESPACE, OF_RECORD, Placement, Slice, SliceSpec,
};
use crate::plan::{Draft, Seen};

/// The accelerator of which cubes are made.
const KIND: &str = "tpu7x";

#[derive(Deserialize)]
struct Slices {
    items: Vec<Slice>,
}

impl Carrier {
    /// Makes the Slice of a record.
    pub(super) async fn form(&self, record: &Seen, slice: &Draft) -> Result<(), Unchanged> {
        let known = self.read::<Placement>(&path::<Placement>(record)?).await?;
        let stands =
            |one: &Placement| one.uid() == record.uid && one.status.confirmed && !one.is_going();
        let all = <Slice as kube::Resource>::url_path(&(), None);
        let taken = self.read::<Slices>(&all).await?.ok_or(Unchanged::Changed)?.items;
        let overlaps =
            |one: &Slice| one.spec.partition_ids.iter().any(|id| slice.cubes.contains(id));
        if !known.is_some_and(|one| stands(&one)) || taken.iter().any(overlaps) {
            return Err(Unchanged::Changed);
        }
        let annotations = json!({
            OF_MACHINE: slice.machine, OF_NAMESPACE: record.namespace, OF_RECORD: record.name,
        });
        let spec = SliceSpec {
            kind: KIND.to_string(),
            topology: slice.topology.clone(),
            partition_ids: slice.cubes.clone(),
        };
        let body = json!({
            "apiVersion": "accelerator.gke.io/v1beta1", "kind": "Slice",
            "metadata": { "name": slice.name, "annotations": annotations }, "spec": spec,
        });
        self.send("POST", &all, "application/json", &body).await
    }

    /// Deletes a Slice, if its record is gone: a uid does not come again.
    pub(super) async fn dissolve(&self, slice: &Seen, record: &Seen) -> Result<(), Unchanged> {
        let known = self.read::<Placement>(&path::<Placement>(record)?).await?;
        if known.is_some_and(|one| one.uid() == record.uid) {
            return Err(Unchanged::Changed);
        }
        let body = json!({ "preconditions": { "uid": slice.uid } });
        self.send("DELETE", &path::<Slice>(slice)?, "application/json", &body).await
    }

    /// Writes on a Job how many of its Slices failed.
    pub(super) async fn note(&self, job: &Seen, text: &str) -> Result<(), Unchanged> {
        let mut metadata = precondition(job);
        metadata["annotations"] = json!({ FAILED: text });
        let body = json!({ "metadata": metadata });
        self.send("PATCH", &path::<Job>(job)?, MERGE, &body).await
    }
}
