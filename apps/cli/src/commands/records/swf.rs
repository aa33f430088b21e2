//! Writes the simulated schedule in the Standard Workload Format, which `--trace` can read.

use std::io::{self, Write};

use pavior::Time;
use pavior::experiments::{Point, RunRecord};
use pavior::simulation::{Fate, JobRecord};
use pavior::workload::TimeUnit;
use pavior::workload::traces::{Header, Record, Tags, swf};

use super::combination;

/// Writes a log of completed jobs (status 1) and rejected jobs (status 5), in submission order. If
/// times are not in seconds, one second in the log represents one time unit.
pub(super) fn log(point: &Point, record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let (grid, unit, by) = (point.settings().machine, point.unit(), combination(point));
    let outcomes: Vec<_> = record.jobs.iter().filter_map(|job| outcome(unit, job)).collect();
    let mut header = Header::default();
    let version = env!("CARGO_PKG_VERSION");
    header.push("Version", "2.2");
    header.push("Computer", &format!("{grid} (simulated)"));
    header.push("Conversion", &format!("pavior {version}, {by}"));
    header.push("MaxJobs", &outcomes.len().to_string());
    header.push("MaxProcs", &grid.nodes().to_string());
    if unit.name != TimeUnit::SECOND.name {
        header.push("Note", &format!("one second represents one {}", unit.name));
    }
    swf::write_schedule(out, &header, &outcomes)
}

/// Returns the outcome of a job, or `None` if the job had not departed when the run ended.
fn outcome(unit: TimeUnit, JobRecord { job, fate, .. }: &JobRecord) -> Option<swf::Scheduled> {
    let seconds = |time: Time| TimeUnit::SECOND.time(unit.units(time));
    let (status, run, held) = match fate {
        Fate::Rejected(_) => (5, Time::ZERO, None),
        Fate::Started { start, end: Some(end), placement } => {
            let wait = seconds(start.since(job.arrival));
            (1, end.since(*start), Some((wait, placement.nodes())))
        }
        Fate::Waiting | Fate::Started { end: None, .. } => return None,
    };
    let record = Record {
        number: job.number,
        line: 0,
        submit: seconds(job.arrival),
        run: seconds(run),
        estimate: Some(seconds(job.estimate)),
        nodes: job.request.nodes,
        shape: job.request.shape,
        freedom: job.request.freedom,
        tags: Tags { status, ..Tags::UNKNOWN },
        wait: None,
        dependency: None,
    };
    Some(swf::Scheduled { record, held })
}
