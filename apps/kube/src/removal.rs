//! What is left when the program goes: gated pods start nowhere until they are opened.

use pavior::text::shown;

use crate::KubeError;
use crate::carry::Carrier;
use crate::look::Cluster;
use crate::objects::Known as _;

/// What was opened, and what is left.
#[derive(Debug, Default)]
pub struct Removal {
    /// Pods whose gate is gone: the scheduler of the cluster starts them anywhere.
    pub opened: Vec<String>,
    /// Pods that are still gated, each with why.
    pub left: Vec<String>,
    /// Jobs whose new pods will be gated again: they are to be made anew without the gate.
    pub jobs: Vec<String>,
}

/// Lists what is gated, and opens it if that is wished. The policies must be gone by then: they let
/// the program's own account alone open a gate.
///
/// # Errors
/// If the cluster does not answer.
pub fn remove(open: bool) -> Result<Removal, KubeError> {
    crate::runtime()?.block_on(async {
        let client = crate::client().await?;
        let cluster = Cluster::of_theirs(&client).await?;
        let carrier = Carrier::new(client);
        let mut removal = Removal::default();
        for pod in cluster.gated() {
            let name = format!("{}/{}", shown(pod.namespace()), shown(pod.name()));
            if !open {
                removal.left.push(name);
                continue;
            }
            match carrier.free(pod).await {
                Ok(()) => removal.opened.push(name),
                Err(why) => removal.left.push(format!("{name}: {why}")),
            }
        }
        let gated = cluster
            .world
            .jobs
            .values()
            .filter(|job| !job.is_over() && job.spec.template.spec.gate().is_some());
        let jobs = gated.map(|job| format!("{}/{}", shown(job.namespace()), shown(job.name())));
        removal.jobs.extend(jobs);
        removal.opened.sort_unstable();
        removal.left.sort_unstable();
        removal.jobs.sort_unstable();
        Ok(removal)
    })
}
