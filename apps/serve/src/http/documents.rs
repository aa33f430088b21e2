//! The bodies of replies as the OpenAPI document describes them.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::body::{FreedomSchema, JobSchema};

/// A box of nodes.
#[derive(Serialize, ToSchema)]
#[schema(as = Part)]
pub(crate) struct PartDocument {
    base: Vec<u16>,
    sides: Vec<u16>,
}

/// Nodes that are held.
#[derive(Serialize, ToSchema)]
#[schema(as = Lease)]
pub(crate) struct LeaseDocument {
    id: u64,
    /// `held`.
    state: String,
    /// The fencing token: below 2^53, and it grows from holder to holder of a node, also over the
    /// restoring of a backup.
    epoch: u64,
    machine: String,
    /// The number of nodes that are held.
    nodes: u64,
    /// The number of nodes that were asked for.
    requested: u64,
    /// Boxes that do not overlap.
    parts: Vec<PartDocument>,
    /// When it ends by itself, or null.
    #[schema(format = DateTime)]
    expires: Option<String>,
    /// When it began.
    #[schema(format = DateTime)]
    start: String,
    tenant: Option<String>,
    #[schema(value_type = Option<JobSchema>)]
    job: Option<Value>,
}

/// A request that waits.
#[derive(Serialize, ToSchema)]
#[schema(as = Waiting)]
pub(crate) struct WaitingDocument {
    /// The number that its lease will have.
    id: u64,
    /// `waiting`.
    state: String,
    /// Its own fencing token, with which it can be taken out of the queue; none in old data. Its
    /// lease bears a greater one.
    epoch: Option<u64>,
    machine: String,
    requested: u64,
    shape: Option<Vec<u16>>,
    #[schema(value_type = Option<FreedomSchema>)]
    freedom: Option<String>,
    /// When it was asked for.
    #[schema(format = DateTime)]
    asked: String,
    tenant: Option<String>,
    #[schema(value_type = Option<JobSchema>)]
    job: Option<Value>,
    /// What it waits for: in `GET /v1/queue` and `GET /v1/leases/{id}`.
    waits_for: Option<WaitsForDocument>,
}

/// Why a request does not start now.
#[derive(Serialize, ToSchema)]
#[schema(as = WaitsForKind, rename_all = "lowercase")]
#[expect(dead_code, reason = "it is a description only")]
pub(crate) enum WaitsForKind {
    /// Fewer nodes are free than it needs.
    Nodes,
    /// As many are free, but the strategy finds no place among them.
    Place,
    /// It could be placed now, but on nodes that are reserved for another request.
    Reservation,
    /// Another request starts before it, whatever is free, or the scheduler does not look at it
    /// yet.
    Turn,
    /// The scheduler keeps it waiting, and does not say more.
    Scheduler,
}

/// What a request waits for.
#[derive(Serialize, ToSchema)]
#[schema(as = WaitsFor)]
pub(crate) struct WaitsForDocument {
    kind: WaitsForKind,
    /// The same in a sentence.
    sentence: String,
    /// The nodes that must be free for it.
    needed: u64,
    /// Those that are.
    free: u64,
    /// The request that has the reservation, or that starts before; null where there is none.
    by: Option<OtherDocument>,
    /// When the reservation begins (RFC 3339).
    from: Option<String>,
    /// When it ends; null of a request without an estimate.
    until: Option<String>,
    /// When the scheduler plans to start it; null if it does not plan, or cannot say.
    planned: Option<String>,
}

/// Another request: of another tenant's, nothing is told.
#[derive(Serialize, ToSchema)]
#[schema(as = Other)]
pub(crate) struct OtherDocument {
    id: Option<u64>,
    #[schema(value_type = Option<JobSchema>)]
    job: Option<Value>,
}

/// A lease, or a request that waits for one.
#[expect(clippy::large_enum_variant, reason = "it is described, never made")]
#[derive(Serialize, ToSchema)]
#[schema(as = LeaseOrWaiting)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is a description only")]
pub(crate) enum EitherDocument {
    /// Nodes that are held.
    Held(LeaseDocument),
    /// Nodes that are asked for.
    Waiting(WaitingDocument),
}

/// A lease that is no more.
#[derive(Serialize, ToSchema)]
#[schema(as = Ended)]
pub(crate) struct EndedDocument {
    id: u64,
    ended: bool,
    /// The nodes that were given back.
    nodes: u64,
}

/// A node's state.
#[derive(Serialize, ToSchema)]
#[schema(as = Node)]
pub(crate) struct NodeDocument {
    node: Vec<u16>,
    /// `healthy`, `failed` or `drained`.
    state: String,
    failed: bool,
    /// The lease that holds it.
    lease: Option<u64>,
    #[schema(value_type = Option<JobSchema>)]
    job: Option<Value>,
}

