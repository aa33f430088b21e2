//! Paginated lists of objects.

use std::fmt::Debug;

use kube::api::ListParams;
use kube::{Api, Client, Resource};
use pavior::text::shown;
use serde::de::DeserializeOwned;

use crate::client::KubeError;
use crate::objects::{Object as _, Pod, Uid};

/// The number of objects per request.
const PAGE_SIZE: u32 = 500;

/// The field selector for pods that have not ended; other pods do not occupy nodes.
pub(crate) const LIVING: &str = "status.phase!=Succeeded,status.phase!=Failed";

/// Returns the start times of completed Jobs: the times when a node accepted their first pods. Jobs
/// whose pods were deleted are missing.
pub(crate) async fn start_times(client: &Client) -> Result<Vec<(Uid, i64)>, KubeError> {
    let first_pods = ListParams::default()
        .fields("status.phase=Succeeded")
        .labels("batch.kubernetes.io/job-completion-index=0");
    let start_time = |pod: Pod| Some((pod.owner()?, pod.status.start_time.as_ref()?.0.as_second()));
    Ok(listed::<Pod>(client, first_pods).await?.filter_map(start_time).collect())
}

/// Lists the objects of a kind that match a field selector.
pub(crate) async fn all<K>(
    client: &Client,
    fields: &str,
) -> Result<impl Iterator<Item = K> + use<K>, KubeError>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    listed(client, ListParams::default().fields(fields)).await
}

async fn listed<K>(
    client: &Client,
    list: ListParams,
) -> Result<impl Iterator<Item = K> + use<K>, KubeError>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let api: Api<K> = Api::all(client.clone());
    let mut found = Vec::new();
    let mut list = list.limit(PAGE_SIZE);
    loop {
        let page = api.list(&list).await.map_err(|error| KubeError::Refused {
            what: format!("list {}", K::plural(&())),
            why: shown(&error.to_string()).to_string(),
        })?;
        found.extend(page.items);
        match page.metadata.continue_.filter(|next| !next.is_empty()) {
            Some(next) => list = list.continue_token(&next),
            None => return Ok(found.into_iter()),
        }
    }
}
