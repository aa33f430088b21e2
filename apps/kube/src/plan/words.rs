//! Why a request waits, in sentences: the project's one answer, with what holders are called here.

use std::time::Duration;

use pavior::answers::{
    Demand, PlannedStart, Question, Queued, SearchLimits, Shape, Snapshot, Why, Words, why,
};
use pavior::time::Date;
use pavior::{JobId, Time};

use super::Site;

/// Finds out why a box of a shape is not there. At most so many others move in a plan. Cost: all
/// places of the box are looked at.
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

/// Says it in sentences; `name` is what a holder is called.
pub(crate) fn lines(site: &Site, why: &Why, name: &dyn Fn(JobId) -> String) -> Vec<String> {
    why.lines(&Words {
        grid: &site.grid,
        job: name,
        time: &|time| Date(Duration::from_secs(time.0)).to_string(),
        strategy: &site.strategy.to_string(),
        scheduler: &site.scheduler.to_string(),
    })
}
