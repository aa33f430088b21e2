//! The `run.json` file, which records the directory's contents and origin, the time of the run, and
//! the checksum of each file.
#![allow(clippy::disallowed_methods, reason = "a note of the time, not a result")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use pavior_files::{Limits, read_if_there, read_text};
use pavior_kernel::{Checksum, Date};
use serde_json::{Map, Value, json};

use super::DirectoryError;

/// The identity of a run. Results from two directories may be combined only if their runs have the
/// same identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The experiment's name.
    pub name: String,
    /// A digest of everything that determines the results.
    pub fingerprint: String,
    /// The paper being reproduced, or `None` for an experiment.
    pub reproduced: Option<Reproduced>,
    /// The shard of the experiment's points.
    pub shard: String,
    /// The command that started the run.
    pub command: String,
}

/// The paper that a run reproduces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reproduced {
    /// The paper's name.
    pub paper: String,
    /// True for a quick reproduction.
    pub quick: bool,
}

/// The contents of `run.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The run's identity.
    pub run: Run,
    /// True if the run is complete.
    pub finished: bool,
    /// The checksum of each file written, by file name.
    pub files: BTreeMap<String, String>,
}

/// A run's start time, and a stopwatch for its duration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    began: SystemTime,
    /// A monotonic clock, because the system clock may be set back during the run.
    since: std::time::Instant,
}

impl Clock {
    pub(crate) fn start() -> Clock {
        Clock { began: SystemTime::now(), since: std::time::Instant::now() }
    }
}

const CHECKSUM: &str = "checksum";

impl Note {
    /// Reads the note in a file. Returns `None` if the file does not exist.
    ///
    /// # Errors
    /// Returns an error if the note cannot be read or if any byte in it has changed.
    pub(crate) fn read(path: &Path) -> Result<Option<Note>, DirectoryError> {
        let Some(text) = read_if_there(path, Limits::DOCUMENT)? else { return Ok(None) };
        Note::parse(&text).map(Some).ok_or_else(|| DirectoryError::damaged_file(path))
    }

    fn parse(text: &str) -> Option<Note> {
        let mut value: Map<String, Value> = serde_json::from_str(text).ok()?;
        let checksum = value.remove(CHECKSUM)?;
        if checksum != own_checksum(&value) || sealed(value.clone()) != text {
            return None;
        }
        let word = |key: &str| value.get(key)?.as_str().map(String::from);
        let quick = value.get("quick").is_some_and(|quick| *quick == true);
        let files = value.get("files").and_then(Value::as_object).cloned().unwrap_or_default();
        Some(Note {
            run: Run {
                name: word("experiment")?,
                fingerprint: word("fingerprint")?,
                reproduced: word("paper").map(|paper| Reproduced { paper, quick }),
                shard: word("shard")?,
                command: word("command")?,
            },
            finished: word("finished").is_some(),
            files: files
                .into_iter()
                .filter_map(|(name, sum)| Some((name, sum.as_str()?.to_string())))
                .collect(),
        })
    }

    pub(crate) fn text(&self, clock: Clock) -> String {
        let Note { run, finished, files } = self;
        let since = clock.since.elapsed();
        let began = clock.began.duration_since(UNIX_EPOCH).unwrap_or_default();
        let date = |time| Date(time).to_string();
        let value = json!({
            "experiment": run.name,
            "fingerprint": run.fingerprint,
            "version": env!("CARGO_PKG_VERSION"),
            "paper": run.reproduced.as_ref().map(|reproduced| &reproduced.paper),
            "quick": run.reproduced.as_ref().is_some_and(|reproduced| reproduced.quick),
            "shard": run.shard,
            "command": run.command,
            "started": date(began),
            "finished": finished.then(|| date(began + since)),
            "duration_s": finished.then(|| since.as_millis() as f64 / 1000.0),
            "machine": {
                "system": std::env::consts::OS,
                "architecture": std::env::consts::ARCH,
                "processor": processor(),
                "threads": std::thread::available_parallelism().map_or(1, usize::from),
            },
            "files": files,
        });
        let Value::Object(value) = value else { unreachable!("it was written as an object") };
        sealed(value)
    }
}

/// Formats an object as text, appending a checksum of its members as the last member.
fn sealed(mut value: Map<String, Value>) -> String {
    value.insert(CHECKSUM.to_string(), json!(own_checksum(&value)));
    pretty(value)
}

fn own_checksum(value: &Map<String, Value>) -> String {
    Checksum::of(pretty(value.clone()).as_bytes()).to_string()
}

fn pretty(value: Map<String, Value>) -> String {
    format!("{:#}\n", Value::Object(value))
}

/// Returns the processor's name, if the system provides it.
fn processor() -> Option<String> {
    let text = read_text(Path::new("/proc/cpuinfo"), Limits::DOCUMENT).ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note() -> Note {
        Note {
            run: Run {
                name: "e\u{1b}".into(),
                fingerprint: "00ff".into(),
                reproduced: Some(Reproduced { paper: "tbl".into(), quick: true }),
                shard: "1/2".into(),
                command: "pavior \"x\"".into(),
            },
            finished: true,
            files: [("results.csv".to_string(), "12".to_string())].into(),
        }
    }

    #[test]
    fn a_note_reads_back_and_no_byte_of_it_can_change() {
        let text = note().text(Clock::start());
        assert_eq!(Note::parse(&text), Some(note()));
        for index in 0..text.len() {
            for flip in [1, 0x20, 0x80] {
                let mut bytes = text.clone().into_bytes();
                bytes[index] ^= flip;
                assert_eq!(Note::parse(&String::from_utf8_lossy(&bytes)), None, "byte {index}");
            }
        }
    }
}
