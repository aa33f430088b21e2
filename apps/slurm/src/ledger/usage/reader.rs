//! Requests limits from Slurm, no more often than necessary.

use std::collections::HashMap;

use super::{Association, Member, Usage, grammar};
use crate::calls::{CALL_BOUNDS, Call, Question, capture};
use crate::ledger::site::{Enforcement, Site};
use crate::ledger::{Ledger, Phase};
use crate::{Config, SlurmError};

/// The time between requests, in seconds, for association limits while there are none, and for an
/// array throttle that `squeue` does not print.
const CHECK_INTERVAL_S: u64 = 30;
/// The maximum number of arrays whose throttles are requested per cycle.
const MAX_ARRAYS: usize = 8;

/// Limits that are kept between cycles.
#[derive(Default)]
pub(crate) struct Reader {
    looked: u64,
    associations: HashMap<Member, Association>,
    /// The time when each array's throttle was requested, and the throttle.
    throttles: HashMap<u32, (u64, Option<u64>)>,
    /// The number of malformed records in the last output.
    pub(crate) unreadable: usize,
}

impl Reader {
    /// Makes the next `read` request association limits, even if there were none.
    pub(crate) fn forget(&mut self) {
        self.looked = 0;
    }

    /// Requests limits and their usage. Must be called after the jobs have been read: a job that
    /// starts in between then counts twice for one cycle rather than not at all.
    ///
    /// # Errors
    /// Returns an error if Slurm does not answer.
    pub(crate) fn read(
        &mut self,
        config: &Config,
        site: &Site,
        ledger: &Ledger,
        now: u64,
    ) -> Result<Usage, SlurmError> {
        let mut said = Usage::default();
        if !ledger.jobs.iter().any(|job| job.phase == Phase::Pending) {
            return Ok(said);
        }
        said.throttles = self.throttles(config, ledger, now)?;
        if site.enforced == Enforcement::Nothing {
            return Ok(said);
        }
        let shown = capture(Question::Show, &["assoc_mgr", "flags=qos", "-o"])?;
        let (qos, unreadable) = grammar::qos(&shown);
        said.qos = qos;
        let limited = |one: &Association| one.limits.iter().any(|limit| limit.most.is_some());
        let matter = self.associations.values().any(limited);
        if matter || !(self.looked..self.looked + CHECK_INTERVAL_S).contains(&now) {
            let shown = capture(Question::Show, &["assoc_mgr", "flags=assoc", "-o"])?;
            let (associations, torn) = grammar::associations(&shown);
            (self.associations, self.looked) = (associations, now);
            self.unreadable = unreadable + torn;
        }
        said.associations.clone_from(&self.associations);
        Ok(said)
    }

    /// Returns the throttles of arrays with waiting tasks.
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
        let said = grammar::throttles(&capture(Question::Jobs, &arguments)?);
        let (mut most_of, mut asked) = (HashMap::new(), 0);
        for array in arrays {
            if let Some(&most) = said.get(&array) {
                self.throttles.insert(array, (now, Some(most)));
            }
            let known = self.throttles.get(&array);
            let fresh = known.is_some_and(|&(at, _)| (at..at + CHECK_INTERVAL_S).contains(&now));
            if !fresh && asked < MAX_ARRAYS {
                asked += 1;
                self.throttles.insert(array, (now, ask(array)?));
            }
            match self.throttles.get(&array) {
                Some(&(_, Some(most))) => drop(most_of.insert(array, most)),
                Some((_, None)) => {}
                // The throttle is assumed to be 1 until a later cycle requests it.
                None => drop(most_of.insert(array, 1)),
            }
        }
        Ok(most_of)
    }
}

/// Requests an array's throttle, which is `None` if the array has ended.
fn ask(array: u32) -> Result<Option<u64>, SlurmError> {
    let number = array.to_string();
    let arguments = &["job", &number, "-o"];
    let call = Call { question: Question::Show, arguments, environment: &[] };
    let said = call.run(CALL_BOUNDS)?;
    Ok(grammar::throttle_of(&String::from_utf8_lossy(&said.stdout), array))
}
