//! How many Slices of a Job failed in a row: an annotation of the Job, so that every copy knows.

use std::collections::HashMap;

use crate::objects::{FAILED, Job, Known as _, Uid};

/// The longest time between a failure and the next Slice, in seconds.
const LONGEST_S: i64 = 300;

/// The failures of a Job since its last Slice that was usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failures {
    pub(super) row: u32,
    /// When the last one was noted, in seconds since 1970.
    at: i64,
    /// The record of the last Slice that is counted.
    record: Uid,
}

impl Failures {
    /// Reads them; none if there were none, or what stands there was not written by us.
    pub(super) fn of(job: &Job) -> Option<Failures> {
        let mut words = job.annotation(FAILED)?.split(' ');
        let mut word = || words.next();
        let row = word()?.parse().ok()?;
        let at = word()?.parse().ok()?;
        let record = Uid(word()?.to_string());
        words.next().is_none().then_some(Failures { row, at, record })
    }

    /// The same, noted at the latest when this copy saw it first: the copy that noted it may have
    /// another clock. `noted` keeps that for each Job.
    pub(super) fn seen(
        job: &Job,
        noted: &mut HashMap<Uid, (Uid, i64)>,
        now: i64,
    ) -> Option<Failures> {
        let mut failures = Failures::of(job)?;
        let first = noted.entry(job.uid()).or_insert_with(|| (failures.record.clone(), now));
        if first.0 != failures.record || first.1 > now {
            *first = (failures.record.clone(), now);
        }
        failures.at = failures.at.min(first.1);
        Some(failures)
    }

    /// The annotation once one more has failed.
    pub(super) fn and(job: &Job, record: &Uid, now: i64) -> String {
        let row = Failures::of(job).map_or(0, |before| before.row).saturating_add(1);
        format!("{row} {now} {}", record.0)
    }

    /// The annotation once a Slice was usable.
    pub(super) fn over(record: &Uid, now: i64) -> String {
        format!("0 {now} {}", record.0)
    }

    /// Whether the failure of a record's Slice is counted.
    pub(super) fn count(&self, record: &Uid) -> bool {
        self.row > 0 && self.record == *record
    }

    /// What keeps the Job from a new Slice now, if anything does, and whether it does for ever. So
    /// many failures in a row are the most.
    pub(super) fn keep(&self, most: u32, now: i64) -> Option<(bool, String)> {
        let row = self.row;
        let tried = format!("{row} Slices in a row failed: ");
        if row >= most {
            let remedy = "remove the annotation pavior.dev/failed to try again";
            return Some((true, tried + remedy));
        }
        (self.pause_s(now) > 0).then(|| (false, tried + "it waits a while for the next"))
    }

    /// How long no new Slice is made: none after the first failure, then 5 s, 10 s, 20 s.
    pub(super) fn pause_s(&self, now: i64) -> i64 {
        if self.row < 2 {
            return 0;
        }
        let whole = (5_i64 << (self.row - 2).min(10)).min(LONGEST_S);
        (self.at.saturating_add(whole).saturating_sub(now)).clamp(0, whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(text: &str) -> Job {
        let mut job = Job::default();
        job.metadata.annotations.get_or_insert_default().insert(FAILED.into(), text.into());
        job
    }

    #[test]
    fn failures_are_counted_once_each_and_wait_ever_longer() {
        let record = Uid("r2".into());
        let before = Failures::of(&job("1 100 r1")).unwrap();
        assert!(!before.count(&record) && before.count(&Uid("r1".into())));
        let text = Failures::and(&job("1 100 r1"), &record, 200);
        let now = Failures::of(&job(&text)).unwrap();
        assert!(now.count(&record));
        assert_eq!((now.row, now.pause_s(200), now.pause_s(206)), (2, 5, 0));
        let long = Failures::of(&job("40 200 r")).unwrap();
        assert_eq!((long.pause_s(200), long.pause_s(-9000)), (LONGEST_S, LONGEST_S));
        let over = Failures::of(&job(&Failures::over(&record, 300))).unwrap();
        assert!(!over.count(&record));
    }

    #[test]
    fn what_was_not_written_by_us_counts_for_nothing() {
        for text in ["", "x", "1", "1 2", "1 2 r more", "-1 2 r", "99999999999 2 r"] {
            assert_eq!(Failures::of(&job(text)), None, "{text}");
        }
    }
}
