//! Checks that objects are really absent before a deletion that depends on their absence, because a
//! watch may lag.

use kube::core::Resource as _;
use serde::de::DeserializeOwned;

use super::{WriteError, Writer, path};
use crate::objects::{Job, LEASE_NAME, Lease, NAMESPACE, Object as _, ObjectRef, Placement};
use crate::plan::Absence;

impl Writer {
    /// Fails if one of the objects exists.
    pub(super) async fn verify_absence(&self, absent: Option<&Absence>) -> Result<(), WriteError> {
        let is_there = match absent {
            None => false,
            Some(Absence::Record(names)) => {
                let mut is_there = false;
                for name in names {
                    is_there |= self.read::<Placement>(&path::<Placement>(name)?).await?.is_some();
                }
                is_there
            }
            Some(Absence::Job(job)) => {
                let known = self.read::<Job>(&path::<Job>(job)?).await?;
                known.is_some_and(|one| one.uid() == job.uid)
            }
        };
        if is_there { Err(WriteError::Conflict) } else { Ok(()) }
    }

    /// Fails if a placement is gone or being deleted.
    pub(super) async fn verify_record(&self, record: Option<&ObjectRef>) -> Result<(), WriteError> {
        let Some(record) = record else { return Ok(()) };
        let known = self.read::<Placement>(&path::<Placement>(record)?).await?;
        let stands = known.is_some_and(|one| one.uid() == record.uid && !one.is_terminating());
        if stands { Ok(()) } else { Err(WriteError::Conflict) }
    }

    /// Reads the Lease.
    pub(crate) async fn lease(&self) -> Result<Option<Lease>, WriteError> {
        let path = Lease::url_path(&(), Some(NAMESPACE));
        self.read(&format!("{path}/{LEASE_NAME}")).await
    }

    /// Reads the current version of an object, or `None` if it does not exist.
    pub(super) async fn read<K: DeserializeOwned>(
        &self,
        path: &str,
    ) -> Result<Option<K>, WriteError> {
        let request = http::Request::builder().uri(path).body(Vec::new());
        let request = request.map_err(|error| WriteError::Rejected(error.to_string()))?;
        let read = self.client.request::<K>(request);
        let Ok(read) = tokio::time::timeout(self.limit, read).await else {
            return Err(WriteError::Unavailable);
        };
        match read {
            Ok(found) => Ok(Some(found)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(kube::Error::Api(status)) if status.code == 403 => {
                Err(WriteError::Rejected(pavior::text::shown(&status.message).to_string()))
            }
            Err(_) => Err(WriteError::Unavailable),
        }
    }
}
