//! Explains in sentences why a request is waiting.

use pavior::answers::{
    Demand, PlannedStart, Question, Queued, SearchLimits, Shape, Snapshot, Weights, Why, Words,
    nearest, unblock_any, why,
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
        let mut found = why(snapshot, &question);
        let is_job = |job: &JobId| (self.is_job)(*job);
        if let Some(moves) = found.blocked.as_mut().map(|blocked| &mut blocked.moves)
            && moves.as_ref().is_some_and(|plan| !plan.jobs.iter().all(is_job))
        {
            let jobs = snapshot.clone().keeping(|job, _| !is_job(&job));
            *moves = unblock_any(&jobs, &demand.boxes, &Weights::nodes(&jobs), &limits).plan;
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

#[cfg(test)]
mod tests {
    use pavior::{Machine, Placement};

    use super::*;

    #[test]
    fn placeholders_block_a_request_but_are_never_moved() {
        let grid: Grid = "mesh:5".parse().unwrap();
        let mut machine = Machine::new(grid, "ff").unwrap();
        let at = Cuboid::new([2, 0, 0], [1, 1, 1]);
        machine.allocate_at(JobId(0), Placement::Whole(at)).unwrap();
        let snapshot = Snapshot::of(&machine);
        let context = Context { moved: 1, queued: Queued::First, planned: None };
        for (is_job, moves) in [(true, 1), (false, 0)] {
            let explainer = Explainer {
                grid: &grid,
                strategy: "ff",
                scheduler: "fcfs",
                name: &|_| "another job".to_string(),
                end: &|_| Some(Time(60)),
                is_job: &|_| is_job,
            };
            let (why, lines) = explainer.explain(&snapshot, &Request::shape([3]), &context);
            let blocked = why.unwrap().blocked.unwrap();
            assert_eq!(blocked.moves.map_or(0, |plan| plan.moves.len()), moves, "{lines:?}");
            assert_eq!((blocked.jobs, blocked.until), (vec![(JobId(0), 1)], Some(Time(60))));
        }
    }
}
