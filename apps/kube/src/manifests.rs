//! The objects to install in a cluster, as text for `kubectl apply`.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::CustomResourceExt as _;
use pavior::text::shown;
use serde::Deserialize;
use serde_json::Value;

use crate::client::{KubeError, connect, runtime};
use crate::objects::{Job, Machine, Object as _, Placement, resource, slim};
use crate::plan::RESOURCE;
use crate::read::{LIVING, all};

/// Options that select the objects to install.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// True to omit the policy that adds the gate and the resource to Jobs; API servers before
    /// Kubernetes 1.36 do not support it.
    pub no_mutation: bool,
    /// The program's container image; adds a Deployment with two replicas of the daemon.
    pub image: Option<String>,
    /// A resource that nodes already have, such as `google.com/tpu`, in place of the resource that
    /// the daemon adds. Jobs then request it themselves.
    pub resource: Option<String>,
    /// True to add the objects for Kueue.
    pub kueue: bool,
}

impl Manifests {
    /// Returns the objects as YAML.
    ///
    /// # Errors
    /// Returns an error if the image or resource is not a valid name.
    pub fn text(&self) -> Result<String, KubeError> {
        let policies = include_str!("../manifests/policies.yaml");
        let policies = match &self.resource {
            Some(resource) => {
                let (before, rule) = policies.split_once(NODE_RULE).unwrap_or((policies, ""));
                let rest = rule.split_once("\n    - ").map_or("", |(_, rest)| rest);
                let rest = rest.split_once("\n    - ").map_or("", |(_, rest)| rest);
                let text = format!("{before}    - {rest}").replace(RESOURCE, named(resource)?);
                format!("{}{text}", warning(resource))
            }
            None => policies.to_string(),
        };
        let mut parts = vec![
            definition(Machine::crd()),
            definition(Placement::crd()),
            include_str!("../manifests/access.yaml").to_string(),
            policies,
        ];
        if self.resource.is_none() {
            parts.push(include_str!("../manifests/access-nodes.yaml").to_string());
        }
        if self.kueue {
            parts.push(include_str!("../manifests/access-kueue.yaml").to_string());
        }
        if !self.no_mutation {
            let mut gate = include_str!("../manifests/gate.yaml").to_string();
            if self.resource.is_none() {
                gate += include_str!("../manifests/gate-resource.yaml");
            }
            parts.push(gate);
            parts.push(include_str!("../manifests/gate-binding.yaml").to_string());
        }
        if let Some(image) = &self.image {
            let image = named(image)?;
            parts.push(include_str!("../manifests/deployment.yaml").replace("IMAGE", image));
        }
        Ok(parts.join("---\n"))
    }
}

/// Returns a definition as YAML.
fn definition(mut definition: CustomResourceDefinition) -> String {
    for version in &mut definition.spec.versions {
        version.schema.iter_mut().flat_map(|one| &mut one.open_api_v3_schema).for_each(strict);
    }
    serde_saphyr::to_string(&definition).expect("a definition is plain data")
}

/// Removes generated parts of a schema that no field specifies: nullability, defaults that the API
/// server would insert, and the formats of Rust's integers.
fn strict(schema: &mut JSONSchemaProps) {
    (schema.title, schema.nullable, schema.default) = (None, None, None);
    if schema.type_.as_deref() == Some("integer") {
        schema.format = None;
    }
    schema.description = schema.description.take().map(|text| text.replace('\n', " "));
    schema.properties.iter_mut().flat_map(BTreeMap::values_mut).for_each(strict);
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        strict(items);
    }
}

/// Returns a question to ask before installing with a resource that other pods may use. It lists
/// existing pods whose replacements the API server would reject.
///
/// # Errors
/// Returns an error if the resource is not a valid name.
pub fn question(resource: &str) -> Result<String, KubeError> {
    let resource = named(resource)?;
    Ok(words(resource, runtime()?.block_on(users(resource))))
}

/// Returns the pods that request a resource, except pods of Jobs with a shape.
async fn users(resource: &str) -> Result<Vec<String>, KubeError> {
    let client = connect().await?;
    let jobs = all::<Job>(&client, "").await?.filter(|job| job.shape().is_some());
    let jobs: Vec<String> = jobs.map(|job| job.id().to_string()).collect();
    let pods = all::<PodLimits>(&client, LIVING).await?.filter(|pod| pod.requests(resource));
    let is_ours = |pod: &PodLimits| jobs.iter().any(|job| pod.owner_id() == Some(job));
    let others = pods.filter(|pod| !is_ours(pod));
    Ok(others.map(|pod| format!("{}/{}", pod.namespace(), pod.name())).collect())
}

fn words(resource: &str, users: Result<Vec<String>, KubeError>) -> String {
    let now = match users {
        Ok(users) if users.is_empty() => "Currently, the cluster has no such pods".to_string(),
        Ok(users) => {
            let names: Vec<&str> = users.iter().take(NAMED).map(String::as_str).collect();
            let more = if users.len() > NAMED { ", ..." } else { "" };
            let names = shown(&names.join(", ")).to_string();
            format!("Currently, the cluster has {} such pods: {names}{more}", users.len())
        }
        Err(why) => format!("The pods that currently request it cannot be listed: {why}"),
    };
    format!(
        "with --resource {resource} the API server rejects every new pod in the cluster that \
         requests this resource and does not belong to a Job with pavior.dev/shape, including new \
         pods of Deployments. {now}. If this is intended, add --exclusive"
    )
}

