//! A directory of an experiment: a lock, a journal that survives being killed, and files that are
//! whole or not there.
//!
//! While an experiment runs, finished replications are lines of `journal`. When it is done they are
//! in `replications.csv` and `timings.csv`, and the journal goes. `run.json` says what the directory
//! holds, from the first moment.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use pavior_experiments::{JournalEntry, Publication, Specification, Store};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::files;

const JOURNAL: &str = "journal";
const RUN: &str = "run.json";
/// The experiment's own file, copied into its directory.
pub(crate) const EXPERIMENT: &str = "experiment.toml";

/// A directory that this process alone may change.
pub(crate) struct Directory {
    path: PathBuf,
    /// Held until the process ends, however it ends.
    _lock: File,
    began: SystemTime,
}

/// What a run is, as `run.json` has it.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The name of the experiment.
    pub(crate) name: String,
    /// The digest of what results depend on.
    pub(crate) fingerprint: String,
    /// The paper that is reproduced, and whether quickly.
    pub(crate) paper: Option<(String, bool)>,
    /// The part of the points.
    pub(crate) shard: String,
}

impl Run {
    /// Whether another run differs in being quick, or in not being so.
    fn differs_in_quickness(&self, other: &Run) -> bool {
        let quick = |run: &Run| run.paper.as_ref().map(|(_, quick)| *quick);
        self.name == other.name && quick(self).is_some() && quick(self) != quick(other)
    }
}

