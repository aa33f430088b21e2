//! Removes the gates that the daemon leaves behind.

use pavior::text::shown;

use crate::client::{connect, runtime};
use crate::error::KubeError;
use crate::objects::{Job, Object as _, Pod};
use crate::read::{ACTIVE_PODS, list};
use crate::write::Writer;

/// The result of a removal: the opened pods, the remaining pods, and the Jobs to recreate.
#[derive(Debug, Default)]
pub struct Removal {
    /// Pods whose gate was removed. The scheduler may start them anywhere.
    pub opened: Vec<String>,
    /// Pods that are still gated, with any errors.
    pub left: Vec<String>,
    /// Jobs that must be recreated without the gate, because their new pods would be gated, too.
    pub jobs: Vec<String>,
}

/// Lists gated pods, and opens them if `open` is true. The policies must already have been removed,
/// because they let only the daemon remove a gate.
///
/// # Errors
/// Returns an error if the cluster does not respond.
pub fn remove(open: bool) -> Result<Removal, KubeError> {
    runtime()?.block_on(async {
        let client = connect().await?;
        let pods = list::<Pod>(&client, ACTIVE_PODS).await?;
        let jobs = list::<Job>(&client, "").await?;
        let writer = Writer::new(client);
        let mut removal = Removal::default();
        let is_gated = |pod: &Pod| pod.spec.gate().is_some() && !pod.is_terminating();
        for pod in pods.into_iter().filter(is_gated) {
            let name = format!("{}/{}", shown(pod.namespace()), shown(pod.name()));
            if !open {
                removal.left.push(name);
                continue;
            }
            match writer.remove_gate(&pod).await {
                Ok(()) => removal.opened.push(name),
                Err(why) => removal.left.push(format!("{name}: {why}")),
            }
        }
        let gated =
            jobs.iter().filter(|job| !job.is_finished() && job.spec.template.spec.gate().is_some());
        let jobs = gated.map(|job| format!("{}/{}", shown(job.namespace()), shown(job.name())));
        removal.jobs.extend(jobs);
        removal.opened.sort_unstable();
        removal.left.sort_unstable();
        removal.jobs.sort_unstable();
        Ok(removal)
    })
}
