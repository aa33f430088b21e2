//! The reasons why a request is waiting, in sentences.

use pavior::answers::{
    Demand, PlannedStart, Question, Queued, SearchLimits, Shape, Snapshot, Why, Words, nearest, why,
};
use pavior::text::shown;
use pavior::{Cuboid, JobId, Request, Sides};

use crate::Config;
use crate::ledger::SlurmJob;
use crate::plan::world::World;

/// The name of the placeholder job that holds nodes while Slurm is powering them off.
const POWERING_OFF: &str = "nodes that are being powered off";

/// The facts that an answer depends on, in addition to the machine and the request.
pub(crate) struct Context {
    /// The maximum number of jobs that are moved to make room.
    pub(crate) moved: usize,
    /// The position of the request in the queue.
    pub(crate) queued: Queued,
    pub(crate) planned: Option<PlannedStart>,
}

/// The reason why a request is waiting or would have to wait.
pub(crate) struct Explanation<'a> {
    world: World<'a>,
    snapshot: &'a Snapshot,
    sides: Option<Sides>,
    pub(crate) why: Option<Why>,
    /// The name of the scheduler that keeps a job waiting although it fits.
    scheduler: String,
}

impl<'a> Explanation<'a> {
    /// Finds the reason on the current machine. Jobs end at their time limits.
    pub(crate) fn of(
        world: World<'a>,
        snapshot: &'a Snapshot,
        request: &Request,
        context: &Context,
    ) -> Explanation<'a> {
        let &Context { moved, queued, planned } = context;
        let end = |job: JobId| world.end(job);
        let is_known = |job: JobId| world.job(job).is_some();
        let why = request.shape.map(|sides| {
            let demand = Demand::boxed(snapshot, vec![Shape::new(sides)]);
            let limits = SearchLimits::jobs(moved);
            let question = Question { queued, limits, planned, ..Question::new(&demand, &end) };
            let of = |snapshot: &Snapshot| why(snapshot, &question);
            let found = of(snapshot);
            let plan = found.blocked.as_ref().and_then(|blocked| blocked.moves.as_ref());
            // Nodes that are being powered off are not moved.
            if plan.is_some_and(|plan| plan.moves.iter().any(|one| !is_known(one.job))) {
                of(&snapshot.clone().keeping(|job, _| !is_known(job)))
            } else {
                found
            }
        });
        let scheduler = world.config.scheduler.to_string();
        Explanation { world, snapshot, sides: request.shape, why, scheduler }
    }

    /// Sets the name of the program that decides when jobs start.
    pub(crate) fn by(self, scheduler: &str) -> Explanation<'a> {
        Explanation { scheduler: scheduler.to_string(), ..self }
    }

    /// Writes the answer in sentences.
    pub(crate) fn lines(&self) -> Vec<String> {
        let World { config, .. } = self.world;
        let job = |job: JobId| match self.world.job(job) {
            Some(job) => format!("job {}", name_of(config, job)),
            None => POWERING_OFF.to_string(),
        };
        let words = Words {
            grid: &config.grid,
            job: &job,
            time: &|time| date(time.0),
            strategy: &config.strategy.to_string(),
            scheduler: &self.scheduler,
        };
        match &self.why {
            Some(why) => why.lines(&words),
            None => vec!["No box of the machine has that many nodes.".to_string()],
        }
    }

    /// Returns the free box that is most similar to the requested one, if the requested box is not
    /// free.
    pub(crate) fn nearest(&self) -> Option<Cuboid> {
        let is_blocked = self.why.as_ref().is_some_and(|why| why.blocked.is_some());
        let sides = self.sides.filter(|_| is_blocked)?;
        nearest(self.snapshot, Shape::new(sides), 1).pop()
    }
}

/// Returns the name of a job, with its partition if that does not belong to this machine.
fn name_of(config: &Config, job: &SlurmJob) -> String {
    if config.partitions.contains(&job.partition) {
        return job.name.to_string();
    }
    format!("{} of partition {}", job.name, shown(&job.partition))
}

/// Formats seconds since 1970 as a date, in UTC.
pub(crate) fn date(seconds: u64) -> String {
    pavior::time::Date(std::time::Duration::from_secs(seconds)).to_string()
}
