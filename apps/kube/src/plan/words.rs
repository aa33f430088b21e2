//! Why a request waits, in sentences: the project's one answer, with what holders are called here.

use std::time::Duration;

use pavior_kernel::{Date, Time};
use pavior_mesh::JobId;
use pavior_planning::{Asked, Queued, SearchLimits, Shape, Snapshot, Why, Words, why};

use super::Site;

/// Why a box of a shape is not there, and the sentences. At most so many others move in a plan.
pub(crate) fn told(
    site: &Site,
    snapshot: &Snapshot,
    shape: Shape,
    moved: usize,
    holder: &dyn Fn(JobId) -> (String, Option<u64>),
) -> (Why, Vec<String>) {
    let asked = Asked::boxed(snapshot, vec![shape]);
    let end = |job: JobId| holder(job).1.map(Time);
    let found = why(snapshot, &asked, Queued::Kept, end, &SearchLimits::jobs(moved));
    let words = Words {
        grid: &site.grid,
        job: &|job| holder(job).0,
        time: &|time| Date(Duration::from_secs(time.0)).to_string(),
        strategy: &site.strategy.to_string(),
        scheduler: &site.scheduler.to_string(),
    };
    let lines = found.lines(&words);
    (found, lines)
}
