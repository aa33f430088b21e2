//! Paginated lists of objects.

use std::fmt::Debug;

use kube::api::ListParams;
use kube::{Api, Client, Resource};
use pavior::text::shown;
use serde::de::DeserializeOwned;

use crate::error::KubeError;
use crate::objects::{Object as _, Pod, Uid};

/// The number of objects per request.
const PAGE_SIZE: u32 = 500;

/// The field selector for active pods. Other pods do not occupy nodes (see [`Pod::is_active`]).
pub(crate) const ACTIVE_PODS: &str = "status.phase!=Succeeded,status.phase!=Failed";

/// Returns the start times of completed Jobs. A Job's start time is the time at which a node
/// accepted its first pod. Omits Jobs whose pods have been deleted.
pub(crate) async fn start_times(client: &Client) -> Result<Vec<(Uid, i64)>, KubeError> {
    let first_pods = ListParams::default()
        .fields("status.phase=Succeeded")
        .labels("batch.kubernetes.io/job-completion-index=0");
    let start_time = |pod: Pod| Some((pod.owner()?, pod.status.start_time.as_ref()?.0.as_second()));
    Ok(list_pages::<Pod>(client, first_pods).await?.into_iter().filter_map(start_time).collect())
}

/// Lists the objects of a kind that match a field selector.
pub(crate) async fn list<K>(client: &Client, fields: &str) -> Result<Vec<K>, KubeError>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    list_pages(client, ListParams::default().fields(fields)).await
}

async fn list_pages<K>(client: &Client, parameters: ListParams) -> Result<Vec<K>, KubeError>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let api: Api<K> = Api::all(client.clone());
    let mut objects = Vec::new();
    let mut parameters = parameters.limit(PAGE_SIZE);
    loop {
        let page = api.list(&parameters).await.map_err(|error| KubeError::Refused {
            what: format!("list {}", K::plural(&())),
            why: shown(&error.to_string()).to_string(),
        })?;
        objects.extend(page.items);
        match page.metadata.continue_.filter(|next| !next.is_empty()) {
            Some(next) => parameters = parameters.continue_token(&next),
            None => return Ok(objects),
        }
    }
}
