//! Tests that Jobs get boxes despite all disturbances.

use crate::cluster::{Cluster, JOBS, release};
use crate::judge::Record;

/// Returns the number of complete Jobs.
pub(crate) fn complete(cluster: &Cluster) -> usize {
    let jobs = cluster.get(JOBS);
    let is = |job: &&serde_json::Value| {
        let conditions = job["status"]["conditions"].as_array();
        conditions
            .into_iter()
            .flatten()
            .any(|one| one["type"] == "Complete" && one["status"] == "True")
    };
    jobs["items"].as_array().into_iter().flatten().filter(is).count()
}

#[test]
fn jobs_become_boxes_and_end() {
    let Some(mut cluster) = Cluster::start("pavior kube", release(), [4, 4, 2]) else { return };
    cluster.machine("torus:4x4x2");
    cluster.start_copy("always");
    cluster.start_copy("always");
    let shapes = ["2x2x2", "4x1x1", "4x4x1", "1x1x1", "2x2x1", "4x4x2", "1x4x2", "3x2x1"];
    for (number, shape) in shapes.iter().cycle().take(16).enumerate() {
        cluster.job(&format!("job{number}"), shape, 1);
    }
    cluster.until("five are complete", || complete(&cluster) >= 5);
    cluster.kill("kube-apiserver");
    cluster.end_copy(0);
    cluster.start_copy("always");
    cluster.until("all are complete", || complete(&cluster) == 16);
    let record = Record::read(cluster.path());
    assert_eq!((record.overlaps, record.misplaced), (0, 0), "{record:?}");
    // Changes in progress when the API server is killed may be stored but not logged. All Jobs are
    // complete, so all were confirmed. This check shows that the judge has read the log.
    assert!(record.confirmations >= 8, "{record:?}");
    cluster.until("no placement is left", || {
        cluster.get("/apis/pavior.dev/v1alpha1/placements")["items"] == serde_json::json!([])
    });
}