/// The maximum number of pods to name.
const NAMED: usize = 10;

/// A pod with its containers' resources.
#[derive(Clone, Debug, Deserialize)]
struct PodLimits {
    #[serde(deserialize_with = "slim")]
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Value,
}

resource!(PodLimits, NamespaceResourceScope, "", "v1", "pods");

impl PodLimits {
    fn requests(&self, resource: &str) -> bool {
        let all = ["containers", "initContainers"].map(|kind| self.spec[kind].as_array());
        let mut all = all.into_iter().flatten().flatten();
        let of = |one: &Value, how: &str| !one["resources"][how][resource].is_null();
        all.any(|one| of(one, "limits") || of(one, "requests"))
    }
}

/// The comment that precedes the rule for the default resource.
const NODE_RULE: &str = "    # Only for the default resource";

/// Returns a comment about the pods that the policies reject.
fn warning(resource: &str) -> String {
    let limit = resource.replace('.', "\\.");
    format!(
        "# With these policies the API server rejects EVERY new pod in the cluster that requests\n\
         # {resource} and does not belong to a Job with pavior.dev/shape, including new pods of\n\
         # Deployments. To list the pods that currently request it:\n\
         #   kubectl get pods -A -o custom-columns='NAMESPACE:.metadata.namespace,\
         NAME:.metadata.name,LIMIT:.spec.containers[*].resources.limits.{limit}'\n"
    )
}

/// Checks a name that is inserted verbatim into YAML.
fn named(name: &str) -> Result<&str, KubeError> {
    let right = |byte: u8| byte.is_ascii_alphanumeric() || b"./:@_-".contains(&byte);
    if name.is_empty() || name.len() > 512 || !name.bytes().all(right) {
        return Err(KubeError::Name(shown(name).to_string()));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_of_the_machines_is_asked_for_and_not_added() {
        let own = Manifests::default().text().unwrap();
        assert!(own.contains("nodes/status") && own.contains("limits/pavior.dev~1node"));
        let resource = Some("google.com/tpu".to_string());
        let theirs = Manifests { resource, ..Manifests::default() }.text().unwrap();
        assert!(!theirs.contains("nodes/status") && !theirs.contains("'pavior.dev/node'"));
        assert!(!theirs.contains("limits/pavior.dev~1node"));
        assert!(theirs.contains("'google.com/tpu' in one.resources.limits"));
        assert!(theirs.contains("rejects EVERY new pod") && !theirs.contains("must be 1, in"));
        assert!(theirs.contains("must not set nodeName") && own.contains("must be 1, in"));
    }

    #[test]
    fn the_page_describes_each_field_as_the_definition_does() {
        let page = include_str!("../../../docs/kubernetes.md");
        let crd: Value = serde_saphyr::from_str(&definition(Machine::crd())).unwrap();
        let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let spec = &schema["properties"]["spec"]["properties"];
        for (name, field) in spec.as_object().unwrap() {
            let own = (name.clone(), field);
            let inner = field["properties"].as_object().into_iter().flatten();
            let inner = inner.map(|(inner, field)| (format!("{name}.{inner}"), field));
            for (name, field) in std::iter::once(own).chain(inner) {
                let row = format!("| `{name}` | {} |", field["description"].as_str().unwrap());
                assert!(page.contains(&row), "{row}");
            }
        }
    }

    #[test]
    fn pods_that_would_be_refused_are_named_before() {
        let pod = |how: &str| {
            let container = serde_json::json!({ "resources": { how: { "google.com/tpu": "4" } } });
            let spec = serde_json::json!({ "initContainers": [container] });
            serde_json::from_value::<PodLimits>(serde_json::json!({ "metadata": {}, "spec": spec }))
        };
        assert!(pod("limits").unwrap().requests("google.com/tpu"));
        assert!(pod("requests").unwrap().requests("google.com/tpu"));
        assert!(!pod("limits").unwrap().requests("google.com"));
        let users = |count: usize| Ok((0..count).map(|at| format!("team/p{at}")).collect());
        let text = words("google.com/tpu", users(2));
        assert!(
            text.contains("2 such pods: team/p0, team/p1. If this is intended, add --exclusive")
        );
        assert!(
            words("r", users(99)).contains("99 such pods: team/p0")
                && words("r", users(0)).len() > 9
        );
        assert!(!words("r", users(99)).contains("p10"));
    }

    #[test]
    fn names_that_are_none_are_refused() {
        for name in ["", "a b", "a\nkind: Pod", "a'", "{}"] {
            let image = Some(name.to_string());
            assert!(Manifests { image, ..Manifests::default() }.text().is_err(), "{name}");
            let resource = Some(name.to_string());
            assert!(Manifests { resource, ..Manifests::default() }.text().is_err(), "{name}");
        }
    }
}