impl Directory {
    /// Makes a directory where there is none, and locks it.
    pub(crate) fn open(path: &Path) -> Result<Directory, Failure> {
        let cannot = |error: io::Error| {
            Failure::usage(format!("cannot write in {}: {error}", path.display()))
        };
        fs::create_dir_all(path).map_err(cannot)?;
        let lock = path.join(".lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(lock);
        let lock = lock.map_err(cannot)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::usage(format!(
                    "another process is working in {}; one at a time",
                    path.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
        let directory =
            Directory { path: path.to_path_buf(), _lock: lock, began: SystemTime::now() };
        directory.sweep_out().map_err(cannot)?;
        Ok(directory)
    }

    /// Removes what a killed process left half written.
    fn sweep_out(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') && name.ends_with(".partial") {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Whether there is nothing in it but what is hidden.
    pub(crate) fn is_empty(&self) -> Result<bool, Failure> {
        let mut entries = fs::read_dir(&self.path)?;
        Ok(entries.all(|entry| {
            entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with('.'))
        }))
    }

    /// Prepares for a run: a new one in an empty directory, or, with `resume`, the same one again.
    /// Returns what is known already.
    pub(crate) fn begin(
        &self,
        run: &Run,
        text: &str,
        specification: &Specification,
        resume: bool,
    ) -> Result<Vec<JournalEntry>, Failure> {
        let here = self.path.display();
        let known = match read_run(&self.path)? {
            None if self.is_empty()? => Vec::new(),
            None => {
                return Err(Failure::usage(format!(
                    "{here} is not empty, and holds no experiment; choose another --out"
                )));
            }
            Some(_) if !resume => {
                return Err(Failure::usage(format!(
                    "{here} holds an experiment already; --resume goes on with it, --out chooses \
                     another directory"
                )));
            }
            Some(old) if old.differs_in_quickness(run) => {
                let (kind, how) = match old.paper {
                    Some((_, true)) => ("quick", "add --quick"),
                    _ => ("full", "leave --quick out"),
                };
                return Err(Failure::usage(format!(
                    "{here} holds a {kind} reproduction; {how} to go on with it, or choose another \
                     --out"
                )));
            }
            Some(old) if old.fingerprint != run.fingerprint => {
                return Err(Failure::usage(format!(
                    "{here} holds another experiment, or one of another version: its results cannot \
                     be mixed with these; choose another --out"
                )));
            }
            Some(_) => known(&self.path, specification)?,
        };
        // What a finished directory says of itself stays as long as nothing is run anew.
        if !self.is_finished()? {
            self.write_run(run, None)?;
        }
        self.write(EXPERIMENT, text.as_bytes())?;
        Ok(known)
    }

    /// The journal, ready for more lines. Lines that were cut are taken out first.
    pub(crate) fn journal(&self) -> Result<Journal, Failure> {
        let path = self.path.join(JOURNAL);
        let text = read_if_there(&path)?;
        let whole: Vec<&str> =
            lines(&text).filter(|line| JournalEntry::parse(line).is_some()).collect();
        let length: usize = whole.iter().map(|line| line.len() + 1).sum();
        if length != text.len() {
            files::write_whole(&path, |out| {
                whole.iter().try_for_each(|line| writeln!(out, "{line}"))
            })?;
        }
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file
            .map_err(|error| Failure::usage(format!("cannot write {}: {error}", path.display())))?;
        Ok(Journal { file })
    }

    /// Writes the results, and takes the journal away when they are safe.
    pub(crate) fn finish(&self, run: &Run, publications: &[Publication]) -> Result<(), Failure> {
        let journal = self.path.join(JOURNAL);
        for Publication { name, bytes } in publications {
            self.write(name, bytes).map_err(|fault| match fault {
                Failure::Other(reason) => Failure::Other(format!(
                    "{reason}; every replication is kept, and --resume writes what is missing"
                )),
                usage => usage,
            })?;
        }
        let anew = fs::metadata(&journal).is_ok_and(|journal| journal.len() > 0);
        if anew || !self.is_finished()? {
            self.write_run(run, Some(SystemTime::now()))?;
        }
        match fs::remove_file(journal) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        files::write_whole(&self.path.join(name), |out| out.write_all(bytes))
    }

    /// Whether a run came to its end here.
    fn is_finished(&self) -> Result<bool, Failure> {
        let text = read_if_there(&self.path.join(RUN))?;
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        Ok(value["finished"].is_string())
    }

    fn write_run(&self, run: &Run, finished: Option<SystemTime>) -> Result<(), Failure> {
        let seconds = |time: SystemTime| {
            time.duration_since(UNIX_EPOCH).map_or(0.0, |length| length.as_secs_f64())
        };
        let duration = finished.map(|finished| seconds(finished) - seconds(self.began));
        let arguments: Vec<String> = std::env::args().collect();
        let value = json!({
            "experiment": run.name,
            "fingerprint": run.fingerprint,
            "version": env!("CARGO_PKG_VERSION"),
            "paper": run.paper.as_ref().map(|(paper, _)| paper),
            "quick": run.paper.as_ref().is_some_and(|(_, quick)| *quick),
            "shard": run.shard,
            "command": arguments.join(" "),
            "started": date(seconds(self.began) as u64),
            "finished": finished.map(|finished| date(seconds(finished) as u64)),
            "duration_s": duration.map(|length| (length * 1000.0).round() / 1000.0),
            "machine": {
                "system": std::env::consts::OS,
                "architecture": std::env::consts::ARCH,
                "processor": processor(),
                "threads": std::thread::available_parallelism().map_or(1, usize::from),
            },
        });
        self.write(RUN, format!("{value:#}\n").as_bytes())
    }
}

/// The journal of a run.
pub(crate) struct Journal {
    file: File,
}

impl Store for Journal {
    /// One write of a whole line: when it returns, the line outlives the process.
    fn keep(&mut self, entry: &JournalEntry) -> io::Result<()> {
        self.file.write_all(format!("{}\n", entry.line()).as_bytes())
    }
}

/// What a directory says that it holds; none if it holds no experiment.
pub(crate) fn read_run(directory: &Path) -> Result<Option<Run>, Failure> {
    let path = directory.join(RUN);
    let text = read_if_there(&path)?;
    if text.is_empty() {
        return Ok(None);
    }
    let bad = || Failure::usage(format!("{} is damaged", path.display()));
    let value: Value = serde_json::from_str(&text).map_err(|_| bad())?;
    let text = |key: &str| value[key].as_str().map(String::from).ok_or_else(bad);
    Ok(Some(Run {
        name: text("experiment")?,
        fingerprint: text("fingerprint")?,
        paper: text("paper").ok().map(|paper| (paper, value["quick"] == true)),
        shard: text("shard")?,
    }))
}

/// Every replication that a directory holds, finished or not.
pub(crate) fn known(directory: &Path, spec: &Specification) -> Result<Vec<JournalEntry>, Failure> {
    let text = read_if_there(&directory.join(JOURNAL))?;
    let mut entries: Vec<JournalEntry> = lines(&text).filter_map(JournalEntry::parse).collect();
    let path = directory.join("replications.csv");
    let replications = read_if_there(&path)?;
    if !replications.is_empty() {
        let timings = read_if_there(&directory.join("timings.csv"))?;
        let timings = (!timings.is_empty()).then_some(timings.as_bytes());
        let finished = spec.read_replications(replications.as_bytes(), timings);
        entries.extend(
            finished.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?,
        );
    }
    let metrics = spec.metrics.len();
    entries.retain(|e| e.point < spec.points.len() && e.sample.values.len() == metrics);
    Ok(entries)
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'))
}

/// A file's text; empty where there is no file. Bytes that are no text are replaced: what they stand
/// in is damaged, and is found so.
pub(crate) fn read_if_there(path: &Path) -> Result<String, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Failure::usage(format!("cannot read {}: {error}", path.display()))),
    }
}

/// The processor's name, where the system tells it.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

/// Seconds since 1970 as a date in UTC (Hinnant's days-to-civil).
fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date(1_767_225_599), "2025-12-31T23:59:59Z");
    }
}
