//! The `--dependency` option, as found in the `SubmitLine` column.
//!
//! ```text
//!   list    clause[,clause...]                all must be met; lists with `?` are ignored
//!   clause  after:job[+minutes][:job...]      the job has started, and these minutes have passed
//!           afterany:job[:job...]             the job has ended; also afterok, afternotok,
//!                                             aftercorr and afterburstbuffer
//!   job     digits[_task]                     for an array, the last line with its number counts
//! ```
//!
//! Source: the `sbatch` manual page (Slurm 25.05).

use pavior_kernel::Time;

use crate::TimeUnit;
use crate::traces::{Event, Predecessor};

/// Returns the predecessors in a command line's first dependency option, adding `base` to each
/// number. Returns an empty list if the option is malformed.
pub(crate) fn predecessors(line: &[u8], base: u64) -> Vec<Predecessor> {
    let Ok(line) = std::str::from_utf8(line) else { return Vec::new() };
    let mut words = line.split_ascii_whitespace();
    while let Some(word) = words.next() {
        let list = match word {
            "--dependency" | "-d" => words.next(),
            _ => word.strip_prefix("--dependency=").or_else(|| word.strip_prefix("-d")),
        };
        if let Some(found) = list.and_then(|list| self::list(list.trim_matches(['"', '\'']))) {
            let of_cluster = |job: Predecessor| Predecessor { number: base + job.number, ..job };
            return found.into_iter().map(of_cluster).collect();
        }
    }
    Vec::new()
}

fn list(text: &str) -> Option<Vec<Predecessor>> {
    let mut found = Vec::new();
    for clause in text.split(',') {
        let (kind, jobs) = match clause.split_once(':') {
            None if clause == "singleton" => continue,
            None => return None,
            Some(parts) => parts,
        };
        let event = match kind {
            "after" => Event::Start,
            "afterany" | "afterok" | "afternotok" | "aftercorr" | "afterburstbuffer" => Event::End,
            _ => return None,
        };
        for job in jobs.split(':') {
            found.push(predecessor(job, event)?);
        }
    }
    Some(found)
}

fn predecessor(text: &str, event: Event) -> Option<Predecessor> {
    let (job, minutes) = match text.split_once('+') {
        Some((job, minutes)) if event == Event::Start => (job, whole(minutes)?),
        Some(_) => return None,
        None => (text, 0),
    };
    let (job, task) = job.split_once('_').unwrap_or((job, "0"));
    if task != "*" {
        whole(task)?;
    }
    let delay = Time(minutes * 60 * TimeUnit::SECOND.ticks);
    Some(Predecessor { number: whole(job)?, think: (minutes > 0).then_some(delay), event })
}

/// Parses an integer of up to ten digits.
fn whole(text: &str) -> Option<u64> {
    let is_number = (1..=10).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_sbatch_reads_them() {
        let found = |line: &str| -> Vec<(u64, u64, bool)> {
            let all = predecessors(line.as_bytes(), 0).into_iter();
            all.map(|job| {
                let minutes = job.think.map_or(0, |think| think.0 / 60_000_000);
                (job.number, minutes, job.event == Event::Start)
            })
            .collect()
        };
        for (line, expected) in [
            ("sbatch --dependency=afterok:71 a.sh", vec![(71, 0, false)]),
            ("sbatch -d afterany:71:72 a.sh", vec![(71, 0, false), (72, 0, false)]),
            ("sbatch -dafternotok:71_4,aftercorr:9_* a", vec![(71, 0, false), (9, 0, false)]),
            ("sbatch --dependency after:5+10:6", vec![(5, 10, true), (6, 0, true)]),
            ("sbatch --dependency='afterburstbuffer:5'", vec![(5, 0, false)]),
            ("sbatch -d singleton,afterok:3 x", vec![(3, 0, false)]),
        ] {
            assert_eq!(found(line), expected, "{line}");
        }
        for line in [
            "sbatch a.sh",
            "sbatch -d",
            "sbatch --dependency=afterok:1?afterok:2 a.sh",
            "sbatch --dependency=afterok: a.sh",
            "sbatch --dependency=afterok:1+5 a.sh",
            "sbatch --dependency=expand:7 a.sh",
            "sbatch --dependency=afterok:99999999999 a.sh",
            "sbatch --dependency=afterok:-1 a.sh",
        ] {
            assert_eq!(found(line), [], "{line}");
        }
    }
}