/// Why a request is not carried out (RFC 9457).
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemDocument {
    /// `urn:pavior:problem:` and the reason.
    r#type: String,
    title: String,
    status: u16,
    /// What is wrong here, in a sentence.
    detail: String,
    /// A word for programs, such as `no-free-submesh` or `stale-epoch`.
    reason: String,
    /// What stands in the way of a refused request.
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnosis: Option<DiagnosisDocument>,
}

/// The answers to a batch.
#[derive(Serialize, ToSchema)]
#[schema(as = Answers)]
pub(crate) struct AnswersDocument {
    answers: Vec<AnswerDocument>,
}

/// The answer to a command of a batch.
#[derive(Serialize, ToSchema)]
#[schema(as = Answer)]
pub(crate) struct AnswerDocument {
    status: u16,
    #[schema(value_type = Object)]
    body: Value,
}

/// A part of the leases that the caller may see.
#[derive(Serialize, ToSchema)]
#[schema(as = Leases)]
pub(crate) struct LeasesDocument {
    /// The last record that is in it.
    seq: u64,
    leases: Vec<LeaseDocument>,
    /// `after` of the next part; null if this is the last.
    next: Option<u64>,
}

/// The requests that wait.
#[derive(Serialize, ToSchema)]
#[schema(as = Queue)]
pub(crate) struct QueueDocument {
    seq: u64,
    waiting: Vec<WaitingDocument>,
    /// How many wait, of those that the caller may see.
    total: u64,
}

/// A machine.
#[derive(Serialize, ToSchema)]
#[schema(as = Machine)]
pub(crate) struct MachineDocument {
    name: String,
    /// The grid, such as `torus:8x8x8`.
    machine: String,
    strategy: String,
    /// What orders the requests that wait; null if none may.
    scheduler: Option<String>,
    nodes: u64,
    /// Free, healthy nodes.
    free: u64,
    /// Nodes that leases hold, also if they have failed or are drained.
    busy: u64,
    /// Nodes that have failed, and that no lease holds.
    failed: u64,
    /// Nodes that are drained, and that no lease holds: free + busy + failed + drained = nodes.
    drained: u64,
    /// Leases.
    jobs: u64,
    /// The sides of the largest free box.
    largest_free: Vec<u16>,
    waiting: u64,
    seq: u64,
}

/// All machines.
#[derive(Serialize, ToSchema)]
#[schema(as = Machines)]
pub(crate) struct MachinesDocument {
    seq: u64,
    machines: Vec<MachineDocument>,
}

/// A lease as a page draws it: of another tenant's, the boxes and the start alone.
#[derive(Serialize, ToSchema)]
#[schema(as = DrawnLease)]
pub(crate) struct DrawnLeaseDocument {
    id: Option<u64>,
    state: Option<String>,
    epoch: Option<u64>,
    machine: Option<String>,
    nodes: Option<u64>,
    requested: Option<u64>,
    parts: Vec<PartDocument>,
    /// When it began.
    #[schema(format = DateTime)]
    start: String,
    /// When it ends by itself.
    #[schema(format = DateTime)]
    expires: Option<String>,
    tenant: Option<String>,
    #[schema(value_type = Option<JobSchema>)]
    job: Option<Value>,
}

/// Everything about a machine that a page draws.
#[derive(Serialize, ToSchema)]
#[schema(as = State)]
pub(crate) struct StateDocument {
    seq: u64,
    /// The time of the last record.
    #[schema(format = DateTime)]
    now: String,
    name: String,
    machine: String,
    strategy: String,
    scheduler: Option<String>,
    leases: Vec<DrawnLeaseDocument>,
    waiting: Vec<WaitingDocument>,
    /// The nodes that have failed, also those that a lease still holds.
    failed: Vec<Vec<u16>>,
    /// The nodes that are drained, also those that a lease still holds.
    drained: Vec<Vec<u16>>,
    /// The names of all machines.
    machines: Vec<String>,
}

/// A machine in a stretch of time.
#[derive(Serialize, ToSchema)]
#[schema(as = Sample)]
pub(crate) struct SampleDocument {
    /// The first record of the stretch of time, and when it was.
    seq: u64,
    #[schema(format = DateTime)]
    at: String,
    /// When the last record of the stretch was.
    #[schema(format = DateTime)]
    until: String,
    /// Nodes that leases hold: the last of the numbers in the stretch, the least and the greatest.
    busy: u64,
    busy_least: u64,
    busy_most: u64,
    /// Nodes, failed or drained, that no lease holds.
    unavailable: u64,
    unavailable_least: u64,
    unavailable_most: u64,
    /// The nodes of the largest free box; null where it was not looked for.
    largest_free: Option<u64>,
    largest_free_least: Option<u64>,
    largest_free_most: Option<u64>,
    waiting: u64,
    waiting_least: u64,
    waiting_most: u64,
}

