//! Recently refused requests, which the page marks on its timeline. Refusals are not records,
//! because they change nothing, and are lost on restart. If there are too many, the oldest refusal
//! of the tenant with the most is dropped.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::extract::{Extension, State};
use pavior::answers::json::Point;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::Fault;
use super::body::in_query;
use super::extract::InQuery;
use super::machines::unknown_machine;
use super::statuses::{Guarded, Missing};
use crate::core::reply::Instant;
use crate::core::{Ask, Caller, JobName, LeaseRequest, Problem, Reason, Reply};

/// The maximum number of refusals kept.
const MOST: usize = 1024;

/// A request that was refused.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = RefusedRequest)]
pub(crate) struct Refused {
    /// The refusal's number; numbering starts at 1 when the service starts.
    id: u64,
    /// The time of the refusal.
    #[schema(value_type = String, format = DateTime)]
    at: Instant,
    machine: String,
    tenant: Option<String>,
    job: Option<JobName>,
    /// The requested number of nodes.
    nodes: u64,
    /// The requested box; null if only a number was requested.
    #[schema(value_type = Option<Vec<u16>>)]
    shape: Option<Point>,
    /// The word of the problem, such as `no-free-submesh` or `over-quota`.
    reason: &'static str,
    /// The reason as a sentence.
    detail: String,
}

/// Returns the refusal that a reply reports.
fn refusal(reply: &Reply) -> Option<&Problem> {
    match reply {
        Reply::Problem(problem)
            if matches!(problem.reason, Reason::Refused(_) | Reason::OverQuota) =>
        {
            Some(problem)
        }
        _ => None,
    }
}

#[derive(Default)]
struct Kept {
    last: u64,
    count: usize,
    by_tenant: BTreeMap<String, VecDeque<Refused>>,
}

impl Kept {
    fn add(&mut self, tenant: String, refused: Refused) {
        self.last += 1;
        self.count += 1;
        let refused = Refused { id: self.last, ..refused };
        self.by_tenant.entry(tenant).or_default().push_back(refused);
        if self.count > MOST {
            let most = self.by_tenant.iter_mut().max_by_key(|(_, share)| share.len());
            most.and_then(|(_, share)| share.pop_front());
            self.by_tenant.retain(|_, share| !share.is_empty());
            self.count -= 1;
        }
    }

    /// Returns the refusals with numbers above `after` that a caller may see, in ascending order.
    fn seen(&self, caller: &Caller, after: u64, machine: Option<&str>) -> Vec<Refused> {
        let own = self.by_tenant.iter().filter(|(tenant, _)| caller.may_touch(tenant));
        let seen = own
            .flat_map(|(_, share)| share)
            .filter(|one| one.id > after && machine.is_none_or(|name| one.machine == name));
        let mut seen: Vec<Refused> = seen.cloned().collect();
        seen.sort_by_key(|one| one.id);
        seen
    }
}

/// Recently refused requests.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<Kept>);

impl Refusals {
    /// Adds those of the caller's requests that a reply refuses.
    pub(super) fn note(
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
                self.add(app, caller, request, problem);
            }
        }
    }

    fn add(&self, app: &App, caller: &Caller, request: LeaseRequest, problem: &Problem) {
        let tenant = request.tenant.or_else(|| caller.tenant.clone());
        let grid = app.grid(request.machine.as_deref());
        let (nodes, shape) = match request.ask {
            Ask::Shape(sides) => (pavior::boxes::volume(sides), Some(Point::of(grid, sides))),
            Ask::Nodes(nodes) | Ask::Beyond(nodes) => (u64::from(nodes), None),
        };
        let refused = Refused {
            id: 0,
            at: Instant(app.writer.clock.now_ms()),
            machine: request.machine.unwrap_or_else(|| app.machines[0].0.name.clone()),
            tenant: tenant.clone(),
            job: request.job,
            nodes,
            shape,
            reason: problem.reason.word(),
            detail: problem.detail.clone(),
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.add(tenant.unwrap_or_default(), refused);
    }
}

/// The requested refusals.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RefusalsQuery {
    /// The machine; by default all.
    machine: Option<String>,
    /// Only refusals after this number. A number beyond the last (from before a restart) selects
    /// all.
    #[serde(default, deserialize_with = "in_query")]
    after: Option<u64>,
}

/// The recently refused requests.
#[derive(Serialize, ToSchema)]
#[schema(as = Refusals)]
pub(crate) struct RefusalsReply {
    /// The refusals that the caller may see, oldest first.
    refusals: Vec<Refused>,
    /// The number of the last refusal, visible or not: the value of `after` for the next query.
    last: u64,
}

/// Returns up to 1024 requests refused since the service was started, with the reasons. A waiting
/// request is not refused.
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
    InQuery(query): InQuery<RefusalsQuery>,
) -> Result<Json<RefusalsReply>, Fault> {
    let machine = query.machine.as_deref();
    if machine.is_some_and(|name| app.machines.iter().all(|(spec, _)| spec.name != name)) {
        return Err(unknown_machine(machine).into());
    }
    let kept = app.refusals.0.lock().unwrap_or_else(PoisonError::into_inner);
    let after = query.after.filter(|&after| after <= kept.last).unwrap_or(0);
    let refusals = kept.seen(&caller, after, machine);
    Ok(Json(RefusalsReply { refusals, last: kept.last }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> Refused {
        Refused {
            id: 0,
            at: Instant(0),
            machine: "m".into(),
            tenant: None,
            job: None,
            nodes: 1,
            shape: None,
            reason: "over-quota",
            detail: String::new(),
        }
    }

    /// Checks that a tenant whose requests are refused all the time does not displace other
    /// tenants' refusals.
    #[test]
    fn the_loudest_tenant_loses_its_oldest() {
        let mut kept = Kept::default();
        kept.add("quiet".into(), refused());
        for _ in 0..3 * MOST {
            kept.add("loud".into(), refused());
        }
        assert_eq!(kept.count, MOST);
        let quiet = Caller { tenant: Some("quiet".into()) };
        assert_eq!(kept.seen(&quiet, 0, None).len(), 1);
        assert_eq!(kept.seen(&quiet, 0, Some("other")).len(), 0);
        let all = kept.seen(&Caller::OPERATOR, 0, Some("m"));
        assert_eq!((all.len(), all[0].id, all[MOST - 1].id), (MOST, 1, kept.last));
        assert_eq!(kept.seen(&Caller::OPERATOR, kept.last - 1, None).len(), 1);
    }
}
