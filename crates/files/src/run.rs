//! `run.json`: what a directory holds, where and when it was made, and the checksums of its files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pavior_kernel::Digest;
use serde_json::{Map, Value, json};

use crate::FileError;

/// What a run is: what two directories must share for their results to be mixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The name of the experiment.
    pub name: String,
    /// The digest of what results depend on.
    pub fingerprint: String,
    /// The program's version.
    pub version: String,
    /// The paper that is reproduced, and whether quickly.
    pub paper: Option<(String, bool)>,
    /// The part of the points.
    pub shard: String,
    /// The command that was given.
    pub command: String,
}

/// `run.json` as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What the run is.
    pub run: Run,
    /// Whether it came to its end.
    pub finished: bool,
    /// The checksum of every file that was written.
    pub files: BTreeMap<String, String>,
}

/// When a run began, and how long it has taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    began: SystemTime,
    /// Not the difference of two dates: the clock may be set back in between.
    since: std::time::Instant,
}

impl Clock {
    pub(crate) fn start() -> Clock {
        Clock { began: SystemTime::now(), since: std::time::Instant::now() }
    }
}

const DIGEST: &str = "checksum";

impl Note {
    /// Reads a note; none where there is no file.
    ///
    /// # Errors
    /// If it cannot be read, or a byte of it was changed.
    pub fn read(path: &Path) -> Result<Option<Note>, FileError> {
        let Some(text) = read_if_there(path)? else { return Ok(None) };
        let note = Note::parse(&text);
        note.map(Some).ok_or_else(|| FileError::damaged(path, None))
    }

    fn parse(text: &str) -> Option<Note> {
        let mut value: Map<String, Value> = serde_json::from_str(text).ok()?;
        let digest = value.remove(DIGEST)?;
        let written = sealed(value.clone());
        if digest != Digest::of(pretty(&Value::Object(value.clone())).as_bytes()).to_string()
            || written != text
        {
            return None;
        }
        let word = |key: &str| value.get(key)?.as_str().map(String::from);
        let quick = value.get("quick").is_some_and(|quick| *quick == true);
        let files = value.get("files").and_then(Value::as_object).cloned().unwrap_or_default();
        Some(Note {
            run: Run {
                name: word("experiment")?,
                fingerprint: word("fingerprint")?,
                version: word("version")?,
                paper: word("paper").map(|paper| (paper, quick)),
                shard: word("shard")?,
                command: word("command")?,
            },
            finished: word("finished").is_some(),
            files: files
                .into_iter()
                .filter_map(|(name, digest)| Some((name, digest.as_str()?.to_string())))
                .collect(),
        })
    }

    /// The text of a note.
    pub(crate) fn text(&self, clock: Clock) -> String {
        let Note { run, finished, files } = self;
        let since = clock.since.elapsed();
        let value = json!({
            "experiment": run.name,
            "fingerprint": run.fingerprint,
            "version": run.version,
            "paper": run.paper.as_ref().map(|(paper, _)| paper),
            "quick": run.paper.as_ref().is_some_and(|(_, quick)| *quick),
            "shard": run.shard,
            "command": run.command,
            "started": date(clock.began, Duration::ZERO),
            "finished": finished.then(|| date(clock.began, since)),
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

/// The text of an object with its own checksum as its last member.
fn sealed(mut value: Map<String, Value>) -> String {
    let digest = Digest::of(pretty(&Value::Object(value.clone())).as_bytes());
    value.insert(DIGEST.to_string(), json!(digest.to_string()));
    pretty(&Value::Object(value))
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// A file's text; none where there is no file. Bytes that are no text are replaced: what they stand
/// in is damaged, and is found so.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<String>, FileError> {
    if !path.exists() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut reader = crate::open(path, crate::Limits::LINES)?;
    std::io::Read::read_to_end(&mut reader, &mut bytes)
        .map_err(|error| FileError::read(path, &error))?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The processor's name, where the system tells it.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

/// The date in UTC, so long after an instant (Hinnant's days-to-civil).
fn date(began: SystemTime, after: Duration) -> String {
    let since_1970 = began.duration_since(UNIX_EPOCH).unwrap_or_default() + after;
    let seconds = since_1970.as_secs();
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

    fn note() -> Note {
        Note {
            run: Run {
                name: "e\u{1b}".into(),
                fingerprint: "00ff".into(),
                version: "0.1.0".into(),
                paper: Some(("tbl".into(), true)),
                shard: "1/2".into(),
                command: "pavior \"x\"".into(),
            },
            finished: true,
            files: [("results.csv".to_string(), "12".to_string())].into(),
        }
    }

    #[test]
    fn dates_are_right() {
        let at = |seconds| date(UNIX_EPOCH, Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_767_225_599), "2025-12-31T23:59:59Z");
        let before = UNIX_EPOCH - Duration::from_secs(5);
        assert_eq!(date(before, Duration::ZERO), "1970-01-01T00:00:00Z");
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
