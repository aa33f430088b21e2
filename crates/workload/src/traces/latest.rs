//! Jobs in accounting logs. Times are absolute, and several lines may describe the same job.

use std::collections::HashMap;
use std::hash::Hash;

use super::Skip;
use super::record::{Collector, Draft};

/// A log's job lines by key. If several lines describe the same job, the line with the latest
/// submission is used (or the last such line, if there are several).
pub(crate) struct Latest<K> {
    drafts: Vec<Draft>,
    /// For each line, true if it was replaced by the line for a later run of the same job.
    replaced: Vec<bool>,
    by_key: HashMap<K, usize>,
}

impl<K: Eq + Hash> Latest<K> {
    pub(crate) fn new() -> Latest<K> {
        Latest { drafts: Vec::new(), replaced: Vec::new(), by_key: HashMap::new() }
    }

    /// Returns the number of job lines so far.
    pub(crate) fn len(&self) -> u64 {
        self.drafts.len() as u64
    }

    pub(crate) fn push(&mut self, key: K, draft: Draft) {
        let index = self.drafts.len();
        let mut replaced = false;
        match self.by_key.get_mut(&key) {
            Some(known) if self.drafts[*known].submit <= draft.submit => {
                self.replaced[*known] = true;
                *known = index;
            }
            Some(_) => replaced = true,
            None => drop(self.by_key.insert(key, index)),
        }
        self.drafts.push(draft);
        self.replaced.push(replaced);
    }

    /// Passes the jobs to the collector, with times relative to the first submission. Adds the
    /// start time and, if known, the time zone (in seconds) to the header.
    pub(crate) fn offer(self, jobs: &mut Collector<'_>, zone: Option<i64>) {
        let submits = self.drafts.iter().map(|draft| draft.submit).filter(|&at| at >= 0.0);
        let begin = submits.fold(f64::INFINITY, f64::min);
        for (draft, replaced) in self.drafts.into_iter().zip(self.replaced) {
            let known = draft.submit >= 0.0;
            let submit = if known { draft.submit - begin } else { draft.submit };
            if replaced {
                jobs.skip(Skip::Requeued, draft.line);
            } else {
                jobs.offer(&Draft { submit, ..draft });
            }
        }
        if begin.is_finite() {
            jobs.header.push("UnixStartTime", &format!("{begin:.0}"));
        }
        if let Some(zone) = zone {
            jobs.header.push("TimeZone", &zone.to_string());
        }
    }
}
