//! What is told to users, in AdminComment: why a job waits, and where its box lies.

use pavior::answers::{
    Demand, PlannedStart, Question, Queued, SearchLimits, Shape, Snapshot, Why, Words, nearest, why,
};
use pavior::strategies::explain;
use pavior::text::shown;
use pavior::{Cuboid, JobId, Request, Sides};

use crate::ledger::{Ledger, SlurmJob};
use crate::names::{NodeName, Note};
use crate::reservations::Reservation;
use crate::state::State;
use crate::{Config, hosts};

/// The nodes of a box in its own order, x fastest: rank i runs on the i-th.
pub(crate) fn ranks(config: &Config, cuboid: &Cuboid) -> Vec<NodeName> {
    cuboid.nodes(&config.grid).map(|node| config.name(node).clone()).collect()
}

/// The longest list of nodes that is told name by name: an argument of a command has 128 KiB.
const LONGEST_RANKS: usize = 64 << 10;

/// What an opened job is told, as one word: `pavior:box=4x4@0,8;ranks=n00,n01,...`. A job makes its
/// hostfile of what stands behind `ranks=`. A longer list than [`LONGEST_RANKS`] has ranges.
pub(crate) fn placed(config: &Config, cuboid: &Cuboid) -> Note {
    let base = cuboid.base[..config.grid.axes()].iter().map(u16::to_string);
    let base = base.collect::<Vec<_>>().join(",");
    let ranks = ranks(config, cuboid);
    let names: Vec<&str> = ranks.iter().map(NodeName::as_str).collect();
    let list = Some(names.join(",")).filter(|list| list.len() <= LONGEST_RANKS);
    let list = list.unwrap_or_else(|| hosts::compress(&ranks));
    let sides = size(config, cuboid.sides);
    Note::new(&format!("pavior:box={sides}@{base};ranks={list}"))
}

/// What a job is told that waits for ever: what is wrong with it, in words of the daemon's own.
pub(crate) fn unplaced(fault: &str) -> Note {
    Note::new(&format!("pavior: not placed: {fault}; submit it anew"))
}

/// What holds nodes that Slurm powers off.
const POWERING_OFF: &str = "nodes that are being powered off";

/// What a job is told whose boxes are all reserved for others before its time limit ends.
pub(crate) fn reserved(config: &Config, ledger: &Ledger) -> Note {
    let is_here = |one: &Reservation| one.nodes.iter().any(|name| config.nodes.contains_key(name));
    let mut magnetic = ledger.reservations.iter().filter(|one| one.is_magnetic);
    let magnetic = magnetic.find(|one| is_here(one)).map_or(String::new(), |one| {
        format!("; nodes of the magnetic reservation {0} need --reservation={0}", one.name)
    });
    Note::new(&format!(
        "pavior: waits for the end of a reservation: every box of its shape has nodes that are \
         reserved before its time limit would end{magnetic}"
    ))
}

/// What a job is told that runs on other nodes than a box of its shape, and is left alone.
pub(crate) fn elsewhere() -> Note {
    Note::new("pavior: runs on nodes that are no box of its shape, and is left there")
}

/// What a job is told that a limit keeps back: Slurm's word for it, or its name and what is used.
pub(crate) fn limited(limit: &str) -> Note {
    Note::new(&format!("pavior: not started yet: limit {limit}"))
}

/// What a waiting job is told: the reason, who is in its way until when, and the nearest box.
pub(crate) fn waiting(
    config: &Config,
    ledger: &Ledger,
    snapshot: &Snapshot,
    request: &Request,
    (now, planned): (u64, Option<PlannedStart>),
) -> Note {
    let context = Context { now, moved: 0, queued: Queued::Kept, planned };
    let told = Told::of(config, ledger, snapshot, request, &context);
    let (mut lines, nearest) = (told.lines(), told.nearest());
    lines.extend(nearest.map(|at| format!("Nearest free: {}.", explain::words(&config.grid, &at))));
    Note::new(&format!("pavior: {}", lines.join(" ").replace('`', "")))
}

/// What an answer depends on besides machine and request.
pub(crate) struct Context {
    pub(crate) now: u64,
    /// The most jobs that are moved to make room.
    pub(crate) moved: usize,
    /// What the queue says of the request.
    pub(crate) queued: Queued,
    /// When it is planned to start.
    pub(crate) planned: Option<PlannedStart>,
}

/// Why a request waits or would wait, and who tells it of what.
pub(crate) struct Told<'a> {
    config: &'a Config,
    ledger: &'a Ledger,
    snapshot: &'a Snapshot,
    sides: Option<Sides>,
    pub(crate) why: Option<Why>,
    /// What keeps a job that fits.
    scheduler: String,
}

impl<'a> Told<'a> {
    /// Finds out why a request would wait on a machine as it is. Jobs end by their time limits.
    pub(crate) fn of(
        config: &'a Config,
        ledger: &'a Ledger,
        snapshot: &'a Snapshot,
        request: &Request,
        context: &Context,
    ) -> Told<'a> {
        let &Context { now, moved, queued, planned } = context;
        let end = |job: JobId| State::end(ledger, job, now);
        let is_known = |job: JobId| ledger.jobs.len() as u64 > job.0;
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
        let (sides, scheduler) = (request.shape, config.scheduler.to_string());
        Told { config, ledger, snapshot, sides, why, scheduler }
    }

    /// The same where another program decides what starts.
    pub(crate) fn by(self, scheduler: &str) -> Told<'a> {
        Told { scheduler: scheduler.to_string(), ..self }
    }

    /// The answer in sentences.
    pub(crate) fn lines(&self) -> Vec<String> {
        let Told { config, ledger, .. } = self;
        let job = |job: JobId| match ledger.jobs.get(job.0 as usize) {
            Some(job) => format!("job {}", called(config, job)),
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
            None => vec!["No box of the machine has so many nodes.".to_string()],
        }
    }

    /// The free box that comes nearest to one that is free nowhere.
    pub(crate) fn nearest(&self) -> Option<Cuboid> {
        let is_blocked = self.why.as_ref().is_some_and(|why| why.blocked.is_some());
        let sides = self.sides.filter(|_| is_blocked)?;
        nearest(self.snapshot, Shape::new(sides), 1).pop()
    }
}

/// A job by its number, and its partition if it is none of this machine's.
fn called(config: &Config, job: &SlurmJob) -> String {
    if config.partitions.contains(&job.partition) {
        return job.name.to_string();
    }
    format!("{} of partition {}", job.name, shown(&job.partition))
}

/// Sides in words, such as 2x3.
pub(crate) fn size(config: &Config, sides: Sides) -> String {
    let sides = sides[..config.grid.axes()].iter().map(u16::to_string);
    sides.collect::<Vec<_>>().join("x")
}

/// Seconds since 1970 as a date, in UTC.
pub(crate) fn date(seconds: u64) -> String {
    pavior::time::Date(std::time::Duration::from_secs(seconds)).to_string()
}
