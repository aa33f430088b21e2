//! Metadata that all objects have, and the names of the annotations, labels and gates that we use.

use std::borrow::Borrow;
use std::str::FromStr;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// The prefix of our annotations.
const OURS: &str = "pavior.dev/";
/// The annotation that contains a Job's shape, such as `4x4x2`.
pub(crate) const SHAPE: &str = "pavior.dev/shape";
/// The annotation that names a Job's machine, if the cluster has several.
pub(crate) const MACHINE: &str = "pavior.dev/machine";
/// The annotation that contains a Job's maximum run time in seconds.
pub(crate) const SECONDS: &str = "pavior.dev/seconds";
/// The annotation that determines whether a Job gets its own box or shares one with its set.
pub(crate) const BOX: &str = "pavior.dev/box";
/// The label that contains a Job's number in its JobSet.
pub(crate) const GLOBAL_INDEX: &str = "jobset.sigs.k8s.io/job-global-index";
/// The scheduling gate on pods that are waiting for a box.
pub(crate) const GATE: &str = "pavior.dev/placement";

/// The maximum length of an annotation. Longer annotations are dropped.
const MAX_ANNOTATION_LENGTH: usize = 256;

/// Parses a number without a sign. `parse` alone would also accept `+1`.
pub(crate) fn parse_digits<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Implements `kube::Resource` for a type that has a subset of a kind's fields.
macro_rules! resource {
    ($name:ident, $scope:ident, $group:expr, $version:expr, $plural:expr) => {
        impl kube::Resource for $name {
            type DynamicType = ();
            type Scope = kube::core::$scope;

            fn kind((): &()) -> std::borrow::Cow<'_, str> {
                stringify!($name).into()
            }

            fn group((): &()) -> std::borrow::Cow<'_, str> {
                $group.into()
            }

            fn version((): &()) -> std::borrow::Cow<'_, str> {
                $version.into()
            }

            fn plural((): &()) -> std::borrow::Cow<'_, str> {
                $plural.into()
            }

            fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }

            fn meta_mut(
                &mut self,
            ) -> &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &mut self.metadata
            }
        }
    };
}
pub(crate) use resource;

/// Parses metadata and drops managed fields and other programs' annotations.
pub(crate) fn slim<'de, D: Deserializer<'de>>(input: D) -> Result<ObjectMeta, D::Error> {
    let mut all = ObjectMeta::deserialize(input)?;
    if let Some(annotations) = &mut all.annotations {
        annotations
            .retain(|name, value| name.starts_with(OURS) && value.len() <= MAX_ANNOTATION_LENGTH);
    }
    if let Some(owners) = &mut all.owner_references {
        owners.retain(|owner| owner.controller == Some(true));
    }
    Ok(ObjectMeta { finalizers: None, generate_name: None, managed_fields: None, ..all })
}

/// An object's identity. Unlike names, uids are never reused.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema, Deserialize, Serialize,
)]
#[serde(transparent)]
pub(crate) struct Uid(pub(crate) String);

/// Allows lookups by a uid's text without copying the text.
impl Borrow<str> for Uid {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// A reference to an object, including the version that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ObjectRef {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: Uid,
    pub(crate) version: String,
}

impl ObjectRef {
    pub(crate) fn of(object: &impl Object) -> ObjectRef {
        ObjectRef {
            namespace: object.namespace().to_string(),
            name: object.name().to_string(),
            uid: object.uid(),
            version: object.meta().resource_version.clone().unwrap_or_default(),
        }
    }
}

/// Accessors for the metadata of any object.
pub(crate) trait Object: kube::Resource {
    fn name(&self) -> &str {
        self.meta().name.as_deref().unwrap_or_default()
    }

    fn namespace(&self) -> &str {
        self.meta().namespace.as_deref().unwrap_or_default()
    }

    fn uid(&self) -> Uid {
        Uid(self.id().to_string())
    }

    /// Returns the uid as text.
    fn id(&self) -> &str {
        self.meta().uid.as_deref().unwrap_or_default()
    }

    /// Returns the resource version. The API server's versions are increasing decimal numbers.
    fn version_number(&self) -> u64 {
        let version = self.meta().resource_version.as_deref();
        version.and_then(|version| version.parse().ok()).unwrap_or(0)
    }

    /// Returns the creation time in seconds since 1970, according to the API server's clock.
    fn created(&self) -> i64 {
        self.meta().creation_timestamp.as_ref().map_or(0, |time| time.0.as_second())
    }

    /// Returns true if the object is being deleted.
    fn is_terminating(&self) -> bool {
        self.meta().deletion_timestamp.is_some()
    }

    fn label(&self, name: &str) -> Option<&str> {
        self.meta().labels.as_ref()?.get(name).map(String::as_str)
    }

    fn annotation(&self, name: &str) -> Option<&str> {
        self.meta().annotations.as_ref()?.get(name).map(String::as_str)
    }

    /// Returns the uid of the object's controller.
    fn owner(&self) -> Option<Uid> {
        self.owner_id().map(|id| Uid(id.to_string()))
    }

    /// Returns the controller's uid as text.
    fn owner_id(&self) -> Option<&str> {
        self.controller().map(|owner| owner.uid.as_str())
    }

    /// Returns the object's controller. Parsing drops all other owners.
    fn controller(&self) -> Option<&OwnerReference> {
        self.meta().owner_references.as_ref()?.first()
    }
}

impl<K: kube::Resource> Object for K {}

/// A condition in an object's status.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Condition {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) status: String,
    #[serde(default)]
    pub(crate) reason: String,
    #[serde(default)]
    pub(crate) message: String,
}

impl Condition {
    /// Returns true if a condition of the given type is true.
    pub(crate) fn holds(all: &[Condition], kind: &str) -> bool {
        all.iter().any(|condition| condition.kind == kind && condition.status == "True")
    }
}
