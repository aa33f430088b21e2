//! Requests limits from Slurm, but no more often than necessary.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::throttles::{self, Throttles};
use super::{Association, Member, Throttle, Usage, grammar};
use crate::calls::{Call, Query, is_recent};
use crate::ledger::site::{Enforcement, Site};
use crate::ledger::{Ledger, Phase};
use crate::{Config, SlurmError};

/// The interval between requests, in seconds. It applies to association limits while none are set,
/// and to any array throttle that `squeue` does not print.
pub(super) const CHECK_INTERVAL_S: u64 = 30;

/// A reader that requests limits and caches them between cycles.
#[derive(Default)]
pub(crate) struct Reader {
    /// The time of the last request for association limits, if any.
    requested_at: Option<u64>,
    associations: Rc<HashMap<Member, Association>>,
    /// The number of malformed association records.
    malformed_associations: usize,
    throttles: Throttles,
    /// The number of malformed records in the data that the last `read` used.
    pub(crate) malformed: usize,
}

impl Reader {
    /// Creates a reader that requests the throttle of `array`, if given, before all others.
    pub(crate) fn for_array(array: Option<u32>) -> Reader {
        Reader { throttles: Throttles::with_first(array), ..Reader::default() }
    }

    /// Makes the next `read` request association limits even if the last request returned none.
    pub(crate) fn forget(&mut self) {
        self.requested_at = None;
    }

    /// Requests limits and their usage. Must be called after the jobs have been read, so that a job
    /// that starts between the two reads is counted twice for one cycle rather than not at all.
    ///
    /// # Errors
    /// Returns an error if Slurm does not respond.
    pub(crate) fn read(
        &mut self,
        config: &Config,
        site: &Site,
        ledger: &Ledger,
        now: u64,
    ) -> Result<Usage, SlurmError> {
        let mut usage = Usage::default();
        self.malformed = 0;
        if !ledger.jobs.iter().any(|job| job.phase == Phase::Pending) {
            return Ok(usage);
        }
        usage.throttles = self.throttles(config, ledger, now)?;
        if site.enforced == Enforcement::Nothing {
            return Ok(usage);
        }
        let records = Call::new(Query::Show, &["assoc_mgr", "flags=qos", "-o"]).answer()?;
        let (qos, malformed_qos) = grammar::parse_qos(&records);
        usage.qos = qos;
        let is_limited = |one: &Association| one.limits.iter().any(|limit| limit.most.is_some());
        let has_limits = self.associations.values().any(is_limited);
        if has_limits || !is_recent(self.requested_at, now, CHECK_INTERVAL_S) {
            let records = Call::new(Query::Show, &["assoc_mgr", "flags=assoc", "-o"]).answer()?;
            let (associations, malformed) = grammar::parse_associations(&records);
            (self.associations, self.malformed_associations) = (Rc::new(associations), malformed);
            self.requested_at = Some(now);
        }
        self.malformed = malformed_qos + self.malformed_associations;
        usage.associations = Rc::clone(&self.associations);
        Ok(usage)
    }

    /// Returns the throttles of all arrays that have waiting tasks.
    fn throttles(
        &mut self,
        config: &Config,
        ledger: &Ledger,
        now: u64,
    ) -> Result<HashMap<u32, Throttle>, SlurmError> {
        let pending = ledger.jobs.iter().filter(|job| job.phase == Phase::Pending);
        let arrays: BTreeSet<u32> = pending.filter_map(|job| job.name.array()).collect();
        if arrays.is_empty() {
            return self.throttles.update(&arrays, &HashMap::new(), now, throttles::request);
        }
        let arguments = ["-h", "-t", "PENDING", "-p", &config.partition, "-o", "%i"];
        let listed = grammar::parse_throttles(&Call::new(Query::Jobs, &arguments).answer()?);
        self.throttles.update(&arrays, &listed, now, throttles::request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_records_are_not_counted_once_no_job_is_waiting() {
        let config = Config::of_machine("mesh:4x2");
        let mut reader = Reader { malformed: 1, ..Reader::default() };
        let usage = reader.read(&config, &Site::default(), &Ledger::default(), 100).unwrap();
        assert_eq!((usage, reader.malformed), (Usage::default(), 0));
    }
}
