//! Recently refused requests, shown on the page's timeline. Refusals change nothing and are not
//! recorded, so they are lost on restart.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use parking_lot::Mutex;
use pavior::answers::json::Point;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::extract::{QueryParams, query_number};
use super::statuses::{Guarded, Missing};
use super::{App, Fault};
use crate::core::reply::Instant;
use crate::core::shares::Shares;
use crate::core::{Ask, Caller, JobName, LeaseRequest, Problem, Reason, Reply};

/// The maximum number of refusals stored.
const MAX_REFUSALS: usize = 1024;

/// A refused request.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = RefusedRequest)]
pub(crate) struct RefusedEntry {
    /// The refusal's number. Numbering restarts at 1 when the service starts.
    id: u64,
    /// The time of the refusal.
    #[schema(value_type = String, format = DateTime)]
    at: Instant,
    machine: String,
    tenant: Option<String>,
    job: Option<JobName>,
    /// The requested number of nodes.
    nodes: u64,
    /// The sides of the requested box; null if the request gave only a number of nodes.
    #[schema(value_type = Option<Vec<u16>>)]
    shape: Option<Point>,
    /// The machine-readable reason, such as `no-free-submesh` or `over-quota`.
    reason: &'static str,
    /// The reason as a sentence.
    detail: String,
}

/// Recently refused requests by tenant ([`Shares`]).
#[derive(Default)]
pub(crate) struct Refusals(Mutex<Shares<Option<String>, RefusedEntry, 1>>);

impl Refusals {
    /// Records each of the caller's requests that the reply reports as refused.
    pub(super) fn record(
        &self,
        app: &App,
        caller: &Caller,
        reply: &Reply,
        requests: Vec<Option<LeaseRequest>>,
    ) {
        let replies = match reply {
            Reply::Batch(replies) => &replies[..],
            reply => std::slice::from_ref(reply),
        };
        for (request, reply) in requests.into_iter().zip(replies) {
            if let (Some(request), Some(problem)) = (request, refusal(reply)) {
                self.add(|id| RefusedEntry::of(id, app, caller, request, problem));
            }
        }
    }

    /// Adds an entry, which is created from its number.
    fn add(&self, entry: impl FnOnce(u64) -> RefusedEntry) {
        let mut entries = self.0.lock();
        let id = entries.number();
        let entry = entry(id);
        entries.insert(id, entry.tenant.clone(), [1], entry);
        if entries.total() > [MAX_REFUSALS] {
            entries.remove_from_largest(0);
        }
    }

    /// Returns the refusals that a caller may see and whose numbers exceed `after`, oldest first.
    fn visible_to(
        &self,
        caller: &Caller,
        after: Option<u64>,
        machine: Option<&str>,
    ) -> RefusalsReply {
        let entries = self.0.lock();
        let last = entries.last();
        let after = after.filter(|&after| after <= last).unwrap_or(0);
        let visible = entries.iter().map(|(_, _, entry)| entry).filter(|entry| {
            entry.id > after
                && caller.may_touch(entry.tenant.as_deref().unwrap_or_default())
                && machine.is_none_or(|name| entry.machine == name)
        });
        RefusalsReply { refusals: visible.cloned().collect(), last }
    }
}

impl RefusedEntry {
    fn of(
        id: u64,
        app: &App,
        caller: &Caller,
        request: LeaseRequest,
        problem: &Problem,
    ) -> RefusedEntry {
        let grid = app.grid(request.machine.as_deref());
        let (nodes, shape) = match request.ask {
            Ask::Shape(sides) => (pavior::boxes::volume(sides), Some(Point::of(grid, sides))),
            Ask::Nodes(nodes) | Ask::Beyond(nodes) => (u64::from(nodes), None),
        };
        RefusedEntry {
            id,
            at: Instant(app.writer.clock.now_ms()),
            machine: request.machine.unwrap_or_else(|| app.machines[0].0.name.clone()),
            tenant: request.tenant.or_else(|| caller.tenant.clone()),
            job: request.job,
            nodes,
            shape,
            reason: problem.reason.word(),
            detail: problem.detail.clone(),
        }
    }
}

/// Returns the problem in a reply if the problem counts as a refusal.
fn refusal(reply: &Reply) -> Option<&Problem> {
    use Reason::{OverQuota, Refused, Reserved};
    match reply {
        Reply::Problem(problem) if matches!(problem.reason, Refused(_) | OverQuota | Reserved) => {
            Some(problem)
        }
        _ => None,
    }
}

/// The query parameters that select refusals.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RefusalsQuery {
    /// The machine's name. Defaults to all machines.
    machine: Option<String>,
    /// The number after which to start. If this number exceeds the last refusal's, as it may after
    /// a restart, all refusals are returned.
    #[serde(default, deserialize_with = "query_number")]
    after: Option<u64>,
}

/// Recently refused requests.
#[derive(Serialize, ToSchema)]
#[schema(as = Refusals)]
pub(crate) struct RefusalsReply {
    /// The refusals visible to the caller, oldest first.
    refusals: Vec<RefusedEntry>,
    /// The number of the last refusal, visible or not. Use it as `after` in the next query.
    last: u64,
}

/// Returns up to 1024 requests that have been refused since the service started, and the reasons.
/// Waiting requests do not count as refused.
#[utoipa::path(
    get, path = "/v1/refusals", tag = "leases", params(RefusalsQuery),
    responses(
        (status = 200, description = "the refusals, oldest first", body = RefusalsReply),
        Guarded, Missing
    )
)]
pub(crate) async fn refusals(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    QueryParams(query): QueryParams<RefusalsQuery>,
) -> Result<Json<RefusalsReply>, Fault> {
    let machine = query.machine.as_deref();
    app.machine_index(machine)?;
    Ok(Json(app.refusals.visible_to(&caller, query.after, machine)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(tenant: &str) -> impl FnOnce(u64) -> RefusedEntry {
        |id| RefusedEntry {
            id,
            at: Instant(0),
            machine: "m".into(),
            tenant: Some(tenant.into()),
            job: None,
            nodes: 1,
            shape: None,
            reason: "over-quota",
            detail: String::new(),
        }
    }

    #[test]
    fn many_refusals_of_one_tenant_do_not_displace_those_of_others() {
        let entries = Refusals::default();
        entries.add(entry("quiet"));
        for _ in 0..3 * MAX_REFUSALS {
            entries.add(entry("loud"));
        }
        let count = |caller: &Caller, after: u64, machine: Option<&str>| {
            entries.visible_to(caller, Some(after), machine).refusals.len()
        };
        let quiet = Caller { tenant: Some("quiet".into()) };
        assert_eq!((count(&quiet, 0, None), count(&quiet, 0, Some("other"))), (1, 0));
        let RefusalsReply { refusals: all, last } =
            entries.visible_to(&Caller::OPERATOR, None, Some("m"));
        assert_eq!((all.len(), all[0].id, all[MAX_REFUSALS - 1].id), (MAX_REFUSALS, 1, last));
        assert_eq!(count(&Caller::OPERATOR, last - 1, None), 1);
    }
}
