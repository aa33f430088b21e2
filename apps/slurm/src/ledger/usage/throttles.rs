//! Throttles that `squeue` omits, requested one array at a time.

use std::collections::{BTreeSet, HashMap};

use super::reader::CHECK_INTERVAL_S;
use super::{Throttle, grammar};
use crate::SlurmError;
use crate::calls::{Call, Output, Query, is_recent};

/// The maximum number of arrays whose throttles are requested per cycle.
const MAX_ARRAYS: usize = 8;

/// The end of `scontrol`'s error message if there is no such job.
const UNKNOWN_JOB: &[u8] = b"Invalid job id specified";

/// Throttles cached between cycles.
#[derive(Default)]
pub(super) struct Throttles {
    /// The array to request first.
    first: Option<u32>,
    known: HashMap<u32, KnownThrottle>,
}

/// A throttle and the time when it was last requested.
#[derive(Clone, Copy)]
struct KnownThrottle {
    requested_at: u64,
    throttle: Throttle,
}

impl Throttles {
    pub(super) fn with_first(first: Option<u32>) -> Throttles {
        Throttles { first, ..Throttles::default() }
    }

    /// Updates and returns the throttles of `arrays`. `listed` contains those that `squeue` prints.
    ///
    /// # Errors
    /// Returns an error if `request` fails.
    pub(super) fn update(
        &mut self,
        arrays: &BTreeSet<u32>,
        listed: &HashMap<u32, u64>,
        now: u64,
        mut request: impl FnMut(u32) -> Result<Option<Throttle>, SlurmError>,
    ) -> Result<HashMap<u32, Throttle>, SlurmError> {
        self.known.retain(|array, _| arrays.contains(array));
        for array in arrays {
            if let Some(&most) = listed.get(array) {
                let throttle = Throttle::Tasks(most);
                self.known.insert(*array, KnownThrottle { requested_at: now, throttle });
            }
        }
        for array in self.due(arrays, now).into_iter().take(MAX_ARRAYS) {
            // If the response contains no throttle, keep the old one and retry later.
            let throttle = request(array)?.unwrap_or_else(|| self.throttle(array));
            self.known.insert(array, KnownThrottle { requested_at: now, throttle });
        }
        Ok(arrays.iter().map(|&array| (array, self.throttle(array))).collect())
    }

    /// Returns the arrays whose throttles are due for a request, least recently requested first.
    fn due(&self, arrays: &BTreeSet<u32>, now: u64) -> Vec<u32> {
        let requested_at = |array: u32| self.known.get(&array).map(|known| known.requested_at);
        let is_due = |array: &u32| !is_recent(requested_at(*array), now, CHECK_INTERVAL_S);
        let mut due: Vec<u32> = arrays.iter().copied().filter(is_due).collect();
        due.sort_by_key(|&array| (self.first != Some(array), requested_at(array)));
        due
    }

    fn throttle(&self, array: u32) -> Throttle {
        self.known.get(&array).map_or(Throttle::Unknown, |known| known.throttle)
    }
}

/// Requests an array's throttle. Returns `None` if Slurm does not report it.
pub(super) fn request(array: u32) -> Result<Option<Throttle>, SlurmError> {
    let number = array.to_string();
    Ok(reported(&Call::new(Query::Show, &["job", &number, "-o"]).run()?, array))
}

/// Finds an array's throttle in the output of `scontrol`, unless `scontrol` failed.
fn reported(output: &Output, array: u32) -> Option<Throttle> {
    if output.status.success() {
        return grammar::throttle_of(&String::from_utf8_lossy(&output.stdout), array);
    }
    let is_unknown_job = output.stderr.trim_ascii_end().ends_with(UNKNOWN_JOB);
    is_unknown_job.then_some(Throttle::Unlimited)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    /// Updates throttles of arrays that `squeue` omits. Returns the arrays that were requested.
    fn requests(throttles: &mut Throttles, arrays: Range<u32>, now: u64) -> Vec<u32> {
        let mut requests = Vec::new();
        let request = |array| {
            requests.push(array);
            Ok(Some(Throttle::Unlimited))
        };
        throttles.update(&arrays.collect(), &HashMap::new(), now, request).unwrap();
        requests
    }

    #[test]
    fn every_array_is_requested_before_any_is_requested_again() {
        let mut throttles = Throttles::default();
        // The first responses expire before the throttles of the last arrays have been requested.
        let all = (0..63).flat_map(|cycle| requests(&mut throttles, 0..504, 100 + cycle / 2));
        assert_eq!(all.collect::<Vec<_>>(), (0..504).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_array_is_requested_before_all_others() {
        let mut throttles = Throttles::with_first(Some(20));
        assert_eq!(requests(&mut throttles, 1..21, 100), [20, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(requests(&mut throttles, 1..21, 100), [8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(requests(&mut throttles, 20..21, 100), [0; 0]);
        assert_eq!(requests(&mut throttles, 20..21, 130), [20]);
    }

    #[test]
    fn a_failed_request_does_not_change_a_throttle() {
        let mut throttles = Throttles::default();
        let mut update = |listed: &[(u32, u64)], now: u64, answer: Option<Throttle>| {
            let listed = listed.iter().copied().collect();
            throttles.update(&[7].into(), &listed, now, |_| Ok(answer)).unwrap()[&7]
        };
        assert_eq!(update(&[], 100, None), Throttle::Unknown);
        assert_eq!(update(&[(7, 2)], 101, None), Throttle::Tasks(2));
        assert_eq!(update(&[], 200, None), Throttle::Tasks(2));
        assert_eq!(update(&[], 300, Some(Throttle::Unlimited)), Throttle::Unlimited);
    }

    #[test]
    fn the_output_of_a_failed_command_is_not_used() {
        let text = "JobId=7 ArrayJobId=7 ArrayTaskId=2 ArrayTaskThrottle=3 JobName=y\n";
        let answer = |code: i32, stdout: &str, stderr: &str| {
            let status = ExitStatus::from_raw(code << 8);
            let (stdout, stderr) = (stdout.into(), stderr.into());
            reported(&Output { stdout, stderr, status }, 7)
        };
        assert_eq!(answer(0, text, ""), Some(Throttle::Tasks(3)));
        assert_eq!(answer(1, text, ""), None);
        let down = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n";
        assert_eq!(answer(1, "", down), None);
        let unknown = "slurm_load_jobs error: Invalid job id specified\n";
        assert_eq!(answer(1, "", unknown), Some(Throttle::Unlimited));
    }
}
