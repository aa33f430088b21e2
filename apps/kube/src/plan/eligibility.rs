//! The conditions under which a group of Jobs can be queued.

use pavior::boxes::volume;
use pavior::{Freedom, Request};

use super::config::MachineConfig;
use super::requirements::NodeRequirements;
use super::waiting::Prospect;
use crate::objects::{Job, Object as _};
use crate::world::JobGroup;

/// The maximum number of distinct node requirements in a set.
const MAX_REQUIREMENTS: usize = 64;

/// A reason not to queue a Job.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) prospect: Prospect,
    pub(super) why: String,
}

impl Refusal {
    pub(super) fn new(prospect: Prospect, why: impl Into<String>) -> Refusal {
        Refusal { prospect, why: why.into() }
    }
}

/// The reason why a group has no request.
#[derive(Debug)]
pub(super) enum Ineligible {
    /// The set may still be incomplete.
    Incomplete(String),
    Refused(Refusal),
}

/// Returns a group's request in nodes.
///
/// # Errors
/// Returns the reason for not queuing the group, without user-supplied text.
pub(super) fn request(config: &MachineConfig, group: &JobGroup<'_>) -> Result<Request, Ineligible> {
    let shape = group.first().shape().unwrap_or_default();
    let refuse = |why| Ineligible::Refused(Refusal::new(Prospect::Invalid, why));
    let nodes = config.sides_in_nodes(shape, "its shape").map_err(refuse)?;
    check(group, volume(nodes))?;
    let request = Request::shape(nodes);
    Ok(if config.turns() { request } else { request.with_freedom(Freedom::Box) })
}

/// Checks that a group is complete and has the right number of pods.
///
/// # Errors
/// Returns the reason for not queuing the group, without user-supplied text.
fn check(group: &JobGroup<'_>, nodes: u64) -> Result<(), Ineligible> {
    let refuse = |prospect, why: &str| Err(Ineligible::Refused(Refusal::new(prospect, why)));
    let invalid = |why: &str| refuse(Prospect::Invalid, why);
    let is_indexed = |job: &&Job| job.spec.completion_mode.as_deref() == Some("Indexed");
    if !group.jobs().iter().all(is_indexed) {
        return invalid("its completionMode is not Indexed");
    }
    if group.is_set() && group.first().owner().is_none() {
        return invalid("pavior.dev/box=set requires a controller, such as a JobSet");
    }
    if let Some(why) = group.mismatch(nodes) {
        return Err(Ineligible::Incomplete(why));
    }
    if group.has_idle_job() {
        return Err(Ineligible::Incomplete("a Job in its set is suspended".to_string()));
    }
    if NodeRequirements::distinct(group.jobs()).len() > MAX_REQUIREMENTS {
        return invalid(&format!(
            "the Jobs in its set have more than {MAX_REQUIREMENTS} different node requirements"
        ));
    }
    // The number of admitted pods may be too high, because a pod that ended after the quota was
    // reserved is counted twice.
    let is_partial = |job: &&Job| {
        let pods = job.quota.as_ref().filter(|quota| quota.reserved).and_then(|quota| quota.pods);
        pods.is_some_and(|pods| Some(pods) < job.spec.completions)
    };
    if group.jobs().iter().any(is_partial) {
        return refuse(Prospect::Blocked, "Kueue admits fewer pods than the Job's shape has nodes");
    }
    let is_elastic = |job: &&Job| job.spec.parallelism != job.spec.completions;
    if group.completions() != nodes || group.jobs().iter().any(is_elastic) {
        return invalid(&format!(
            "its shape has {nodes} nodes, so completions and parallelism must be {nodes}"
        ));
    }
    Ok(())
}
