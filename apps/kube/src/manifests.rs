//! Objects to install in a cluster, as text for `kubectl apply`.

use crate::client::KubeError;
use crate::plan::RESOURCE;

/// A selection of objects.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// True to omit the policy that adds the gate and the resource to Jobs, which API servers
    /// before Kubernetes 1.36 do not support.
    pub no_mutation: bool,
    /// A container image of the program; adds a Deployment with two copies of the daemon.
    pub image: Option<String>,
    /// A resource that nodes already have, such as `google.com/tpu`, instead of the one that the
    /// daemon adds. Jobs then request it themselves.
    pub resource: Option<String>,
    /// True to add the objects for Kueue.
    pub kueue: bool,
}

impl Manifests {
    /// Returns the text.
    ///
    /// # Errors
    /// If the image or resource is not a valid name.
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
            include_str!("../manifests/crds.yaml").to_string(),
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

/// The comment before the rule for the default resource.
const NODE_RULE: &str = "    # The default resource alone";

/// Returns a comment on the pods that the policies stop.
fn warning(resource: &str) -> String {
    let limit = resource.replace('.', "\\.");
    format!(
        "# With these policies the API server refuses EVERY new pod of the cluster that requests\n\
         # {resource} and is not of a Job with pavior.dev/shape, also the next pods of\n\
         # Deployments. This lists the pods that request it now:\n\
         #   kubectl get pods -A -o custom-columns='NAMESPACE:.metadata.namespace,\
         NAME:.metadata.name,LIMIT:.spec.containers[*].resources.limits.{limit}'\n"
    )
}

/// Checks a name that is inserted verbatim.
fn named(name: &str) -> Result<&str, KubeError> {
    let right = |byte: u8| byte.is_ascii_alphanumeric() || b"./:@_-".contains(&byte);
    if name.is_empty() || name.len() > 512 || !name.bytes().all(right) {
        return Err(KubeError::Name(pavior::text::shown(name).to_string()));
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
        assert!(theirs.contains("refuses EVERY new pod") && !theirs.contains("is 1, in one"));
        assert!(theirs.contains("does not name a node") && own.contains("is 1, in one"));
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
