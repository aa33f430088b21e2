//! A journal that has one line per finished replication and remains readable if truncated.
//!
//! Each line consists of the point's index, the replication's number, the results and a checksum,
//! separated by spaces. A line whose checksum is wrong was truncated or changed, and is ignored.
//! Numbers are written in the shortest form that parses back to the same number.

use std::io;

use pavior_kernel::Checksum;

use crate::Sample;

/// A finished replication.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalEntry {
    /// The point's index in the experiment.
    pub point: usize,
    /// The replication's number.
    pub replication: u64,
    /// The replication's results.
    pub sample: Sample,
}

/// A store for finished replications.
pub trait Store: Send {
    /// Stores an entry. Once this method returns, the entry is safe even if the process is killed.
    ///
    /// # Errors
    /// Returns an error if the entry cannot be stored. In that case, the sweep stops.
    fn keep(&mut self, entry: &JournalEntry) -> io::Result<()>;
}

/// A store that discards all entries.
#[derive(Clone, Copy, Debug)]
pub struct NoStore;

impl Store for NoStore {
    fn keep(&mut self, _: &JournalEntry) -> io::Result<()> {
        Ok(())
    }
}

impl JournalEntry {
    /// Returns the line for this entry, without a line break. The checksum also covers a key, such
    /// as the run's fingerprint, so a line from another run is invalid.
    ///
    /// ```
    /// # mod pavior { pub use pavior_experiments as experiments; }
    /// use pavior::experiments::{JournalEntry, Sample};
    /// let sample = Sample {
    ///     values: vec![Some(0.1), None], arrived: 12, waiting: 2, rejected: 0, rejected_set: 7,
    ///     allocation_ns: Some(812.5),
    /// };
    /// let entry = JournalEntry { point: 3, replication: 0, sample };
    /// let line = entry.line("run 7");
    /// assert_eq!(JournalEntry::parse(&line, "run 7"), Some(entry));
    /// assert_eq!(JournalEntry::parse(&line, "run 8"), None);
    /// assert_eq!(JournalEntry::parse(&line.replace("12", "13"), "run 7"), None);
    /// ```
    pub fn line(&self, key: &str) -> String {
        let Sample { values, arrived, waiting, rejected, rejected_set, allocation_ns } =
            &self.sample;
        let mut line = format!(
            "{} {} {arrived} {waiting} {rejected} {rejected_set:x} {}",
            self.point,
            self.replication,
            number(*allocation_ns)
        );
        for value in values {
            line.push(' ');
            line += &number(*value);
        }
        let checksum = checksum(key, &line);
        line + " " + &checksum
    }

    /// Parses a line. Returns `None` if any byte was changed or the key differs.
    pub fn parse(line: &str, key: &str) -> Option<JournalEntry> {
        let (text, found) = line.rsplit_once(' ')?;
        if found != checksum(key, text) {
            return None;
        }
        let mut words = text.split(' ');
        let (point, replication) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let (arrived, waiting) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let rejected = words.next()?.parse().ok()?;
        let rejected_set = u64::from_str_radix(words.next()?, 16).ok()?;
        let allocation_ns = optional(words.next()?)?;
        let values = words.map(optional).collect::<Option<Vec<_>>>()?;
        let sample = Sample { values, arrived, waiting, rejected, rejected_set, allocation_ns };
        Some(JournalEntry { point, replication, sample })
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_string(), |value| value.to_string())
}

/// Parses an optional number. The outer option is `None` if the word is invalid; the inner one is
/// `None` for `-`.
#[expect(clippy::option_option, reason = "an invalid word differs from a missing number")]
fn optional(word: &str) -> Option<Option<f64>> {
    if word == "-" { Some(None) } else { word.parse().ok().map(Some) }
}

fn checksum(key: &str, text: &str) -> String {
    let mut checksum = Checksum::of(key.as_bytes());
    checksum.add(b"\n");
    checksum.add(text.as_bytes());
    checksum.to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_survive_a_round_trip_and_no_cut(
            point in any::<usize>(),
            values in prop::collection::vec(prop::option::of(any::<f64>()), 0..5),
            arrived in any::<u64>(),
        ) {
            let values: Vec<Option<f64>> =
                values.into_iter().map(|value| value.filter(|v| !v.is_nan())).collect();
            let sample = Sample {
                values,
                arrived,
                waiting: 1,
                rejected: 2,
                rejected_set: u64::MAX,
                allocation_ns: None,
            };
            let entry = JournalEntry { point, replication: 4, sample };
            let line = entry.line("");
            prop_assert_eq!(JournalEntry::parse(&line, ""), Some(entry));
            for cut in 0..line.len() {
                prop_assert_eq!(JournalEntry::parse(&line[..cut], ""), None);
            }
        }
    }
}
