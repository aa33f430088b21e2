//! Checks that objects are really absent before a deletion that depends on their absence, because a
//! watch may lag.

use std::fmt::Debug;

use kube::core::{NamespaceResourceScope, Resource};
use serde::de::DeserializeOwned;

use super::{WriteError, Writer, reason};
use crate::objects::{Job, Object as _, ObjectRef, Placement};
use crate::plan::Absence;

impl Writer {
    /// Fails if one of the objects exists.
    pub(super) async fn verify_absence(&self, absent: Option<&Absence>) -> Result<(), WriteError> {
        let is_there = match absent {
            None => false,
            Some(Absence::Placements(names)) => {
                let mut is_there = false;
                for name in names {
                    is_there |= self.read::<Placement>(name).await?.is_some();
                }
                is_there
            }
            Some(Absence::Job(job)) => {
                self.read::<Job>(job).await?.is_some_and(|one| one.uid() == job.uid)
            }
        };
        if is_there { Err(WriteError::Conflict) } else { Ok(()) }
    }

    /// Fails if a placement no longer exists or is being deleted.
    pub(super) async fn verify_record(&self, record: Option<&ObjectRef>) -> Result<(), WriteError> {
        let Some(record) = record else { return Ok(()) };
        let found = self.read::<Placement>(record).await?;
        let is_there = found.is_some_and(|one| one.uid() == record.uid && !one.is_terminating());
        if is_there { Ok(()) } else { Err(WriteError::Conflict) }
    }

    /// Reads the current version of an object, or `None` if it does not exist.
    async fn read<K>(&self, seen: &ObjectRef) -> Result<Option<K>, WriteError>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + Debug
            + DeserializeOwned,
    {
        let objects = self.near(seen)?;
        self.answer(objects.get_opt(&seen.name)).await.map_err(reason)
    }
}
