//! Batches of commands, sent in one request and made durable in a single write.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use pavior::Grid;
use serde::Deserialize;
use utoipa::ToSchema;

use super::body::{LeaseBody, NodeBody, millis, object, parse};
use super::extract::{Change, ChangeHeaders};
use super::reply::BatchReply;
use super::statuses::Named;
use super::{App, Fault};
use crate::core::{Command, NodeState, Problem, Reason, Reply, node_coordinates};

/// The maximum number of commands in a batch.
const MAX_OPERATIONS: usize = 4096;

/// Commands to execute in order.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchBody {
    #[schema(max_items = 4096)]
    operations: Vec<Operation>,
}

/// A command in a batch, keyed by its name.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Operation {
    /// Same as `POST /v1/leases`, but a refusal has no diagnosis.
    #[serde(deserialize_with = "object")]
    Lease(LeaseBody),
    /// Same as `POST /v1/leases/{id}/end`.
    #[serde(deserialize_with = "object")]
    End(EndOperation),
    /// Same as `POST /v1/leases/{id}/renew`.
    #[serde(deserialize_with = "object")]
    Renew(RenewOperation),
    /// Same as `POST /v1/nodes/fail`.
    #[serde(deserialize_with = "object")]
    Fail(NodeBody),
    /// Same as `POST /v1/nodes/repair`.
    #[serde(deserialize_with = "object")]
    Repair(NodeBody),
    /// Same as `POST /v1/nodes/drain`.
    #[serde(deserialize_with = "object")]
    Drain(NodeBody),
}

/// Ends a lease.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndOperation {
    /// The number of the lease or waiting request.
    id: u64,
    /// The lease's epoch. Optional for a waiting request.
    epoch: Option<u64>,
}

/// Extends a lease.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RenewOperation {
    /// The lease's number.
    id: u64,
    /// The lease's epoch.
    epoch: u64,
    /// The new time to live, in seconds from now.
    #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
    ttl_s: Option<f64>,
}

impl Operation {
    fn command(self, app: &App) -> Result<Command, Problem> {
        let node = |body: NodeBody, state: NodeState| {
            let node =
                with_grid(app, body.machine.as_deref(), |grid| node_coordinates(&body.node, grid))?;
            Ok(Command::Node { machine: body.machine, node, state })
        };
        match self {
            Operation::Lease(body) => {
                let machine = body.machine.clone();
                with_grid(app, machine.as_deref(), |grid| body.request(grid)).map(Command::Lease)
            }
            Operation::End(EndOperation { id, epoch }) => Ok(Command::End { id, epoch }),
            Operation::Renew(RenewOperation { id, epoch, ttl_s }) => {
                Ok(Command::Renew { id, epoch, ttl_ms: millis("ttl_s", ttl_s)? })
            }
            Operation::Fail(body) => node(body, NodeState::Failed),
            Operation::Repair(body) => node(body, NodeState::Healthy),
            Operation::Drain(body) => node(body, NodeState::Drained),
        }
    }
}

/// Parses part of a command for the named machine. A command for an unknown machine is parsed for
/// the first one and then rejected by the decision, so it does not stop the other commands.
fn with_grid<T>(
    app: &App,
    machine: Option<&str>,
    parse: impl FnOnce(&Grid) -> Result<T, Problem>,
) -> Result<T, Problem> {
    parse(app.grid(machine)).map_err(|problem| app.machine_index(machine).err().unwrap_or(problem))
}

/// Executes many commands in order. Each command is decided separately, so a refusal does not stop
/// the others. However, if any command cannot be parsed, none are executed. The answers are in the
/// same order, each with the status that its command would get on its own. Once the answers contain
/// half a million boxes, further commands are refused. Consecutive `end` commands take effect at
/// the same time, so waiting requests can use all the freed nodes.
#[utoipa::path(
    post, path = "/v1/batch", tag = "leases",
    request_body = BatchBody, params(ChangeHeaders),
    responses(
        (status = 200, description = "one reply per command", body = BatchReply<'static>),
        Named
    )
)]
pub(crate) async fn batch(State(app): State<Arc<App>>, change: Change) -> Result<Reply, Fault> {
    change.carry_out(&app, "batch", |bytes| commands(&app, bytes)).await
}

fn commands(app: &App, bytes: &Bytes) -> Result<Command, Problem> {
    let BatchBody { operations } = parse(bytes)?;
    if operations.len() > MAX_OPERATIONS {
        let detail = format!("a batch may contain at most {MAX_OPERATIONS} operations");
        return Err(Problem::new(Reason::TooLarge, detail));
    }
    let command = |(index, operation): (usize, Operation)| {
        operation.command(app).map_err(|mut problem| {
            problem.detail = format!("operation {index}: {}", problem.detail);
            problem
        })
    };
    operations.into_iter().enumerate().map(command).collect::<Result<_, _>>().map(Command::Batch)
}
