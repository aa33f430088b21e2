//! Verifies that objects are really absent before a deletion that depends on their absence, because
//! a watch may lag behind.

use std::fmt::Debug;

use kube::core::{NamespaceResourceScope, Resource};
use serde::de::DeserializeOwned;

use super::{WriteError, Writer, reason};
use crate::objects::{Job, Object as _, ObjectRef, Placement};
use crate::plan::Absence;

impl Writer {
    /// Fails if any of the objects exists.
    pub(super) async fn verify_absence(&self, absent: Option<&Absence>) -> Result<(), WriteError> {
        match absent {
            None => {}
            Some(Absence::Placements(names)) => {
                for name in names {
                    if self.read::<Placement>(name).await?.is_some() {
                        return Err(WriteError::Conflict);
                    }
                }
            }
            Some(Absence::Job(job)) => {
                let found = self.read::<Job>(job).await?;
                if found.is_some_and(|found| found.uid() == job.uid) {
                    return Err(WriteError::Conflict);
                }
            }
        }
        Ok(())
    }

    /// Fails if a placement no longer exists or is being deleted.
    pub(super) async fn verify_placement(
        &self,
        placement: Option<&ObjectRef>,
    ) -> Result<(), WriteError> {
        let Some(placement) = placement else { return Ok(()) };
        let found = self.read::<Placement>(placement).await?;
        let is_kept = |found: &Placement| found.uid() == placement.uid && !found.is_terminating();
        if found.as_ref().is_some_and(is_kept) { Ok(()) } else { Err(WriteError::Conflict) }
    }

    /// Returns the current version of an object, or `None` if it does not exist.
    async fn read<K>(&self, object: &ObjectRef) -> Result<Option<K>, WriteError>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + Debug
            + DeserializeOwned,
    {
        let objects = self.namespaced(object)?;
        self.answer(objects.get_opt(&object.name)).await.map_err(reason)
    }
}
