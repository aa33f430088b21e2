//! The objects to install in a cluster, as YAML for `kubectl apply`.

mod exclusive;

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray,
};
use kube::CustomResourceExt as _;
use pavior::text::shown;

pub use self::exclusive::confirmation;
use self::exclusive::warning;
use crate::error::KubeError;
use crate::objects::{Machine, Placement};
use crate::plan::RESOURCE;

/// Options that select the objects to install.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// True if the policy that adds the gate and the resource to Jobs is omitted. API servers
    /// before Kubernetes 1.36 do not support this policy.
    pub no_mutation: bool,
    /// The program's container image. If set, a Deployment with two daemon replicas is added.
    pub image: Option<String>,
    /// A resource that nodes already have, such as `google.com/tpu`, used instead of the resource
    /// that the daemon adds. Jobs then request it themselves.
    pub resource: Option<String>,
    /// True if the objects that Kueue needs are added.
    pub kueue: bool,
}

impl Manifests {
    /// Returns the objects as YAML.
    ///
    /// # Errors
    /// Returns an error if the image or resource name is not valid.
    pub fn text(&self) -> Result<String, KubeError> {
        let mut parts = vec![
            definition(Machine::crd()),
            definition(Placement::crd()),
            include_str!("../../manifests/access.yaml").to_string(),
            self.policies()?,
        ];
        if self.resource.is_none() {
            parts.push(include_str!("../../manifests/access-nodes.yaml").to_string());
        }
        if self.kueue {
            parts.push(include_str!("../../manifests/access-kueue.yaml").to_string());
        }
        if !self.no_mutation {
            let mut gate = include_str!("../../manifests/gate.yaml").to_string();
            if self.resource.is_none() {
                gate += include_str!("../../manifests/gate-resource.yaml");
            }
            parts.push(gate);
            parts.push(include_str!("../../manifests/gate-binding.yaml").to_string());
        }
        if let Some(image) = &self.image {
            let image = checked_name(image)?;
            parts.push(include_str!("../../manifests/deployment.yaml").replace("IMAGE", image));
        }
        Ok(parts.join("---\n"))
    }

    fn policies(&self) -> Result<String, KubeError> {
        let jobs = include_str!("../../manifests/policies-jobs.yaml");
        let node_rule = include_str!("../../manifests/policies-node.yaml");
        let others = include_str!("../../manifests/policies.yaml");
        let Some(resource) = &self.resource else {
            return Ok(format!("{jobs}{node_rule}---\n{others}"));
        };
        let policies = format!("{jobs}---\n{others}").replace(RESOURCE, checked_name(resource)?);
        Ok(warning(resource) + &policies)
    }
}

/// Formats a definition as YAML.
fn definition(mut definition: CustomResourceDefinition) -> String {
    for version in &mut definition.spec.versions {
        version
            .schema
            .iter_mut()
            .flat_map(|validation| &mut validation.open_api_v3_schema)
            .for_each(strict);
    }
    serde_saphyr::to_string(&definition).expect("a definition is plain data")
}

/// Removes parts added by schema generation: nullability, defaults that the API server would
/// insert, and Rust integer formats.
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

/// Checks a name that is inserted verbatim into YAML.
fn checked_name(name: &str) -> Result<&str, KubeError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"./:@_-".contains(&byte);
    if name.is_empty() || name.len() > 512 || !name.bytes().all(is_allowed) {
        return Err(KubeError::Name(shown(name).to_string()));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn an_existing_resource_is_requested_but_not_added() {
        let default = Manifests::default().text().unwrap();
        assert!(default.contains("nodes/status") && default.contains("limits/pavior.dev~1node"));
        let resource = Some("google.com/tpu".to_string());
        let existing = Manifests { resource, ..Manifests::default() }.text().unwrap();
        assert!(!existing.contains("nodes/status") && !existing.contains("'pavior.dev/node'"));
        assert!(!existing.contains("limits/pavior.dev~1node"));
        assert!(existing.contains("'google.com/tpu' in one.resources.limits"));
        assert!(existing.contains("rejects EVERY new pod") && !existing.contains("must be 1, in"));
        assert!(existing.contains("must not set nodeName") && default.contains("must be 1, in"));
    }

    #[test]
    fn the_docs_describe_each_field_as_the_definition_does() {
        let page = include_str!("../../../../docs/kubernetes.md");
        let crd: Value = serde_saphyr::from_str(&definition(Machine::crd())).unwrap();
        let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let spec = &schema["properties"]["spec"]["properties"];
        for (name, field) in spec.as_object().unwrap() {
            let outer = (name.clone(), field);
            let inner = field["properties"].as_object().into_iter().flatten();
            let inner = inner.map(|(inner, field)| (format!("{name}.{inner}"), field));
            for (name, field) in std::iter::once(outer).chain(inner) {
                let row = format!("| `{name}` | {} |", field["description"].as_str().unwrap());
                assert!(page.contains(&row), "{row}");
            }
        }
    }

    #[test]
    fn invalid_names_are_rejected() {
        for name in ["", "a b", "a\nkind: Pod", "a'", "{}"] {
            let image = Some(name.to_string());
            assert!(Manifests { image, ..Manifests::default() }.text().is_err(), "{name}");
            let resource = Some(name.to_string());
            assert!(Manifests { resource, ..Manifests::default() }.text().is_err(), "{name}");
        }
    }
}
