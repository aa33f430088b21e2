//! What became of each job of replication 0: `--jobs-csv` and `--placements`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pavior_experiments::{Combination, Comparison, Row};
use pavior_kernel::Time;
use pavior_mesh::Grid;
use pavior_network::write_heatmap;
use pavior_simulation::{Fate, JobRecord};
use pavior_workload::Unit;
use serde_json::json;

use crate::args::{MessageArgs, ResultArgs};
use crate::commands::allocate;
use crate::fault::Fault;
use crate::files;

/// The files that will be written, checked before anything is run.
pub(crate) struct Files {
    jobs_csv: Option<PathBuf>,
    placements: Option<PathBuf>,
    channels: Option<PathBuf>,
    heatmap: Option<PathBuf>,
}

impl Files {
    /// # Errors
    /// If a name does not tell the combinations apart, or a file cannot be written.
    pub(crate) fn plan(
        args: &ResultArgs,
        messages: &MessageArgs,
        comparison: &Comparison<'_>,
    ) -> Result<Files, Fault> {
        let files = Files {
            jobs_csv: args.jobs_csv.clone(),
            placements: args.placements.clone(),
            channels: messages.channels.clone(),
            heatmap: messages.heatmap.clone(),
        };
        let lists = [
            ("{strategy}", comparison.strategies.len()),
            ("{scheduler}", comparison.schedulers.len()),
            ("{load}", comparison.loads.len()),
        ];
        let options = [
            ("--jobs-csv", &files.jobs_csv),
            ("--placements", &files.placements),
            ("--channels", &files.channels),
            ("--heatmap", &files.heatmap),
        ];
        for (index, (option, path)) in options.iter().enumerate() {
            let Some(path) = path else { continue };
            if let Some((other, _)) =
                options[..index].iter().find(|(_, other)| other.as_ref() == Some(path))
            {
                return Err(Fault::usage(format!(
                    "{other} and {option} name the same file, {}",
                    path.display()
                )));
            }
            let name = path.to_string_lossy();
            for (mark, count) in lists {
                if count > 1 && !name.contains(mark) {
                    return Err(Fault::usage(format!(
                        "{option} {name}: with {count} of them, the name must contain {mark}"
                    )));
                }
            }
            let plain =
                lists.iter().fold(name.to_string(), |name, (mark, _)| name.replace(mark, ""));
            if plain.contains(['{', '}']) {
                return Err(Fault::usage(format!(
                    "{option} {name}: braces mark {{strategy}}, {{scheduler}} or {{load}}"
                )));
            }
            for combination in comparison.combinations() {
                files::check_writable(&named(path, &combination))?;
            }
        }
        Ok(files)
    }

    pub(crate) fn write(&self, comparison: &Comparison<'_>, rows: &[Row]) -> Result<(), Fault> {
        let (grid, unit) = (&comparison.grid, comparison.source.unit());
        for row in rows {
            let Some(records) = &row.record else { continue };
            if let Some(path) = &self.jobs_csv {
                let path = named(path, &row.combination);
                files::write_whole(&path, |out| jobs_csv(grid, unit, records, out))?;
            }
            if let Some(path) = &self.placements {
                let path = named(path, &row.combination);
                files::write_whole(&path, |out| placements(grid, unit, records, out))?;
            }
            self.write_channels(row)?;
        }
        Ok(())
    }

    fn write_channels(&self, row: &Row) -> Result<(), Fault> {
        let Some((load, cycles)) = &row.channels else { return Ok(()) };
        let text = |write: &dyn Fn(&mut String) -> std::fmt::Result| {
            let mut text = String::new();
            write(&mut text).expect("writing into a string does not fail");
            text
        };
        if let Some(path) = &self.channels {
            let text = text(&|out| load.write_csv(out, *cycles));
            let path = named(path, &row.combination);
            files::write_whole(&path, |out| out.write_all(text.as_bytes()))?;
        }
        if let Some(path) = &self.heatmap {
            let Combination { strategy, scheduler, load: jobs } = &row.combination;
            let jobs = jobs.map(|load| format!(", load {load}")).unwrap_or_default();
            let title = format!("{strategy}, {scheduler}{jobs}");
            let text = text(&|out| write_heatmap(out, load, *cycles, &title));
            let path = named(path, &row.combination);
            files::write_whole(&path, |out| out.write_all(text.as_bytes()))?;
        }
        Ok(())
    }
}

/// The file of a combination. Colons would be awkward in file names; they become underscores.
fn named(path: &Path, combination: &Combination) -> PathBuf {
    let plain = |name: String| name.replace([':', '/'], "_");
    let load = combination.load.map(|load| load.to_string()).unwrap_or_default();
    let name = path.to_string_lossy();
    let name = name.replace("{strategy}", &plain(combination.strategy.to_string()));
    let name = name.replace("{scheduler}", &plain(combination.scheduler.to_string()));
    PathBuf::from(name.replace("{load}", &load))
}

/// A time in units: an integer where it is one, as logs have them.
fn time(unit: Unit, at: Time) -> String {
    unit.units(at).to_string()
}

/// Batsim's `jobs.csv`: completed jobs, and rejected ones with success 0. Node ids are row-major.
fn jobs_csv(grid: &Grid, unit: Unit, records: &[JobRecord], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "job_id,workload_name,profile,submission_time,requested_number_of_resources,\
         requested_time,success,final_state,starting_time,execution_time,finish_time,\
         waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata"
    )?;
    for JobRecord { job, fate } in records {
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
                let length = |length: Time| time(unit, length);
                let (run, turnaround) = (end.since(*start), end.since(job.arrival));
                // Batsim's stretch: turnaround over run; of a job of zero length, its turnaround
                // over the smallest time that there is.
                let stretch = turnaround.ticks() / run.ticks().max(1.0);
                writeln!(
                    out,
                    "{known},1,COMPLETED_SUCCESSFULLY,{},{},{},{},{},{stretch},{},-1,\"\"",
                    length(*start),
                    length(run),
                    length(*end),
                    length(start.since(job.arrival)),
                    length(turnaround),
                    intervals(grid, placement),
                )?;
            }
            // Neither completed nor rejected: Batsim has no state for it.
            Fate::Waiting | Fate::Started { end: None, .. } => {}
        }
    }
    Ok(())
}

/// The node ids as an interval set, such as `0-3 8`.
fn intervals(grid: &Grid, placement: &pavior_allocation::Placement) -> String {
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

/// JSON lines of the jobs that started, in the order of their starts.
fn placements(
    grid: &Grid,
    unit: Unit,
    records: &[JobRecord],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut started: Vec<_> = records
        .iter()
        .filter_map(|JobRecord { job, fate }| match fate {
            Fate::Started { start, end, placement } => Some((*start, job, end, placement)),
            _ => None,
        })
        .collect();
    started.sort_by_key(|(start, job, ..)| (*start, job.id));
    let number = |at: Time| {
        let units = unit.units(at);
        // Whole numbers as integers: 7, not 7.0.
        if units.fract() == 0.0 { json!(units as u64) } else { json!(units) }
    };
    for (start, job, end, placement) in started {
        let line = json!({
            "job": job.number,
            "submit": number(job.arrival),
            "start": number(start),
            "end": end.map(number),
            "nodes": placement.nodes(),
            "parts": allocate::parts(grid, placement.parts()),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}
