//! Epochs: the fencing tokens of leases and of waiting requests. An epoch is an integer below 2^53,
//! which every JSON parser reads exactly. Each epoch is one more than the previous one, except that
//! a server derives its first epoch from the wall clock when it starts:
//!
//! ```text
//! epoch   milliseconds since 2025, times 4096
//! ```
//! A server that starts from a restored backup or takes over from another server therefore issues
//! epochs greater than any issued before it started, including those missing from its data. This
//! fails only if the previous server averaged more than 4096 leases per millisecond, or if the
//! clock is behind. A clock that is behind the last epoch is not trusted: epochs then continue from
//! the last one after a random step of up to 2^30, so that two copies of the same data issue
//! different epochs.
//!
//! Epochs stay below 2^53. A clock beyond the ceiling, which is reached in 2094, is treated as the
//! ceiling, and random steps stop there. The 2^46 epochs above the ceiling are used one by one,
//! which takes two years at a million grants per second.

/// 2025-01-01, in milliseconds since 1970.
const ORIGIN_MS: u64 = 1_735_689_600_000;
/// The base-2 logarithm of the number of epochs per millisecond.
const PER_MS: u32 = 12;
/// The largest integer that every JSON parser reads exactly.
pub(crate) const MAX_EPOCH: u64 = (1 << 53) - 1;
/// The ceiling for epochs derived from the clock.
const CEILING: u64 = (1 << 53) - (1 << 46);
/// The upper bound of a random step (exclusive).
const STEP: u64 = 1 << 30;

/// Returns the epoch from which a server continues when it starts, given the last epoch in its data
/// and the wall clock. `random` must differ on each startup.
pub(crate) fn begin(last: u64, wall_ms: u64, random: u64) -> u64 {
    let since = wall_ms.saturating_sub(ORIGIN_MS).min(CEILING >> PER_MS);
    let by_clock = since << PER_MS;
    if by_clock > last {
        by_clock
    } else if last < CEILING {
        last + random % STEP
    } else {
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-25.
    const NOW: u64 = 1_795_564_800_000;

    #[test]
    fn a_restored_copy_issues_greater_epochs_than_the_original() {
        // The original started a day ago, and has granted 30,000 leases per second since.
        let original = begin(77, NOW - 86_400_000, 1);
        let granted = original + 30_000 * 86_400;
        for copied_at in [77, original, original + 1000] {
            assert!(begin(copied_at, NOW, 2) > granted);
        }
        // As many startups as possible within one second, each with its own grants.
        let mut last = 0;
        for start in 0..1000 {
            let next = begin(last, NOW + start, start * 77);
            assert!(next >= last, "epochs never go back");
            last = next + 4000;
        }
    }

    #[test]
    fn two_copies_issue_different_epochs_after_the_clock_is_set_back() {
        let last = begin(0, NOW, 0) + 10;
        for wall in [0, ORIGIN_MS, NOW - 1, NOW - 86_400_000] {
            let (one, other) = (begin(last, wall, 12_345), begin(last, wall, 987_654_321));
            assert!(one >= last && other >= last && one.abs_diff(other) > 1_000_000);
        }
    }

    #[test]
    fn epochs_stay_below_two_to_the_53rd() {
        let mut last = 0;
        for wall in [0, NOW, u64::MAX, NOW, 0, u64::MAX] {
            for start in 0..1000 {
                last = begin(last, wall, u64::MAX - start);
                assert!(last <= CEILING + STEP);
            }
        }
        // Beyond the ceiling there are no steps: each of the 2^46 epochs is a grant.
        assert_eq!(begin(CEILING + STEP, u64::MAX, 7), CEILING + STEP);
        const { assert!(MAX_EPOCH - CEILING - STEP > 1 << 45) };
        // A clock that is always behind: eight million startups fit below the ceiling.
        let behind = begin(0, NOW, 0);
        assert!((CEILING - behind) / STEP > 5_000_000);
    }
}
