//! Plans how to make room by a given time: which jobs to move, requeue, or wait for.

use pavior::answers::{Prospect, Room, RoomBy, RoomPlan, SearchLimits, room_by};
use pavior::{Cuboid, JobId, Time};
use serde_json::{Value, json};

use super::{UnblockReport, jobs, list};
use crate::busy::Ends;
use crate::failure::Failure;
use crate::output::{MAX_WIDTH, Reply, Table};

/// The factor by which lost work is multiplied before it is rounded to an integer, unless the
/// integers would be too large.
const LOSS_SCALE: f64 = 1000.0;

/// The time by which a plan must free a box or nodes.
pub(super) struct Deadline {
    pub(super) by: f64,
    /// The current time. If this is set, jobs may also be requeued.
    pub(super) now: Option<f64>,
}

impl UnblockReport {
    /// Plans moves that free a box or nodes by a given time.
    pub(super) fn plan_by(
        &self,
        room: Room<'_>,
        Deadline { by, now }: Deadline,
        limits: &SearchLimits,
    ) -> Result<(), Failure> {
        let ends = self.busy.ends()?;
        let starts = if now.is_some() { self.busy.starts()? } else { Vec::new() };
        let loss = |job: JobId| {
            let run = (now? - starts[job.0 as usize]?).max(0.0);
            Some(f64::from(self.busy.nodes(job)) * run)
        };
        let total: f64 = self.snapshot.jobs().filter_map(|(job, _)| loss(job)).sum();
        let loss_scale = LOSS_SCALE.min((62.0 - total.log2().ceil()).exp2());
        let scaled = |job: JobId| Some((loss(job)? * loss_scale).round() as u64);
        let prospect = |job: JobId| Prospect { end: ends.rank(job), loss: scaled(job) };
        let RoomBy { plan, proven } =
            room_by(&self.snapshot, room, ends.rank_at(by), prospect, limits);
        let requeues = now.is_some();
        let answer =
            RoomAnswer { report: self, plan, proven, by, ends: &ends, requeues, loss_scale };
        let header = ["job", "from", "to", "when"];
        let rows = answer.rows();
        let reply = Reply {
            json: answer.json(),
            tables: Vec::from_iter(Table::of_words(&header, &rows)),
            csv: (&header, rows),
            sentences: vec![answer.sentence(limits)],
        };
        reply.print(self.format, MAX_WIDTH)
    }
}

/// An answer, with everything needed to print it.
struct RoomAnswer<'a> {
    report: &'a UnblockReport,
    plan: Option<RoomPlan>,
    proven: bool,
    by: f64,
    ends: &'a Ends<'a>,
    /// True if the plan may requeue jobs.
    requeues: bool,
    /// The factor by which `plan.lost` was multiplied.
    loss_scale: f64,
}

impl RoomAnswer<'_> {
    /// Returns the end time that a move must wait for, or `None` if the move can start now.
    fn time(&self, rank: Time) -> Option<Value> {
        (rank > Time::ZERO).then(|| self.ends.at(rank))
    }

    fn json(&self) -> Value {
        let (report, plan) = (self.report, self.plan.as_ref());
        let moves = report.moves(plan.map(|plan| &plan.moves));
        let mut moves: Vec<Value> = moves.iter().map(|step| json!(step)).collect();
        for (step, ready) in moves.iter_mut().zip(plan.iter().flat_map(|plan| &plan.ready)) {
            step["ready"] = json!(self.time(*ready));
        }
        let place = plan.and_then(|plan| plan.moves.boxes.first());
        json!({
            "by": self.by,
            "proven": self.proven,
            "lost": plan.map(|plan| plan.lost as f64 / self.loss_scale),
            "requeued": plan.map(|plan| report.names(&plan.requeued)),
            "cost": plan.map(|plan| plan.moves.cost),
            "jobs": plan.map(|plan| report.names(&plan.moves.jobs)),
            "placement": report.place(place),
            "moves": moves,
            "awaited": plan.map(|plan| report.names(&plan.awaited)),
        })
    }

    /// Returns one row for each requeued job, followed by one for each moved job.
    fn rows(&self) -> Vec<Vec<String>> {
        let (report, Some(plan)) = (self.report, &self.plan) else { return Vec::new() };
        let list = |boxes: &[Cuboid]| list(report.snapshot.grid(), boxes);
        let place = |job: JobId| {
            let mut jobs = report.snapshot.jobs();
            jobs.find(|(other, _)| *other == job).map_or_else(String::new, |(_, parts)| list(parts))
        };
        let name = |job: JobId| report.busy.shown_name(job).to_string();
        let requeued = plan
            .requeued
            .iter()
            .map(|&job| vec![name(job), place(job), "the queue".into(), "now".into()]);
        let moved = plan.moves.moves.iter().zip(&plan.ready).map(|(step, ready)| {
            let from = |at: Value| format!("from {at} on");
            let when = self.time(*ready).map_or_else(|| "now".to_string(), from);
            vec![name(step.job), list(&step.from), list(&step.to), when]
        });
        requeued.chain(moved).collect()
    }

    fn sentence(&self, limits: &SearchLimits) -> String {
        let (report, by) = (self.report, self.by);
        let Some(plan) = &self.plan else {
            let changes = if self.requeues { "moves or requeues" } else { "moves" };
            let plan = format!("no plan that {changes} at most {}", jobs(limits.max_jobs));
            return if self.proven {
                format!("{plan} makes room by {by}")
            } else {
                format!("{plan} and makes room by {by} was found within the search budget")
            };
        };
        let place = plan.moves.boxes.first();
        let place = place.map_or_else(String::new, |at| format!(": {}", report.describe(at)));
        let lost = if plan.lost > 0 {
            format!("; lost work (nodes × time): {}", plan.lost as f64 / self.loss_scale)
        } else {
            String::new()
        };
        let awaited = match &report.shown_names(&plan.awaited)[..] {
            [] => String::new(),
            names => format!("; jobs that end before then: {}", names.join(", ")),
        };
        let caveat = if self.proven { "" } else { "; a better plan may exist" };
        format!("free by {by} {}{place}{lost}{awaited}{caveat}", changes(plan))
    }
}

/// Describes how many jobs a plan moves and requeues.
fn changes(plan: &RoomPlan) -> String {
    match (plan.moves.jobs.len(), plan.requeued.len()) {
        (0, 0) => "without moves".to_string(),
        (moved, 0) => format!("after moving {}", jobs(moved)),
        (0, requeued) => format!("after requeueing {}", jobs(requeued)),
        (moved, requeued) => {
            format!("after moving {} and requeueing {}", jobs(moved), jobs(requeued))
        }
    }
}
