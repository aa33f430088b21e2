//! Explains in sentences why a request is waiting.

use pavior::answers::{
    Demand, PlannedStart, Question, Queued, SearchLimits, Shape, Snapshot, Why, Words, nearest, why,
};
use pavior::{Cuboid, Grid, JobId, Request, Time};

use crate::date;

/// The inputs to an explanation, in addition to the machine.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// The maximum number of jobs that may be moved to make room.
    pub moved: usize,
    /// The request's state in the queue.
    pub queued: Queued,
    /// The scheduler's planned start for the request.
    pub planned: Option<PlannedStart>,
}

/// An explainer for waiting requests. Times are in seconds since 1970.
pub struct Explainer<'a> {
    /// The machine's grid.
    pub grid: &'a Grid,
    /// The name of the strategy.
    pub strategy: &'a str,
    /// The name of the scheduler, used to explain why jobs must wait even though they fit.
    pub scheduler: &'a str,
    /// A function that returns a job's name, such as `job 7`.
    pub name: &'a dyn Fn(JobId) -> String,
    /// A function that returns the time by which a job will release its nodes, if known.
    pub end: &'a dyn Fn(JobId) -> Option<Time>,
    /// A function that returns true for jobs and false for placeholders, which are never moved.
    pub is_job: &'a dyn Fn(JobId) -> bool,
}

/// Returns the requested shape, or `None` if the request is for a number of nodes. The shape may be
/// rotated unless the request specifies a freedom.
fn shape_of(request: &Request) -> Option<Shape> {
    let turns = request.freedom.is_none();
    request.shape.map(|sides| if turns { Shape::new(sides) } else { Shape::fixed(sides) })
}

/// Returns the free box that is closest in size to the box of a blocked request.
pub fn nearest_free(snapshot: &Snapshot, request: &Request, why: Option<&Why>) -> Option<Cuboid> {
    let shape = shape_of(request).filter(|_| why.is_some_and(|why| why.blocked.is_some()))?;
    nearest(snapshot, shape, 1).pop()
}

impl Explainer<'_> {
    /// Determines why a request cannot start. Examines every possible position of the requested
    /// box. Returns `None` if the request has no shape.
    pub fn why(&self, snapshot: &Snapshot, request: &Request, context: &Context) -> Option<Why> {
        let &Context { moved, queued, planned } = context;
        let demand = Demand::boxed(snapshot, vec![shape_of(request)?]);
        let limits = SearchLimits::jobs(moved);
        let question = Question { queued, limits, planned, ..Question::new(&demand, self.end) };
        let found = why(snapshot, &question);
        let plan = found.blocked.as_ref().and_then(|blocked| blocked.moves.as_ref());
        if plan.is_some_and(|plan| plan.moves.iter().any(|one| !(self.is_job)(one.job))) {
            let others = snapshot.clone().keeping(|job, _| !(self.is_job)(job));
            return Some(why(&others, &question));
        }
        Some(found)
    }

    /// Determines why a request cannot start, and explains the reason in sentences.
    pub fn explain(
        &self,
        snapshot: &Snapshot,
        request: &Request,
        context: &Context,
    ) -> (Option<Why>, Vec<String>) {
        let why = self.why(snapshot, request, context);
        let lines = self.lines(why.as_ref());
        (why, lines)
    }

    /// Describes a reason in sentences.
    pub fn lines(&self, why: Option<&Why>) -> Vec<String> {
        let words = Words {
            grid: self.grid,
            job: self.name,
            time: &|time| date(time.0),
            strategy: self.strategy,
            scheduler: self.scheduler,
        };
        match why {
            Some(why) => why.lines(&words),
            None => vec!["No box on the machine has the requested number of nodes.".to_string()],
        }
    }
}
