//! Holders of nodes: placed Jobs and the controllers of other pods.

use std::fmt::{self, Display, Formatter};

use pavior::text::shown;

use crate::objects::{Object as _, Pod};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Holder<'a> {
    pub(super) kind: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// The end time according to the time limit, in seconds since 1970.
    pub(super) end: Option<u64>,
}

impl<'a> Holder<'a> {
    /// Returns a pod's controller, or the pod itself if it has none.
    pub(super) fn of(pod: &'a Pod) -> Holder<'a> {
        let (kind, name) = match pod.controller() {
            Some(owner) => (owner.kind.as_str(), owner.name.as_str()),
            None => ("pod", pod.name()),
        };
        Holder { kind, namespace: pod.namespace(), name, end: None }
    }

    /// Returns the holder's path, `NAMESPACE/NAME`.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", shown(self.namespace), shown(self.name))
    }
}

impl Display for Holder<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", shown(self.kind), self.path())
    }
}
