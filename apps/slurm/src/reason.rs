//! What is told to users, in AdminComment: why a job waits, and where its box lies.

use pavior_allocation::explain;
use pavior_kernel::shown;
use pavior_mesh::{Cuboid, JobId, Request, Sides};
use pavior_planning::{Shape, Snapshot, Weights, blockers, earliest, nearest};

use crate::Config;
use crate::ledger::{Ledger, SlurmJob};
use crate::names::{NodeName, Note};
use crate::state::State;

/// The nodes of a box in its own order, x fastest: rank i runs on the i-th.
pub(crate) fn ranks(config: &Config, cuboid: &Cuboid) -> Vec<NodeName> {
    cuboid.nodes(&config.grid).map(|node| config.name(node).clone()).collect()
}

/// What an opened job is told, as one word: `pavior:box=4x4@0,8;ranks=n00,n01,...`. A job makes its
/// hostfile of what stands behind `ranks=`.
pub(crate) fn placed(config: &Config, cuboid: &Cuboid) -> Note {
    let base = cuboid.base[..config.grid.axes()].iter().map(u16::to_string);
    let base = base.collect::<Vec<_>>().join(",");
    let ranks = ranks(config, cuboid);
    let ranks: Vec<&str> = ranks.iter().map(NodeName::as_str).collect();
    let sides = size(config, cuboid.sides);
    Note::new(&format!("pavior:box={sides}@{base};ranks={}", ranks.join(",")))
}

/// What a job is told that waits for ever: what is wrong with it, in words of the daemon's own.
pub(crate) fn unplaced(fault: &str) -> Note {
    Note::new(&format!("pavior: not placed: {fault}; submit it anew"))
}

/// What holds nodes that Slurm powers off.
const POWERING_OFF: &str = "nodes that are being powered off";

/// What a job is told whose boxes are all reserved for others before its time limit ends.
pub(crate) fn reserved() -> Note {
    Note::new(
        "pavior: waits for the end of a reservation: every box of its shape has nodes that are \
         reserved before its time limit would end",
    )
}

/// What a job is told that runs on other nodes than a box of its shape, and is left alone.
pub(crate) fn elsewhere() -> Note {
    Note::new("pavior: runs on nodes that are no box of its shape, and is left there")
}

/// What a job is told that a limit keeps back: Slurm's word for it, or its name and what is used.
pub(crate) fn limited(limit: &str) -> Note {
    Note::new(&format!("pavior: not started yet: limit {limit}"))
}

/// What a waiting job is told: the nearest boxes, who is in its way, and when that ends.
pub(crate) fn waiting(
    config: &Config,
    ledger: &Ledger,
    snapshot: &Snapshot,
    request: &Request,
    now: u64,
) -> Note {
    Note::new(&waits(config, ledger, snapshot, request, now))
}

fn waits(
    config: &Config,
    ledger: &Ledger,
    snapshot: &Snapshot,
    request: &Request,
    now: u64,
) -> String {
    let Some(sides) = request.shape else { return "pavior: no box of so many nodes".into() };
    let shape = Shape::new(sides);
    let words = |cuboid: &Cuboid| explain::words(&config.grid, cuboid);
    let mut text = format!("pavior: waits for {}", size(config, sides));
    if let Some(at) = pavior_planning::fit(snapshot, shape) {
        return format!("{text}; {} is free, but others come first", words(&at));
    }
    text += &match nearest(snapshot, shape, 1).first() {
        Some(at) => format!("; nearest free {}", words(at)),
        None => "; nothing is free".to_string(),
    };
    let weights = Weights::nodes(snapshot);
    text += &match blockers(snapshot, shape, &weights) {
        Some(found) => {
            let jobs = found.jobs.iter().filter_map(|job| ledger.jobs.get(job.0 as usize));
            let mut names: Vec<String> = jobs.map(|job| called(config, job)).collect();
            let count = names.len();
            names.truncate(8);
            if count > 8 {
                names.push("...".into());
            }
            if count < found.jobs.len() {
                names.push(POWERING_OFF.into());
            }
            format!("; blocked least at {} by {}", words(&found.at), names.join(","))
        }
        None if request.pool.is_some() => {
            "; every place has a node that is down or that it may not have".to_string()
        }
        None => "; every place has a node that is down".to_string(),
    };
    let end = |job: JobId| State::end(ledger, job, now);
    text += &match earliest(snapshot, shape, end) {
        Some(found) => format!("; not before {}", date(found.at.0)),
        None => "; no end in sight".to_string(),
    };
    text
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
    pavior_kernel::Date(std::time::Duration::from_secs(seconds)).to_string()
}
