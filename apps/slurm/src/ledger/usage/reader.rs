//! Requests limits from Slurm no more often than necessary.

use std::collections::HashMap;

use super::{Association, Member, Usage, grammar};
use crate::calls::{Call, Query};
use crate::ledger::site::{Enforcement, Site};
use crate::ledger::{Ledger, Phase};
use crate::{Config, SlurmError};

/// The time between requests for association limits while none are set, and for an array throttle
/// that `squeue` does not print, in seconds.
const CHECK_INTERVAL_S: u64 = 30;
/// The maximum number of arrays whose throttles are requested per cycle.
const MAX_ARRAYS: usize = 8;

/// Limits that are remembered between cycles.
#[derive(Default)]
pub(crate) struct Reader {
    /// The time at which association limits were last requested.
    requested_at: u64,
    associations: HashMap<Member, Association>,
    throttles: HashMap<u32, Throttle>,
    /// The number of malformed records in the last output.
    pub(crate) malformed: usize,
}

/// An array's throttle. `max_tasks` is `None` if the array has ended.
#[derive(Clone, Copy)]
struct Throttle {
    requested_at: u64,
    max_tasks: Option<u64>,
}

impl Reader {
    /// Makes the next `read` request association limits even if none were set before.
    pub(crate) fn forget(&mut self) {
        self.requested_at = 0;
    }

    /// Requests limits and their usage. This must happen after the jobs have been read, so that a
    /// job that starts in between counts twice for one cycle rather than not at all.
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
        if !ledger.jobs.iter().any(|job| job.phase == Phase::Pending) {
            return Ok(usage);
        }
        usage.throttles = self.throttles(config, ledger, now)?;
        if site.enforced == Enforcement::Nothing {
            return Ok(usage);
        }
        let records = Call::new(Query::Show, &["assoc_mgr", "flags=qos", "-o"]).answer()?;
        let (qos, malformed) = grammar::parse_qos(&records);
        usage.qos = qos;
        let is_limited = |one: &Association| one.limits.iter().any(|limit| limit.most.is_some());
        let are_needed = self.associations.values().any(is_limited);
        if are_needed || !is_recent(self.requested_at, now) {
            let records = Call::new(Query::Show, &["assoc_mgr", "flags=assoc", "-o"]).answer()?;
            let (associations, more) = grammar::parse_associations(&records);
            (self.associations, self.requested_at) = (associations, now);
            self.malformed = malformed + more;
        }
        usage.associations.clone_from(&self.associations);
        Ok(usage)
    }

    /// Returns the throttles of all arrays that have waiting tasks.
    fn throttles(
        &mut self,
        config: &Config,
        ledger: &Ledger,
        now: u64,
    ) -> Result<HashMap<u32, u64>, SlurmError> {
        let pending = ledger.jobs.iter().filter(|job| job.phase == Phase::Pending);
        let mut arrays: Vec<u32> = pending.filter_map(|job| job.name.array()).collect();
        arrays.sort_unstable();
        arrays.dedup();
        self.throttles.retain(|array, _| arrays.binary_search(array).is_ok());
        if arrays.is_empty() {
            return Ok(HashMap::new());
        }
        let arguments = ["-h", "-t", "PENDING", "-p", &config.partition, "-o", "%i"];
        let listed = grammar::parse_throttles(&Call::new(Query::Jobs, &arguments).answer()?);
        let (mut limits, mut requests) = (HashMap::new(), 0);
        for array in arrays {
            let known = self.throttles.get(&array).copied();
            let throttle = if let Some(&most) = listed.get(&array) {
                Some(Throttle { requested_at: now, max_tasks: Some(most) })
            } else if requests == MAX_ARRAYS
                || known.is_some_and(|known| is_recent(known.requested_at, now))
            {
                known
            } else {
                requests += 1;
                Some(Throttle { requested_at: now, max_tasks: request_throttle(array)? })
            };
            self.throttles.extend(throttle.map(|throttle| (array, throttle)));
            // The throttle is assumed to be 1 until a later cycle requests it.
            let max_tasks = throttle.map_or(Some(1), |throttle| throttle.max_tasks);
            limits.extend(max_tasks.map(|most| (array, most)));
        }
        Ok(limits)
    }
}

/// Returns true if a request was made less than [`CHECK_INTERVAL_S`] ago. If the clock has been set
/// back, the request is repeated.
fn is_recent(requested_at: u64, now: u64) -> bool {
    (requested_at..requested_at + CHECK_INTERVAL_S).contains(&now)
}

/// Requests an array's throttle. Returns `None` if the array has ended.
fn request_throttle(array: u32) -> Result<Option<u64>, SlurmError> {
    let number = array.to_string();
    let output = Call::new(Query::Show, &["job", &number, "-o"]).run()?;
    Ok(grammar::throttle_of(&String::from_utf8_lossy(&output.stdout), array))
}
