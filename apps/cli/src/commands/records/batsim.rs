//! Writes a run in Batsim's formats: `jobs.csv`, which Evalys reads, and `schedule.json`.

use std::io::{self, Write};

use pavior::experiments::{Point, RunRecord};
use pavior::simulation::{Fate, JobRecord};
use pavior::workload::TimeUnit;
use pavior::{Grid, Placement, Time};
use serde_json::json;

use super::number;

/// Formats a time in the given unit. As in logs, a whole number is written as an integer.
fn time(unit: TimeUnit, at: Time) -> String {
    unit.units(at).to_string()
}

/// Returns the stretch (slowdown) as Batsim defines it: turnaround divided by run time. A run time
/// of zero counts as one tick.
fn turnaround_ratio(turnaround: Time, run: Time) -> f64 {
    turnaround.ticks() / run.ticks().max(1.0)
}

/// Writes `jobs.csv`, which lists completed jobs as well as rejected ones (`success` 0). Node ids
/// are in row-major order.
pub(super) fn jobs_csv(point: &Point, record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let (grid, unit) = (point.settings().machine, point.unit());
    writeln!(
        out,
        "job_id,workload_name,profile,submission_time,requested_number_of_resources,\
         requested_time,success,final_state,starting_time,execution_time,finish_time,\
         waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata"
    )?;
    for JobRecord { job, fate, .. } in &record.jobs {
        let (submit, estimate) = (time(unit, job.arrival), time(unit, job.estimate));
        let known = format!(
            "{},pavior,{},{submit},{},{estimate}",
            job.number, job.number, job.request.nodes
        );
        match fate {
            Fate::Rejected(_) => {
                writeln!(out, "{known},0,REJECTED,-1,-1,-1,-1,-1,-1,,-1,\"\"")?;
            }
            Fate::Started { start, end: Some(end), placement } => {
                let units = |at: Time| time(unit, at);
                let (run, turnaround) = (end.since(*start), end.since(job.arrival));
                let stretch = turnaround_ratio(turnaround, run);
                writeln!(
                    out,
                    "{known},1,COMPLETED_SUCCESSFULLY,{},{},{},{},{},{stretch},{},-1,\"\"",
                    units(*start),
                    units(run),
                    units(*end),
                    units(start.since(job.arrival)),
                    units(turnaround),
                    intervals(&grid, placement),
                )?;
            }
            // Batsim has no state for a job that was neither completed nor rejected.
            Fate::Waiting | Fate::Started { end: None, .. } => {}
        }
    }
    Ok(())
}

/// Formats the node ids as an interval set, such as `0-3 8`.
fn intervals(grid: &Grid, placement: &Placement) -> String {
    let mut ids: Vec<u32> =
        placement.parts().iter().flat_map(|part| part.nodes(grid)).map(|node| node.0).collect();
    ids.sort_unstable();
    let mut text = String::new();
    for run in ids.chunk_by(|a, b| a + 1 == *b) {
        if !text.is_empty() {
            text.push(' ');
        }
        match run {
            [one] => text += &one.to_string(),
            _ => text += &format!("{}-{}", run[0], run[run.len() - 1]),
        }
    }
    text
}

/// The mean and the maximum of a value over all finished jobs.
#[derive(Default)]
struct MeanAndMax {
    finished: u64,
    sum: f64,
    max: f64,
}

impl MeanAndMax {
    fn add(&mut self, value: f64) {
        self.finished += 1;
        self.sum += value;
        self.max = self.max.max(value);
    }

    fn mean(&self) -> f64 {
        self.sum / self.finished.max(1) as f64
    }
}

/// Writes `schedule.json`, which describes the whole run in one object. Keys for quantities that
/// are not simulated (energy, power states, Batsim's own computing time) are omitted. Means cover
/// only finished jobs. As in Batsim, the makespan is the time on the log's clock at which the last
/// job ends. Jobs that had not departed when the run ended are omitted, as in `jobs.csv`.
pub(super) fn schedule(point: &Point, record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let unit = point.unit();
    let mut waiting = MeanAndMax::default();
    let mut turnaround = MeanAndMax::default();
    let mut slowdown = MeanAndMax::default();
    let (mut makespan, mut rejected) = (Time::ZERO, 0_u64);
    for JobRecord { job, fate, .. } in &record.jobs {
        match fate {
            Fate::Rejected(_) => rejected += 1,
            Fate::Started { start, end: Some(end), .. } => {
                let total = end.since(job.arrival);
                waiting.add(unit.units(start.since(job.arrival)));
                turnaround.add(unit.units(total));
                slowdown.add(turnaround_ratio(total, end.since(*start)));
                makespan = makespan.max(*end);
            }
            Fate::Waiting | Fate::Started { end: None, .. } => {}
        }
    }
    let finished = waiting.finished;
    let jobs = finished + rejected;
    let schedule = json!({
        "makespan": number(unit.units(makespan)),
        "max_slowdown": number(slowdown.max),
        "max_turnaround_time": number(turnaround.max),
        "max_waiting_time": number(waiting.max),
        "mean_slowdown": number(slowdown.mean()),
        "mean_turnaround_time": number(turnaround.mean()),
        "mean_waiting_time": number(waiting.mean()),
        "nb_computing_machines": point.settings().machine.nodes(),
        "nb_jobs": jobs,
        "nb_jobs_finished": finished,
        "nb_jobs_killed": 0,
        "nb_jobs_rejected": rejected,
        "nb_jobs_success": finished,
        "success_rate": number(finished as f64 / jobs.max(1) as f64),
    });
    serde_json::to_writer_pretty(&mut *out, &schedule)?;
    writeln!(out)
}
