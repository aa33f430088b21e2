//! The problems that each route can return, for the OpenAPI document.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use utoipa::IntoResponses;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::{Ref, RefOr, Response, ResponseBuilder};

/// Defines named sets of problems that routes share.
macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident { $($status:literal: $what:literal,)* })*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$(($status.to_string(), problem($what))),*].into()
            }
        }
    )*};
}

problems! {
    /// Problems of every route that requires authentication.
    Guarded {
        400: "a parameter or value is invalid",
        401: "the caller is not authenticated",
        403: "the caller is not allowed to do this, or a page from another site sent the request",
        429: "the tenant has exceeded its rate limit; try again after `Retry-After` seconds",
        431: "the request head is too large",
        500: "an internal error occurred; see the service log",
        503: "the service is unavailable; see `reason`",
    }
    /// Problems of every route with a request body.
    Posted {
        408: "the body did not arrive in time",
        413: "the body or the request is too large",
        415: "the Content-Type is not application/json, or there is a Content-Encoding header",
    }
    /// Problems of every route that accepts an Idempotency-Key.
    Keyed {
        422: "the Idempotency-Key was used for a different request",
    }
    /// Problems of routes that refer to a named object, such as a lease or a machine.
    Missing {
        404: "an object named in the request does not exist",
    }
    /// Problems of routes that request nodes or change leases.
    Conflict {
        409: "the request is refused, the epoch is stale, or the lease has ended",
    }
    /// Problems of routes that read past records.
    Gone {
        410: "the records have been removed or do not exist yet",
    }
    /// Problems of a public route without parameters.
    Open {
        400: "the request has parameters, but the route accepts none",
        431: "the request head is too large",
    }
    /// Problems of the readiness route.
    NotReady {
        503: "the service is not ready; see `reason`",
    }
}

/// The union of two disjoint sets of problems.
pub(crate) struct Both<A, B>(PhantomData<(A, B)>);

impl<A: IntoResponses, B: IntoResponses> IntoResponses for Both<A, B> {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let (mut all, more) = (A::responses(), B::responses());
        assert!(more.keys().all(|status| !all.contains_key(status)), "the sets are disjoint");
        all.extend(more);
        all
    }
}

/// Problems of every route whose body is a question.
pub(crate) type Questioned = Both<Guarded, Posted>;
/// Problems of every route that makes a change.
pub(crate) type Changed = Both<Questioned, Keyed>;
/// Problems of every route that changes a named object.
pub(crate) type Named = Both<Changed, Missing>;

fn problem(what: &str) -> RefOr<Response> {
    let schema = Ref::from_schema_name("Problem");
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let kind = "application/problem+json";
    RefOr::T(ResponseBuilder::new().description(what).content(kind, content).build())
}
