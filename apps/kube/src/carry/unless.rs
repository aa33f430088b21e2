//! What is read once more before something is deleted that seems to lack it: a watch may be late.

use serde::de::DeserializeOwned;

use super::{Carrier, Unchanged, path};
use crate::objects::{Job, Known as _, Placement};
use crate::plan::{Seen, Unless};

impl Carrier {
    /// Refuses a change if what it is not to be carried out for is there.
    pub(super) async fn unless(&self, unless: Option<&Unless>) -> Result<(), Unchanged> {
        let is_there = match unless {
            None => false,
            Some(Unless::Record(names)) => {
                let mut is_there = false;
                for name in names {
                    is_there |= self.read::<Placement>(&path::<Placement>(name)?).await?.is_some();
                }
                is_there
            }
            Some(Unless::Job(job)) => {
                let known = self.read::<Job>(&path::<Job>(job)?).await?;
                known.is_some_and(|one| one.uid() == job.uid)
            }
        };
        if is_there { Err(Unchanged::Changed) } else { Ok(()) }
    }

    /// Refuses a change for a record that is not there any more.
    pub(super) async fn stands(&self, record: Option<&Seen>) -> Result<(), Unchanged> {
        let Some(record) = record else { return Ok(()) };
        let known = self.read::<Placement>(&path::<Placement>(record)?).await?;
        let stands = known.is_some_and(|one| one.uid() == record.uid && !one.is_going());
        if stands { Ok(()) } else { Err(Unchanged::Changed) }
    }

    /// An object as the API server has it now; none if it has none.
    pub(super) async fn read<K: DeserializeOwned>(
        &self,
        path: &str,
    ) -> Result<Option<K>, Unchanged> {
        let request = http::Request::builder().uri(path).body(Vec::new());
        let request = request.map_err(|error| Unchanged::Refused(error.to_string()))?;
        match self.client.request::<K>(request).await {
            Ok(found) => Ok(Some(found)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(kube::Error::Api(status)) if status.code == 403 => {
                Err(Unchanged::Refused(pavior::text::shown(&status.message).to_string()))
            }
            Err(_) => Err(Unchanged::Busy),
        }
    }
}
