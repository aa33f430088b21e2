//! Warns about pods that already use a resource that will be reserved for Jobs with a shape.

use std::collections::HashSet;

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use pavior::text::shown;
use serde::Deserialize;

use super::checked_name;
use crate::client::{connect, runtime};
use crate::error::KubeError;
use crate::objects::{Job, Object as _, Uid, resource, slim};
use crate::read::{ACTIVE_PODS, list};

/// The maximum number of pods that the warning names.
const MAX_NAMED: usize = 10;

/// A pod with the resources that its containers request.
#[derive(Clone, Debug, Deserialize)]
struct PodResources {
    #[serde(deserialize_with = "slim")]
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Containers,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Containers {
    containers: Vec<Container>,
    init_containers: Vec<Container>,
}

#[derive(Clone, Debug, Deserialize)]
struct Container {
    #[serde(default)]
    resources: ResourceRequirements,
}

resource!(PodResources, NamespaceResourceScope, "", "v1", "pods");

impl PodResources {
    fn requests(&self, resource: &str) -> bool {
        let mut containers = self.spec.containers.iter().chain(&self.spec.init_containers);
        containers.any(|Container { resources }| {
            let mut lists = [&resources.limits, &resources.requests].into_iter().flatten();
            lists.any(|list| list.contains_key(resource))
        })
    }
}

/// Returns a warning that users must confirm before installing with a resource that other pods may
/// use. The warning lists existing pods whose replacements the API server would reject.
///
/// # Errors
/// Returns an error if the resource name is not valid or the runtime cannot be started.
pub fn confirmation(resource: &str) -> Result<String, KubeError> {
    let resource = checked_name(resource)?;
    Ok(confirmation_text(resource, runtime()?.block_on(users(resource))))
}

/// Returns the pods that request a resource, except those that belong to Jobs with a shape.
async fn users(resource: &str) -> Result<Vec<String>, KubeError> {
    let client = connect().await?;
    let jobs = list::<Job>(&client, "").await?.into_iter();
    let shaped: HashSet<Uid> =
        jobs.filter(|job| job.shape().is_some()).map(|job| job.uid()).collect();
    let is_ours = |pod: &PodResources| pod.owner_id().is_some_and(|owner| shaped.contains(owner));
    let pods = list::<PodResources>(&client, ACTIVE_PODS).await?.into_iter();
    let others = pods.filter(|pod| pod.requests(resource) && !is_ours(pod));
    Ok(others.map(|pod| format!("{}/{}", pod.namespace(), pod.name())).collect())
}

fn confirmation_text(resource: &str, users: Result<Vec<String>, KubeError>) -> String {
    let state = match users {
        Ok(users) if users.is_empty() => "The cluster currently has no such pods".to_string(),
        Ok(users) => {
            let mut names: Vec<String> =
                users.iter().take(MAX_NAMED).map(|name| shown(name).to_string()).collect();
            if names.len() < users.len() {
                names.push("...".to_string());
            }
            format!("The cluster currently has {} such pods: {}", users.len(), names.join(", "))
        }
        Err(why) => format!("Cannot list the pods that currently request this resource: {why}"),
    };
    format!(
        "with --resource {resource}, the API server will reject every new pod in the cluster that \
         requests this resource but does not belong to a Job with pavior.dev/shape. This includes \
         new pods in Deployments. {state}. If this is intended, add --exclusive"
    )
}

/// Returns a YAML comment that warns about the pods that the policies reject.
pub(super) fn warning(resource: &str) -> String {
    let limit = resource.replace('.', "\\.");
    format!(
        "# With these policies, the API server rejects EVERY new pod in the cluster that\n# \
         requests {resource} but does not belong to a Job with pavior.dev/shape. This includes\n# \
         new pods in Deployments. To list the pods that currently request this resource:\n#   \
         kubectl get pods -A -o \
         custom-columns='NAMESPACE:.metadata.namespace,NAME:.metadata.name,\
         LIMIT:.spec.containers[*].resources.limits.{limit},\
         INIT:.spec.initContainers[*].resources.limits.{limit}' | grep -v '<none> *<none> *$'\n"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pods_request_a_resource_by_limits_or_requests() {
        let pod = |list: &str| -> PodResources {
            let container = json!({ "resources": { list: { "google.com/tpu": "4" } } });
            let spec = json!({ "initContainers": [container] });
            serde_json::from_value(json!({ "metadata": {}, "spec": spec })).unwrap()
        };
        assert!(pod("limits").requests("google.com/tpu"));
        assert!(pod("requests").requests("google.com/tpu"));
        assert!(!pod("limits").requests("google.com"));
    }

    #[test]
    fn the_confirmation_names_at_most_ten_pods() {
        let text = |count: usize| {
            let users = (0..count).map(|number| format!("team/p{number}")).collect();
            confirmation_text("google.com/tpu", Ok(users))
        };
        assert!(text(0).contains("cluster currently has no such pods"));
        let two = "2 such pods: team/p0, team/p1. If this is intended, add --exclusive";
        assert!(text(2).contains(two));
        assert!(text(10).contains("team/p9. If") && text(99).contains("team/p9, .... If"));
        let long = vec!["n".repeat(63) + "/" + &"p".repeat(63); 9];
        let text = confirmation_text("google.com/tpu", Ok(long.clone()));
        assert!(text.contains(&long.join(", ")), "{text}");
    }
}
