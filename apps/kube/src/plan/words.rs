//! Explanations of waiting requests, in sentences.

use std::time::Duration;

use pavior::answers::{
    Demand, PlannedStart, Question, Queued, SearchLimits, Shape, Snapshot, Why, Words, why,
};
use pavior::time::Date;
use pavior::{JobId, Time};

use super::config::MachineConfig;

/// Explains why no box of a shape is available. Examines all positions of the box.
pub(crate) fn reason(
    snapshot: &Snapshot,
    shape: Shape,
    (moved, queued, planned): (usize, Queued, Option<PlannedStart>),
    end: &dyn Fn(JobId) -> Option<u64>,
) -> Why {
    let demand = Demand::boxed(snapshot, vec![shape]);
    let end = |job: JobId| end(job).map(Time);
    let limits = SearchLimits::jobs(moved);
    why(snapshot, &Question { queued, limits, planned, ..Question::new(&demand, &end) })
}

/// Formats an explanation. `name` returns the name of a holder.
pub(crate) fn lines(
    config: &MachineConfig,
    why: &Why,
    name: &dyn Fn(JobId) -> String,
) -> Vec<String> {
    why.lines(&Words {
        grid: &config.grid,
        job: name,
        time: &|time| Date(Duration::from_secs(time.0)).to_string(),
        strategy: &config.strategy.to_string(),
        scheduler: &config.scheduler.to_string(),
    })
}