/// A machine over time.
#[derive(Serialize, ToSchema)]
#[schema(as = Series)]
pub(crate) struct SeriesDocument {
    /// The oldest first.
    samples: Vec<SampleDocument>,
    /// The time of the answer (RFC 3339): what the last sample says holds until then.
    now: String,
}

/// What a strategy would do.
#[derive(Serialize, ToSchema)]
#[schema(as = Choice)]
pub(crate) struct ChoiceDocument {
    strategy: String,
    granted: bool,
    /// Why it would refuse.
    reason: Option<String>,
    nodes: u64,
    /// The contact of the placement.
    index: Option<i64>,
    parts: Vec<PartDocument>,
}

/// How many nodes there are.
#[derive(Serialize, ToSchema)]
#[schema(as = Counts)]
pub(crate) struct CountsDocument {
    free: u64,
    busy: u64,
    /// Nodes that have failed, and that no lease holds.
    failed: u64,
    /// Nodes that are drained, and that no lease holds.
    drained: u64,
}

/// A lease in the way; of another tenant's, the number of nodes alone.
#[derive(Serialize, ToSchema)]
#[schema(as = Blocker)]
pub(crate) struct BlockerDocument {
    lease: Option<u64>,
    #[schema(value_type = Option<JobSchema>)]
    job: Option<Value>,
    nodes: u64,
}

/// The place with the fewest busy nodes, and what is in the way there.
#[derive(Serialize, ToSchema)]
#[schema(as = Blocked)]
pub(crate) struct BlockedDocument {
    base: Vec<u16>,
    sides: Vec<u16>,
    busy_nodes: u64,
    jobs: Vec<BlockerDocument>,
    /// Nodes there that have failed, and that no lease holds.
    failed: Vec<Vec<u16>>,
    /// Nodes there that are drained, and that no lease holds.
    drained: Vec<Vec<u16>>,
}

/// What stands in the way of a request.
#[derive(Serialize, ToSchema)]
#[schema(as = Diagnosis)]
pub(crate) struct DiagnosisDocument {
    counts: CountsDocument,
    /// The nodes that must be free for it.
    needed: u64,
    /// What is missing: `nodes`, or a `place` among enough of them; null if nothing is.
    missing: Option<String>,
    /// Where it fits, if it does. Of boxes nothing is said where the strategy grants by count.
    fits: Option<PartDocument>,
    /// The free box that is nearest to it.
    nearest: Option<PartDocument>,
    largest_free: Option<PartDocument>,
    blocked: Option<BlockedDocument>,
}

/// A request as it was understood.
#[derive(Serialize, ToSchema)]
#[schema(as = Asked)]
pub(crate) struct AskedDocument {
    nodes: u64,
    shape: Option<Vec<u16>>,
    #[schema(value_type = Option<FreedomSchema>)]
    freedom: Option<String>,
}

/// What strategies would do, and what stands in the way.
#[derive(Serialize, ToSchema)]
#[schema(as = Explanation)]
pub(crate) struct ExplanationDocument {
    seq: u64,
    machine: String,
    request: AskedDocument,
    strategies: Vec<ChoiceDocument>,
    diagnosis: DiagnosisDocument,
    /// What a waiting request waits for, if one was asked about.
    waits_for: Option<WaitsForDocument>,
}

/// A move of a lease.
#[derive(Serialize, ToSchema)]
#[schema(as = Move)]
pub(crate) struct MoveDocument {
    /// The lease.
    job: u64,
    from: Vec<PartDocument>,
    to: Vec<PartDocument>,
}

/// Which leases to move.
#[derive(Serialize, ToSchema)]
#[schema(as = Plan)]
pub(crate) struct PlanDocument {
    /// Whether the request fits as it is.
    fits: bool,
    /// Where it goes.
    placement: Option<PartDocument>,
    /// Whether there is proof that nothing is cheaper, or that there is no plan of so many moves.
    proven: bool,
    /// The nodes of the leases that move.
    cost: Option<u64>,
    /// The leases that move; null without a plan.
    jobs: Option<Vec<u64>>,
    /// In an order in which they can be carried out.
    moves: Vec<MoveDocument>,
}

/// Whether the service is well.
#[derive(Serialize, ToSchema)]
#[schema(as = Status)]
pub(crate) struct StatusDocument {
    /// `ok` or `ready`.
    status: String,
    /// The last record, of a service that can decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// `in-doubt` while no lease ends by time, because the clock is far after the last record.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// A clock that was confirmed.
#[derive(Serialize, ToSchema)]
#[schema(as = Clock)]
pub(crate) struct ClockDocument {
    /// The time of the last record before.
    was: String,
    /// The time now.
    now: String,
    /// How many leases have ended by it.
    ended: u64,
}
